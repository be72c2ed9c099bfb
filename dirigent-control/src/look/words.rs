//! Causes, phases and deadlines in words.

use dirigent::operate::Cause;
use dirigent::snapshot::{AgentState, DeadlineReason, Pause, PhaseKind};

/// Why something changed.
pub(super) fn cause(cause: Cause) -> String {
    cause.as_str().replace('-', " ")
}

/// What a channel is doing.
pub(super) const fn phase(phase: PhaseKind) -> &'static str {
    match phase {
        PhaseKind::Dormant => "quiet",
        PhaseKind::Refreshing => "reading who is here",
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

/// What happens when the deadline is over.
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

/// Whether a person cares when it is over.
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
