//! What processes ask each other of turns, as it is written: the rules `check-turn`, `turn-complete`, `get-identity` and
//! `get-channel-state`.
//!
//! | rule | question | answer |
//! | --- | --- | --- |
//! | `check-turn` | `{agentId, channelId, runId?}` | `{allowed, currentSpeaker, reason, holdsFloor, noReplyModel?}` |
//! | `turn-complete` | `{agentId, channelId, isEmpty, runId?, outcome?, tail?, deliveredMessageIds?}` | `{accepted, duplicate}` |
//! | `get-identity` | `{discordUserId}` | `{discordUserId, agentId, agentName}` or `null` |
//! | `get-channel-state` | `{channelId}` | `{mode, tmState, currentSpeaker}` |
//!
//! `currentSpeaker` is an agent's id, or `null` while the channel is dormant.

use dirigent::hooks::{Outcome, RunId};
use dirigent::ports::{ChannelAnswer, ChannelRequest, Identity};
use dirigent::{AgentId, ChannelId, MessageId, UserId};
use serde::{Deserialize, Serialize};

use crate::RelayQuestion;

pub use dirigent::ports::{ChannelState, CheckAnswer, CompleteAnswer};

/// May this agent run now? Asking again with the same run changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct CheckTurn {
    /// Who is to run.
    pub agent_id: AgentId,
    /// In which channel.
    pub channel_id: ChannelId,
    /// The run, where the asker names it.
    #[serde(
        default,
        with = "dirigent::written::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub run_id: Option<RunId>,
}

impl RelayQuestion for CheckTurn {
    const RULE: &'static str = "check-turn";
    type Answer = CheckAnswer;
}

/// This agent's run ended. Telling it again, with the same run, changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct TurnComplete {
    /// Whose run.
    pub agent_id: AgentId,
    /// In which channel.
    pub channel_id: ChannelId,
    /// The run, where the asker names it.
    #[serde(
        default,
        with = "dirigent::written::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub run_id: Option<RunId>,
    /// How it ended: `isEmpty`, and what that does not say: `outcome` and `tail`, the end of the text that is delivered, by which its
    /// arrival is recognised. A foreign asker may leave both away. Without the tail, the agent's next message is taken for the text.
    #[serde(flatten, with = "dirigent::written")]
    pub outcome: Outcome,
    /// The messages that the text became, where the asker knows that they arrived.
    #[serde(default, with = "dirigent::written::list", skip_serializing_if = "Vec::is_empty")]
    pub delivered_message_ids: Vec<MessageId>,
}

impl RelayQuestion for TurnComplete {
    const RULE: &'static str = "turn-complete";
    type Answer = CompleteAnswer;
}

/// Who has this account?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct GetIdentity {
    /// The account.
    pub discord_user_id: UserId,
}

impl RelayQuestion for GetIdentity {
    const RULE: &'static str = "get-identity";
    type Answer = Option<Identity>;
}

/// How does the channel stand?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct GetChannelState {
    /// Which channel.
    pub channel_id: ChannelId,
}

impl RelayQuestion for GetChannelState {
    const RULE: &'static str = "get-channel-state";
    type Answer = ChannelState;
}

/// A rule about one channel: what it asks, in the words of [`ChannelRequest`].
#[doc(hidden)]
pub trait ChannelRule: RelayQuestion {
    /// The channel.
    fn channel(&self) -> ChannelId;

    /// The agent for which the asker acts.
    fn agent(&self) -> Option<&AgentId>;

    /// What is asked.
    fn request(&self) -> ChannelRequest;

    /// The rule's answer; `None` for an answer to something else.
    fn answer(answer: ChannelAnswer) -> Option<Self::Answer>;
}

impl ChannelRule for CheckTurn {
    fn channel(&self) -> ChannelId {
        self.channel_id
    }

    fn agent(&self) -> Option<&AgentId> {
        Some(&self.agent_id)
    }

    fn request(&self) -> ChannelRequest {
        let Self { agent_id, run_id, .. } = self.clone();
        ChannelRequest::CheckTurn { agent_id, run_id }
    }

    fn answer(answer: ChannelAnswer) -> Option<CheckAnswer> {
        if let ChannelAnswer::Turn(answer) = answer { Some(answer) } else { None }
    }
}

impl ChannelRule for TurnComplete {
    fn channel(&self) -> ChannelId {
        self.channel_id
    }

    fn agent(&self) -> Option<&AgentId> {
        Some(&self.agent_id)
    }

    fn request(&self) -> ChannelRequest {
        let Self { agent_id, run_id, outcome, delivered_message_ids, .. } = self.clone();
        ChannelRequest::TurnComplete { agent_id, run_id, outcome, delivered_message_ids }
    }

    fn answer(answer: ChannelAnswer) -> Option<CompleteAnswer> {
        if let ChannelAnswer::Ended(answer) = answer { Some(answer) } else { None }
    }
}

impl ChannelRule for GetChannelState {
    fn channel(&self) -> ChannelId {
        self.channel_id
    }

    fn agent(&self) -> Option<&AgentId> {
        None
    }

    fn request(&self) -> ChannelRequest {
        ChannelRequest::State
    }

    fn answer(answer: ChannelAnswer) -> Option<ChannelState> {
        if let ChannelAnswer::State(state) = answer { Some(state) } else { None }
    }
}
