//! May this agent run? (rules 7 to 11)

use super::Channel;
use super::permit::PermitRun;
use super::phase::{Phase, TurnRun};
use super::step::Step;
use crate::seen::RunFate;
use crate::{AgentKey, Cause, MessageId, Mode, Reason, Rest, RunId, Verdict};

/// Why the agent may, or may not, speak now. Changes nothing.
pub(super) fn explain(channel: &Channel, agent: AgentKey) -> Reason {
    let reason = reason(channel, Some(agent), None);
    let rests = reason == Reason::YourTurn && matches!(channel.phase, Phase::Waiting(_));
    if rests { Reason::Waiting } else { reason }
}

/// Why the agent may, or may not, run now.
fn reason(channel: &Channel, agent: Option<AgentKey>, run: Option<RunId>) -> Reason {
    if let Some(reason) = of_the_channel(channel) {
        return reason;
    }
    let Some(agent) = agent else {
        return Reason::NotRegistered;
    };
    let fate = run.filter(|run| !runs_now(channel, agent, *run));
    match fate.and_then(|run| channel.seen.run(run)) {
        Some(RunFate::Denied) => return Reason::RunAlreadyDenied,
        Some(RunFate::Ended) => return Reason::RunAlreadyEnded,
        None => {}
    }
    if channel.speaker() == Some(agent) {
        return match channel.phase {
            Phase::Confirming { .. } | Phase::Delivering { .. } => Reason::TurnAlreadyUsed,
            Phase::Waiting(_) if channel.rests_replied() => Reason::TurnAlreadyUsed,
            Phase::Waiting(_) if !rests_running(channel, run) => Reason::Waiting,
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => Reason::YourTurn,
        };
    }
    match channel.permit {
        Some(permit) if permit.agent == agent && permit.is_delivering() => {
            return Reason::TurnAlreadyUsed;
        }
        Some(permit) if permit.agent == agent => return Reason::InitiatorPermit,
        Some(_) | None => {}
    }
    of_the_silent(channel, agent)
}

/// Whether the run of the turn that rests runs on, and this is it, as far as its name tells.
fn rests_running(channel: &Channel, id: Option<RunId>) -> bool {
    let open = channel.waiting().is_some_and(|waiting| waiting.end.is_none());
    let run = channel.turn_run().filter(|_| open);
    run.is_some_and(|run| id.is_none() || run.id == id)
}

/// Whether this is the agent's own run that runs now, in its turn or by its permit, whatever became
/// of another agent's run of that name.
fn runs_now(channel: &Channel, agent: AgentKey, id: RunId) -> bool {
    let permitted = channel.permit.filter(|it| it.agent == agent && !it.is_delivering());
    let in_turn = channel.turn_run().filter(|run| run.agent == agent);
    match channel.phase {
        Phase::Running { .. } => in_turn.is_some_and(|run| run.id == Some(id)),
        Phase::Waiting(_) if channel.rests_replied() => false,
        Phase::Waiting(_) => in_turn.is_some() && rests_running(channel, Some(id)),
        Phase::Dormant => permitted.is_some_and(|permit| permit.run_id() == Some(id)),
        Phase::Disabled
        | Phase::Dead
        | Phase::Archived
        | Phase::Unknown { .. }
        | Phase::Refreshing(_)
        | Phase::Granted(_)
        | Phase::Delivering { .. }
        | Phase::Confirming { .. }
        | Phase::Continuing { .. } => false,
    }
}

/// A reason that holds for every agent.
fn of_the_channel(channel: &Channel) -> Option<Reason> {
    match (channel.archived.is_some(), channel.rest, channel.mode, channel.phase) {
        (true, ..) => Some(Reason::Archived),
        (_, Some(Rest::Stopped), ..) => Some(Reason::Stopped),
        (_, Some(Rest::Finished), ..) => Some(Reason::Finished),
        (_, _, Mode::None | Mode::Work, _) => Some(Reason::Unmanaged),
        (_, _, Mode::Report, _) => Some(Reason::Dead),
        (.., Phase::Disabled) => Some(Reason::TooFewAgents),
        (.., Phase::Unknown { .. }) => Some(Reason::MembersUnknown),
        (_, Some(Rest::Held), ..) => Some(Reason::Held),
        _ => None,
    }
}

