//! Passes each input, and each deadline, to the handler of its topic.

use crate::machine::attendance::Attending;
use crate::machine::deadlines::next_deadline;
use crate::machine::ending::TurnEnd;
use crate::machine::gate;
use crate::machine::hearing::Hearing;
use crate::machine::listing::Listing;
use crate::machine::operator::Operator;
use crate::machine::outage::Outages;
use crate::machine::step::Step;
use crate::machine::writing::Writing;
use crate::state::{Phase, State};
use crate::{
    AgentKey, Answer, Cause, Deadline, DeadlineReason, Effect, Input, MessageId, Outcome, Refusal,
    RunId, Settlement, Ticket,
};

/// The most deadlines that fire in one call. More of them would mean that a duration of zero got in.
const EXPIRIES_MAX: usize = 1_024;

/// Processes an input.
pub(crate) fn consider(step: &mut Step<'_>, input: &Input) -> Result<Answer, Refusal> {
    match input {
        Input::Gate { agent, run, latest } => {
            return Ok(Answer::Verdict(gate::answer(step, *agent, *run, *latest)));
        }
        Input::RunEnded { agent, run, outcome } => on_run_ended(step, *agent, *run, outcome)?,
        Input::Replied { agent, run, next } => on_replied(step, *agent, *run, *next)?,
        Input::Undelivered { agent, run, posted } => {
            on_undelivered(step, *agent, *run, *posted)?;
        }
        Input::Chat { away } => on_chat(step, *away),
        Input::TriggerAgain => step.caller().trigger_again(),
        Input::Receipt { agent, run, messages } => on_receipt(step, *agent, *run, messages)?,
        Input::Message(message) => Hearing { step }.on_message(message, &[])?,
        Input::Addressed { message, agents } => Hearing { step }.on_addressed(message, agents)?,
        Input::MessageEdited { id, author, tail } => Hearing { step }.on_edit(*id, *author, tail),
        Input::Deleted(message) => Hearing { step }.on_deleted(*message),
        Input::Removed(agent) => {
            step.state.floor.phase.require_turns()?;
            step.tell(Some(*agent), Cause::MessageRemoved);
        }
        Input::Members { ticket, agents } => Listing { step }.on_members(*ticket, agents)?,
        Input::MemberJoined(agent) => Listing { step }.on_joined(*agent),
        Input::MemberLeft(agent) => Listing { step }.on_left(*agent),
        Input::Settled { ticket, settlement } => on_settled(step, *ticket, *settlement)?,
        Input::RunsLost { rerun } => on_runs_lost(step, *rerun),
        Input::Offline(agent) => Attending { step }.on_offline(*agent)?,
        Input::Online(agent) => Attending { step }.on_online(*agent)?,
        Input::Assign(agent) => Attending { step }.on_assign(*agent)?,
        Input::Create(creation) => Operator { step }.create(creation)?,
        Input::SetMode(mode) => Operator { step }.set_mode(*mode)?,
        Input::Wake { first, cause } => Operator { step }.wake(*first, *cause)?,
        Input::Conclude { by } => Operator { step }.conclude(*by)?,
        Input::Archive => Operator { step }.archive(None, Cause::Archived)?,
        Input::Stop => Operator { step }.stop()?,
        Input::EditedToStop(message) => Operator { step }.stop_by_word(*message)?,
        Input::Hold => Operator { step }.hold()?,
        Input::Resume => Operator { step }.resume(None)?,
        Input::Mute(agent) => Operator { step }.mute(*agent)?,
        Input::Unmute(agent) => Operator { step }.unmute(*agent),
        Input::MayNotWrite { agent, until } => Writing { step }.on_refused(*agent, *until)?,
        Input::MayWrite(agent) => Writing { step }.on_allowed(*agent),
        Input::SpeakNext(agent) => Operator { step }.speak_next(*agent)?,
        Input::Finish => Operator { step }.finish()?,
        Input::Spent { cost } => Operator { step }.spend(*cost)?,
        Input::ResetBudget => Operator { step }.reset_budget()?,
        // The channel adopts new rules before the step, and time passes with every input.
        Input::Reconfigure(_) | Input::Tick => {}
    }
    Ok(Answer::Accepted)
}

