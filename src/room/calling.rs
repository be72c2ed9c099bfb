//! The run of a hosted agent: it is permitted, called, given people's messages, and cancelled.

use std::time::Duration;

use dirigent_core::snapshot::{PermitRun, Phase, State};
use dirigent_core::view::Span;
use dirigent_core::{AgentKey, Input, PhaseKind, RunId, Ticket, TurnId};

use super::action::{Account, Action, ActionId, CallRequest, Purpose, Signal};
use super::calls::{Call, Inject, KeptRun, hosted_run, is_hosted_run};
use super::doorway::Doorway;
use super::observed::is_observed_run;
use super::step::Step;
use crate::admission::{Claim, ClaimKind};
use crate::settings::LostRuns;
use crate::values::stage::DriverStage;

/// How long a run of another process is waited for after a restart, if no deadline is set.
const KEPT_RUN_MAX: Duration = Duration::from_secs(600);

impl Step<'_> {
    /// Asks for the run of a hosted agent: the run of this turn, or, without a turn, the run after a reminder if that
    /// is still permitted. If it may run, the agent is called once the state is stored, and its trigger is settled
    /// then. Returns whether it may run.
    pub(super) fn start_run(
        &mut self,
        ticket: Ticket,
        agent: AgentKey,
        turn: Option<TurnId>,
        attempt: u8,
    ) -> bool {
        // The agent may have the floor by now. Then its run belongs to its turn, and a trigger asks for it.
        // Otherwise a run after a reminder would take the floor from the turn that has just begun.
        if turn.is_none() && self.turns.view().permit() != Some(agent) {
            return false;
        }
        let run = hosted_run(ticket);
        let gate = Input::Gate { agent: Some(agent), run: Some(run), latest: None };
        let _ = self.turns.submit(self.cx, self.now, &gate);
        // In a channel without turns every agent may speak, so no run starts.
        if self.turns.view().run() != Some(run) {
            return false;
        }
        let older = self.lanes.calls.current().map(|older| (older.agent, older.run));
        // An agent may ask at the gate while its call waits. The newer run then holds the floor.
        if let Some((agent, run)) = older {
            self.cancel_call(agent, Some(run));
        }
        let stamp = self.turns.commit.newest();
        let trigger = turn.map(|_| ticket);
        self.lanes.calls.permit(Call {
            agent,
            turn,
            run,
            attempt,
            stamp,
            trigger,
            is_in_line: false,
            under_way: None,
        });
        true
    }

    /// Calls the agent with the permitted run, once the state is stored and its messages are in memory.
    pub(super) fn offer_call(
        &mut self,
        door: &mut Doorway<'_>,
        is_holding: bool,
    ) -> Option<ActionId> {
        let (cx, now, room) = (self.cx, self.now, self.turns.channel);
        let call = self.lanes.calls.current()?;
        let is_ready = call.under_way.is_none() && self.turns.commit.is_committed(call.stamp);
        if !is_ready || cx.stage >= DriverStage::Stopping || is_holding {
            return None;
        }
        // A run goes on while the channel is on hold, but this agent was not called yet.
        if self.turns.view().pause().is_some() {
            return None;
        }
        let &Call { agent, turn, run, attempt, .. } = call;
        let handout = self.prepare_handout(agent, turn.unwrap_or_default())?;
        let view = self.turns.view();
        let (newest, paused) = (view.newest(), view.phase() == PhaseKind::Waiting);
        // Asked last, because a place that is admitted and not used would be lost to another room.
        let claim = Claim::new(room, Account::Agent(agent), ClaimKind::Call);
        let Ok(admitted) = door.admission.admit(now, claim) else {
            self.lanes.calls.stands_in_line();
            return None;
        };
        // From here on the call surely starts, so everything that waits for it is taken.
        let brought = self.hand_out(handout);
        let late = self.lanes.inbox.take_late(agent);
        let repeated = self.lanes.inbox.talk.take_repeated(agent);
        let request =
            CallRequest { agent, turn, run, attempt, newest, brought, late, repeated, paused };
        let (purpose, action) = (Purpose::Call { agent, run }, Action::Call(request));
        let id = self.lanes.requests.start(cx, now, door, admitted, purpose, action);
        let trigger = self.lanes.calls.begin(id);
        self.turns.call_begun(trigger, now);
        Some(id)
    }

    /// Takes the permission from the call in progress. Its agent learns it at once.
    pub(super) fn cancel_call(&mut self, agent: AgentKey, run: Option<RunId>) {
        if let Some(call) = self.lanes.calls.cancel(self.now, agent, run) {
            // An agent that takes too long over a message may do so in each turn, so it counts as a failure.
            if self.turns.view().pause().is_some() {
                self.lanes.inbox.taken_away(agent);
            } else {
                self.turn_failed(agent);
            }
            self.lanes.signals.extend(call.under_way.map(Signal::Cancel));
        }
    }

    /// Passes people's messages to the agent of this turn. If the library has called it, it gets them now, otherwise
    /// with its next call. An agent that the host runs reads them in the channel.
    pub(super) fn hand_over(&mut self, agent: AgentKey, turn: TurnId, mut span: Span) {
        self.turns.commit.change();
        self.lanes.inbox.keep_unserved(span);
        // Only a running hosted agent can get them now. They stay unserved until a turn has taken them.
        if self.lanes.calls.under_way().is_some() {
            let waits = self
                .lanes
                .calls
                .inject
                .filter(|inject| (inject.agent, inject.turn) == (agent, turn));
            if let Some(inject) = waits {
                span.cover(inject.span);
            }
            self.lanes.calls.inject = Some(Inject { agent, turn, span });
        }
    }

    /// Passes people's messages in memory to the running agent, and reads the others.
    pub(super) fn inject_pending(&mut self) {
        let Some(Inject { agent, span, .. }) = self.lanes.calls.inject else {
            return;
        };
        let view = self.turns.view();
        let runs = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting);
        let run = view.run().filter(|_| runs);
        let is_its = |call: &&Call| call.agent == agent && Some(call.run) == run;
        let Some(id) = self.lanes.calls.current().filter(is_its).and_then(|call| call.under_way)
        else {
            self.lanes.calls.inject = None;
            return;
        };
        let Some((messages, _)) = self.said_within(span) else {
            return;
        };
        self.lanes.calls.inject = None;
        self.lanes.reads.handed();
        let messages = self.lanes.inbox.news_for(agent, messages);
        self.lanes.signals.push_back(Signal::Inject { id, agent, messages });
    }

    /// Handles the loss of runs of the earlier process. A reply that is being delivered is not a run.
    pub(super) fn lose_runs(&mut self) {
        let cx = self.cx;
        let view = self.turns.view();
        // The bot of an observed agent goes on by itself.
        let observed = view.speaker().and_then(|agent| cx.directory.observed(agent));
        if observed.is_some() && view.run().is_some_and(is_observed_run) {
            return;
        }
        // A hosted run died with its process. A run of the host may go on in another one.
        let is_ours = view.run().is_none_or(|run| is_hosted_run(run) || is_observed_run(run));
        let is_running = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting)
            || view.permit().is_some();
        if cx.settings.hooks.lost_runs == LostRuns::Keep && is_running && !is_ours {
            return self.keep_run();
        }
        let rerun = cx.settings.hooks.lost_runs == LostRuns::Rerun;
        // There may have been no run, and then nothing changes.
        let _ = self.turns.submit(cx, self.now, &Input::RunsLost { rerun });
    }

    /// Keeps a run that goes on in another process. It gets a deadline, because that process may be gone.
    fn keep_run(&mut self) {
        let machine = &self.turns.machine;
        let State { floor, reminders, .. } = &machine.snapshot().state;
        let permit = reminders.get().and_then(|reminders| reminders.permit);
        // The machine keeps such a run without a limit if the host set none. Its process may be gone, and the channel
        // would wait for ever.
        let is_limited = match (&floor.phase, permit.map(|permit| permit.run)) {
            (_, Some(PermitRun::Running { until, .. })) => until.is_some(),
            (Phase::Running { until, .. }, _) => until.is_some(),
            _ => machine.config().deadlines.run.is_some(),
        };
        if let Some(run) = machine.view().run().filter(|_| !is_limited) {
            let most = machine.config().deadlines.run.unwrap_or(KEPT_RUN_MAX);
            self.lanes.calls.kept = Some(Box::new(KeptRun { run, until: self.now + most }));
        }
    }

    /// Ends a run that outlived its process, after it was waited for long enough.
    pub(super) fn end_kept_run(&mut self) -> bool {
        let Some(KeptRun { run, until }) = self.lanes.calls.kept.as_deref().copied() else {
            return false;
        };
        let (cx, now) = (self.cx, self.now);
        let is_over = self.turns.view().run() != Some(run);
        if !is_over && now < until {
            return false;
        }
        self.lanes.calls.kept = None;
        if !is_over {
            let _ = self.turns.submit(cx, now, &Input::RunsLost { rerun: false });
        }
        true
    }
}
