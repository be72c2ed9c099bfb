//! What the process in which agents live and the one that calls them ask each other.

use std::hash::{BuildHasher, RandomState};

use dirigent::ports::{Identity, Timestamp};
use dirigent::{AgentId, ChannelId, UserId};
use dirigent_relay::rules::MessageText;
use dirigent_relay::{HostId, RelayQuestion};
use serde::{Deserialize, Serialize};

use super::wire::{WireEmbed, WireError, WirePost, WireReply};
use crate::event::WireMessage;

/// One start of a process: the later one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Start {
    at: u64,
    /// Tells two of the same moment apart.
    salt: u64,
}

impl Start {
    pub(super) fn new(now: Timestamp) -> Self {
        let salt = RandomState::new().hash_one(now.as_millis());
        Self { at: now.as_millis(), salt }
    }

    /// Whether this is a start after that one, as far as clocks tell.
    pub(super) const fn is_after(self, other: Self) -> bool {
        self.at > other.at
    }
}

/// A call, as the process that makes it names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct CallId {
    pub(super) start: Start,
    pub(super) number: u64,
}

/// The newest announcement that was heard.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Announced {
    pub(super) start: Start,
    pub(super) number: u64,
}

/// These agents live in the asking process, and these calls of the asked one run there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Announce {
    pub(super) announced: Announced,
    pub(super) agents: Vec<AgentId>,
    pub(super) calls: Vec<RunningCall>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct RunningCall {
    pub(super) call: CallId,
    /// What it cost until now.
    pub(super) cost: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct AnnounceAnswer {
    /// The calls that are not under way here.
    pub(super) unknown: Vec<CallId>,
    /// The agents that another process announces, and which that is.
    pub(super) refused: Vec<(AgentId, HostId)>,
}

impl RelayQuestion for Announce {
    const RULE: &'static str = "announce-agents";
    type Answer = AnnounceAnswer;
}

/// Call this agent.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BeginCall {
    pub(super) call: CallId,
    pub(super) announced: Announced,
    pub(super) channel_id: ChannelId,
    pub(super) agent_id: AgentId,
    pub(super) turn: WireTurn,
    pub(super) steering: Steering,
}

/// What is so from a turn's beginning.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTurn {
    pub(super) number: u64,
    pub(super) is_after_reminder: bool,
    pub(super) attempt: u8,
    pub(super) newest: Option<MessageText>,
    /// The first of the messages that were missed.
    pub(super) missed: Vec<WireMessage>,
    /// How many were missed in all. The rest is asked for by [`CallMissed`].
    #[serde(default)]
    pub(super) missed_count: usize,
    pub(super) left_out: usize,
    #[serde(default)]
    pub(super) others_left_out: usize,
    pub(super) late_answer: Option<String>,
    pub(super) late_embeds: Vec<WireEmbed>,
    pub(super) is_repeated: bool,
    pub(super) me: Option<Identity>,
    pub(super) others: Vec<Identity>,
    pub(super) guide: Option<String>,
}

/// How a turn stands now.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Steering {
    /// Rises: what is older than what was taken is left aside.
    pub(super) step: u64,
    pub(super) is_cancelled: bool,
    pub(super) is_slow: bool,
    pub(super) is_paused: bool,
    pub(super) time_left_ms: Option<u64>,
    /// The place of the first of these messages among all that people wrote during the turn.
    pub(super) first: usize,
    pub(super) messages: Vec<WireMessage>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum BeginAnswer {
    /// It runs, or ran. A later announcement than this one names it while it is not over.
    Begun { announced: u64, injected: usize },
    /// It ran, and was given up.
    Over,
    /// Not now: the announcement is too old, the process is about to end, or a later turn of the channel runs there.
    NotNow,
    /// The agent lives there no more.
    NoSuchAgent,
}

impl RelayQuestion for BeginCall {
    const RULE: &'static str = "begin-call";
    type Answer = BeginAnswer;
}

/// A call stands otherwise.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SteerCall {
    pub(super) call: CallId,
    pub(super) announced: Announced,
    pub(super) steering: Steering,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SteerAnswer {
    /// How many messages were handed over in all; `None` where the call does not run.
    pub(super) injected: Option<usize>,
}

impl RelayQuestion for SteerCall {
    const RULE: &'static str = "steer-call";
    type Answer = SteerAnswer;
}

/// A call ended.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct EndCall {
    pub(super) call: CallId,
    pub(super) end: WireEnd,
    /// How many of the messages that people wrote meanwhile the agent took.
    pub(super) taken: usize,
    pub(super) cost: u64,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum WireEnd {
    Reply(WireReply),
    Failed(String),
    Panicked,
}

impl RelayQuestion for EndCall {
    const RULE: &'static str = "end-call";
    /// Whether the call was under way.
    type Answer = bool;
}

/// What was said in the channel of a call?
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CallTranscript {
    pub(super) call: CallId,
    pub(super) limit: usize,
}

impl RelayQuestion for CallTranscript {
    const RULE: &'static str = "call-transcript";
    type Answer = Result<Vec<WireMessage>, WireError>;
}

/// What was missed before a call, from this place on?
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct CallMissed {
    pub(super) call: CallId,
    pub(super) first: usize,
}

impl RelayQuestion for CallMissed {
    const RULE: &'static str = "call-missed";
    /// As many as fit, oldest first; `None` where the call is not under way.
    type Answer = Option<Vec<WireMessage>>;
}

/// Use the account of this agent.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UseAccount {
    pub(super) agent_id: AgentId,
    pub(super) ask: AccountAsk,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AccountAsk {
    Me,
    Post(WirePost),
    Delete { channel: ChannelId, message: MessageText },
    History { channel: ChannelId, after: Option<MessageText>, limit: u8 },
    Members { channel: ChannelId, among: Vec<UserId> },
    Typing { channel: ChannelId },
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AccountDone {
    Me(UserId),
    Posted {
        id: MessageText,
        deduplicated: bool,
    },
    Done,
    History {
        messages: Vec<WireMessage>,
        /// Whether the account surely may read the channel.
        reads: Option<bool>,
    },
    Members(Vec<UserId>),
}

impl RelayQuestion for UseAccount {
    const RULE: &'static str = "use-account";
    type Answer = Result<AccountDone, WireError>;
}
