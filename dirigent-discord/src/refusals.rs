//! Remembers what Discord refused, so that it is not requested again for a while.

use std::collections::HashMap;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::Timestamp;

use crate::RestError;
use crate::route::RouteKey;

/// The pause of all requests with this token after a 401.
const TOKEN_REST: Duration = Duration::from_secs(300);

/// The number of 403 in a row after which a route pauses.
const FORBIDDEN_MAX: u32 = 3;

/// The longest time that a shorter row of 403 is remembered.
const ROW_KEPT: Duration = Duration::from_secs(300);

/// The first pause of a forbidden route. The first request after it is a trial: after one more 403 the pause is twice
/// as long.
const REST_MIN: Duration = Duration::from_secs(10);

const REST_MAX: Duration = Duration::from_secs(300);

/// The number of remembered routes above which those without a pause are dropped.
const SWEEP_AT: usize = 4_096;

/// The routes that pause, and the end of their pauses.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    token: Option<Timestamp>,
    routes: HashMap<RouteKey, Forbidden>,
}

#[derive(Clone, Copy, Debug)]
struct Forbidden {
    in_a_row: u32,
    /// The time until which the row is remembered or, once it is long enough, the route pauses.
    until: Timestamp,
}

impl Refusals {
    /// Returns why a request is not even sent.
    pub(crate) fn check(&self, now: Timestamp, route: RouteKey) -> Option<RestError> {
        if route.shows_token && self.token.is_some_and(|until| now < until) {
            return Some(RestError::TokenRefused);
        }
        let forbidden = self.routes.get(&route)?;
        let rests = forbidden.in_a_row >= FORBIDDEN_MAX && now < forbidden.until;
        rests.then_some(RestError::RouteRefused)
    }

    pub(crate) fn answered(&mut self, now: Timestamp, route: RouteKey, status: http::StatusCode) {
        match status.as_u16() {
            401 if route.shows_token => self.token = Some(now + TOKEN_REST),
            403 => self.forbidden(now, route),
            200..=299 => {
                self.token = self.token.filter(|_| !route.shows_token);
                self.routes.remove(&route);
            }
            // Any other status says nothing about permissions.
            _ => {}
        }
    }

    /// Ends the pauses of all routes in these channels, because permissions may have changed.
    pub(crate) fn rights_changed(&mut self, channels: &[ChannelId]) {
        if !self.routes.is_empty() {
            let is_there = |route: &RouteKey| channels.iter().any(|it| it.get() == route.major);
            self.routes.retain(|route, _| !is_there(route));
        }
    }

    fn forbidden(&mut self, now: Timestamp, route: RouteKey) {
        if self.routes.len() >= SWEEP_AT {
            self.routes.retain(|_, forbidden| now < forbidden.until);
        }
        if self.routes.len() >= SWEEP_AT {
            self.routes.clear();
        }
        let known = self.routes.get(&route).copied();
        let in_a_row = match known {
            // A row that was long enough stays so, because the first trial after the pause decides.
            Some(known) if known.in_a_row >= FORBIDDEN_MAX || now < known.until => {
                known.in_a_row.saturating_add(1)
            }
            Some(_) | None => 1,
        };
        let row = in_a_row.checked_sub(FORBIDDEN_MAX);
        let rest = |row: u32| REST_MIN.saturating_mul(1 << row.min(8)).min(REST_MAX);
        let until = now + row.map_or(ROW_KEPT, rest);
        self.routes.insert(route, Forbidden { in_a_row, until });
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const POST: RouteKey = RouteKey::new("create message", 7);

    /// F22
    #[test]
    fn a_401_lets_the_token_rest_and_then_tries_again() {
        let mut refusals = Refusals::default();
        refusals.answered(NOW, POST, StatusCode::UNAUTHORIZED);
        let other = RouteKey::new("get channel", 8);
        assert_eq!(refusals.check(NOW, other), Some(RestError::TokenRefused));
        assert_eq!(refusals.check(NOW + TOKEN_REST, other), None);
        refusals.answered(NOW, POST, StatusCode::OK);
        assert_eq!(refusals.check(NOW, other), None, "it works again");
    }

    /// F22
    #[test]
    fn a_route_rests_after_three_refusals_in_a_row() {
        let mut refusals = Refusals::default();
        for _ in 0..2 {
            refusals.answered(NOW, POST, StatusCode::FORBIDDEN);
            assert_eq!(refusals.check(NOW, POST), None);
        }
        refusals.answered(NOW, POST, StatusCode::NOT_FOUND);
        refusals.answered(NOW, POST, StatusCode::FORBIDDEN);
        assert_eq!(refusals.check(NOW, POST), Some(RestError::RouteRefused));
        assert_eq!(refusals.check(NOW, RouteKey::new("create message", 8)), None);
        let mut now = NOW;
        for rest in [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000] {
            let before = now + Duration::from_millis(rest - 1);
            assert_eq!(refusals.check(before, POST), Some(RestError::RouteRefused), "{rest}");
            now = now + Duration::from_millis(rest);
            assert_eq!(refusals.check(now, POST), None, "one try");
            refusals.answered(now, POST, StatusCode::FORBIDDEN);
            assert_eq!(refusals.check(now, POST), Some(RestError::RouteRefused), "at once again");
        }
    }

    #[test]
    fn a_rest_ends_when_rights_change_in_its_channel() {
        let mut refusals = Refusals::default();
        for _ in 0..3 {
            refusals.answered(NOW, POST, StatusCode::FORBIDDEN);
        }
        refusals.rights_changed(&[ChannelId::new(8)]);
        assert_eq!(refusals.check(NOW, POST), Some(RestError::RouteRefused));
        refusals.rights_changed(&[ChannelId::new(8), ChannelId::new(7)]);
        assert_eq!(refusals.check(NOW, POST), None);
    }

    /// F22: now and then a refusal is no reason to stop.
    #[test]
    fn what_works_in_between_ends_the_row() {
        let mut refusals = Refusals::default();
        for _ in 0..5 {
            refusals.answered(NOW, POST, StatusCode::FORBIDDEN);
            refusals.answered(NOW, POST, StatusCode::FORBIDDEN);
            assert_eq!(refusals.check(NOW, POST), None);
            refusals.answered(NOW, POST, StatusCode::NO_CONTENT);
        }
        for hour in 1..9 {
            let now = NOW + Duration::from_secs(hour * 3_600);
            refusals.answered(now, POST, StatusCode::FORBIDDEN);
            assert_eq!(refusals.check(now, POST), None, "hours lie between");
        }
    }
}
