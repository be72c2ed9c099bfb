//! The gate: may this agent run? (rules 7 to 11)

use crate::machine::look::Look;
use crate::machine::step::Step;
use crate::state::situation::Pause;
use crate::state::{Phase, RunFate, State};
use crate::{AgentKey, MessageId, Mode, Reason, RunId, Verdict};

/// Returns why the agent may, or may not, speak now. It changes no state.
pub(crate) fn explain(look: &Look<'_>, agent: AgentKey) -> Reason {
    let reason = reason(look, Some(agent), None);
    let waits = reason == Reason::YourTurn && matches!(look.state.floor.phase, Phase::Waiting(_));
    // A run that is under way may ask again while its turn waits, but its agent must not speak.
    if waits { Reason::Waiting } else { reason }
}

/// Returns why the agent may, or may not, run now.
#[inline]
fn reason(look: &Look<'_>, agent: Option<AgentKey>, run: Option<RunId>) -> Reason {
    if let Some(reason) = of_the_channel(look.state) {
        return reason;
    }
    let Some(agent) = agent else {
        return Reason::NotRegistered;
    };
    let State { floor, reminders, seen, .. } = look.state;
    let fate = run.and_then(|run| seen.run(run));
    match fate.filter(|_| !run.is_some_and(|run| runs_now(look.state, agent, run))) {
        Some(RunFate::Denied) => return Reason::RunAlreadyDenied,
        Some(RunFate::Ended) => return Reason::RunAlreadyEnded,
        None => {}
    }
    if floor.speaker() == Some(agent) {
        let is_over = matches!(floor.phase, Phase::Confirming { .. }) || floor.has_replied();
        let waits = matches!(floor.phase, Phase::Waiting(_)) && !waits_running(look.state, run);
        return match (is_over, waits) {
            (true, _) => Reason::TurnAlreadyUsed,
            (false, true) => Reason::Waiting,
            (false, false) => Reason::YourTurn,
        };
    }
    match reminders.permit().filter(|permit| permit.agent == agent) {
        Some(permit) if permit.is_delivering() => Reason::TurnAlreadyUsed,
        Some(_) => Reason::InitiatorPermit,
        None => of_the_silent(look, agent),
    }
}

/// Returns true if the run of the turn that waits goes on and this is it, as far as its id shows.
fn waits_running(state: &State, id: Option<RunId>) -> bool {
    let open = state.floor.waiting.as_ref().is_some_and(|waiting| waiting.end.is_none());
    let run = state.floor.turn_run().filter(|_| open);
    run.is_some_and(|run| id.is_none() || run.id == id)
}

/// Returns true if this is the agent's own run that runs now, in its turn or by its permit. The id alone is not enough,
/// because another agent's run may have the same name.
fn runs_now(state: &State, agent: AgentKey, id: RunId) -> bool {
    let State { floor, reminders, .. } = state;
    let in_turn = floor.turn_run().filter(|run| run.agent == agent);
    let permit = reminders.permit().filter(|it| it.agent == agent && !it.is_delivering());
    let is_permitted = permit.is_some_and(|permit| permit.run_id() == Some(id));
    let runs = matches!(floor.phase, Phase::Running { .. });
    let waits = !floor.waits_replied() && waits_running(state, Some(id));
    is_permitted || in_turn.is_some_and(|run| (runs && run.id == Some(id)) || waits)
}

/// Returns a reason that holds for every agent.
fn of_the_channel(state: &State) -> Option<Reason> {
    let standing = &state.standing;
    match (standing.archived.is_some(), standing.pause, standing.mode, &state.floor.phase) {
        (true, ..) => Some(Reason::Archived),
        (_, Some(Pause::Stopped), ..) => Some(Reason::Stopped),
        (_, Some(Pause::Finished), ..) => Some(Reason::Finished),
        (_, _, Mode::None | Mode::Work, _) => Some(Reason::Unmanaged),
        (_, _, Mode::Report, _) => Some(Reason::Dead),
        (.., Phase::Disabled) => Some(Reason::TooFewAgents),
        (.., Phase::Unknown { .. }) => Some(Reason::MembersUnknown),
        // A hold denies turns, so it has no effect in a channel that keeps none.
        (_, Some(Pause::Held), ..) => Some(Reason::Held),
        _ => None,
    }
}

