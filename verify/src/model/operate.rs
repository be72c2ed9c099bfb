//! What people and tools ask of a channel (rules 4, 5, 35, 37, 38).

use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{AgentKey, Cause, Creation, Effect, Mode, Refusal, TurnId, WakeCause};

use super::members::without_duplicates;
use super::state::{Closing, First, Phase, Purpose, Slot};
use super::{AGENTS_MAX, Model};

impl Model {
    /// Rule 5.
    pub(super) fn on_create(&mut self, creation: &Creation) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        if self.mode_was_set {
            return Err(Refusal::AlreadyCreated);
        }
        if (creation.mode == Mode::Discussion) != creation.initiator.is_some() {
            return Err(Refusal::InitiatorMismatch);
        }
        if creation.members.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        let members = without_duplicates(&creation.members);
        self.mode = creation.mode;
        self.mode_was_set = true;
        self.initiator = creation.initiator;
        self.talk_since = self.now;
        self.list = members.into_iter().map(Slot::new).collect();
        if !self.list.is_empty() {
            self.list_read = Some(self.now);
            if self.config.order.shuffle_first && self.list.len() >= 3 {
                self.adopt_order(None, None);
            }
        }
        match (creation.mode.keeps_turns(), self.list.len()) {
            (true, 1) if !self.has_enough_agents() => self.disable(),
            _ => self.enter_mode(),
        }
        if creation.mode.keeps_turns() && self.list.is_empty() {
            self.ask_refresh();
        }
        Ok(())
    }

    /// Rule 4: the phase of a mode that was just set.
    fn enter_mode(&mut self) {
        let phase = match self.mode {
            Mode::None | Mode::Work => Phase::Disabled,
            Mode::Report => Phase::Dead,
            Mode::Discussion | Mode::Chat => Phase::Dormant,
        };
        self.enter(phase);
    }

    /// Rule 4.
    pub(super) fn on_set_mode(&mut self, mode: Mode) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        if self.mode.is_locked() {
            return Err(Refusal::ModeLocked);
        }
        if mode.is_locked() {
            return Err(Refusal::CreationOnly);
        }
        if mode == self.mode {
            return Ok(());
        }
        self.mode = mode;
        self.mode_was_set = true;
        self.cancel_floor();
        self.withdraw_permit();
        self.forget_refresh();
        self.empty_cycle();
        self.forget_words(); // rule 54
        self.turns = 0; // the operator is a human
        self.cycles = 0;
        self.ceiling_announced = false;
        self.enter_mode();
        if mode == Mode::Chat {
            self.ask_refresh();
        }
        Ok(())
    }

    /// Cancels the turn's run, if one is under way.
    pub(super) fn cancel_turn_run(&mut self) {
        let Some(turn) = self.phase.turn().filter(|turn| turn.has_run()) else {
            return;
        };
        let run = turn.run;
        self.emitted.push(Effect::CancelRun {
            agent: turn.agent,
            run,
            turn: Some(TurnId::new(self.turn)),
        });
        self.remember_ended(run);
    }

    /// Takes the floor away: the run is cancelled, and late pieces of it are no news (rule 23).
    pub(super) fn cancel_floor(&mut self) {
        self.cancel_turn_run();
        self.end_rest(); // rule 55
        let (now, speaker) = (self.now, self.speaker());
        if speaker.is_some() && self.last_word == speaker {
            self.last_word = None; // rule 76: it was given a turn all the same
        }
        if let Some(turn) = self.phase.turn().filter(|turn| turn.spoken) {
            self.note_spoke(turn.agent); // rule 49
            self.last_word = None;
        }
        if let Some(slot) = self.list.iter_mut().find(|slot| Some(slot.agent) == speaker) {
            slot.grace_since = Some(now);
        }
    }

    /// Rule 35.
    pub(super) fn on_wake(
        &mut self,
        first: Option<AgentKey>,
        cause: WakeCause,
    ) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        let by_operator = cause == WakeCause::Operator;
        let waits = self.is_stopped() || self.phase == Phase::Disabled;
        if !by_operator && self.mode.keeps_turns() && waits {
            self.question = None; // rule 80
            self.keep_in_mind();
            if self.is_disabled_by_count() && !self.is_stopped() {
                self.ask_recount();
            }
            return Ok(());
        }
        self.check_not_stopped()?;
        if !self.mode.keeps_turns() || self.phase == Phase::Disabled {
            return Err(Refusal::NotManaged);
        }
        if self.is_any_budget_spent() {
            return Err(Refusal::BudgetSpent);
        }
        if by_operator {
            self.on_human_word();
        }
        if self.is_ceiling_reached() {
            return Err(Refusal::CeilingReached);
        }
        if self.awaits_human && cause != WakeCause::Unheard {
            return Err(Refusal::AwaitingHuman);
        }
        self.question = None; // rule 80
        match self.phase {
            Phase::Dormant => {
                self.untaken = true; // rule 54
                self.be_news(None);
                self.wake(first.map_or(First::Front, First::At));
            }
            Phase::Refreshing(Purpose::Boundary) => {
                self.untaken = true;
                self.veto();
            }
            Phase::Refreshing(Purpose::Waking { .. }) => {
                self.untaken = true;
                self.be_news(None);
            }
            Phase::Turn(_) => self.veto(),
            Phase::Unknown { .. } => self.keep_in_mind(), // rule 72
            Phase::Disabled | Phase::Dead | Phase::Archived => {}
        }
        Ok(())
    }

    /// Rule 37: `MemberLeft`.
    pub(super) fn on_left(&mut self, agent: AgentKey) {
        if self.closing.is_some() || !self.mode.keeps_turns() {
            return;
        }
        let slot = self.list.iter_mut().find(|slot| slot.agent == agent);
        let Some(slot) = slot.filter(|slot| !slot.left) else {
            return;
        };
        slot.left = true;
        self.lose(agent, Cause::AgentLeft);
    }

    /// Rule 37: `Mute`.
    pub(super) fn on_mute(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        if self.muted.contains(&agent) {
            return Ok(());
        }
        if self.muted.len() >= AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.muted.insert(agent);
        self.lose(agent, Cause::AgentMuted);
        Ok(())
    }

    /// Rules 37 and 54: `Unmute`.
    pub(super) fn on_unmute(&mut self, agent: AgentKey) {
        if self.muted.remove(&agent) {
            self.agent_comes_back(agent);
        }
    }

    /// Rules 35 and 60: what a stopped or finished channel refuses.
    pub(super) fn check_not_stopped(&self) -> Result<(), Refusal> {
        match self.rest {
            Some(Pause::Stopped) => Err(Refusal::Stopped),
            Some(Pause::Finished) => Err(Refusal::Finished),
            Some(Pause::Held | _) | None => Ok(()),
        }
    }

    /// Rules 36 and 37: an agent that is gone loses the floor and the permit.
    pub(super) fn lose(&mut self, agent: AgentKey, cause: Cause) {
        self.lose_permit(agent);
        if self.speaker() == Some(agent) {
            self.cancel_turn_run();
            self.end_turn(SeatTurn::Skipped, cause);
            self.advance();
        }
    }

    /// Rule 38: `Conclude`.
    pub(super) fn on_conclude(&mut self, by: AgentKey) -> Result<(), Refusal> {
        if self.mode != Mode::Discussion {
            return Err(Refusal::NotADiscussion);
        }
        match &self.closing {
            Some(closing) if closing.concluded => return Err(Refusal::AlreadyConcluded),
            Some(_) => return Err(Refusal::Archived),
            None => {}
        }
        if self.initiator != Some(by) {
            return Err(Refusal::NotTheInitiator);
        }
        self.close(Cause::Concluded, vec![by]);
        Ok(())
    }

    /// Rule 38: `Archive`.
    pub(super) fn on_archive(&mut self) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        self.close(Cause::Archived, Vec::new());
        Ok(())
    }

    /// Rules 38 and 39: closed for good.
    pub(super) fn close(&mut self, cause: Cause, mut farewell: Vec<AgentKey>) {
        let concluded = cause == Cause::Concluded;
        if let Phase::Turn(turn) = &self.phase {
            if turn.is_under_way() {
                farewell.push(turn.agent);
            }
        }
        let permit = self.permit.iter().filter(|permit| permit.running.is_some());
        farewell.extend(permit.map(|permit| permit.agent));
        self.cancel_floor();
        self.withdraw_permit();
        self.forget_refresh();
        self.empty_cycle();
        self.rest = None;
        self.forget_words(); // rule 54
        self.reminder_due = None;
        self.enter(Phase::Archived);
        self.causes.push(cause);
        self.closing = Some(Closing { at: self.now, concluded, farewell, bot_notice: None });
    }
}
