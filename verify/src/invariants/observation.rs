//! One step of a channel, as every observer sees it.

use std::time::Duration;

use dirigent_core::snapshot::Breach;
use dirigent_core::{
    AgentKey, Answer, Author, Cause, Config, Effect, Input, Message, MessageKind, Mode, PhaseKind,
    Reason, Refusal, Snapshot, Timestamp, Transition, WakeCause,
};

use super::Glance;
use crate::portrait::is_active;

/// One call of `handle` with what came before and after it.
///
/// All of it is plain data, so that a test can forge a step that the machine would never take.
#[derive(Debug)]
#[non_exhaustive]
pub struct Observation<'a> {
    /// The time of the input.
    pub now: Timestamp,
    /// How much time passed since the step before; nothing when the clock went back.
    pub elapsed: Duration,
    /// Whether nothing was due and the clock did not go back: only the input can have acted.
    pub undisturbed: bool,
    /// What happened.
    pub input: &'a Input,
    /// What the channel answered.
    pub answer: Result<Answer, Refusal>,
    /// What the channel asked for.
    pub effects: &'a [Effect],
    /// The channel before.
    pub before: &'a Glance,
    /// The channel after.
    pub after: &'a Glance,
    /// The rules before the step; other than `rules` only when the input changed them.
    pub rules_before: &'a Config,
    /// The rules.
    pub rules: &'a Config,
    /// For a gate call of a known agent: what `explain` says of it after the step.
    pub explained: Option<Reason>,
    /// Now and then, of each agent that there may be: what `explain` says of it, and what the gate would say.
    pub asked: &'a [Asked],
    /// What the channel's own audit says after the step.
    pub audit: Result<(), Breach>,
    /// The same step of a channel that was restored earlier and lived through the same since.
    pub twin: Option<TwinStep<'a>>,
    /// The channel as plain data, and the same after it was restored and stored again.
    pub restored: Option<Restored<'a>>,
}

/// One question to two copies of a channel, whether an agent may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked {
    /// Which agent.
    pub agent: AgentKey,
    /// When.
    pub at: Timestamp,
    /// What `explain` says then, after what is due by then.
    pub explained: Reason,
    /// What the gate says then to a run that never asked before.
    pub verdict: Reason,
}

/// The same step of a restored channel.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TwinStep<'a> {
    /// What it answered.
    pub answer: Result<Answer, Refusal>,
    /// What it asked for.
    pub effects: &'a [Effect],
}

/// A channel as plain data, twice.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Restored<'a> {
    /// As it is.
    pub original: &'a Snapshot,
    /// After it was restored and stored again.
    pub copy: &'a Snapshot,
}

impl<'a> Observation<'a> {
    /// What the step told, in order.
    pub fn transitions(&self) -> impl Iterator<Item = &'a Transition> + use<'a> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Transition(transition) => Some(transition),
            Effect::FetchMembers { .. }
            | Effect::Trigger { .. }
            | Effect::Delete { .. }
            | Effect::Poll { .. }
            | Effect::Notice { .. }
            | Effect::Reminder { .. }
            | Effect::Inject { .. }
            | Effect::Deliver { .. }
            | Effect::Consult { .. }
            | Effect::CancelRun { .. } => None,
        })
    }

    /// Whether the input changed the rules. Most steps do not, and share one set of them.
    pub fn rules_changed(&self) -> bool {
        !core::ptr::eq(self.rules, self.rules_before) && self.rules != self.rules_before
    }

    /// The turns that were granted.
    pub fn grants(&self) -> impl Iterator<Item = &'a Transition> + use<'a> {
        self.transitions().filter(|told| is_grant(told))
    }

    /// The message that was taken in or refused, if the input is one.
    pub const fn message(&self) -> Option<&'a Message> {
        if let Input::Message(message) | Input::Addressed { message, .. } = self.input {
            return Some(message);
        }
        None
    }

    /// Whether the input is a person's word that the channel took in, as far as turns are kept.
    pub fn human_spoke(&self) -> bool {
        let Some(message) = self.message() else {
            return false;
        };
        message.author == Author::Human
            && message.kind != MessageKind::System
            && self.answer.is_ok()
            && self.is_managed()
    }

    /// Whether the input lifted the ceilings: a person's word, or an operator's.
    pub fn ceilings_lifted(&self) -> bool {
        if let Input::Wake { cause, .. } = self.input {
            return *cause == WakeCause::Operator && self.answer.is_ok();
        }
        if let Input::SpeakNext(_) = self.input {
            return self.answer.is_ok();
        }
        self.before.mode != self.after.mode || self.human_spoke()
    }

    /// Whether the channel is a live one that keeps turns, before and after.
    pub fn is_managed(&self) -> bool {
        matches!(self.after.mode, Mode::Chat | Mode::Discussion)
            && !matches!(self.after.phase, PhaseKind::Archived)
    }
}

