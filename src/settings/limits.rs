//! How much, how many at once, and how long is waited.

use std::time::Duration;

/// How long one attempt at a store may take, and a request at the start or of a tool with all its repetitions.
pub(crate) const WORK_TIME: Duration = Duration::from_secs(30);

/// Repetitions of a failed request at the start and of tools. What a room posts is repeated for as long as it is wanted.
pub(crate) const RETRIES: u32 = 3;

/// Transitions kept for a slow listener; then it lags.
pub(crate) const TRANSITIONS_KEPT: usize = 1_024;

/// How many channels are looked at each time for messages of which no event told.
pub(crate) const LOOKED_AT: usize = 100;

/// How much, and how many at once.
///
/// ```
/// let limits = dirigent::settings::LimitRules::default();
/// assert_eq!((limits.reply_parts_max, limits.missed_max), (10, 500));
/// assert_eq!(limits.creations.map(|pace| pace.burst), Some(5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitRules {
    /// How often may be posted.
    pub pacing: Pacing,
    /// Most messages that the reply of a hosted agent, or an answer of the orchestrator, is posted as: 1 to
    /// 1,000, default 10. What is beyond is not posted, and one message more says so. The agent is handed it back
    /// with its next turn ([`Turn::late_answer`](crate::Turn::late_answer)), if it is not longer than 32 KiB. If a
    /// reply that was cut is not posted whole either, its messages that were not posted come before that.
    pub reply_parts_max: usize,
    /// How many channels one agent may create with the [tools](crate::tools), discussions included, in all guilds together.
    /// Default 5 in an hour, which stops an agent that creates channels in a loop; `None` sets no limit, and a burst of 0 allows none.
    /// A call beyond it is refused before anything is created ([`CreationLimit`](crate::tools::ToolError::CreationLimit)). Attempts
    /// that surely created nothing do not count; those of which that is not known do. Counted in memory, by the driver's clock: a
    /// restart begins anew.
    pub creations: Option<Pace>,
    /// Messages read by a poll, 1 to 100. Default 20.
    pub poll_limit: u8,
    /// Most messages that an agent is handed with a turn ([`Turn::missed`](crate::Turn::missed)), at least 1. If people said
    /// more, the oldest come first and the rest comes with the agent's next turns: the channel wakes for it by itself, unless
    /// it reached a ceiling, an agent awaits a person, or each agent failed. Then it goes on at the next message of a
    /// person. Default 500.
    pub missed_max: usize,
    /// About how many bytes of messages an agent is handed with a turn: their texts, and 32 for each besides. One message
    /// always is. Default 64 KiB.
    pub missed_bytes_max: usize,
    /// About how many bytes of messages the whole process keeps in memory for agents that are still to be handed them. Above,
    /// the channel that was idle longest lets its own go; they are read again from the chat once an agent needs them.
    /// Default 64 MiB.
    pub texts_bytes_max: usize,
    /// Most hosted agents that run at once, and most questions to the orchestrator that are asked at once, each counted by
    /// itself: a question is often asked while an agent runs. Default 1,024; what is beyond waits.
    pub calls_max: usize,
    /// Most calls of one hosted agent at once, in all channels together, at least 1. Set it if your model takes no more, for
    /// example because it runs on one graphics card. Further calls wait, and the oldest goes first. Default: only
    /// [`LimitRules::calls_max`] limits them.
    pub agent_calls_max: Option<usize>,
}

impl Default for LimitRules {
    fn default() -> Self {
        Self {
            pacing: Pacing::default(),
            reply_parts_max: 10,
            creations: Some(Pace { burst: 5, window: Duration::from_secs(3_600) }),
            poll_limit: 20,
            missed_max: 500,
            missed_bytes_max: 64 * 1_024,
            texts_bytes_max: 64 * 1_024 * 1_024,
            calls_max: 1_024,
            agent_calls_max: None,
        }
    }
}

/// How long is waited, and how far is looked back.
///
/// ```
/// let limits = dirigent::settings::TimeLimits::default();
/// assert_eq!((limits.request.as_secs(), limits.call.as_secs()), (10, 10));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeLimits {
    /// How long one attempt at the chat may take before it counts as unanswered. Default 10 s.
    pub request: Duration,
    /// How long a public call may wait for the store. Default 10 s.
    pub call: Duration,
    /// Human messages missed while the process was down wake a channel only if they are younger. Default
    /// 15 min. Those missed while it was up, since the gateway or the network was away, wake as long as a
    /// chat that is away is waited for, too: if they are younger than
    /// [`Deadlines::outage_max`](super::Deadlines::outage_max), by default 1 h.
    pub missed_wake_max: Duration,
    /// How often channels are looked at for messages of which no event told, at least a second. Each time it is 100 of them, each
    /// with one request unless much was missed: first those in memory, which spoke in the last minutes, then the others in turn,
    /// to which a quarter is always left. A channel that becomes dormant is looked at once more, if it was not since
    /// something was said there. Default 5 min. `None`: never; then a lost event is found by the next restart or
    /// [`Dirigent::reconnected`](crate::Dirigent::reconnected), unless the channel became dormant before.
    pub backfill: Option<Duration>,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            call: Duration::from_secs(10),
            missed_wake_max: Duration::from_secs(900),
            backfill: Some(Duration::from_secs(300)),
        }
    }
}

/// How often may be posted: a burst within a window each.
///
/// ```
/// use dirigent::settings::Pacing;
/// assert!(Pacing::off().channel.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pacing {
    /// Posts in one channel. Default 5 in 5 s.
    pub channel: Option<Pace>,
    /// Triggers for one agent in one channel. Default 15 in 60 s.
    pub agent: Option<Pace>,
    /// Posts in all channels together. Default 40 in 1 s, below Discord's 50 requests.
    pub global: Option<Pace>,
}

/// A number of posts, or of channels created, within a length of time.
///
/// ```
/// use dirigent::settings::Pace;
/// use std::time::Duration;
/// let pace = Pace { burst: 5, window: Duration::from_secs(5) };
/// assert_eq!(pace.burst, 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that hosts write down")]
pub struct Pace {
    /// The most of them.
    pub burst: usize,
    /// In any stretch of this length.
    pub window: Duration,
}

impl Pacing {
    /// No pacing: for tests and for chats without limits.
    pub const fn off() -> Self {
        Self { channel: None, agent: None, global: None }
    }
}

impl Default for Pacing {
    fn default() -> Self {
        let pace = |burst, seconds| Some(Pace { burst, window: Duration::from_secs(seconds) });
        Self { channel: pace(5, 5), agent: pace(15, 60), global: pace(40, 1) }
    }
}
