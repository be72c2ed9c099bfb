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

mod complete;

use dirigent::hooks::RunId;
use dirigent::ports::Identity;
use dirigent::{AgentId, ChannelId, UserId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::RelayQuestion;

pub use complete::{CompleteAnswer, MessageText, TailParts, TurnComplete, WireOutcome};

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
    #[serde(default, with = "run_id", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
}

/// Whether the agent may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct CheckAnswer {
    /// Whether it may.
    pub allowed: bool,
    /// Who has the floor; `None` while the channel is dormant.
    pub current_speaker: Option<AgentId>,
    /// Why it may, or may not: a sentence.
    pub reason: String,
    /// Whether the run holds the floor now: its end is to be told. Not where no turns are kept.
    pub holds_floor: bool,
    /// The model to send the run to where the asker cannot skip it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_reply_model: Option<String>,
}

impl RelayQuestion for CheckTurn {
    const RULE: &'static str = "check-turn";
    type Answer = CheckAnswer;
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

/// How a channel stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct ChannelState {
    /// The [mode](dirigent::Mode), in lower case; `none` where it was never given one.
    pub mode: String,
    /// How turns are kept: `disabled`, `dead`, `normal`, `shuffle` or `archived`.
    pub tm_state: String,
    /// Who has the floor; `None` while the channel is dormant.
    pub current_speaker: Option<AgentId>,
}

impl RelayQuestion for GetChannelState {
    const RULE: &'static str = "get-channel-state";
    type Answer = ChannelState;
}

/// A run's id as text. One that this library made is a decimal number; any other text of a foreign asker names a run, too.
mod run_id {
    use super::{Deserialize, Deserializer, RunId, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field")]
    pub(super) fn serialize<S: Serializer>(
        run: &Option<RunId>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match run {
            Some(run) => serializer.collect_str(&run.get()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<RunId>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.map(|text| text.parse().map_or_else(|_| RunId::from_text(&text), RunId::new)))
    }
}
