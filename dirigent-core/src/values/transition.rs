//! The changes of a channel, each with its cause.

use crate::{AgentKey, Timestamp, TurnId};

/// One change of a channel, for history, logs and metrics.
///
/// ```
/// use dirigent_core::{Cause, PhaseKind, Timestamp, Transition, TurnId};
///
/// let granted = Transition {
///     at: Timestamp::from_millis(5),
///     from: PhaseKind::Dormant,
///     to: PhaseKind::Granted,
///     agent: None,
///     turn: TurnId::new(1),
///     cause: Cause::HumanMessage,
/// };
/// assert_eq!(granted.cause.as_str(), "human-message");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests and hosts compare")]
pub struct Transition {
    /// The moment of the change.
    pub at: Timestamp,
    /// The phase before the change.
    pub from: PhaseKind,
    /// The phase after the change. It equals `from` if the change is not one of phase, for example when an agent is
    /// muted.
    pub to: PhaseKind,
    /// The agent that was granted, was skipped, or had the turn that ended. It is `None` if the change is about the
    /// channel, for example a stop or a boundary of cycles. It is also `None` for a person's message or a new cycle if
    /// the member list must be read before an agent can be granted.
    pub agent: Option<AgentKey>,
    /// The newest turn of the channel.
    pub turn: TurnId,
    /// The reason for the change.
    pub cause: Cause,
}

