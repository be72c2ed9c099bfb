//! Faults on demand between a client and the server.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::UserId;

use super::endpoint::RestRoute;
use super::limits::Scope;
use dirigent_testkit::Random;

/// A fault of a request.
///
/// ```
/// use dirigent_loopback::RestFault;
/// assert!(RestFault::LostAnswer.is_applied());
/// assert!(!RestFault::NotDelivered.is_applied());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestFault {
    /// The request is performed, but the connection is cut before the answer.
    LostAnswer,
    /// The connection is cut, and the request is not performed.
    NotDelivered,
    /// The request is performed, but the answer is late.
    SlowAnswer {
        /// The delay.
        by: Duration,
    },
    /// The request is performed late.
    SlowRequest {
        /// The delay.
        by: Duration,
    },
    /// The answer is 500 with JSON, or 502 with an HTML page as from a proxy.
    ServerError {
        /// 500 or 502.
        status: u16,
        /// True if the request is performed nevertheless.
        is_applied: bool,
    },
    /// The answer is 429, as if a limit were reached.
    RateLimited {
        /// The scope of the limit.
        scope: Scope,
        /// The time to wait.
        retry_after: Duration,
    },
    /// The answer is 429 from a proxy before Discord, with an HTML page and without scope or bucket.
    TurnedAway {
        /// The time to wait.
        retry_after: Duration,
    },
    /// The answer is 401, because the token is not accepted.
    Unauthorized,
    /// The answer is 403, with code 50013.
    Forbidden,
}

impl RestFault {
    /// Returns true if the request is performed nevertheless.
    pub const fn is_applied(self) -> bool {
        match self {
            Self::LostAnswer | Self::SlowAnswer { .. } | Self::SlowRequest { .. } => true,
            Self::ServerError { is_applied, .. } => is_applied,
            Self::NotDelivered
            | Self::RateLimited { .. }
            | Self::TurnedAway { .. }
            | Self::Unauthorized
            | Self::Forbidden => false,
        }
    }
}

/// A plan of faults: some for the next request to a route, others at random from a seed.
///
/// ```
/// use dirigent_loopback::{RestRoute, RestFault, RestFaults};
///
/// let mut faults = RestFaults::new(42).with_rate(None, RestFault::LostAnswer, 20);
/// faults.next(RestRoute::CreateMessage, RestFault::NotDelivered);
/// ```
#[derive(Clone, Debug)]
pub struct RestFaults {
    dice: Random,
    planned: VecDeque<Planned>,
    rates: Vec<Rate>,
}

#[derive(Clone, Copy, Debug)]
struct Planned {
    account: Option<UserId>,
    endpoint: RestRoute,
    fault: RestFault,
}

#[derive(Clone, Copy, Debug)]
struct Rate {
    endpoint: Option<RestRoute>,
    fault: RestFault,
    per_mille: u32,
}

impl RestFaults {
    /// Creates a plan without faults. Random faults will come from this seed.
    pub const fn new(seed: u64) -> Self {
        Self { dice: Random::new(seed), planned: VecDeque::new(), rates: Vec::new() }
    }

    /// Adds a fault to requests for a route, or for all routes, at a rate in thousandths.
    #[must_use]
    pub fn with_rate(
        mut self,
        endpoint: Option<RestRoute>,
        fault: RestFault,
        per_mille: u32,
    ) -> Self {
        self.rates.push(Rate { endpoint, fault, per_mille });
        self
    }

    /// Plans a fault for the next request for this route, after those already planned.
    pub fn next(&mut self, endpoint: RestRoute, fault: RestFault) {
        self.planned.push_back(Planned { account: None, endpoint, fault });
    }

    /// Plans a fault for the next request of one account for this route.
    pub fn next_by(&mut self, account: UserId, endpoint: RestRoute, fault: RestFault) {
        self.planned.push_back(Planned { account: Some(account), endpoint, fault });
    }

    /// Ends all faults, including planned ones.
    pub fn stop(&mut self) {
        self.planned.clear();
        self.rates.clear();
    }

    pub(crate) fn draw(
        &mut self,
        account: Option<UserId>,
        endpoint: RestRoute,
    ) -> Option<RestFault> {
        let hits = |planned: &Planned| {
            planned.endpoint == endpoint && planned.account.is_none_or(|only| Some(only) == account)
        };
        let place = self.planned.iter().position(hits);
        if let Some(planned) = place.and_then(|place| self.planned.remove(place)) {
            return Some(planned.fault);
        }
        if self.rates.is_empty() {
            return None;
        }
        let fits = |rate: &&Rate| rate.endpoint.is_none_or(|only| only == endpoint);
        let rates = self.rates.iter().filter(fits);
        self.dice.by_rate(rates.map(|rate| (rate.fault, rate.per_mille)))
    }
}
