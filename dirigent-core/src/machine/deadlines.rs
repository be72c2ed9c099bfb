//! The next deadline, and its reason (rules 40 and 41)

use core::time::Duration;

use crate::machine::look::Look;
use crate::state::{Phase, REMINDERS_MAX, Reminders, State, TurnTerms};
use crate::{Deadline, DeadlineReason, Timestamp};

/// The least time that a discussion with reminders in vain stays open, if no time is set.
const PATIENCE_MIN: Duration = Duration::from_secs(600);

/// The earliest of several deadlines. Of equal ones, the first that was considered.
struct Earliest(Option<Deadline>);

impl Earliest {
    fn consider(&mut self, at: Option<Timestamp>, reason: DeadlineReason) {
        if let Some(at) = at {
            if self.0.is_none_or(|known| at < known.at) {
                self.0 = Some(Deadline { at, reason });
            }
        }
    }
}

/// Returns the earliest moment at which something is due.
#[inline]
pub(crate) fn next_deadline(look: &Look<'_>) -> Option<Deadline> {
    let State { standing, floor, roster, .. } = look.state;
    let mut next = Earliest(None);
    if let Some(refresh) = roster.refresh {
        // While the chat is away, the wait for the list stands still, because no list could arrive.
        let until = (!standing.is_chat_away()).then_some(refresh.until);
        next.consider(until, DeadlineReason::Members);
    }
    of_the_phase(look, &mut next);
    let waits_for_chat = floor.phase.awaits_start()
        || matches!(floor.phase, Phase::Confirming { .. } | Phase::Refreshing(_));
    if standing.is_chat_away() && waits_for_chat {
        next.consider(standing.patience_ends_at(look.config), DeadlineReason::Outage);
    }
    if floor.phase != Phase::Archived {
        next.consider(roster.next_allowed_at(), DeadlineReason::MayWrite);
    }
    let stale = look.pending.stale().iter().filter_map(|trigger| trigger.due).min();
    next.consider(stale, DeadlineReason::Cleanup);
    // Once all is forgotten there is no such deadline, because it would be due for ever.
    if floor.phase.is_idle() && (!look.state.seen.is_forgotten() || look.state.delivery.is_some()) {
        let forget = floor.last_activity_at + look.config.members.forget_after;
        next.consider(Some(forget), DeadlineReason::Forget);
    }
    next.0
}

/// Returns the latest moment at which the channel goes on by itself. Work behind a turn is not counted, for example a
/// look at the history or the removal of a trigger message, and neither is a repeated request.
pub(crate) fn goes_on_at(look: &Look<'_>) -> Option<Timestamp> {
    let State { standing, floor, roster, words, delivery, .. } = look.state;
    if standing.is_paused() {
        return None;
    }
    match &floor.phase {
        Phase::Granted(_) | Phase::Running { .. } | Phase::Continuing { .. } => look.turn_ends_at(),
        Phase::Confirming { since, .. } => {
            let quiet = delivery.as_ref().and_then(|it| it.quiet_deadline(*since, look.config));
            let quiet = quiet.filter(|_| !standing.is_chat_away());
            quiet.into_iter().chain(look.turn_ends_at()).min()
        }
        // If people wrote more during the wait, the orchestrator is asked about that next, so the turn does not go on
        // yet.
        Phase::Waiting(_) => {
            let waiting = floor.waiting.as_ref().filter(|waiting| waiting.more.is_none());
            waiting.map(|waiting| waiting.until)
        }
        // A list that was never read makes the members unknown then. While the chat is away, the wait for the list
        // stands still.
        Phase::Refreshing(_) => {
            let is_waited_for = roster.read_at.is_some() && !standing.is_chat_away();
            roster.refresh.filter(|_| is_waited_for).map(|refresh| refresh.until)
        }
        Phase::Dormant if words.wake_pending => {
            let settled = look.state.cycle.settling().map(|settling| settling.until);
            let wakes = settled.into_iter().chain(cap_deadline(look)).min();
            // If a ceiling of time is reached by then, the channel stays dormant. A simulation found that a time was
            // named at which no agent woke.
            wakes.filter(|at| Look { now: *at, ..*look }.may_wake())
        }
        Phase::Dormant
        | Phase::Unknown { .. }
        | Phase::Disabled
        | Phase::Dead
        | Phase::Archived
        | Phase::Delivering { .. } => None,
    }
}

