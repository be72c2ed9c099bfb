//! The end of a run, as it is written.

use dirigent::hooks::{Outcome, RunId};
use dirigent::{AgentId, ChannelId, MessageId};
use dirigent_core::Tail;
use serde::{Deserialize, Serialize};

use super::run_id;
use crate::{Refused, RelayQuestion};

/// This agent's run ended. Telling it again, with the same run, changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct TurnComplete {
    /// Whose run.
    pub agent_id: AgentId,
    /// In which channel.
    pub channel_id: ChannelId,
    /// Whether the agent had nothing to say.
    pub is_empty: bool,
    /// The run, where the asker names it.
    #[serde(default, with = "run_id", skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What `is_empty` does not say. A foreign asker may leave it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<WireOutcome>,
    /// The end of the text that is delivered, by which its arrival is recognised. Without it, the agent's next message is
    /// taken for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailParts>,
    /// The messages that the text became, where the asker knows that they arrived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delivered_message_ids: Vec<MessageText>,
}

/// A message's id as text: a number in JSON would lose digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[expect(clippy::exhaustive_structs, reason = "an id")]
pub struct MessageText(pub MessageId);

impl TryFrom<String> for MessageText {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(MessageId::new).map(Self)
    }
}

impl From<MessageText> for String {
    fn from(id: MessageText) -> Self {
        id.0.get().to_string()
    }
}

/// How a run ended, beyond whether it was empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WireOutcome {
    /// More is to come: the agent keeps the floor.
    Unfinished,
    /// A person is to answer before any agent does.
    AwaitsHuman,
    /// It said what was said before.
    Repeated,
    /// It broke off.
    Failed,
}

/// The end of a text, without the text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct TailParts {
    /// Its last characters, at most 64.
    pub end: String,
    /// How many characters the whole text has, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
    /// Whether a file belongs to it.
    #[serde(default)]
    pub attachment: bool,
}

/// Whether the end was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct CompleteAnswer {
    /// Whether the run held the floor, so that its text may be posted.
    pub accepted: bool,
    /// Whether it was told before: it counts once.
    pub duplicate: bool,
}

impl RelayQuestion for TurnComplete {
    const RULE: &'static str = "turn-complete";
    type Answer = CompleteAnswer;
}

impl TurnComplete {
    /// Writes an end of a run.
    pub(crate) fn new(
        (channel_id, agent_id): (ChannelId, AgentId),
        run_id: Option<RunId>,
        outcome: &Outcome,
    ) -> Self {
        let (is_empty, outcome, tail) = match outcome {
            Outcome::Pass => (true, None, None),
            Outcome::Spoke { tail } => (false, None, Some(tail)),
            Outcome::Unfinished { tail } => (false, Some(WireOutcome::Unfinished), Some(tail)),
            Outcome::AwaitsHuman { tail } => (false, Some(WireOutcome::AwaitsHuman), Some(tail)),
            Outcome::Repeated => (true, Some(WireOutcome::Repeated), None),
            // Of what a newer machine may know nothing is taken for a text either.
            Outcome::Failed | _ => (true, Some(WireOutcome::Failed), None),
        };
        let tail = tail.map(TailParts::of);
        let delivered_message_ids = Vec::new();
        Self { agent_id, channel_id, is_empty, run_id, outcome, tail, delivered_message_ids }
    }

    /// What the machine is to be told.
    pub(crate) fn read_outcome(&self) -> Result<Outcome, Refused> {
        // Without a tail any message of the agent is taken for its text.
        let tail = self.tail.as_ref().map_or(Tail::EMPTY, TailParts::tail);
        match (self.is_empty, self.outcome) {
            (true, None) => Ok(Outcome::Pass),
            (false, None) => Ok(Outcome::Spoke { tail }),
            (false, Some(WireOutcome::Unfinished)) => Ok(Outcome::Unfinished { tail }),
            (false, Some(WireOutcome::AwaitsHuman)) => Ok(Outcome::AwaitsHuman { tail }),
            (true, Some(WireOutcome::Repeated)) => Ok(Outcome::Repeated),
            (true, Some(WireOutcome::Failed)) => Ok(Outcome::Failed),
            (true, Some(WireOutcome::Unfinished | WireOutcome::AwaitsHuman))
            | (false, Some(WireOutcome::Repeated | WireOutcome::Failed)) => {
                let why = "isEmpty and outcome contradict each other".to_owned();
                Err(Refused::BadQuestion { why })
            }
        }
    }
}

impl TailParts {
    fn of(tail: &Tail) -> Self {
        let end = tail.as_str().to_owned();
        Self { end, length: tail.length(), attachment: tail.has_attachment() }
    }

    fn tail(&self) -> Tail {
        Tail::from_parts(&self.end, self.length, self.attachment)
    }
}

/// Shows no text.
impl std::fmt::Debug for TailParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TailParts").field("length", &self.length).finish_non_exhaustive()
    }
}