/// Why an agent that has neither floor nor permit may not run.
fn of_the_silent(channel: &Channel, agent: AgentKey) -> Reason {
    if channel.is_muted(agent) {
        return Reason::Muted;
    }
    match channel.away(agent) {
        Some(true) => return Reason::Offline,
        Some(false) => return Reason::Unassigned,
        None => {}
    }
    match (channel.speaker(), channel.phase) {
        (Some(speaker), phase) if !matches!(phase, Phase::Refreshing(_)) => {
            match channel.list.slot(agent) {
                Some(slot) if slot.left => Reason::NotListed,
                Some(_) if channel.is_capped(agent) => Reason::Capped,
                Some(_) => Reason::NotYourTurn { speaker },
                None => Reason::NotListed,
            }
        }
        _ => of_the_idle(channel),
    }
}

/// Why no agent has the floor in a channel that keeps turns.
fn of_the_idle(channel: &Channel) -> Reason {
    if matches!(channel.phase, Phase::Refreshing(_)) {
        Reason::Refreshing
    } else if channel.budget_spent() {
        Reason::BudgetSpent
    } else if channel.ceiling_reached() {
        Reason::CeilingReached
    } else if channel.awaits_human() {
        Reason::AwaitingHuman
    } else {
        Reason::Dormant
    }
}

/// Why no agent has the floor, where none has it and none may run without it.
pub(crate) fn silence(channel: &Channel) -> Option<Reason> {
    let is_idle = channel.speaker().is_none() && channel.permit.is_none();
    of_the_channel(channel).or_else(|| is_idle.then(|| of_the_idle(channel)))
}

impl Step<'_> {
    pub(super) fn on_gate(
        &mut self,
        agent: Option<AgentKey>,
        run: Option<RunId>,
        latest: Option<MessageId>,
    ) -> Verdict {
        let reason = reason(self.channel, agent, run);
        match (reason, agent) {
            (Reason::YourTurn, Some(agent)) => self.start_turn_run(agent, run, latest),
            (Reason::InitiatorPermit, _) => self.start_permit_run(run),
            (Reason::TooFewAgents, _) => self.recount(),
            _ => {}
        }
        if reason.allows() {
            let turn = (reason == Reason::YourTurn).then_some(self.channel.turn);
            Verdict::Allow { reason, turn, anchor: self.channel.anchor() }
        } else {
            if is_remembered(reason) {
                self.remember_run(run, RunFate::Denied);
            }
            Verdict::Deny { reason }
        }
    }

    /// The speaker starts, or starts again with a newer run.
    fn start_turn_run(&mut self, agent: AgentKey, id: Option<RunId>, latest: Option<MessageId>) {
        match &mut self.channel.phase {
            Phase::Granted(_) | Phase::Continuing { .. } => {
                let anchor = self.channel.seen.newest().max(latest);
                let until = self.channel.config.run_deadline.map(|limit| self.channel.now + limit);
                let run = TurnRun { agent, id, anchor };
                if let Some(delivery) = &mut self.channel.delivery {
                    delivery.clear();
                }
                let phase = Phase::Running { run, until, receipt: false };
                self.watch_run();
                self.shift(phase, Some(agent), Cause::RunStarted);
                self.channel.unheard = self.channel.unheard && self.channel.awaits_agent();
            }
            Phase::Running { run, .. } if id.is_some() && run.id != id => {
                let replaced = core::mem::replace(&mut run.id, id);
                self.remember_run(replaced, RunFate::Ended);
                self.tell(Some(agent), Cause::RunReplaced);
            }
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Waiting(_) => {}
        }
    }

    /// The initiator starts its one run, or starts it again with a newer one.
    fn start_permit_run(&mut self, id: Option<RunId>) {
        let until = self.channel.config.run_deadline.map(|limit| self.channel.now + limit);
        let Some(permit) = &mut self.channel.permit else {
            return;
        };
        let agent = permit.agent;
        match &mut permit.run {
            PermitRun::Offered => {
                permit.run = PermitRun::Running { id, until, spoke: false, replied: false };
                self.channel.reminder_due = None;
                self.tell(Some(agent), Cause::RunStarted);
            }
            PermitRun::Running { id: known, .. } if id.is_some() && *known != id => {
                let replaced = core::mem::replace(known, id);
                self.remember_run(replaced, RunFate::Ended);
                self.tell(Some(agent), Cause::RunReplaced);
            }
            PermitRun::Running { .. } => {}
        }
    }
}

/// Whether a denied run is remembered, so that asking again gives the same answer. A channel that is
/// dead, archived, stopped or finished remembers none: that would cost memory where nothing is kept.
/// A denial that comes from the run's own past is remembered already.
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
