//! Words for causes, phases and deadlines.

use std::time::{Duration, UNIX_EPOCH};

use dirigent::operate::{Cause, Reason};
use dirigent::snapshot::{AgentState, DeadlineReason, Pause, PhaseKind};

/// Returns a time for visitors without the script that shows local time, for example
/// `2026-11-29 06:41:07 UTC`.
pub(crate) fn utc(at: impl std::borrow::Borrow<u64>) -> String {
    let at = UNIX_EPOCH.checked_add(Duration::from_millis(*at.borrow())).unwrap_or(UNIX_EPOCH);
    let text = humantime::format_rfc3339_seconds(at).to_string();
    text.replace('T', " ").replace('Z', " UTC")
}

/// Returns a time without its day, for example `06:41:07 UTC`.
pub(crate) fn time_of_day(at: impl std::borrow::Borrow<u64>) -> String {
    let all = utc(at);
    all.split_once(' ').map_or(all.clone(), |(_, time)| time.to_owned())
}

/// Returns the cause of a change in words.
pub(super) fn cause(cause: Cause) -> String {
    cause.as_str().replace('-', " ")
}

/// Returns true if something failed or was late.
pub(super) const fn is_failure(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::RunFailed
            | Cause::RunLost
            | Cause::RunTimedOut
            | Cause::StartTimedOut
            | Cause::SignalMissing
            | Cause::Undelivered
            | Cause::DeliveryTimedOut
            | Cause::MembersFailed
            | Cause::MembersUnknown
            | Cause::ChatAway
            | Cause::OrchestratorFailed
            | Cause::OrchestratorLate
    )
}

/// Returns the activity of a channel in words.
pub(super) const fn phase(phase: PhaseKind) -> &'static str {
    match phase {
        PhaseKind::Dormant => "quiet",
        PhaseKind::Refreshing => "reading the member list",
        PhaseKind::Granted => "has the floor and has not started",
        PhaseKind::Running => "is thinking",
        PhaseKind::Delivering => "is being delivered",
        PhaseKind::Confirming => "has spoken; its message is on the way",
        PhaseKind::Continuing => "has spoken and goes on",
        PhaseKind::Waiting => "waits until a person was answered",
        PhaseKind::Unknown => "the member list was never read",
        PhaseKind::Disabled => "turns are not kept",
        PhaseKind::Dead => "agents are not woken",
        PhaseKind::Archived => "archived",
        _ => "in a phase that is newer than this page",
    }
}

/// Returns the event that a deadline causes.
pub(super) const fn deadline(reason: DeadlineReason) -> &'static str {
    match reason {
        DeadlineReason::Start => "until it is woken again or skipped",
        DeadlineReason::Run => "until its turn is taken away",
        DeadlineReason::Slow => "until the run counts as slow",
        DeadlineReason::Consult => "until the turn goes on without an answer",
        DeadlineReason::Delivery | DeadlineReason::Quiet => "until its turn counts as over",
        DeadlineReason::Poll => "until the channel is read again",
        DeadlineReason::Members => "until the old member list is used",
        DeadlineReason::MembersRetry => "until the member list is asked for again",
        DeadlineReason::Outage => "until the turn is given up",
        DeadlineReason::Reminder => "until the initiator is reminded",
        DeadlineReason::Permit => "until the initiator's run must have ended",
        DeadlineReason::Overdue => "until the discussion is archived",
        DeadlineReason::Cap => "until an agent may speak again",
        DeadlineReason::Cleanup | DeadlineReason::Forget | _ => "until the channel tidies up",
    }
}

/// Returns true if a deadline matters to people.
pub(super) const fn is_shown(reason: DeadlineReason) -> bool {
    !matches!(reason, DeadlineReason::Cleanup | DeadlineReason::Forget | DeadlineReason::Poll)
}

pub(super) const fn pause(pause: Pause) -> &'static str {
    match pause {
        Pause::Held => "on hold",
        Pause::Stopped => "stopped",
        Pause::Finished => "finished",
        _ => "at rest",
    }
}

pub(super) const fn doing(state: AgentState) -> &'static str {
    state.as_str()
}

/// Turns a clause into a sentence.
pub(crate) fn sentence(clause: &str) -> String {
    let mut chars = clause.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if clause.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// Returns advice that lets agents speak, for operators who see this page.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others pass by themselves, or concern one agent"
)]
pub(super) const fn advice(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Dormant => "A person’s message begins a cycle; Wake begins one now.",
        Reason::AwaitingHuman => "A person’s message lets the agents go on; Wake does so now.",
        Reason::CeilingReached => "A person’s message lets the agents go on.",
        Reason::BudgetSpent => "Reset the budget, and they may speak again.",
        Reason::Stopped | Reason::Held | Reason::Finished => "Resume lets the agents go on.",
        Reason::TooFewAgents => "When a second agent comes, they take turns.",
        Reason::Dead | Reason::Unmanaged => "In the mode chat the agents would take turns.",
        Reason::MembersUnknown => {
            "It is asked for again by itself; the bot may lack the right to see the members."
        }
        Reason::RecordDamaged => "Give the channel a mode: that begins it anew.",
        Reason::RecordOfOtherVersion => {
            "The version of the program that wrote the record can use it."
        }
        Reason::Archived => "That is for good.",
        _ => return None,
    })
}
