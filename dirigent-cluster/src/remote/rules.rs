//! What the process in which agents live and the one that calls them ask each other.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use dirigent::ports::{
    ApiError, Embed, HistoryRequest, Identity, Post, PostFailure, Posted, Timestamp,
};
use dirigent::{AgentId, ChannelId, ChatMessage, MessageId, Reply, UserId};
use dirigent_relay::{HostId, RelayQuestion};
use serde::{Deserialize, Serialize};

/// One start of a process: the later one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Start {
    at: u64,
    /// Tells two of the same moment apart.
    salt: u64,
}

impl Start {
    pub(crate) fn new(now: Timestamp) -> Self {
        let salt = RandomState::new().hash_one(now.as_millis());
        Self { at: now.as_millis(), salt }
    }

    /// Whether this is a start after that one, as far as clocks tell.
    pub(crate) const fn is_after(self, other: Self) -> bool {
        self.at > other.at
    }
}

/// A call, as the process that makes it names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct CallId {
    pub(crate) start: Start,
    pub(crate) number: u64,
}

/// The newest announcement that was heard.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Announced {
    pub(crate) start: Start,
    pub(crate) number: u64,
}

/// These agents live in the asking process, and these calls of the asked one run there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Announce {
    pub(crate) announced: Announced,
    pub(crate) agents: Vec<AgentId>,
    pub(crate) calls: Vec<RunningCall>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RunningCall {
    pub(crate) call: CallId,
    /// What it cost until now.
    pub(crate) cost: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AnnounceAnswer {
    /// The calls that are not under way here.
    pub(crate) unknown: Vec<CallId>,
    /// The agents that another process announces.
    pub(crate) refused: Vec<AnnouncedBefore>,
}

/// An agent that another process announced before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnnouncedBefore {
    pub(crate) agent_id: AgentId,
    pub(crate) host: HostId,
}

impl RelayQuestion for Announce {
    const RULE: &'static str = "announce-agents";
    type Answer = AnnounceAnswer;
}

/// Call this agent.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BeginCall {
    pub(crate) call: CallId,
    pub(crate) announced: Announced,
    pub(crate) channel_id: ChannelId,
    pub(crate) agent_id: AgentId,
    pub(crate) turn: GivenTurn,
    pub(crate) steering: Steering,
}

/// What is so from a turn's beginning.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GivenTurn {
    pub(crate) number: u64,
    pub(crate) is_after_reminder: bool,
    pub(crate) attempt: u8,
    #[serde(
        default,
        with = "dirigent::written::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) newest: Option<MessageId>,
    /// The first of the messages that were missed.
    pub(crate) missed: Vec<Arc<ChatMessage>>,
    /// How many were missed in all. The rest is asked for by [`CallMissed`].
    #[serde(default)]
    pub(crate) missed_count: usize,
    pub(crate) left_out: usize,
    #[serde(default)]
    pub(crate) others_left_out: usize,
    pub(crate) late_answer: Option<String>,
    pub(crate) late_embeds: Vec<Embed>,
    /// Why the chat did not take that answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) post_failure: Option<PostFailure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) late_files: Vec<String>,
    pub(crate) is_repeated: bool,
    pub(crate) me: Option<Identity>,
    pub(crate) others: Vec<Identity>,
    pub(crate) guide: Option<String>,
}

/// How a turn stands now.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Steering {
    /// Rises: what is older than what was taken is left aside.
    pub(crate) step: u64,
    pub(crate) is_cancelled: bool,
    pub(crate) is_slow: bool,
    pub(crate) is_paused: bool,
    pub(crate) time_left_ms: Option<u64>,
    /// The place of the first of these messages among all that people wrote during the turn.
    pub(crate) first: usize,
    pub(crate) messages: Vec<Arc<ChatMessage>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(crate) enum BeginAnswer {
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
pub(crate) struct SteerCall {
    pub(crate) call: CallId,
    pub(crate) announced: Announced,
    pub(crate) steering: Steering,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SteerAnswer {
    /// How many messages were handed over in all; `None` where the call does not run.
    pub(crate) injected: Option<usize>,
}

impl RelayQuestion for SteerCall {
    const RULE: &'static str = "steer-call";
    type Answer = SteerAnswer;
}

/// A call ended.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct EndCall {
    pub(crate) call: CallId,
    pub(crate) end: CallEnd,
    /// How many of the messages that people wrote meanwhile the agent took.
    pub(crate) taken: usize,
    pub(crate) cost: u64,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallEnd {
    Reply(Reply),
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
pub(crate) struct CallTranscript {
    pub(crate) call: CallId,
    pub(crate) limit: usize,
}

impl RelayQuestion for CallTranscript {
    const RULE: &'static str = "call-transcript";
    type Answer = Result<Vec<Arc<ChatMessage>>, ApiError>;
}

/// What was missed before a call, from this place on?
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct CallMissed {
    pub(crate) call: CallId,
    pub(crate) first: usize,
}

impl RelayQuestion for CallMissed {
    const RULE: &'static str = "call-missed";
    /// As many as fit, oldest first; `None` where the call is not under way.
    type Answer = Option<Vec<Arc<ChatMessage>>>;
}

/// Use the account of this agent.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UseAccount {
    pub(crate) agent_id: AgentId,
    pub(crate) ask: AccountAsk,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AccountAsk {
    Me,
    Post(Post),
    Delete {
        channel: ChannelId,
        #[serde(with = "dirigent::written")]
        message: MessageId,
    },
    History(HistoryRequest),
    Members {
        channel: ChannelId,
        among: Vec<UserId>,
    },
    Typing {
        channel: ChannelId,
    },
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AccountDone {
    Me(UserId),
    Posted(Posted),
    Done,
    History {
        messages: Vec<ChatMessage>,
        /// Whether the account surely may read the channel.
        reads: Option<bool>,
    },
    Members(Vec<UserId>),
}

impl RelayQuestion for UseAccount {
    const RULE: &'static str = "use-account";
    type Answer = Result<AccountDone, ApiError>;
}
