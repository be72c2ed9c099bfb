//! What is asked of a channel, whichever process acts for it.

use dirigent_core::{Mode, Outcome, Refusal, RunId};
use serde::{Deserialize, Serialize};

use crate::ports::creation::CreatedChannel;
use crate::values::command::{CommandAnswer, Invoker, SlashCommand};
use crate::values::summary::{ResultPost, Summary};
use crate::{AgentId, CallError, ChannelId, MessageId};

/// What is asked of a channel for which another process may act: by tools, by people's commands, by the control page, and by agents that
/// ask before they run. Its JSON is what processes write to each other.
///
/// [`Dirigent::request_here`](crate::Dirigent::request_here) carries one out.
///
/// ```
/// use dirigent::ports::ChannelRequest;
///
/// let request: ChannelRequest = serde_json::from_str(r#"{ "mute": { "agent": "poet" } }"#)?;
/// assert_eq!(request, ChannelRequest::Mute { agent: "poet".into() });
/// assert_eq!(request.name(), "mute");
/// assert!(serde_json::from_str::<ChannelRequest>(r#"{ "set-mode": { "mode": "loud" } }"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "who carries requests out must know each")]
#[expect(
    clippy::large_enum_variant,
    reason = "few exist at a time, and each is carried out at once"
)]
pub enum ChannelRequest {
    /// [`Channel::register`](crate::Channel::register).
    Register(CreatedChannel),
    /// May this agent conclude the discussion?
    MayConclude {
        /// The agent.
        by: AgentId,
    },
    /// [`Channel::conclude`](crate::Channel::conclude).
    Conclude {
        /// The agent that concludes the discussion.
        by: AgentId,
        /// What is posted in the callback channel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Summary>,
    },
    /// The result of a discussion was posted in the channel: it wakes it.
    WakeForResult {
        /// Who speaks first, if the channel has that agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<AgentId>,
    },
    /// [`Channel::command`](crate::Channel::command).
    Command {
        /// The command.
        command: SlashCommand,
        /// The person who uses it.
        invoker: Invoker,
        /// The value of its option; empty if it has none.
        input: String,
    },
    /// [`Channel::set_mode`](crate::Channel::set_mode).
    SetMode {
        /// The new mode.
        #[serde(with = "crate::written")]
        mode: Mode,
    },
    /// [`Channel::stop`](crate::Channel::stop).
    Stop,
    /// [`Channel::hold`](crate::Channel::hold).
    Hold,
    /// [`Channel::resume`](crate::Channel::resume).
    Resume,
    /// [`Channel::finish`](crate::Channel::finish).
    Finish,
    /// [`Channel::wake`](crate::Channel::wake).
    Wake {
        /// Who speaks first; by default who is first in the list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<AgentId>,
    },
    /// [`Channel::speak_next`](crate::Channel::speak_next).
    SpeakNext {
        /// The agent that speaks next.
        agent: AgentId,
    },
    /// [`Channel::mute`](crate::Channel::mute).
    Mute {
        /// The agent that is muted.
        agent: AgentId,
    },
    /// [`Channel::unmute`](crate::Channel::unmute).
    Unmute {
        /// The agent that is unmuted.
        agent: AgentId,
    },
    /// [`Channel::assign`](crate::Channel::assign).
    Assign {
        /// The agent that came back.
        agent: AgentId,
    },
    /// [`Channel::reset_budget`](crate::Channel::reset_budget).
    ResetBudget,
    /// [`Channel::archive`](crate::Channel::archive).
    Archive,
    /// Tries at once to post a discussion's guide or result that could not be delivered: that was [given up](crate::operate::PostState::GivenUp),
    /// or [waits](crate::operate::PostState::Waiting) after an attempt. Here and for the next two, the answer is [`Refusal::UnknownTicket`]
    /// if there is none.
    RetryPosts,
    /// Drops the result of a discussion that could not be delivered: it is posted nowhere.
    DismissResult,
    /// Posts the result of a discussion that could not be delivered in another channel, and wakes that one. Check first that the text may
    /// be read there: Dirigent does not.
    SendResult {
        /// The other channel.
        to: ChannelId,
    },
    /// May this agent run now? Asking again with the same run changes nothing. A run that is allowed is ended by
    /// [`TurnComplete`](Self::TurnComplete), or by its deadline.
    CheckTurn {
        /// The agent that is to run.
        agent_id: AgentId,
        /// The run, if the asker names it.
        #[serde(
            default,
            with = "crate::written::optional",
            skip_serializing_if = "Option::is_none"
        )]
        run_id: Option<RunId>,
    },
    /// This agent's run ended. Telling it again with the same run changes nothing.
    TurnComplete {
        /// The agent whose run it was.
        agent_id: AgentId,
        /// The run, if the asker names it.
        #[serde(
            default,
            with = "crate::written::optional",
            skip_serializing_if = "Option::is_none"
        )]
        run_id: Option<RunId>,
        /// How it ended.
        #[serde(flatten, with = "crate::written")]
        outcome: Outcome,
        /// The messages that its text became, if the asker knows that they arrived.
        #[serde(default, with = "crate::written::list", skip_serializing_if = "Vec::is_empty")]
        delivered_message_ids: Vec<MessageId>,
    },
    /// How does the channel stand?
    State,
    /// [`Channel::explain`](crate::Channel::explain).
    Explain {
        /// The agent that may, or may not, speak.
        agent_id: AgentId,
    },
}