/// Whether a transition grants a turn. A turn that is given back after a restart is no new one.
pub(crate) fn is_grant(told: &Transition) -> bool {
    let moves = matches!(
        told.cause,
        Cause::NextInList | Cause::OperatorChoice | Cause::MentionRound | Cause::HandedOver
    );
    told.to == PhaseKind::Granted
        && !is_return(told.cause)
        && (told.from != PhaseKind::Granted || (moves && told.agent.is_some()))
}

/// Whether a turn that was interrupted goes on, or begins anew.
pub(crate) const fn is_return(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::RunLost
            | Cause::OrchestratorAnswered
            | Cause::OrchestratorFailed
            | Cause::OrchestratorLate
    )
}

/// Whether a slot's turn did not come.
pub(crate) const fn is_skip(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::AgentLeft
            | Cause::AgentMuted
            | Cause::AgentMayNotWrite
            | Cause::AgentOffline
            | Cause::AgentPassed
            | Cause::NothingNew
            | Cause::NotMentioned
            | Cause::AgentCapped
    )
}

/// Whether a transition grants the first turn of a cycle.
pub(crate) fn is_first_grant(told: &Transition) -> bool {
    let within = matches!(told.cause, Cause::NextInList | Cause::OperatorChoice)
        && is_active(told.from)
        && told.from != PhaseKind::Refreshing;
    is_grant(told) && !within
}

/// Whether a transition begins a cycle: by its first grant, or by a word before those who are
/// skipped at its front.
pub(crate) fn begins_cycle(told: &Transition) -> bool {
    let resumed = told.cause == Cause::Resumed && told.from != PhaseKind::Dormant;
    let idle = matches!(told.from, PhaseKind::Dormant | PhaseKind::Refreshing);
    let chosen = told.cause == Cause::OperatorChoice && idle;
    let next = matches!(told.cause, Cause::NextCycle | Cause::MentionRound | Cause::HandedOver);
    next || chosen || (is_wake(told.cause) && !resumed) || is_first_grant(told)
}

/// Whether a transition says that its agent completed a turn.
pub(crate) const fn is_completion(cause: Cause) -> bool {
    matches!(cause, Cause::Passed | Cause::Repeated | Cause::RunFailed) || is_reply(cause)
}

/// Whether a transition says that its agent's turn ended with a reply, or will: one that goes on
/// after a text has spoken however it ends.
pub(crate) const fn is_reply(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::TailMatched
            | Cause::ReceiptGiven
            | Cause::QuietAfterMessage
            | Cause::DeliveryTimedOut
            | Cause::Interrupted
            | Cause::Unfinished
            | Cause::SignalMissing
    )
}

/// Whether a transition woke the channel.
pub(crate) const fn is_wake(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::HumanMessage
            | Cause::AgentMessage
            | Cause::BotMessage
            | Cause::OperatorWake
            | Cause::GuidePosted
            | Cause::ResultPosted
            | Cause::Resumed
    )
}
