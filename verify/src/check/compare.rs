//! What must be the same, and what is said when it is not.

use std::fmt::{Debug, Write as _};

use dirigent_core::{
    AgentKey, Answer, Cause, Effect, Input, PhaseKind, Refusal, Snapshot, Timestamp, Transition,
    TurnMachine,
};

use super::brief;
use crate::model::{EndedTurn, Model, ModelAnswer};
use crate::portrait::Portrait;

/// Agents whose `explain` is compared.
const ASKED: [u32; 7] = [0, 1, 2, 3, 4, 5, 77];

/// What the machine did in one step.
pub(super) struct Seen<'a> {
    /// The phase before.
    pub(super) before: PhaseKind,
    /// The answer.
    pub(super) answer: Result<Answer, Refusal>,
    /// The effects.
    pub(super) effects: &'a [Effect],
    /// When.
    pub(super) now: Timestamp,
}

/// Compares what both did.
pub(super) fn steps(
    seen: &Seen<'_>,
    said: &ModelAnswer,
    after: &TurnMachine,
) -> Result<(), String> {
    if seen.answer != said.answer {
        return Err(differ("answer", &brief::answer(&seen.answer), &brief::answer(&said.answer)));
    }
    if !plain(seen.effects).eq(&said.effects) {
        let (machine, rules) = (plain(seen.effects), &said.effects);
        return Err(differ("effects", &brief::effects(machine), &brief::effects(rules)));
    }
    ended(seen.effects, &said.ended)?;
    let causes = in_name_order(settled_causes(seen.effects));
    same("causes", &causes, &in_name_order(said.causes.iter().copied()))?;
    chained(seen, after)?;
    match said.violations.first() {
        Some(violation) => Err(format!("the machine's list: {violation}")),
        None => Ok(()),
    }
}

/// Compares how both look.
pub(super) fn portraits(machine: &TurnMachine, model: &Model) -> Result<(), String> {
    let (mut theirs, ours) = (Portrait::default(), model.portrait());
    theirs.refill(machine);
    if theirs != ours {
        let fields = differing_lines(&format!("{theirs:#?}"), &format!("{ours:#?}"));
        return Err(format!("how the channel looks{fields}"));
    }
    for agent in ASKED.map(AgentKey::new) {
        let what = format!("explain({agent})");
        same(&what, &machine.explain(agent), &model.explain(agent))?;
    }
    Ok(())
}

/// Compares a restored copy's reaction with the original's.
pub(super) fn copies(
    copy: &mut TurnMachine,
    original: &TurnMachine,
    input: &Input,
    seen: &Seen<'_>,
) -> Result<(), String> {
    let mut effects = Vec::new();
    let answer = copy.handle(seen.now, input, &mut effects);
    same("answer of a copy", &answer, &seen.answer)?;
    same("effects of a copy", &effects.as_slice(), &seen.effects)?;
    let (ours, theirs) = (copy.snapshot(), original.snapshot());
    snapshots("state of a copy", ours, theirs)
}

/// Complains when two states differ.
pub(super) fn snapshots(what: &str, ours: &Snapshot, theirs: &Snapshot) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let fields = differing_lines(&format!("{ours:#?}"), &format!("{theirs:#?}"));
    Err(format!("{what}{fields}"))
}

/// Everything but transitions.
fn plain(effects: &[Effect]) -> impl Iterator<Item = &Effect> {
    effects.iter().filter(|effect| !matches!(effect, Effect::Transition(_)))
}

/// The transitions.
fn transitions(effects: &[Effect]) -> impl Iterator<Item = &Transition> {
    effects.iter().filter_map(|effect| {
        if let Effect::Transition(transition) = effect {
            return Some(transition);
        }
        None
    })
}

/// The machine's transitions that may end a turn.
pub(super) fn ends(effects: &[Effect]) -> impl Iterator<Item = EndedTurn> {
    transitions(effects).filter_map(|change| {
        let ends = matches!(
            change.cause,
            Cause::Passed
                | Cause::Repeated
                | Cause::RunFailed
                | Cause::RunLost
                | Cause::TailMatched
                | Cause::ReceiptGiven
                | Cause::QuietAfterMessage
                | Cause::DeliveryTimedOut
                | Cause::Interrupted
                | Cause::StartTimedOut
                | Cause::RunTimedOut
                | Cause::AgentLeft
                | Cause::AgentMuted
                | Cause::AgentMayNotWrite
                | Cause::AgentOffline
                | Cause::SignalMissing
                | Cause::Undelivered
        );
        let begins_to_wait = change.from != change.to && change.to == PhaseKind::Confirming;
        let begins_anew = change.cause == Cause::RunLost
            && matches!(change.to, PhaseKind::Granted | PhaseKind::Continuing);
        let on_the_floor = matches!(
            change.from,
            PhaseKind::Granted
                | PhaseKind::Running
                | PhaseKind::Delivering
                | PhaseKind::Confirming
                | PhaseKind::Continuing
                | PhaseKind::Waiting
        );
        let is_end = ends && on_the_floor && !begins_to_wait && !begins_anew;
        let agent = change.agent.filter(|_| is_end)?;
        Some(EndedTurn { agent, cause: change.cause })
    })
}

