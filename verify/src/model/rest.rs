//! Stop, hold and resume (rule 37).

use dirigent_core::view::Pause;
use dirigent_core::{Cause, MessageId, Mode, Notice, Refusal};

use super::Model;
use super::state::{First, Phase, Purpose, TurnProgress};

impl Model {
    /// Whether everybody is denied: stopped or finished (rule 60).
    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.rest, Some(Pause::Stopped | Pause::Finished))
    }

    /// Whether the channel pauses.
    pub(super) fn is_held(&self) -> bool {
        self.rest == Some(Pause::Held)
    }

    /// Where a stop or a hold means something.
    fn check_may_rest(&self) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        if !self.mode.keeps_turns() && self.mode != Mode::Report {
            return Err(Refusal::NotManaged);
        }
        Ok(())
    }

    /// Rule 37: `Stop`, or a human's stop word (rule 24).
    pub(super) fn on_stop(&mut self) -> Result<(), Refusal> {
        self.check_may_rest()?;
        if self.rest != Some(Pause::Stopped) {
            self.come_to_rest(Pause::Stopped, Cause::Stopped);
        }
        Ok(())
    }

    /// Rule 60: `Finish`.
    pub(super) fn on_finish(&mut self) -> Result<(), Refusal> {
        self.check_may_rest()?;
        match self.rest {
            Some(Pause::Stopped) => return Err(Refusal::Stopped),
            Some(Pause::Finished) => {}
            Some(Pause::Held | _) | None => self.come_to_rest(Pause::Finished, Cause::Finished),
        }
        Ok(())
    }

    /// The round is over, and no agent may speak until a resume.
    fn come_to_rest(&mut self, rest: Pause, cause: Cause) {
        self.causes.push(cause);
        self.rest = Some(rest);
        let is_cut = self.would_go_on();
        self.note_cut();
        self.cancel_floor();
        self.keep_untaken(); // rule 54
        self.kept_in_mind |= is_cut;
        self.awaits_human = false;
        self.choice = None;
        self.round_to_come = None;
        self.handed_to = None; // rule 78
        self.withdraw_permit();
        self.reminder_due = None;
        self.forget_refresh();
        self.empty_cycle();
        match self.phase {
            Phase::Disabled => self.enter(Phase::Disabled), // rule 41: counts as becoming
            Phase::Dead => self.enter(Phase::Dead),
            Phase::Dormant
            | Phase::Archived
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Turn(_) => {
                self.enter(Phase::Dormant);
            }
        }
    }

    /// Rule 37: whether a stop cuts the conversation now.
    fn would_go_on(&self) -> bool {
        match &self.phase {
            Phase::Turn(_) | Phase::Refreshing(Purpose::Waking { .. }) => true,
            Phase::Refreshing(Purpose::Boundary) => {
                let spoke = self.cycle_so_far().spoke;
                let is_answered = match self.round {
                    Some(_) => !spoke.is_empty(), // rule 62
                    None => self.can_be_answered(&spoke),
                };
                self.is_cycle_requested() || is_answered
            }
            Phase::Dormant
            | Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Unknown { .. } => false,
        }
    }

    /// Rule 37: `Hold`.
    pub(super) fn on_hold(&mut self) -> Result<(), Refusal> {
        self.check_may_rest()?;
        match self.rest {
            Some(Pause::Stopped) => return Err(Refusal::Stopped),
            Some(Pause::Finished) => return Err(Refusal::Finished),
            Some(Pause::Held | _) | None => {}
        }
        if !self.is_held() {
            self.causes.push(Cause::Held);
        }
        self.rest = Some(Pause::Held);
        if let Phase::Turn(turn) = &mut self.phase {
            if let TurnProgress::Granted { due, .. } | TurnProgress::Continuing { due } =
                &mut turn.stage
            {
                *due = None;
                turn.end = None; // rule 50
            }
        }
        Ok(())
    }

    /// Rule 24: a human's stop word.
    pub(super) fn on_stop_word(&mut self, message: MessageId) -> Result<(), Refusal> {
        let was_stopped = self.rest == Some(Pause::Stopped);
        self.on_stop()?;
        if !was_stopped && self.config.people.acknowledge {
            self.emit_notice(Notice::Stopped { message });
        }
        Ok(())
    }

    /// Rule 37: `Resume`, or a human's resume word (rule 24).
    pub(super) fn on_resume(&mut self, word: Option<MessageId>) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        let Some(rest) = self.rest.take() else {
            return Err(Refusal::NotPaused);
        };
        if let Some(away) = &mut self.chat_away {
            away.patience_from = self.now; // rule 71
        }
        self.reminders = 0;
        self.talk_since = self.now;
        self.phase_since = self.now;
        if let Some(message) = word {
            self.answer_resume_word(message, rest);
        }
        match rest {
            Pause::Stopped | Pause::Finished => self.end_stop(),
            Pause::Held | _ => self.end_hold(),
        }
        if word.is_some() && self.phase == Phase::Dormant && self.is_any_budget_spent() {
            self.say_that_budget_is_spent(); // rule 65
        }
        Ok(())
    }

    /// Rule 24: whether the conversation goes on, or what it needs.
    fn answer_resume_word(&mut self, message: MessageId, rest: Pause) {
        let is_asleep = self.phase == Phase::Dormant;
        if is_asleep && self.is_any_budget_spent() {
            self.budget.announced = false; // rule 65
        }
        if !self.config.people.acknowledge {
            return;
        }
        let wakes = self.kept_in_mind && rest != Pause::Held;
        let runs = self.permit.as_ref().is_some_and(|permit| permit.running.is_some());
        let is_idle = is_asleep && !wakes && !runs && !self.is_any_budget_spent();
        self.emit_notice(if is_idle {
            Notice::ResumedIdle { message }
        } else {
            Notice::Resumed { message }
        });
    }

    /// Rule 37: an idle discussion's initiator is reminded anew.
    fn remind_after_rest(&mut self) {
        let idle = self.phase == Phase::Dormant && self.mode == Mode::Discussion;
        let has_begun = self.turn > 0 || self.reminded.is_some();
        if idle && has_begun && self.permit.is_none() && !self.awaits_human {
            self.set_reminder_anew();
        }
    }

    /// After a stop: dormant, unless a message came.
    fn end_stop(&mut self) {
        if self.phase == Phase::Dormant && self.kept_in_mind {
            self.wake(First::Front);
        } else {
            self.remind_after_rest();
        }
    }

    /// After a hold: an agent that was granted or goes on is woken anew.
    fn end_hold(&mut self) {
        let fresh = self.fresh_start();
        let end = self.config.deadlines.turn.map(|time| self.now + time);
        let Phase::Turn(turn) = &mut self.phase else {
            self.remind_after_rest();
            return;
        };
        let attempt = match &mut turn.stage {
            TurnProgress::Granted { due, attempt } => {
                *due = fresh;
                *attempt
            }
            TurnProgress::Continuing { due } => {
                *due = fresh; // rule 49
                0
            }
            TurnProgress::Running { .. }
            | TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Waiting(_) => return,
        };
        turn.end = end; // rule 50
        let agent = turn.agent;
        let over = self.held.take(); // rule 54
        self.emit_trigger(agent, attempt, over);
    }
}
