//! The gate that every request of an account passes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dirigent::ChannelId;
use dirigent::ports::ApiError;
use dirigent::ports::Timestamp;
use http::StatusCode;

use crate::limit_headers::{LimitHeaders, Scope, TooMany};
use crate::pace::{Outcome, Pace, Seat};
use crate::refusals::Refusals;
use crate::rest_error::is_for_words;
use crate::route::RouteKey;
use crate::transport::Answer;
use crate::wire::Refused;
use crate::{BanGuard, RestError};

/// Limits, refusals and the ban guard. They are checked before a request and updated after it.
#[derive(Debug)]
pub(crate) struct Traffic {
    guard: BanGuard,
    state: Mutex<PaceAndRefusals>,
}

#[derive(Debug)]
struct PaceAndRefusals {
    pace: Pace,
    refusals: Refusals,
}

impl Traffic {
    pub(crate) fn new(per_second: usize, guard: BanGuard) -> Self {
        let state = PaceAndRefusals { pace: Pace::new(per_second), refusals: Refusals::default() };
        Self { guard, state: Mutex::new(state) }
    }

    pub(crate) fn admit(&self, now: Timestamp, route: RouteKey) -> Result<Permit<'_>, ApiError> {
        let mut state = self.state();
        if let Some(refused) = state.refusals.check(now, route) {
            return Err(refused.report());
        }
        if let Some(wait) = self.guard.wait(now) {
            return Err(RestError::NearBan.report_until(wait));
        }
        if let Some(wait) = state.pace.wait(now, route) {
            return Err(RestError::Paced.report_until(wait));
        }
        let seat = state.pace.leave(now, route);
        Ok(Permit { traffic: self, route, seat, is_open: true })
    }

    /// Takes the answer to a request that is under no limit of this account. For a 429, returns its content.
    pub(crate) fn answered_apart(&self, now: Timestamp, answer: &Answer) -> Option<TooMany> {
        let status = answer.status;
        let refused = status == StatusCode::TOO_MANY_REQUESTS;
        let too_many = refused.then(|| TooMany::read(&answer.headers, answer.said()));
        let is_invalid = match too_many {
            Some(too_many) => too_many.scope != Scope::Shared,
            None => matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN),
        };
        if is_invalid {
            self.guard.count(now);
        }
        if let Some(TooMany { scope: Scope::Unsaid, wait }) = too_many {
            self.guard.turn_away(now + wait);
        }
        too_many
    }

    /// Reports that the account's permissions in these channels may have changed.
    pub(crate) fn rights_changed(&self, channels: &[ChannelId]) {
        self.state().refusals.rights_changed(channels);
    }

    fn state(&self) -> MutexGuard<'_, PaceAndRefusals> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that has left. If it is dropped without an answer, it may have been counted.
#[derive(Debug)]
pub(crate) struct Permit<'a> {
    traffic: &'a Traffic,
    route: RouteKey,
    seat: Seat,
    is_open: bool,
}

impl Permit<'_> {
    /// Gives the places back, because there was no connection.
    pub(crate) fn not_sent(mut self, now: Timestamp) {
        self.is_open = false;
        self.traffic.state().pace.came_back(now, self.route, &self.seat, &Outcome::NotSent);
    }

    /// Takes an answer. For a 429, returns its content.
    pub(crate) fn answered(mut self, now: Timestamp, answer: &Answer) -> Option<TooMany> {
        let limits = LimitHeaders::read(&answer.headers);
        let too_many = self.traffic.answered_apart(now, answer);
        let outcome = match too_many {
            Some(too_many) => Outcome::Refused(limits, too_many),
            None => Outcome::Answered(limits),
        };
        self.is_open = false;
        let mut state = self.traffic.state();
        state.pace.came_back(now, self.route, &self.seat, &outcome);
        // A proxy before Discord knows nothing about this token and its permissions. A text that is refused for its
        // content does not tell about them either.
        let is_of_rights = Refused::code_in(answer.said()).is_some_and(|code| !is_for_words(code));
        if answer.status.is_success() || is_of_rights {
            state.refusals.answered(now, self.route, answer.status);
        }
        too_many
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.is_open {
            let mut state = self.traffic.state();
            let lost = Outcome::Lost;
            // A lost request teaches nothing, so the time does not matter.
            let now = Timestamp::from_millis(0);
            state.pace.came_back(now, self.route, &self.seat, &lost);
        }
    }
}
