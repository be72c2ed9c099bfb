//! Time: deadlines and what happens when they are due (rules 1 to 3, 40, 41).

use std::time::Duration;

use dirigent_core::{Cause, SeatTurn, Timestamp};

use super::Model;
use super::state::{Litter, Phase, Poll, Stage};

/// Expiries in one step after which something must be wrong.
const EXPIRIES_MAX: usize = 1_000;

/// What may be due. Of several at the same moment the first named here comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// Rule 40: the granted agent must have started.
    Start,
    /// Rule 40: the run must have ended.
    Run,
    /// Rules 14 and 17: quiet confirms. Before `Delivery` (rule 18).
    Quiet,
    /// Rule 18: the reply must have arrived.
    Delivery,
    /// Rule 19: the next poll.
    Poll,
    /// Rule 28: the list must have been read.
    Members,
    /// Rule 36: the reminder that was held back.
    Reminder,
    /// Rule 36: the permit's run must have ended.
    Permit,
    /// Rule 48: an idle discussion at a ceiling is archived.
    Overdue,
    /// Rule 42: a trigger message is removed.
    Cleanup,
    /// Rule 41: an idle channel forgets.
    Forget,
}

impl Model {
    /// The next moment at which something is due.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines().iter().map(|(at, _)| *at).min()
    }

    /// Rules 1 and 3: expires until nothing is due, earliest first.
    pub(super) fn expire(&mut self) {
        for _ in 0..EXPIRIES_MAX {
            let deadlines = self.deadlines();
            let due = deadlines.iter().filter(|(at, _)| *at <= self.now).min();
            let Some((_, due)) = due else {
                return;
            };
            self.on_due(*due);
        }
        self.violations.push("the model expires for ever".to_owned());
    }

    /// Everything that will be due.
    fn deadlines(&self) -> Vec<(Timestamp, Due)> {
        let (start, run) = self.turn_deadlines();
        let permit = self.permit.as_ref().and_then(|permit| permit.running.as_ref());
        let moments = [
            (start, Due::Start),
            (run, Due::Run),
            (self.quiet_due(), Due::Quiet),
            (self.delivery_due(), Due::Delivery),
            (self.poll_due(), Due::Poll),
            (self.refresh.map(|refresh| refresh.due), Due::Members),
            (self.reminder_moment(), Due::Reminder),
            (permit.and_then(|running| running.due), Due::Permit),
            (self.overdue_moment(), Due::Overdue),
            (self.litter.iter().filter_map(|one| one.due).min(), Due::Cleanup),
            (self.forget_due(), Due::Forget),
        ];
        let set = moments.into_iter();
        set.filter_map(|(at, due)| at.map(|at| (at, due))).collect()
    }

    /// The start and run deadlines of the turn.
    fn turn_deadlines(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let Phase::Turn(turn) = &self.phase else {
            return (None, None);
        };
        match &turn.stage {
            Stage::Granted { due, .. } => (*due, None),
            Stage::Running { due } => (None, *due),
            Stage::Confirming(_) => (None, None),
        }
    }

    /// Rules 40 and 41.
    fn on_due(&mut self, due: Due) {
        match due {
            Due::Start => self.on_start_due(),
            Due::Run => {
                self.cancel_turn_run();
                self.end_turn(SeatTurn::Skipped, Cause::RunTimedOut);
                self.advance();
            }
            Due::Quiet => self.confirm(Cause::QuietAfterMessage),
            Due::Delivery => self.confirm(Cause::DeliveryTimedOut),
            Due::Poll => self.on_poll_due(),
            Due::Members => self.on_no_answer(Cause::MembersLate),
            Due::Reminder => self.send_reminder(),
            Due::Permit => self.withdraw_permit(),
            Due::Overdue => self.close(Cause::Overdue, Vec::new()),
            Due::Cleanup => self.clean_up(),
            Due::Forget => self.memory.forget(),
        }
    }

    /// Rule 40: the granted agent did not start.
    fn on_start_due(&mut self) {
        let again = self.config.start_deadline.map(|time| self.now + time);
        let retriggers = self.config.retriggers;
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        let Stage::Granted { attempt, due } = &mut turn.stage else {
            return;
        };
        if *attempt < retriggers {
            *attempt += 1;
            *due = again;
            self.causes.push(Cause::Retriggered);
            let (agent, attempt) = (turn.agent, *attempt);
            self.emit_trigger(agent, attempt);
        } else {
            self.end_turn(SeatTurn::Skipped, Cause::StartTimedOut);
            self.advance();
        }
    }

    /// Rule 42: removes the trigger messages that are due.
    fn clean_up(&mut self) {
        let now = self.now;
        let litter = std::mem::take(&mut self.litter);
        let is_due = |one: &Litter| one.due.is_some_and(|due| due <= now);
        let (due, rest): (Vec<Litter>, Vec<Litter>) = litter.into_iter().partition(is_due);
        self.litter = rest;
        for one in due {
            self.emit_delete(one.message);
        }
    }

    /// Rule 2: time that goes back moves every stored moment back by the same amount.
    pub(super) fn turn_back_to(&mut self, now: Timestamp) {
        let by = self.now.since(now);
        if by.is_zero() {
            return;
        }
        back(&mut self.phase_since, by);
        back(&mut self.memory.since, by);
        back(&mut self.talk_since, by);
        let moments = [
            &mut self.list_read,
            &mut self.refresh_asked,
            &mut self.reminded,
            &mut self.reminder_due,
        ];
        moments.into_iter().flatten().for_each(|at| back(at, by));
        if let Some(refresh) = &mut self.refresh {
            back(&mut refresh.due, by);
        }
        if let Some(closing) = &mut self.closing {
            back(&mut closing.at, by);
            closing.bot_notice.iter_mut().for_each(|at| back(at, by));
        }
        let graces = self.list.iter_mut();
        graces.filter_map(|slot| slot.grace_since.as_mut()).for_each(|at| back(at, by));
        let litter: &mut Vec<Litter> = &mut self.litter;
        litter.iter_mut().filter_map(|one| one.due.as_mut()).for_each(|at| back(at, by));
        let running = self.permit.iter_mut().filter_map(|permit| permit.running.as_mut());
        running.filter_map(|running| running.due.as_mut()).for_each(|at| back(at, by));
        if let Phase::Turn(turn) = &mut self.phase {
            turn.last_piece.iter_mut().for_each(|at| back(at, by));
            turn_stage_back(&mut turn.stage, by);
        }
    }
}

/// Moves the moments of a turn's stage back.
fn turn_stage_back(stage: &mut Stage, by: Duration) {
    match stage {
        Stage::Granted { due, .. } | Stage::Running { due } => {
            if let Some(due) = due {
                back(due, by);
            }
        }
        Stage::Confirming(confirming) => {
            back(&mut confirming.ended, by);
            if let Poll::Next(at) = &mut confirming.poll {
                back(at, by);
            }
        }
    }
}

/// Moves one moment back.
fn back(at: &mut Timestamp, by: Duration) {
    *at = at.saturating_sub(by);
}