/// Defines an enum with stable names for its values.
macro_rules! named {
    ($(#[$about:meta])* $type:ident: $($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type {
            $($(#[$doc])* $name,)*
        }

        impl $type {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the name in lower case, with hyphens.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }

        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

named! {
    /// The phase of a channel, without its details.
    ///
    /// ```
    /// use dirigent_core::PhaseKind;
    /// assert_eq!(PhaseKind::Confirming.as_str(), "confirming");
    /// ```
    PhaseKind:
    /// No agent has the floor, and none is asked.
    Dormant = "dormant",
    /// The member list is being read; no agent may speak.
    Refreshing = "refreshing",
    /// An agent has the floor and has not started.
    Granted = "granted",
    /// An agent is running.
    Running = "running",
    /// The library delivers the agent's whole reply. The turn has no deadline during that time.
    Delivering = "delivering",
    /// An agent's reply is on its way into the channel.
    Confirming = "confirming",
    /// An agent has spoken without finishing its turn, and keeps the floor.
    Continuing = "continuing",
    /// A human spoke during a turn, which waits until the orchestrator has answered.
    Waiting = "waiting",
    /// The member list was never read. No agent may speak, and the list is requested again.
    Unknown = "unknown",
    /// Turns are not kept, so every agent may speak.
    Disabled = "disabled",
    /// No agent may speak, and none is woken (mode report).
    Dead = "dead",
    /// The channel is closed for good.
    Archived = "archived",
}

named! {
    /// The reason for a change. It is machine-readable and stable: names are only ever added.
    ///
    /// ```
    /// use dirigent_core::Cause;
    /// assert_eq!(Cause::AllPassed.as_str(), "all-passed");
    /// ```
    Cause:
    /// A tool created the channel.
    Created = "created",
    /// An operator changed the mode.
    ModeChanged = "mode-changed",
    /// A human's message woke the channel.
    HumanMessage = "human-message",
    /// A registered agent's message woke the channel.
    AgentMessage = "agent-message",
    /// A bot's message woke the channel, because bots qualify here.
    BotMessage = "bot-message",
    /// An operator woke the channel.
    OperatorWake = "operator-wake",
    /// A discussion's guide woke the channel.
    GuidePosted = "guide-posted",
    /// A discussion's result woke its callback channel.
    ResultPosted = "result-posted",
    /// A whole cycle ended, and the member list is read.
    CycleBoundary = "cycle-boundary",
    /// The last cycle's answer asks for another one.
    NextCycle = "next-cycle",
    /// The list was put into a new random order.
    Reshuffled = "reshuffled",
    /// The member list could not be read, so the old one is used.
    MembersFailed = "members-failed",
    /// The member list took too long, so the old one is used.
    MembersLate = "members-late",
    /// The next agent of the list has its turn.
    NextInList = "next-in-list",
    /// The agent's gate call started its run.
    RunStarted = "run-started",
    /// A newer run of the agent replaced the one before.
    RunReplaced = "run-replaced",
    /// The run ended, and the agent passed: it had nothing to say.
    Passed = "passed",
    /// The run ended with a repetition of what was said before. This counts as having passed.
    Repeated = "repeated",
    /// The run ended with a reply.
    Spoke = "spoke",
    /// The run broke off. This counts as having passed.
    RunFailed = "run-failed",
    /// The library has the agent's whole reply and delivers it.
    Replied = "replied",
    /// The delivery of the reply was given up.
    Undelivered = "undelivered",
    /// The reply arrived, because the fingerprint matched.
    TailMatched = "tail-matched",
    /// The reply arrived, because the host said so.
    ReceiptGiven = "receipt-given",
    /// The reply probably arrived, because its author wrote a message and then was quiet.
    QuietAfterMessage = "quiet-after-message",
    /// The reply was not seen in time; the turn counts nevertheless.
    DeliveryTimedOut = "delivery-timed-out",
    /// Another author's message ended the wait for the reply.
    Interrupted = "interrupted",
    /// The granted agent did not start in time and was triggered once more.
    Retriggered = "retriggered",
    /// The granted agent never started and was skipped.
    StartTimedOut = "start-timed-out",
    /// The run took too long and was cancelled.
    RunTimedOut = "run-timed-out",
    /// The run was lost with the process that ran it.
    RunLost = "run-lost",
    /// The agent has left and was skipped.
    AgentLeft = "agent-left",
    /// The agent is muted and was skipped.
    AgentMuted = "agent-muted",
    /// The agent may speak again.
    AgentUnmuted = "agent-unmuted",
    /// The chat surely refuses the agent's messages here, so it has no turns until it may write.
    AgentMayNotWrite = "agent-may-not-write",
    /// The agent may write here again.
    AgentMayWrite = "agent-may-write",
    /// Every agent that completed a turn passed: dormant.
    AllPassed = "all-passed",
    /// No agent completed a turn: dormant.
    Unanswered = "unanswered",
    /// The ceiling of turns or cycles without a human was reached: dormant.
    CeilingReached = "ceiling-reached",
    /// A human's word reset the ceilings after they had been reached.
    CeilingReset = "ceiling-reset",
    /// The member list was never read, and could not be read now.
    MembersUnknown = "members-unknown",
    /// No message can be posted in the channel at the moment, because the chat does not answer, is not heard, or asks
    /// for patience. After [`Deadlines::outage_max`](crate::config::Deadlines::outage_max) the channel becomes dormant.
    ChatAway = "chat-away",
    /// Messages can be posted in the channel again.
    ChatBack = "chat-back",
    /// Fewer than two agents are present.
    TooFewAgents = "too-few-agents",
    /// A second agent is present.
    EnoughAgents = "enough-agents",
    /// The initiator of the idle discussion may run once.
    InitiatorReminded = "initiator-reminded",
    /// The initiator's one run after a reminder is over.
    PermitUsed = "permit-used",
    /// An operator or a human's word stopped the channel.
    Stopped = "stopped",
    /// An operator put the channel on hold.
    Held = "held",
    /// The channel goes on.
    Resumed = "resumed",
    /// The initiator concluded the discussion.
    Concluded = "concluded",
    /// An operator archived the channel.
    Archived = "archived",
    /// The agent spoke and has not finished its turn.
    Unfinished = "unfinished",
    /// The agent spoke, but the signal that ends its turn never came.
    SignalMissing = "signal-missing",
    /// The run takes longer than it should; it goes on.
    RunSlow = "run-slow",
    /// A human spoke during the turn, which waits for an answer.
    HumanInterrupted = "human-interrupted",
    /// The orchestrator answered; the turn goes on.
    OrchestratorAnswered = "orchestrator-answered",
    /// No orchestrator could answer; the turn goes on.
    OrchestratorFailed = "orchestrator-failed",
    /// The orchestrator took too long; the turn goes on.
    OrchestratorLate = "orchestrator-late",
    /// The agent is offline.
    AgentOffline = "agent-offline",
    /// The agent is back, and has no turns until it is assigned.
    AgentOnline = "agent-online",
    /// The agent has turns again.
    AgentAssigned = "agent-assigned",
    /// The agent passed, and is not asked again until something is said.
    AgentPassed = "agent-passed",
    /// The agent spoke last, and no other author has said anything since. It counts as having passed, and is not asked.
    NothingNew = "nothing-new",
    /// The agent was not addressed in this round.
    NotMentioned = "not-mentioned",
    /// The agent has had its turns for this hour.
    AgentCapped = "agent-capped",
    /// A human's mention chose the next agent.
    MentionRound = "mention-round",
    /// The agent before handed over to this one.
    HandedOver = "handed-over",
    /// An operator chose the next agent.
    OperatorChoice = "operator-choice",
    /// Only the agent that spoke could answer itself: dormant.
    NoOtherAgent = "no-other-agent",
    /// The agent asked for a person: dormant until one writes.
    AwaitingHuman = "awaiting-human",
    /// The question was deleted before an agent had it or a turn took it: dormant.
    Withdrawn = "withdrawn",
    /// The agent runs without asking, and wrote outside of its turn. No turn moves because of that.
    Unpermitted = "unpermitted",
    /// The host removed a message that said only that the agent passes.
    MessageRemoved = "message-removed",
    /// A budget is spent: dormant.
    BudgetSpent = "budget-spent",
    /// An operator reset the budgets.
    BudgetReset = "budget-reset",
    /// An operator said that the work is done.
    Finished = "finished",
    /// A discussion lay idle for too long, at a ceiling or after reminders in vain: archived without a summary.
    Overdue = "overdue",
}
