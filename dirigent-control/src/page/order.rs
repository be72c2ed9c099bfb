//! What an operator tells a channel, as a value.

use dirigent::{AgentId, CallError, Channel, Mode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::problem::Problem;

/// What an operator tells a channel.
///
/// ```
/// use dirigent_control::Order;
/// let order: Order = serde_json::from_str(r#"{ "order": "mute", "agent": "poet" }"#)?;
/// assert_eq!(order, Order::Mute { agent: "poet".to_owned() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(tag = "order", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// Gives it another mode: `none`, `chat` or `report`. The mode of a work or discussion channel is locked, and neither
    /// can be given.
    SetMode {
        /// The mode: `none`, `chat` or `report`.
        mode: String,
    },
    /// Denies every agent at once, until it is resumed.
    Stop,
    /// Pauses it and keeps its order.
    Hold,
    /// Ends a stop, a hold or a finish.
    Resume,
    /// The work in it is done.
    Finish,
    /// Wakes it without a message.
    Wake {
        /// Who speaks first; empty for who is first in the list.
        #[serde(default)]
        first: Option<String>,
    },
    /// Chooses who speaks next.
    SpeakNext {
        /// The agent that speaks next.
        agent: String,
    },
    /// Gives an agent no turns in it.
    Mute {
        /// The agent that is muted.
        agent: String,
    },
    /// Gives a muted agent turns again.
    Unmute {
        /// The agent that is unmuted.
        agent: String,
    },
    /// Gives turns again to an agent that came back.
    Assign {
        /// The agent that came back.
        agent: String,
    },
    /// Lets its budgets begin anew.
    ResetBudget,
    /// Closes it for good.
    Archive,
}

impl Order {
    /// What it is called, as it is written.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::SetMode { .. } => "set-mode",
            Self::Stop => "stop",
            Self::Hold => "hold",
            Self::Resume => "resume",
            Self::Finish => "finish",
            Self::Wake { .. } => "wake",
            Self::SpeakNext { .. } => "speak-next",
            Self::Mute { .. } => "mute",
            Self::Unmute { .. } => "unmute",
            Self::Assign { .. } => "assign",
            Self::ResetBudget => "reset-budget",
            Self::Archive => "archive",
        }
    }

    /// Carries it out. Stored for good when it returns.
    pub(crate) async fn give(self, channel: Channel<'_>) -> Result<(), Problem> {
        let agent = |name: String| AgentId::from(name);
        let given: Result<(), CallError> = match self {
            Self::SetMode { mode } => {
                let mode: Mode = mode.parse().map_err(|_| {
                    Problem::invalid("there is no such mode; none, chat and report can be given")
                })?;
                channel.set_mode(mode).await
            }
            Self::Stop => channel.stop().await,
            Self::Hold => channel.hold().await,
            Self::Resume => channel.resume().await,
            Self::Finish => channel.finish().await,
            Self::Wake { first } => {
                let first = first.filter(|first| !first.is_empty()).map(agent);
                channel.wake(first.as_ref()).await
            }
            Self::SpeakNext { agent: name } => channel.speak_next(&agent(name)).await,
            Self::Mute { agent: name } => channel.mute(&agent(name)).await,
            Self::Unmute { agent: name } => channel.unmute(&agent(name)).await,
            Self::Assign { agent: name } => channel.assign(&agent(name)).await,
            Self::ResetBudget => channel.reset_budget().await,
            Self::Archive => channel.archive().await,
        };
        Ok(given?)
    }
}
