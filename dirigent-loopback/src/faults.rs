//! What goes wrong on demand between a client and the server.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::UserId;

use super::endpoint::RestRoute;
use super::limits::Scope;
use dirigent_testkit::Random;

/// What may happen to a request.
///
/// ```
/// use dirigent_loopback::RestFault;
/// assert!(RestFault::LostAnswer.is_applied());
/// assert!(!RestFault::NotDelivered.is_applied());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestFault {
    /// It is carried out, and the connection is cut before the answer.
    LostAnswer,
    /// The connection is cut, and it is not carried out.
    NotDelivered,
    /// It is carried out, and the answer takes this long.
    SlowAnswer {
        /// How long.
        by: Duration,
    },
    /// It takes this long until it is carried out.
    SlowRequest {
        /// How long.
        by: Duration,
    },
    /// 500 and JSON, or 502 and a page in HTML as from a server in between.
    ServerError {
        /// 500 or 502.
        status: u16,
        /// Whether it is carried out all the same.
        is_applied: bool,
    },
    /// 429, as when a limit is reached.
    RateLimited {
        /// Whose limit.
        scope: Scope,
        /// How long to wait.
        retry_after: Duration,
    },
    /// 429 from before Discord itself: no scope, no bucket, a page in HTML.
    TurnedAway {
        /// How long to wait.
        retry_after: Duration,
    },
    /// 401: the token is not accepted.
    Unauthorized,
    /// 403, code 50013.
    Forbidden,
}

impl RestFault {
    /// Whether the request is carried out all the same.
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

/// What goes wrong, and when: some faults for the next request of a kind, others by chance from a seed.
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
    /// Nothing goes wrong yet; chance will come from this seed.
    pub const fn new(seed: u64) -> Self {
        Self { dice: Random::new(seed), planned: VecDeque::new(), rates: Vec::new() }
    }

    /// Lets requests for a route, or for all, go wrong in this way, at a rate in thousandths.
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

    /// Lets the next request for this route go wrong, or the one after those already planned.
    pub fn next(&mut self, endpoint: RestRoute, fault: RestFault) {
        self.planned.push_back(Planned { account: None, endpoint, fault });
    }

    /// Lets the next request of one account for this route go wrong.
    pub fn next_by(&mut self, account: UserId, endpoint: RestRoute, fault: RestFault) {
        self.planned.push_back(Planned { account: Some(account), endpoint, fault });
    }

    /// Ends all faults, planned ones too.
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
