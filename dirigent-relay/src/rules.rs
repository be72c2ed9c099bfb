//! The questions that processes ask each other about turns, in their written form. The rules are `check-turn`,
//! `turn-complete`, `get-identity` and `get-channel-state`.
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

/// Asks whether this agent may run now. You may repeat the question with its run, because it has no second effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct CheckTurn {
    /// The agent that wants to run.
    pub agent_id: AgentId,
    /// The channel.
    pub channel_id: ChannelId,
    /// The run, if the asker has a name for it.
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

/// Reports that this agent's run ended. You may repeat the report with its run, because it has no second effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct TurnComplete {
    /// The agent that ran.
    pub agent_id: AgentId,
    /// The channel.
    pub channel_id: ChannelId,
    /// The run, if the asker has a name for it.
    #[serde(
        default,
        with = "dirigent::written::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub run_id: Option<RunId>,
    /// The result of the run, written as `isEmpty`, `outcome` and `tail`. The tail is the end of the delivered text,
    /// which serves to recognise its arrival. A foreign asker may leave out `outcome` and `tail`. Without the tail, the
    /// agent's next message counts as the text.
    #[serde(flatten, with = "dirigent::written")]
    pub outcome: Outcome,
    /// The messages with the text, if the asker knows that they arrived.
    #[serde(default, with = "dirigent::written::list", skip_serializing_if = "Vec::is_empty")]
    pub delivered_message_ids: Vec<MessageId>,
}

impl RelayQuestion for TurnComplete {
    const RULE: &'static str = "turn-complete";
    type Answer = CompleteAnswer;
}

/// Asks which agent has this account.
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

/// Asks for the state of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct GetChannelState {
    /// The channel.
    pub channel_id: ChannelId,
}

impl RelayQuestion for GetChannelState {
    const RULE: &'static str = "get-channel-state";
    type Answer = ChannelState;
}

/// A rule about one channel, which can be turned into a [`ChannelRequest`].
#[doc(hidden)]
pub trait ChannelRule: RelayQuestion {
    /// Returns the channel.
    fn channel(&self) -> ChannelId;

    /// Returns the agent that the asker acts for.
    fn agent(&self) -> Option<&AgentId>;

    /// Returns the request to the channel.
    fn request(&self) -> ChannelRequest;

    /// Returns the rule's answer, or `None` if this is the answer to another kind of request.
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
