//! Limits that the JSON configuration does not have.

use std::time::Duration;

/// Limits of a message. You change them with [`RouterBuilder::limits`](crate::RouterBuilder::limits).
///
/// ```
/// let limits = dirigent_delegate::RouterLimits::default();
/// assert_eq!((limits.queue, limits.calls, limits.rounds, limits.identical), (64, 16, 1, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouterLimits {
    /// The longest time of a message, if [`UserRequest::timeout`](crate::UserRequest::timeout) sets none. Default 15
    /// minutes.
    pub request: Duration,
    /// The longest time of one request to a routing model. Default 60 s.
    pub model: Duration,
    /// The longest time of a delegation, if the agent's configuration sets none. Default 5 minutes.
    pub delegate: Duration,
    /// The most delegations that wait for a place, over all messages of a router. Further ones fail.
    ///
    /// Sessions share the queue fairly. If it is full, a session with few waiting delegations gets a place in it, and
    /// the newest one of the session with the most fails. Default 64.
    pub queue: usize,
    /// The most delegations for one message, over all of its rounds. Further ones fail, so that one message cannot take
    /// the places of all others. Default 16.
    pub calls: u32,
    /// The most rounds in which the routing model may call agents for one message. With 1, the default, it is not asked
    /// again, and the results are the answer. With more it reads the results and can call again. What it says last is
    /// added to the results.
    pub rounds: u32,
    /// How often an agent may get the same text while one message of a person is answered. Default 2.
    pub identical: u32,
}

impl Default for RouterLimits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(15 * 60),
            model: Duration::from_secs(60),
            delegate: Duration::from_secs(5 * 60),
            queue: 64,
            calls: 16,
            rounds: 1,
            identical: 2,
        }
    }
}