impl ChannelRequest {
    /// Returns its name: the tag of its JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Register(_) => "register",
            Self::MayConclude { .. } => "may-conclude",
            Self::Conclude { .. } => "conclude",
            Self::WakeForResult { .. } => "wake-for-result",
            Self::Command { .. } => "command",
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
            Self::RetryPosts => "retry-posts",
            Self::DismissResult => "dismiss-result",
            Self::SendResult { .. } => "send-result",
            Self::CheckTurn { .. } => "check-turn",
            Self::TurnComplete { .. } => "turn-complete",
            Self::State => "state",
            Self::Explain { .. } => "explain",
        }
    }
}

/// What the process that acts for the channel answered.
///
/// ```
/// use dirigent::ports::ChannelAnswer;
/// assert_eq!(serde_json::to_string(&ChannelAnswer::Done)?, r#""done""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "who asks must know each")]
pub enum ChannelAnswer {
    /// It is done, and stored for good.
    Done,
    /// The discussion is concluded, and stored for good.
    Concluded(ResultPost),
    /// What the person who used the command reads.
    Command(CommandAnswer),
    /// Whether the agent may run.
    Turn(CheckAnswer),
    /// Whether the end of the run was taken.
    Ended(CompleteAnswer),
    /// How the channel stands.
    State(ChannelState),
    /// Why the agent may, or may not, speak.
    Explained(ExplainAnswer),
    /// [`CallError::Refused`].
    Refused(#[serde(with = "crate::written")] Refusal),
    /// [`CallError::UnknownAgent`].
    UnknownAgent(AgentId),
    /// [`CallError::UnknownChannel`].
    UnknownChannel,
}

impl ChannelAnswer {
    /// Returns the answer as this process would have given it: the last three variants are errors.
    ///
    /// # Errors
    ///
    /// What the process that acts for the channel refused.
    pub fn into_result(self) -> Result<Self, CallError> {
        match self {
            Self::Refused(refusal) => Err(CallError::Refused(refusal)),
            Self::UnknownAgent(agent) => Err(CallError::UnknownAgent(agent)),
            Self::UnknownChannel => Err(CallError::UnknownChannel),
            Self::Done
            | Self::Concluded(_)
            | Self::Command(_)
            | Self::Turn(_)
            | Self::Ended(_)
            | Self::State(_)
            | Self::Explained(_) => Ok(self),
        }
    }
}

/// Whether an agent may run.
///
/// ```
/// use dirigent::ports::CheckAnswer;
/// assert!(!CheckAnswer::default().allowed);
/// ```
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
    /// Whether this run had asked before, or another run of this turn was permitted and has not ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_running: bool,
    /// The model to send the run to where the asker cannot skip it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_reply_model: Option<String>,
}

/// Whether the end of a run was taken.
///
/// ```
/// use dirigent::ports::CompleteAnswer;
/// assert!(!CompleteAnswer::default().accepted);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct CompleteAnswer {
    /// Whether the run held the floor, so that its text may be posted.
    pub accepted: bool,
    /// Whether it was told before: it counts once.
    pub duplicate: bool,
}

/// How a channel stands.
///
/// ```
/// use dirigent::ports::ChannelState;
/// let state = ChannelState { mode: "none".into(), tm_state: "disabled".into(), current_speaker: None };
/// assert!(serde_json::to_string(&state)?.contains("tmState"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct ChannelState {
    /// The [mode](crate::Mode), in lower case; `none` where it was never given one.
    pub mode: String,
    /// How turns are kept: `disabled`, `dead`, `normal`, `shuffle` or `archived`.
    pub tm_state: String,
    /// Who has the floor; `None` while the channel is dormant.
    pub current_speaker: Option<AgentId>,
}

/// Why an agent may, or may not, speak.
///
/// ```
/// use dirigent::ports::ExplainAnswer;
/// let why = ExplainAnswer { allows: false, text: "poet may not speak: the channel is stopped.".into() };
/// assert!(!why.allows);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts pass on")]
pub struct ExplainAnswer {
    /// Whether it may speak now.
    pub allows: bool,
    /// Why, in sentences.
    pub text: String,
}
