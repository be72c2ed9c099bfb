//! Limits on amounts, on work at the same time, and on waits.

use std::time::Duration;

/// The time limit of one attempt at a store. It is also the limit of a request at the start or of a tool, with all its
/// retries.
pub(crate) const WORK_TIME: Duration = Duration::from_secs(30);

/// The number of retries of a failed request at the start and of tools. The posts of a room are retried for as long as
/// they are needed.
pub(crate) const RETRIES: u32 = 3;

/// The number of transitions that are kept for a slow listener. Beyond it the listener lags.
pub(crate) const TRANSITIONS_KEPT: usize = 1_024;

/// The number of channels that one poll checks for lost events.
pub(crate) const LOOKED_AT: usize = 100;

/// Limits on amounts, and on work at the same time.
///
/// ```
/// let limits = dirigent::settings::LimitRules::default();
/// assert_eq!((limits.reply_parts_max, limits.missed_max), (10, 500));
/// assert_eq!(limits.creations.map(|pace| pace.burst), Some(5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitRules {
    /// The rate limits for posts.
    pub pacing: Pacing,
    /// The highest number of messages for a reply of a hosted agent, or for an answer of the orchestrator. It is 1 to
    /// 1,000, and the default is 10. Text beyond it is not posted, and one more message says so.
    ///
    /// The agent gets that text back with its next turn ([`Turn::late_answer`](crate::Turn::late_answer)), if it is not
    /// longer than 32 KiB. If some messages of the shortened reply were not posted either, they come before it.
    pub reply_parts_max: usize,
    /// The limit on channels that one agent may create with the [tools](crate::tools), including discussions, in all
    /// guilds together. The default is 5 in an hour, which stops an agent that creates channels in a loop. `None` sets
    /// no limit, and a burst of 0 allows no channel.
    ///
    /// A call beyond the limit fails before a channel is created
    /// ([`CreationLimit`](crate::tools::ToolError::CreationLimit)). An attempt does not count if it surely created no
    /// channel, but it counts if this is unknown. The counters are in memory and use the driver's clock, so a restart
    /// resets them.
    pub creations: Option<Pace>,
    /// The number of messages that a poll reads, 1 to 100. The default is 20.
    pub poll_limit: u8,
    /// The highest number of messages that an agent gets with a turn ([`Turn::missed`](crate::Turn::missed)). It is at
    /// least 1, and the default is 500. If people wrote more, the oldest messages come first, and the rest comes with
    /// the agent's next turns.
    ///
    /// The channel wakes by itself for the rest. The exceptions are a channel that reached a ceiling, one in which an
    /// agent awaits a person, and one in which each agent failed. Such a channel goes on at the next message of a
    /// person.
    pub missed_max: usize,
    /// The approximate number of bytes of messages that an agent gets with a turn: their texts, plus 32 for each
    /// message. The agent always gets at least one message. The default is 64 KiB.
    pub missed_bytes_max: usize,
    /// The approximate number of bytes of messages that the whole process keeps in memory for agents that have not got
    /// them yet. Above this limit the channel that was idle longest drops its messages. They are read from the chat
    /// again when an agent needs them. The default is 64 MiB.
    pub texts_bytes_max: usize,
    /// The highest number of hosted agents that run at once, and of questions to the orchestrator at once. Each is
    /// counted by itself, because a question is often asked while an agent runs. Further calls wait. The default is
    /// 1,024.
    pub calls_max: usize,
    /// The highest number of calls of one hosted agent at once, in all channels together, at least 1. Set it if your
    /// model takes no more, for example because it runs on one graphics card. Further calls wait, and the oldest goes
    /// first. The default is `None`: only [`LimitRules::calls_max`] limits them.
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

/// Limits on waits, and on how far back messages are read.
///
/// ```
/// let limits = dirigent::settings::TimeLimits::default();
/// assert_eq!((limits.request.as_secs(), limits.call.as_secs()), (10, 10));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeLimits {
    /// The time limit of one attempt at the chat. After that it counts as unanswered. The default is 10 s.
    pub request: Duration,
    /// The longest wait of a public call for the store. The default is 10 s.
    pub call: Duration,
    /// The age limit of people's messages that were missed while the process was down. Only younger ones wake a
    /// channel. The default is 15 min.
    ///
    /// Messages may also be missed while the process is up, because the gateway or the network was away. They wake a
    /// channel if they are younger than [`Deadlines::outage_max`](super::Deadlines::outage_max), by default 1 h,
    /// because this is how long Dirigent waits for a chat that is away.
    pub missed_wake_max: Duration,
    /// The interval of the poll that checks channels for lost events, at least a second. The default is 5 min. Each
    /// poll checks 100 channels, with one request for each unless much was missed. Channels in memory come first,
    /// because they spoke in the last minutes. The others follow in turn, and always get at least a quarter of the
    /// poll. A channel that becomes dormant is checked once more, unless it was checked after its last message.
    ///
    /// `None` switches the poll off. A lost event is then found at the next restart or
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

/// Rate limits for posts. Each limit allows `burst` posts within `window`.
///
/// ```
/// use dirigent::settings::Pacing;
/// assert!(Pacing::off().channel.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pacing {
    /// The limit on posts in one channel. The default is 5 in 5 s.
    pub channel: Option<Pace>,
    /// The limit on triggers for one agent in one channel. The default is 15 in 60 s.
    pub agent: Option<Pace>,
    /// The limit on posts in all channels together. The default is 40 in 1 s, below Discord's 50 requests.
    pub global: Option<Pace>,
}

/// A limit on posts, or on new channels, within a period of time.
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
    /// The highest number of them.
    pub burst: usize,
    /// The period. The limit holds for any period of this length.
    pub window: Duration,
}

impl Pacing {
    /// No rate limits, for tests and for chats without limits.
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