/// Returns why an agent that has neither floor nor permit may not run.
fn of_the_silent(look: &Look<'_>, agent: AgentKey) -> Reason {
    let State { roster, floor, .. } = look.state;
    if roster.is_muted(agent) {
        return Reason::Muted;
    }
    if !roster.may_write(agent) {
        return Reason::MayNotWrite;
    }
    match roster.away(agent) {
        Some(true) => return Reason::Offline,
        Some(false) => return Reason::Unassigned,
        None => {}
    }
    match floor.speaker() {
        Some(_) if !roster.is_present(agent) => Reason::NotListed,
        Some(_) if look.is_capped(agent) => Reason::Capped,
        Some(_) if has_nothing_new(look, agent) => Reason::NothingNew,
        Some(speaker) => Reason::NotYourTurn { speaker },
        None => of_the_idle(look),
    }
}

fn has_nothing_new(look: &Look<'_>, agent: AgentKey) -> bool {
    look.state.roster.list.slot(agent).is_some_and(|slot| look.has_nothing_new(slot))
}

/// Returns why no agent has the floor in a channel that keeps turns.
fn of_the_idle(look: &Look<'_>) -> Reason {
    if matches!(look.state.floor.phase, Phase::Refreshing(_)) {
        Reason::Refreshing
    } else if look.budget_spent() {
        Reason::BudgetSpent
    } else if look.ceiling_reached() {
        Reason::CeilingReached
    } else if look.state.words.awaits_human {
        Reason::AwaitingHuman
    } else {
        Reason::Dormant
    }
}

/// Returns why no agent has the floor, if none has it and none may run without it.
pub(crate) fn silence(look: &Look<'_>) -> Option<Reason> {
    let State { floor, reminders, .. } = look.state;
    let is_idle = floor.speaker().is_none() && reminders.permit().is_none();
    of_the_channel(look.state).or_else(|| is_idle.then(|| of_the_idle(look)))
}

/// Answers a gate call.
#[inline]
pub(crate) fn answer(
    step: &mut Step<'_>,
    agent: Option<AgentKey>,
    run: Option<RunId>,
    latest: Option<MessageId>,
) -> Verdict {
    let reason = reason(&step.look(), agent, run);
    match (reason, agent) {
        (Reason::YourTurn, Some(agent)) => step.runs().start(agent, run, latest),
        (Reason::InitiatorPermit, _) => step.permits().start(run),
        (Reason::TooFewAgents, _) => step.members().recount(),
        _ => {}
    }
    if reason.allows() {
        let floor = &step.state.floor;
        let turn = (reason == Reason::YourTurn).then_some(floor.turn);
        let anchor = floor.turn_run().and_then(|run| run.anchor);
        return Verdict::Allow { reason, turn, anchor };
    }
    if is_remembered(reason) && step.state.seen.remember_run(run, RunFate::Denied) {
        // The run must be remembered for a while, so the channel's idle time begins anew.
        step.state.floor.last_activity_at = step.out.now;
    }
    Verdict::Deny { reason }
}

/// Returns true if a denied run is remembered, so that it gets the same answer when it asks again. Events come twice:
/// if a denied run could ask again and be allowed, its first end would count as the second's. A channel that is dead,
/// archived, stopped or finished remembers none, because that would cost memory in a channel that should cost none. A
/// denial that comes from the run's own past is remembered already.
const fn is_remembered(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::Dead
            | Reason::Archived
            | Reason::Stopped
            | Reason::Finished
            | Reason::RunAlreadyDenied
            | Reason::RunAlreadyEnded
    )
}