/// Adds the deadlines of the phase itself.
#[inline]
fn of_the_phase(look: &Look<'_>, next: &mut Earliest) {
    let State { standing, floor, words, reminders, delivery, .. } = look.state;
    match &floor.phase {
        Phase::Granted(_) | Phase::Continuing { .. } => {
            next.consider(look.turn_ends_at(), DeadlineReason::Start);
        }
        Phase::Running { .. } => {
            next.consider(look.turn_ends_at(), DeadlineReason::Run);
            let terms: Option<&TurnTerms> = floor.terms.get();
            next.consider(terms.and_then(|terms| terms.slow_at), DeadlineReason::Slow);
        }
        Phase::Waiting(_) => {
            let until = floor.waiting.as_ref().map(|waiting| waiting.until);
            next.consider(until, DeadlineReason::Consult);
        }
        Phase::Confirming { since, .. } => {
            if let Some(delivery) = delivery {
                let quiet = delivery.quiet_deadline(*since, look.config);
                // While the chat is away, silence proves nothing, because no message can arrive.
                next.consider(quiet.filter(|_| !standing.is_chat_away()), DeadlineReason::Quiet);
                next.consider(look.turn_ends_at(), DeadlineReason::Delivery);
                next.consider(delivery.polls.due(), DeadlineReason::Poll);
            }
        }
        Phase::Dormant => {
            if let Some(reminders) = reminders.get() {
                let due = reminders.due_at.filter(|_| !standing.is_paused());
                next.consider(due, DeadlineReason::Reminder);
                let permit = reminders.permit.and_then(|permit| permit.until());
                next.consider(permit, DeadlineReason::Permit);
            }
            next.consider(overdue_at(look), DeadlineReason::Overdue);
            if words.wake_pending {
                next.consider(cap_deadline(look), DeadlineReason::Cap);
                let settled = look.state.cycle.settling().map(|settling| settling.until);
                next.consider(settled, DeadlineReason::Settle);
            }
        }
        Phase::Unknown { ask_at, .. } => next.consider(*ask_at, DeadlineReason::MembersRetry),
        Phase::Disabled
        | Phase::Dead
        | Phase::Archived
        | Phase::Refreshing(_)
        | Phase::Delivering { .. } => {}
    }
}

/// Returns when the discussion is archived without its initiator. Either it lay idle at a ceiling, or its initiator was
/// reminded [`REMINDERS_MAX`] times in vain.
fn overdue_at(look: &Look<'_>) -> Option<Timestamp> {
    let State { standing, floor, quota, reminders, .. } = look.state;
    let reminders: Reminders = reminders.value();
    let may_run = reminders.permit.is_some_and(|permit| permit.is_running());
    // An initiator that runs may still conclude, and an operator may still resume.
    if !standing.is_discussion() || standing.is_paused() || may_run {
        return None;
    }
    let (config, mode, limits) = (look.config, standing.mode, &quota.limits);
    let idle_since = floor.last_activity_at;
    let is_counted = limits.turns_reached(config, mode) || limits.cycles_reached(config, mode);
    let at_ceiling = if is_counted {
        Some(idle_since)
    } else {
        limits.time_up(config, mode).map(|at| at.max(idle_since))
    };
    let patience = config.discussion.overdue_archive_after;
    let at_ceiling = at_ceiling.and_then(|at| Some(at + patience?));
    let in_vain = reminders.last_at.filter(|_| reminders.sent >= REMINDERS_MAX);
    // If no time is set, a discussion with reminders in vain stays open for the time of one more reminder. An initiator
    // that never uses its last permit would otherwise keep the discussion open for ever.
    let kept = patience.unwrap_or(config.discussion.reminder_interval.max(PATIENCE_MIN));
    let in_vain = in_vain.map(|at| at.max(idle_since) + kept);
    at_ceiling.into_iter().chain(in_vain).min()
}

/// Returns when an agent may speak again, if a wake is pending for it.
fn cap_deadline(look: &Look<'_>) -> Option<Timestamp> {
    let State { roster, quota, .. } = look.state;
    let is_capped = look.config.budget.agent_turns_per_hour.is_some();
    if !is_capped || !look.wakes_for_pending() {
        return None;
    }
    let agents = roster.list.slots().iter().map(|slot| slot.agent);
    let free = agents.filter(|agent| roster.is_available(*agent));
    free.filter_map(|agent| quota.cap_ends(agent, look.config)).min()
}
