//! How much, how often and how long, beyond what is configured in JSON.

use std::time::Duration;

/// What bounds a message. Set with [`RouterBuilder::limits`](crate::RouterBuilder::limits).
///
/// ```
/// let limits = dirigent_delegate::RouterLimits::default();
/// assert_eq!((limits.queue, limits.calls, limits.rounds, limits.identical), (64, 16, 1, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouterLimits {
    /// How long a message may take where [`UserRequest::timeout`](crate::UserRequest::timeout) says nothing. Default 15 minutes.
    pub request: Duration,
    /// How long one request to a routing model may take. Default 60 s.
    pub model: Duration,
    /// How long a delegation may take to an agent whose configuration has no time of its own. Default 5 minutes.
    pub delegate: Duration,
    /// The most delegations that wait for a place, over all messages of a router. One that is called beyond them fails. Sessions
    /// share the queue: a session with few that wait makes room for itself, and the newest one of the session with most fails.
    /// Default 64.
    pub queue: usize,
    /// The most delegations for one message, over all of its rounds. One that is called beyond them fails, so that one message cannot
    /// take the places of all others. Default 16.
    pub calls: u32,
    /// How often the routing model may call agents for one message. With 1 it is not asked again, and the results are the
    /// answer. With more it is given what each call came to, and may call again, or say something last, which is added to the
    /// results. Default 1.
    pub rounds: u32,
    /// How often the same agent may be given the same message for one message of a person. Default 2.
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