/// The causes that the rules name for other changes.
fn settled_causes(effects: &[Effect]) -> impl Iterator<Item = Cause> {
    let named = transitions(effects).filter(|change| {
        let idle = matches!(change.from, PhaseKind::Disabled | PhaseKind::Unknown);
        let enables = change.cause == Cause::EnoughAgents && idle;
        let permit = change.cause == Cause::Undelivered && change.from == PhaseKind::Dormant;
        enables
            || permit
            || matches!(
                change.cause,
                Cause::AllPassed
                    | Cause::Reshuffled
                    | Cause::Concluded
                    | Cause::Archived
                    | Cause::Overdue
                    | Cause::Stopped
                    | Cause::Held
                    | Cause::InitiatorReminded
                    | Cause::MembersLate
                    | Cause::MembersFailed
                    | Cause::RunReplaced
                    | Cause::Retriggered
                    | Cause::Unanswered
                    | Cause::CeilingReached
                    | Cause::CeilingReset
                    | Cause::TooFewAgents
                    | Cause::Unfinished
                    | Cause::RunSlow
                    | Cause::HumanInterrupted
                    | Cause::OrchestratorAnswered
                    | Cause::OrchestratorFailed
                    | Cause::OrchestratorLate
                    | Cause::AgentOnline
                    | Cause::AgentAssigned
                    | Cause::AgentPassed
                    | Cause::NothingNew
                    | Cause::NotMentioned
                    | Cause::AgentCapped
                    | Cause::NoOtherAgent
                    | Cause::AwaitingHuman
                    | Cause::Withdrawn
                    | Cause::Unpermitted
                    | Cause::MessageRemoved
                    | Cause::BudgetSpent
                    | Cause::BudgetReset
                    | Cause::Finished
                    | Cause::Replied
                    | Cause::MembersUnknown
                    | Cause::ChatAway
                    | Cause::ChatBack
            )
    });
    named.map(|change| change.cause)
}

/// Causes by name: in which order they are told of one another is not ruled.
fn in_name_order(causes: impl Iterator<Item = Cause>) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = causes.map(Cause::as_str).collect();
    names.sort_unstable();
    names
}

/// The turns that ended. Agents that left or are muted may be named when they are passed by, too.
fn ended(effects: &[Effect], predicted: &[EndedTurn]) -> Result<(), String> {
    let theirs: Vec<EndedTurn> = ends(effects).collect();
    let mut awaited = predicted.iter();
    let mut next = awaited.next();
    for end in &theirs {
        if next == Some(end) {
            next = awaited.next();
        } else if !matches!(
            end.cause,
            Cause::AgentLeft | Cause::AgentMuted | Cause::AgentMayNotWrite | Cause::AgentOffline
        ) {
            return same("ended turns", &theirs.as_slice(), &predicted);
        }
    }
    match next {
        Some(_) => same("ended turns", &theirs.as_slice(), &predicted),
        None => Ok(()),
    }
}

/// Transitions lead from the phase before to the phase after without a gap.
fn chained(seen: &Seen<'_>, after: &TurnMachine) -> Result<(), String> {
    let mut phase = seen.before;
    for change in transitions(seen.effects) {
        if change.from != phase {
            return Err(format!("a transition begins in {phase:?}: {change:?}"));
        }
        phase = change.to;
    }
    same("phase after the transitions", &phase, &after.view().phase())?;
    let due = after.next_deadline().filter(|due| due.at <= seen.now);
    due.map_or(Ok(()), |due| Err(format!("a deadline that lies behind: {due:?}")))
}

/// Complains when two values differ.
pub(super) fn same<T: PartialEq + Debug>(what: &str, machine: &T, model: &T) -> Result<(), String> {
    if machine == model {
        return Ok(());
    }
    Err(differ(what, &format!("{machine:?}"), &format!("{model:?}")))
}

/// Both sides of a difference, one a line.
fn differ(what: &str, machine: &str, rules: &str) -> String {
    format!("{what}\n  machine: {machine}\n  rules:   {rules}")
}

/// The lines in which two pretty prints differ.
fn differing_lines(machine: &str, model: &str) -> String {
    if machine.lines().count() != model.lines().count() {
        return differ("", &flat(machine), &flat(model));
    }
    let pairs = machine.lines().zip(model.lines());
    let differing = pairs.filter(|(ours, theirs)| ours != theirs);
    differing.map(|(ours, theirs)| differ("", ours.trim(), theirs.trim())).collect()
}

/// A pretty print in one line.
fn flat(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Tells what a step led to, for the trace.
pub(super) fn summary(
    answer: Result<Answer, Refusal>,
    effects: &[Effect],
    machine: &TurnMachine,
) -> String {
    let mut text = String::new();
    if answer != Ok(Answer::Accepted) {
        let _ = write!(text, "\n        {}", brief::answer(&answer));
    }
    for effect in effects {
        let _ = write!(text, "\n        {}", brief::effect(effect));
    }
    let view = machine.view();
    let _ = write!(text, "\n        [{}", view.phase());
    if let Some(speaker) = view.speaker() {
        let _ = write!(text, ", {speaker} has the floor");
    }
    text.push(']');
    text
}
