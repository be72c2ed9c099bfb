//! May it run? (rules 7 to 11)

use dirigent_core::view::Pause;
use dirigent_core::{AgentKey, Cause, MessageId, Mode, Reason, RunId, TurnId, Verdict};

use super::Model;
use super::state::{Away, Fate, PermitRun, Phase, TurnProgress};

impl Model {
    /// Rules 7 to 11: a gate call.
    pub(super) fn on_gate(
        &mut self,
        agent: Option<AgentKey>,
        run: Option<RunId>,
        latest: Option<MessageId>,
    ) -> Verdict {
        let reason = self.reason_in_a_rest(agent, run);
        let verdict = if reason == Reason::YourTurn {
            self.start_turn(run, latest)
        } else if reason.allows() {
            self.start_permit(run, reason);
            allow(reason)
        } else {
            self.remember_denied(run, reason);
            Verdict::Deny { reason }
        };
        if reason == Reason::TooFewAgents {
            self.ask_recount(); // rule 11
        }
        verdict
    }

    /// Rule 7: the reason, for a run if one is given.
    pub(super) fn reason_for(&self, agent: Option<AgentKey>, run: Option<RunId>) -> Reason {
        if self.closing.is_some() {
            return Reason::Archived;
        }
        if self.is_stopped() {
            let finished = self.rest == Some(Pause::Finished);
            return if finished { Reason::Finished } else { Reason::Stopped };
        }
        match self.mode {
            Mode::None | Mode::Work => return Reason::Unmanaged,
            Mode::Report => return Reason::Dead,
            Mode::Discussion | Mode::Chat => {}
        }
        if self.phase == Phase::Disabled {
            return Reason::TooFewAgents;
        }
        if matches!(self.phase, Phase::Unknown { .. }) {
            return Reason::MembersUnknown; // rule 72
        }
        if self.is_held() {
            return Reason::Held;
        }
        let Some(agent) = agent else {
            return Reason::NotRegistered;
        };
        let past = run.filter(|run| !self.runs_now(agent, *run));
        match past.and_then(|run| self.memory.fate(run)) {
            Some(Fate::Denied) => return Reason::RunAlreadyDenied,
            Some(Fate::Ended) => return Reason::RunAlreadyEnded,
            None => {}
        }
        self.reason_for_agent(agent)
    }

    /// Rule 55: the speaker's running run, and no run while it runs, are allowed though it rests.
    fn reason_in_a_rest(&self, agent: Option<AgentKey>, run: Option<RunId>) -> Reason {
        let reason = self.reason_for(agent, run);
        let runs = self.phase.turn().is_some_and(|turn| {
            turn.is_running() && (run.is_none() || run == turn.run) && agent == Some(turn.agent)
        });
        if reason == Reason::Waiting && runs { Reason::YourTurn } else { reason }
    }

    /// Whether this is the agent's very run that was allowed and has not ended.
    fn runs_now(&self, agent: AgentKey, run: RunId) -> bool {
        let turn = self.phase.turn().filter(|turn| turn.agent == agent && turn.is_running());
        let permit = self.permit.as_ref().filter(|permit| permit.agent == agent);
        let running = permit.and_then(|permit| permit.running.as_ref());
        let running = running.filter(|running| !running.replied);
        let known = turn.map(|turn| turn.run).or(running.map(|running| running.run));
        known == Some(Some(run))
    }

