//! The requests, and their answers.

use std::collections::{BTreeMap, VecDeque};

use dirigent::UserId;
use dirigent::ports::Timestamp;

use super::endpoint::RestRoute;
use super::limits::Scope;

/// The most requests that are stored one by one.
const KEPT_MAX: usize = 10_000;

/// One request and its answer. It contains no text.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// use std::sync::Arc;
/// use dirigent_loopback::LoopbackDiscord;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let loopback = LoopbackDiscord::start(discord).await?;
/// assert!(loopback.traffic().newest().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceivedRequest {
    /// The time at which it came.
    pub at: Timestamp,
    /// The account of its token, or `None` without a valid one.
    pub account: Option<UserId>,
    /// The route, or `None` if the server does not have it.
    pub endpoint: Option<RestRoute>,
    /// The answer's status. It is `None` if the connection was cut, or if the request was left
    /// hanging.
    pub status: Option<u16>,
    /// The scope of a rate limit.
    pub scope: Option<Scope>,
}

/// All requests to the server since its start, with the results.
///
/// ```
/// use dirigent_loopback::{RestRoute, Traffic};
/// assert_eq!(Traffic::default().of(RestRoute::CreateMessage), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    counts: BTreeMap<(Option<RestRoute>, Option<u16>), u64>,
    invalid: u64,
    newest: VecDeque<ReceivedRequest>,
}

impl Traffic {
    /// Returns how many requests there were for a route.
    pub fn of(&self, endpoint: RestRoute) -> u64 {
        self.sum(|asked, _| asked == Some(endpoint))
    }

    /// Returns how many requests for a route got this status.
    pub fn answered(&self, endpoint: RestRoute, status: u16) -> u64 {
        self.counts.get(&(Some(endpoint), Some(status))).copied().unwrap_or(0)
    }

    /// Returns how many requests got this status.
    pub fn with_status(&self, status: u16) -> u64 {
        self.sum(|_, answered| answered == Some(status))
    }

    /// Returns how many requests got no answer, because the connection was cut or the request was
    /// left hanging.
    pub fn cut(&self) -> u64 {
        self.sum(|_, answered| answered.is_none())
    }

    /// Returns how many requests were for routes that the server does not have.
    pub fn unknown(&self) -> u64 {
        self.sum(|asked, _| asked.is_none())
    }

    /// Returns how many requests count towards a ban, for example with a wrong token: 401, 403, and
    /// 429 that is not shared.
    pub const fn invalid(&self) -> u64 {
        self.invalid
    }

    /// Returns how many requests there were.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the newest requests, oldest first, at most 10,000.
    pub fn newest(&self) -> Vec<ReceivedRequest> {
        self.newest.iter().cloned().collect()
    }

    pub(crate) fn record(&mut self, request: ReceivedRequest) {
        let is_bad = matches!(request.status, Some(401 | 403 | 429));
        if is_bad && request.scope != Some(Scope::Shared) {
            self.invalid += 1;
        }
        *self.counts.entry((request.endpoint, request.status)).or_insert(0) += 1;
        if self.newest.len() >= KEPT_MAX {
            self.newest.pop_front();
        }
        self.newest.push_back(request);
    }

    fn sum(&self, is_meant: impl Fn(Option<RestRoute>, Option<u16>) -> bool) -> u64 {
        let meant = self.counts.iter().filter(|((asked, status), _)| is_meant(*asked, *status));
        meant.map(|(_, count)| count).sum()
    }
}
