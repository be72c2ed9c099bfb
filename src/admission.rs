//! Which action may start now: claims of all rooms enter, verdicts and wake-ups leave.
//!
//! Four things make an action wait: the pace of posts, a rate limit that the chat told, an account
//! that does not reach the chat, and a full pool. Nothing here knows turns, asks a clock or waits.

mod bars;
mod calls;
mod claim;
mod health;
mod line;
mod places;
mod pool;
mod windows;

use std::time::Duration;

use dirigent_core::Timestamp;

use self::bars::Bars;
use self::calls::Calls;
use self::health::{Accounts, Passage};
use self::places::Places;
use self::pool::Pool;
use crate::ChannelId;
use crate::settings::Pacing;

pub(crate) use self::claim::{AccountKey, ActionId, Claim, ClaimKind, Report, Verdict, Wakeup};

/// The limits that a host sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Rate limits for posts.
    pub(crate) pacing: Pacing,
    /// Most agents that run at once; 0 is taken for 1.
    pub(crate) calls_max: usize,
    /// Most calls of one agent that run at once, if that is limited; 0 is taken for 1.
    pub(crate) agent_calls_max: Option<usize>,
    /// Most consultations that run at once; 0 is taken for 1.
    pub(crate) consults_max: usize,
    /// How long one attempt at the chat may take.
    pub(crate) attempt_timeout: Duration,
}

/// Decides which actions may start.
///
/// A room asks with [`Admission::admit`] before it starts an action. Every action that was let go
/// ends with [`Admission::report`] (posts and reads) or [`Admission::release`] (calls and
/// consultations); every action that waits ends with another `admit` or with
/// [`Admission::withdraw`].
#[derive(Debug)]
pub(crate) struct Admission {
    places: Places,
    bars: Bars,
    accounts: Accounts,
    calls: Calls,
    consults: Pool,
}

impl Admission {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            places: Places::new(limits.pacing),
            bars: Bars::default(),
            accounts: Accounts::new(limits.attempt_timeout),
            calls: Calls::new(limits.calls_max, limits.agent_calls_max),
            consults: Pool::new(limits.consults_max),
        }
    }

    /// Decides whether the action starts now. A post that is paced reserves its place with the first
    /// ask, and claims it by asking again at its time; a second later the place counts as used.
    pub(crate) fn admit(&mut self, now: Timestamp, claim: &Claim) -> Verdict {
        let waiter = claim.waiter();
        let is_admitted = match claim.kind {
            ClaimKind::Post => return self.admit_post(now, claim),
            ClaimKind::Read => return self.admit_read(now, claim),
            ClaimKind::Call => self.calls.admit(claim),
            ClaimKind::Consult => self.consults.admit(waiter),
        };
        if is_admitted { Verdict::Go } else { WAIT }
    }

    fn admit_post(&mut self, now: Timestamp, claim: &Claim) -> Verdict {
        let Claim { target, account, .. } = *claim;
        let waiter = claim.waiter();
        if let Some(until) = self.bars.until(now, target, account) {
            // It comes back by itself: until then others may use its place. It waits in no line, since
            // a rate limit is an answer, and with an answer the account's line ends.
            self.places.give_back(waiter);
            return Verdict::Wait { until: Some(until) };
        }
        let passage = self.accounts.admit(now, account, waiter);
        if passage == Passage::Wait {
            self.places.give_back(waiter);
            return WAIT;
        }
        let at = self.places.claim(now, claim);
        if at > now {
            if passage == Passage::Probe {
                self.accounts.delay_probe(now, account, waiter, at);
            }
            return Verdict::Wait { until: Some(at) };
        }
        if passage == Passage::Probe {
            self.accounts.start_probe(now, account, waiter);
        }
        Verdict::Go
    }

    fn admit_read(&mut self, now: Timestamp, claim: &Claim) -> Verdict {
        let waiter = claim.waiter();
        match self.accounts.admit(now, claim.account, waiter) {
            Passage::Wait => return WAIT,
            Passage::Probe => self.accounts.start_probe(now, claim.account, waiter),
            Passage::Free => {}
        }
        Verdict::Go
    }

    /// Takes in how an action ended. Returns the rooms that may ask again. The place of a call or consultation is free,
    /// whatever is reported.
    ///
    /// Every answer of the chat, a refusal too, proves that the account reaches the chat. A rate limit of a
    /// request that posts nothing says nothing about posts.
    #[must_use]
    pub(crate) fn report(&mut self, now: Timestamp, claim: &Claim, report: Report) -> Vec<Wakeup> {
        let Claim { target, account, kind, .. } = *claim;
        let mut calls = Vec::new();
        match (kind, report) {
            (ClaimKind::Call, _) => {
                self.calls.release(now, claim.waiter(), &mut calls);
                return calls;
            }
            (ClaimKind::Consult, _) => {
                self.consults.release(now, claim.waiter(), &mut calls);
                return calls;
            }
            (ClaimKind::Post, Report::RateLimited { until }) => {
                self.bars.bar(now, target, account, until);
            }
            (_, Report::Answered | Report::RateLimited { .. }) => {}
            (_, Report::Away { refused }) => {
                if self.accounts.failed(now, account, claim.waiter(), refused) {
                    self.places.give_back_all_of(account);
                }
                return calls;
            }
        }
        self.accounts.answered(account, &mut calls);
        calls
    }

    /// Gives back what is kept for an action that waits, or for a probe whose request was dropped
    /// without a report. Returns the rooms that may ask again.
    #[must_use]
    pub(crate) fn withdraw(
        &mut self,
        now: Timestamp,
        room: ChannelId,
        id: ActionId,
    ) -> Vec<Wakeup> {
        let (waiter, mut calls) = (claim::Waiter { room, id }, Vec::new());
        self.places.give_back(waiter);
        self.accounts.withdraw(now, waiter, &mut calls);
        self.calls.withdraw(now, waiter, &mut calls);
        self.consults.withdraw(now, waiter, &mut calls);
        calls
    }

    /// When [`Admission::due`] is to be asked next; `None` while nothing waits for a time.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let deadlines = [self.accounts.deadline(), self.calls.deadline(), self.consults.deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// Returns the rooms that may ask again because their time has come. To be asked also when the
    /// clock was set.
    #[must_use]
    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<Wakeup> {
        let mut calls = Vec::new();
        self.accounts.expire(now, &mut calls);
        self.calls.expire(now, &mut calls);
        self.consults.expire(now, &mut calls);
        calls
    }

    /// How much is kept for actions that wait or run, and of rate limits.
    #[cfg(test)]
    fn len(&self) -> usize {
        let pools = self.calls.len() + self.consults.len();
        self.places.len() + self.bars.len() + self.accounts.len() + pools
    }
}

/// Until a wake-up.
const WAIT: Verdict = Verdict::Wait { until: None };

#[cfg(test)]
mod tests;
