//! Requests to a channel, and their answers, whichever process acts for it.

use dirigent_core::{Mode, Outcome, Refusal, RunId};
use serde::{Deserialize, Serialize};

use crate::ports::creation::CreatedChannel;
use crate::values::command::{CommandAnswer, Invoker, SlashCommand};
use crate::values::summary::{ResultPost, Summary};
use crate::{AgentId, CallError, ChannelId, MessageId};

/// A request to a channel that another process may act for. Requests come from tools, people's commands, the control
/// page, and agents that ask before they run. Processes send them to each other in this JSON form.
///
/// [`Dirigent::request_here`](crate::Dirigent::request_here) carries out a request.
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
    /// Asks whether this agent may conclude the discussion.
    MayConclude {
        /// The agent.
        by: AgentId,
    },
    /// [`Channel::conclude`](crate::Channel::conclude).
    Conclude {
        /// The agent that concludes the discussion.
        by: AgentId,
        /// The text for the callback channel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<Summary>,
    },
    /// Wakes the channel, because the result of a discussion was posted there.
    WakeForResult {
        /// The agent that speaks first, if the channel has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<AgentId>,
    },
    /// [`Channel::command`](crate::Channel::command).
    Command {
        /// The command.
        command: SlashCommand,
        /// The person who uses it.
        invoker: Invoker,
        /// The value of its option. It is empty if the command has none.
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
        /// The agent that speaks first. The default is the first agent in the list.
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
        /// The agent to mute.
        agent: AgentId,
    },
    /// [`Channel::unmute`](crate::Channel::unmute).
    Unmute {
        /// The agent to unmute.
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
    /// Tries at once to post a discussion's guide or result that could not be delivered. It applies to a post that was
    /// [given up](crate::operate::PostState::GivenUp), or that [waits](crate::operate::PostState::Waiting) after an
    /// attempt. For this request and the next two, the answer is [`Refusal::UnknownTicket`] if there is no such post.
    RetryPosts,
    /// Drops the result of a discussion that could not be delivered. It is then posted nowhere.
    DismissResult,
    /// Posts the result of a discussion that could not be delivered in another channel, and wakes that channel. Check
    /// first that the text may be read there, because Dirigent does not check it.
    SendResult {
        /// The other channel.
        to: ChannelId,
    },
    /// Asks whether this agent may run now. You may ask again with the same run without any effect. An allowed run ends
    /// with [`TurnComplete`](Self::TurnComplete), or at its deadline.
    CheckTurn {
        /// The agent that is to run.
        agent_id: AgentId,
        /// The run, if the caller has an id for it.
        #[serde(
            default,
            with = "crate::written::optional",
            skip_serializing_if = "Option::is_none"
        )]
        run_id: Option<RunId>,
    },
    /// Reports that this agent's run ended. You may report it again with the same run without any effect.
    TurnComplete {
        /// The agent of the run.
        agent_id: AgentId,
        /// The run, if the caller has an id for it.
        #[serde(
            default,
            with = "crate::written::optional",
            skip_serializing_if = "Option::is_none"
        )]
        run_id: Option<RunId>,
        /// The outcome of the run.
        #[serde(flatten, with = "crate::written")]
        outcome: Outcome,
        /// The messages of its text, if the caller knows that they arrived.
        #[serde(default, with = "crate::written::list", skip_serializing_if = "Vec::is_empty")]
        delivered_message_ids: Vec<MessageId>,
    },
    /// Asks for the state of the channel.
    State,
    /// [`Channel::explain`](crate::Channel::explain).
    Explain {
        /// The agent to explain.
        agent_id: AgentId,
    },
}

impl ChannelRequest {
    /// Returns the name of the request, which is the tag of its JSON.
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

/// The answer of the process that acts for the channel.
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
    /// The request is carried out, and stored durably.
    Done,
    /// The discussion is concluded, and this is stored durably.
    Concluded(ResultPost),
    /// The answer for the person who used the command.
    Command(CommandAnswer),
    /// The answer whether the agent may run.
    Turn(CheckAnswer),
    /// The answer to the report of a run's end.
    Ended(CompleteAnswer),
    /// The state of the channel.
    State(ChannelState),
    /// The explanation why the agent may, or may not, speak.
    Explained(ExplainAnswer),
    /// [`CallError::Refused`].
    Refused(#[serde(with = "crate::written")] Refusal),
    /// [`CallError::UnknownAgent`].
    UnknownAgent(AgentId),
    /// [`CallError::UnknownChannel`].
    UnknownChannel,
}

impl ChannelAnswer {
    /// Converts the answer to the result that this process would have returned. The last three variants become errors.
    ///
    /// # Errors
    ///
    /// Fails with the refusal of the process that acts for the channel.
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

/// The answer whether an agent may run.
///
/// ```
/// use dirigent::ports::CheckAnswer;
/// assert!(!CheckAnswer::default().allowed);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct CheckAnswer {
    /// `true` if the agent may run.
    pub allowed: bool,
    /// The agent that has the floor. `None` while the channel is dormant.
    pub current_speaker: Option<AgentId>,
    /// The reason why it may, or may not, run, as a sentence.
    pub reason: String,
    /// `true` if the run holds the floor now, so that you must report its end. In a channel without turns it is
    /// `false`.
    pub holds_floor: bool,
    /// `true` if this run asked before, or if another run of this turn was permitted and has not ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub was_running: bool,
    /// A model name for callers that cannot skip a run. Send the run to this model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_reply_model: Option<String>,
}

/// The answer to the report of a run's end.
///
/// ```
/// use dirigent::ports::CompleteAnswer;
/// assert!(!CompleteAnswer::default().accepted);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the fields are those of the rule")]
pub struct CompleteAnswer {
    /// `true` if the run held the floor, so that you may post its text.
    pub accepted: bool,
    /// `true` if the end was reported before. It counts once.
    pub duplicate: bool,
}

/// The state of a channel.
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
    /// The [mode](crate::Mode) in lower case. It is `none` if the channel never had one.
    pub mode: String,
    /// The state of turn management: `disabled`, `dead`, `normal`, `shuffle` or `archived`.
    pub tm_state: String,
    /// The agent that has the floor. `None` while the channel is dormant.
    pub current_speaker: Option<AgentId>,
}

/// The explanation why an agent may, or may not, speak.
///
/// ```
/// use dirigent::ports::ExplainAnswer;
/// let why = ExplainAnswer { allows: false, text: "poet may not speak: the channel is stopped.".into() };
/// assert!(!why.allows);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts pass on")]
pub struct ExplainAnswer {
    /// `true` if the agent may speak now.
    pub allows: bool,
    /// The explanation in sentences.
    pub text: String,
}