/// Fires every deadline that has passed, and returns the next one. Each counts as happening now, however late it is.
/// Otherwise a process that slept for an hour would skip every agent of the channel at once.
#[inline]
pub(crate) fn expire(step: &mut Step<'_>) -> Option<Deadline> {
    match next_deadline(&step.look()) {
        Some(due) if due.at <= step.out.now => expire_from(step, due),
        // For most inputs no deadline has passed.
        next => next,
    }
}

#[cold]
fn expire_from(step: &mut Step<'_>, first: Deadline) -> Option<Deadline> {
    let mut next = Some(first);
    for _ in 0..EXPIRIES_MAX {
        let Some(due) = next.filter(|deadline| deadline.at <= step.out.now) else {
            break;
        };
        on_due(step, due);
        next = next_deadline(&step.look());
    }
    next
}

fn on_due(step: &mut Step<'_>, due: Deadline) {
    match due.reason {
        DeadlineReason::Start => {
            let end = step.caller().on_start_late();
            step.complete_if(end);
        }
        DeadlineReason::Run => {
            let end = step.runs().on_late();
            step.complete_if(end);
        }
        DeadlineReason::Delivery => end_confirming(step, Cause::DeliveryTimedOut),
        DeadlineReason::Quiet => end_confirming(step, Cause::QuietAfterMessage),
        DeadlineReason::Slow => step.runs().on_slow(),
        DeadlineReason::Consult => {
            let ended = step.interruption().on_consult_late();
            step.go_on(ended.as_ref());
        }
        DeadlineReason::Cap => step.wake_for_pending(),
        DeadlineReason::Settle => step.wake_for_settled(),
        DeadlineReason::Poll => step.runs().poll(),
        DeadlineReason::Members => Listing { step }.go_on_without(Cause::MembersLate),
        DeadlineReason::MembersRetry => step.members().ask_again(),
        DeadlineReason::Outage => give_up_waiting(step),
        DeadlineReason::Reminder => step.reminding().remind(),
        DeadlineReason::Permit => step.expire_permit(),
        DeadlineReason::Overdue => {
            // It cannot fail, because only a channel that is not archived is overdue.
            let _ = Operator { step }.archive(None, Cause::Overdue);
        }
        DeadlineReason::MayWrite => Writing { step }.on_due(),
        DeadlineReason::Cleanup => {
            let now = step.out.now;
            step.out.remove_stale(|trigger| trigger.due.is_some_and(|due| due <= now));
        }
        DeadlineReason::Forget => {
            // It forgets as of the moment of the deadline, not as of now. After a sleep of hours an idle channel once
            // forgot the turns of a cap before the cap ended, and the word that waited for that end was never answered.
            step.state.forget(due.at);
            step.out.pending.shrink();
            step.out.changed();
        }
    }
}

/// Ends a turn with a reply that was waited for long enough.
fn end_confirming(step: &mut Step<'_>, cause: Cause) {
    let end = step.state.floor.speaker().map(|agent| TurnEnd::spoke(agent, cause));
    step.complete_if(end);
}

/// Ends the turn, because the chat has been away for too long. No agent is waited for until it is back.
fn give_up_waiting(step: &mut Step<'_>) {
    if let Some(cut) = step.cut() {
        step.state.cycle.cut_at(Some(cut));
    }
    step.ending().break_off();
    step.members().stop_reading();
    step.rotation().become_dormant(Cause::ChatAway);
}

fn on_chat(step: &mut Step<'_>, away: bool) {
    let outage = step.state.standing.outage.as_deref().copied();
    let State { standing, floor, roster, delivery, .. } = step.state;
    let delivery = delivery.as_deref_mut();
    let mut outages = Outages { standing, floor, roster, delivery, out: &mut step.out };
    match (away, outage) {
        (true, None) => outages.begin(),
        (false, Some(outage)) => {
            outages.end(outage);
            step.wake_for_pending();
        }
        (true, Some(_)) | (false, None) => {}
    }
}

fn on_run_ended(
    step: &mut Step<'_>,
    agent: AgentKey,
    run: Option<RunId>,
    outcome: &Outcome,
) -> Result<(), Refusal> {
    step.state.floor.phase.require_turns()?;
    if step.permits().ends(agent, run) {
        step.permits().remember(run);
        step.end_permit_run();
        return Ok(());
    }
    let end = step.runs().on_ended(agent, run, outcome)?;
    step.complete_if(end);
    Ok(())
}