    /// Rule 7, its end: what the agent itself has for and against it.
    fn reason_for_agent(&self, agent: AgentKey) -> Reason {
        if let Phase::Turn(turn) = &self.phase {
            if turn.agent == agent {
                return match turn.stage {
                    TurnProgress::Granted { .. }
                    | TurnProgress::Running { .. }
                    | TurnProgress::Continuing { .. } => Reason::YourTurn,
                    TurnProgress::Delivering | TurnProgress::Confirming(_) => {
                        Reason::TurnAlreadyUsed
                    }
                    TurnProgress::Waiting(_) if turn.has_replied() => Reason::TurnAlreadyUsed,
                    TurnProgress::Waiting(_) => Reason::Waiting,
                };
            }
        }
        if self.permit.as_ref().is_some_and(|permit| permit.agent == agent) {
            let used = self.permit_delivers(); // rule 68
            return if used { Reason::TurnAlreadyUsed } else { Reason::InitiatorPermit };
        }
        if self.muted.contains(&agent) {
            return Reason::Muted;
        }
        if self.may_not_write.contains_key(&agent) {
            return Reason::MayNotWrite;
        }
        match self.away.get(&agent) {
            Some(Away::Offline) => return Reason::Offline,
            Some(Away::Unassigned) => return Reason::Unassigned,
            None => {}
        }
        match &self.phase {
            Phase::Refreshing(_) => Reason::Refreshing,
            Phase::Turn(_) if !self.is_present(agent) => Reason::NotListed,
            Phase::Turn(_) if self.is_capped(agent) => Reason::Capped,
            Phase::Turn(_) if self.has_nothing_new(agent) => Reason::NothingNew,
            Phase::Turn(turn) => Reason::NotYourTurn { speaker: turn.agent },
            Phase::Dormant
            | Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Unknown { .. } => {
                if self.is_any_budget_spent() {
                    Reason::BudgetSpent
                } else if self.is_ceiling_reached() {
                    Reason::CeilingReached
                } else if self.awaits_human {
                    Reason::AwaitingHuman
                } else {
                    Reason::Dormant
                }
            }
        }
    }

    /// Rule 8: an allowed gate call of the agent that has the floor.
    fn start_turn(&mut self, run: Option<RunId>, latest: Option<MessageId>) -> Verdict {
        let newest = self.memory.newest;
        let due = self.config.deadlines.run.map(|time| self.now + time);
        let slow = self.config.deadlines.slow_after.map(|time| self.now + time);
        let mut replaced = None;
        let mut anchor = None;
        if let Phase::Turn(turn) = &mut self.phase {
            if matches!(turn.stage, TurnProgress::Granted { .. } | TurnProgress::Continuing { .. })
            {
                turn.stage = TurnProgress::Running { due };
                turn.slow = slow; // rule 52
                turn.run = run;
                turn.anchor = newest.max(latest);
            } else if run.is_some() && run != turn.run {
                replaced = turn.run;
                turn.run = run;
                self.causes.push(Cause::RunReplaced);
            }
            anchor = turn.anchor;
        }
        self.remember_ended(replaced);
        Verdict::Allow { reason: Reason::YourTurn, turn: Some(TurnId::new(self.turn)), anchor }
    }

    /// Rule 9: an allowed gate call of the agent that has the permit.
    fn start_permit(&mut self, run: Option<RunId>, reason: Reason) {
        if reason != Reason::InitiatorPermit {
            return;
        }
        let due = self.config.deadlines.run.map(|time| self.now + time);
        let mut replaced = None;
        if let Some(permit) = &mut self.permit {
            match &mut permit.running {
                None => {
                    permit.running = Some(PermitRun { run, due, spoken: false, replied: false });
                    self.reminder_due = None; // rule 36
                }
                Some(running) if run.is_some() && run != running.run => {
                    replaced = running.run;
                    running.run = run;
                    self.causes.push(Cause::RunReplaced);
                }
                Some(_) => {}
            }
        }
        self.remember_ended(replaced);
    }

    /// Rule 10: what a denial leaves behind.
    fn remember_denied(&mut self, run: Option<RunId>, reason: Reason) {
        let forgettable = matches!(
            reason,
            Reason::RunAlreadyDenied
                | Reason::RunAlreadyEnded
                | Reason::Dead
                | Reason::Archived
                | Reason::Stopped
                | Reason::Finished
        );
        if let (false, Some(run)) = (forgettable, run) {
            if self.memory.fate(run) == Some(Fate::Denied) {
                self.memory.since = self.now;
            } else {
                self.memory.remember_run(run, Fate::Denied, self.now);
            }
        }
    }
}

/// A verdict without a turn.
fn allow(reason: Reason) -> Verdict {
    Verdict::Allow { reason, turn: None, anchor: None }
}