fn on_receipt(
    step: &mut Step<'_>,
    agent: AgentKey,
    run: Option<RunId>,
    messages: &[MessageId],
) -> Result<(), Refusal> {
    if messages.is_empty() {
        return Err(Refusal::EmptyReceipt);
    }
    step.state.floor.phase.require_turns()?;
    let permit = step.state.reminders.permit_mut();
    if let Some(permit) = permit.filter(|permit| permit.matches(agent, run)) {
        permit.mark_spoken();
        let was_reminded = step.state.reminders.restart_count();
        step.out.changed_if(was_reminded);
        step.out.changed();
        step.runs().remember_all(messages);
        return Ok(());
    }
    let end = step.runs().on_receipt(agent, run, messages)?;
    step.complete_if(end);
    Ok(())
}

fn on_replied(
    step: &mut Step<'_>,
    agent: AgentKey,
    run: Option<RunId>,
    next: Option<AgentKey>,
) -> Result<(), Refusal> {
    step.state.floor.phase.require_turns()?;
    if step.permits().ends(agent, run) {
        return step.permits().reply(agent);
    }
    step.runs().on_replied(agent, run)?;
    if next.is_some() {
        step.state.cycle.plans.edit().handed_to = next;
    }
    Ok(())
}

fn on_undelivered(
    step: &mut Step<'_>,
    agent: AgentKey,
    run: Option<RunId>,
    posted: bool,
) -> Result<(), Refusal> {
    step.state.floor.phase.require_turns()?;
    if step.permits().ends(agent, run) {
        step.permits().give_up(agent, run, posted)?;
        step.end_permit_run();
        return Ok(());
    }
    let end = step.runs().on_undelivered(agent, run, posted)?;
    step.complete(end);
    Ok(())
}

/// Handles a restart of the host. The runs are gone, but the messages that they posted still count (rule 43).
fn on_runs_lost(step: &mut Step<'_>, rerun: bool) {
    let ended = step.interruption().lose_consultation();
    step.go_on(ended.as_ref());
    if step.state.floor.phase == Phase::Dormant {
        return step.lose_permit_run(rerun);
    }
    let Phase::Running { run, receipt, .. } = step.state.floor.phase else {
        return;
    };
    let end = step.runs().lose(run, receipt, rerun);
    let is_skipped = end.is_some_and(|end| end.cause == Cause::RunLost);
    if is_skipped && !step.state.floor.has_spoken() {
        // Its agent is asked again if no other takes the floor. That is no news to agents that passed or spoke last,
        // because one of them would speak twice in a row.
        step.state.words.cycle_requested = true;
    }
    step.complete_if(end);
}

/// Applies the result of a pending effect (rules 19, 28 and 42)
fn on_settled(step: &mut Step<'_>, ticket: Ticket, settlement: Settlement) -> Result<(), Refusal> {
    let pending = step.out.pending.settle(ticket).ok_or(Refusal::UnknownTicket)?;
    step.out.changed();
    match (pending.effect, settlement) {
        (Effect::FetchMembers { .. }, _) => Listing { step }.go_on_without(Cause::MembersFailed),
        (Effect::Consult { .. }, _) => {
            let ended = step.interruption().on_consulted(settlement);
            step.go_on(ended.as_ref());
        }
        (Effect::Poll { .. }, Settlement::Failed { retry_at }) => {
            step.runs().on_polled(ticket, retry_at);
        }
        (Effect::Poll { .. }, _) => step.runs().on_polled(ticket, None),
        (Effect::Trigger { turn, .. }, Settlement::Done { message }) => {
            // The agent knows of its turn from now on, and of the question that a person may delete.
            step.state.cycle.tell(turn);
            if let Some(message) = message {
                step.caller().dispose(message);
            }
        }
        (Effect::Reminder { .. }, Settlement::Done { .. }) => {}
        (Effect::Reminder { .. }, _) => step.reminding().on_failed(),
        // The machine does not wait for a notice or a deletion.
        _ => {}
    }
    Ok(())
}
