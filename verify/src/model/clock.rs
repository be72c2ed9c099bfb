//! Time: deadlines and what happens when they are due (rules 1 to 3, 40, 41).

use std::time::Duration;

use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, Notice, Timestamp};

use super::Model;
use super::state::{Phase, Poll, StaleTrigger, TurnProgress};

/// Expiries in one step after which something must be wrong.
const EXPIRIES_MAX: usize = 1_000;

/// What may be due. Of several at the same moment the first named here comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// Rule 40: the granted agent must have started.
    Start,
    /// Rule 40: the run must have ended.
    Run,
    /// Rule 52: the run is slow.
    Slow,
    /// Rule 55: the orchestrator must have answered.
    Consult,
    /// Rules 14 and 17: quiet confirms. Before `Delivery` (rule 18).
    Quiet,
    /// Rule 18: the reply must have arrived.
    Delivery,
    /// Rule 19: the next poll.
    Poll,
    /// Rule 28: the list must have been read.
    Members,
    /// Rule 72: the list is asked for again.
    MembersRetry,
    /// Rule 71: the chat is waited for no longer.
    Outage,
    /// Rule 36: the reminder that was held back.
    Reminder,
    /// Rule 36: the permit's run must have ended.
    Permit,
    /// Rule 48: an idle discussion at a ceiling is archived.
    Overdue,
    /// Rule 64: a capped agent may have a turn again.
    Cap,
    /// Rule 79: people were quiet long enough.
    Settle,
    /// Rule 81: a time-out is over.
    MayWrite,
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
            let Some((at, due)) = due else {
                return;
            };
            self.on_due(*at, *due);
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
            (self.slow_due(), Due::Slow),
            (self.waiting().map(|waiting| waiting.due), Due::Consult),
            (self.quiet_due(), Due::Quiet),
            (self.delivery_due(), Due::Delivery),
            (self.poll_due(), Due::Poll),
            (self.members_due(), Due::Members),
            (self.members_retry_due(), Due::MembersRetry),
            (self.outage_due(), Due::Outage),
            (self.reminder_moment(), Due::Reminder),
            (permit.and_then(|running| running.due), Due::Permit),
            (self.overdue_moment(), Due::Overdue),
            (self.cap_moment(), Due::Cap),
            (self.settling.map(|(until, _)| until), Due::Settle),
            (self.may_write_moment(), Due::MayWrite),
            (self.stale_triggers.iter().filter_map(|one| one.due).min(), Due::Cleanup),
            (self.forget_due(), Due::Forget),
        ];
        let set = moments.into_iter();
        set.filter_map(|(at, due)| at.map(|at| (at, due))).collect()
    }

    /// Rules 28 and 70: when the list must have been read.
    fn members_due(&self) -> Option<Timestamp> {
        let waits = self.chat_away.is_none();
        self.refresh.filter(|_| waits).map(|refresh| refresh.due)
    }

    /// The start and run deadlines of the turn.
    fn turn_deadlines(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let Phase::Turn(turn) = &self.phase else {
            return (None, None);
        };
        let end = turn.end.filter(|_| self.chat_away.is_none()); // rule 70
        match &turn.stage {
            TurnProgress::Granted { due, .. } | TurnProgress::Continuing { due } => {
                (earlier(*due, end), None) // rule 50
            }
            TurnProgress::Running { due } => (None, earlier(*due, end)),
            TurnProgress::Delivering | TurnProgress::Confirming(_) | TurnProgress::Waiting(_) => {
                (None, None)
            }
        }
    }

    /// Rule 52: when the run is slow.
    fn slow_due(&self) -> Option<Timestamp> {
        let turn = self.phase.turn()?;
        turn.slow.filter(|_| matches!(turn.stage, TurnProgress::Running { .. }))
    }

    /// Rules 40 and 41.
    fn on_due(&mut self, at: Timestamp, due: Due) {
        match due {
            Due::Start => self.on_start_due(),
            Due::Run => self.on_run_due(),
            Due::Slow => {
                self.causes.push(Cause::RunSlow);
                if let Some(turn) = self.phase.turn_mut() {
                    turn.slow = None;
                }
            }
            Due::Consult => self.on_consult_due(),
            Due::Quiet => self.confirm(Cause::QuietAfterMessage),
            Due::Delivery => self.confirm(Cause::DeliveryTimedOut),
            Due::Poll => self.on_poll_due(),
            Due::Members => self.on_no_answer(Cause::MembersLate),
            Due::MembersRetry => self.ask_again(),
            Due::Outage => self.on_outage_due(),
            Due::Reminder => self.send_reminder(),
            Due::Permit => self.on_permit_due(),
            Due::Overdue => self.close(Cause::Overdue, Vec::new()),
            Due::Cap => self.wake_for_mind(),
            Due::Settle => self.on_settled_down(),
            Due::MayWrite => self.on_may_write_due(),
            Due::Cleanup => self.clean_up(),
            Due::Forget => {
                self.memory.forget();
                self.forget_old_turns(at); // rule 66
            }
        }
    }

    /// Rule 40: the granted agent did not start.
    fn on_start_due(&mut self) {
        let again = self.config.deadlines.start.map(|time| self.now + time);
        let retriggers = self.config.deadlines.retriggers;
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        let TurnProgress::Granted { attempt, due } = &mut turn.stage else {
            self.time_out(SeatTurn::Spoke, Cause::SignalMissing); // rule 49
            return;
        };
        let is_over = turn.end.is_some_and(|end| due.is_none_or(|due| end <= due)); // rule 50
        if *attempt < retriggers && !is_over {
            *attempt += 1;
            *due = again;
            self.causes.push(Cause::Retriggered);
            let (agent, attempt) = (turn.agent, *attempt);
            self.emit_trigger(agent, attempt, None);
        } else {
            self.time_out(SeatTurn::Skipped, Cause::StartTimedOut);
        }
    }

    /// Rules 40 and 51: a turn that took too long.
    pub(super) fn time_out(&mut self, how: SeatTurn, cause: Cause) {
        let speaker = self.speaker();
        self.end_turn(how, cause);
        if let Some(agent) = speaker.filter(|_| self.config.announce_timeouts) {
            self.emit_notice(Notice::TimedOut { agent });
        }
        self.advance();
    }

    /// Rule 42: removes the trigger messages that are due.
    fn clean_up(&mut self) {
        let now = self.now;
        let stale = std::mem::take(&mut self.stale_triggers);
        let is_due = |one: &StaleTrigger| one.due.is_some_and(|due| due <= now);
        let (due, rest): (Vec<StaleTrigger>, Vec<StaleTrigger>) =
            stale.into_iter().partition(is_due);
        self.stale_triggers = rest;
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
        if let Some((until, latest)) = &mut self.settling {
            back(until, by);
            back(latest, by);
        }
        let timed_out = self.may_not_write.values_mut().flatten();
        timed_out.for_each(|until| back(until, by));
        if let Some(refresh) = &mut self.refresh {
            back(&mut refresh.due, by);
        }
        if let Some(closing) = &mut self.closing {
            back(&mut closing.at, by);
            closing.bot_notice.iter_mut().for_each(|at| back(at, by));
        }
        let graces = self.list.iter_mut();
        graces.filter_map(|slot| slot.grace_since.as_mut()).for_each(|at| back(at, by));
        let spoken = self.list.iter_mut().flat_map(|slot| slot.spoke_at.iter_mut());
        spoken.for_each(|at| back(at, by));
        let stale: &mut Vec<StaleTrigger> = &mut self.stale_triggers;
        stale.iter_mut().filter_map(|one| one.due.as_mut()).for_each(|at| back(at, by));
        let running = self.permit.iter_mut().filter_map(|permit| permit.running.as_mut());
        running.filter_map(|running| running.due.as_mut()).for_each(|at| back(at, by));
        if let Some(away) = &mut self.chat_away {
            back(&mut away.since, by);
            back(&mut away.patience_from, by);
        }
        if let Phase::Unknown { ask: Some(ask), .. } = &mut self.phase {
            back(ask, by);
        }
        if let Phase::Turn(turn) = &mut self.phase {
            turn.last_piece.iter_mut().for_each(|at| back(at, by));
            turn.arrivals.iter_mut().for_each(|at| back(at, by));
            turn.end.iter_mut().for_each(|at| back(at, by));
            turn.slow.iter_mut().for_each(|at| back(at, by));
            turn_stage_back(&mut turn.stage, by);
        }
    }
}

/// Moves the moments of a turn's stage back.
fn turn_stage_back(stage: &mut TurnProgress, by: Duration) {
    match stage {
        TurnProgress::Granted { due, .. }
        | TurnProgress::Running { due }
        | TurnProgress::Continuing { due } => {
            if let Some(due) = due {
                back(due, by);
            }
        }
        TurnProgress::Confirming(confirming) => {
            back(&mut confirming.ended, by);
            if let Poll::Next(at) = &mut confirming.poll {
                back(at, by);
            }
        }
        TurnProgress::Waiting(waiting) => back(&mut waiting.due, by),
        TurnProgress::Delivering => {}
    }
}

/// The earlier of two moments, where there are any.
fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

/// Moves one moment back.
fn back(at: &mut Timestamp, by: Duration) {
    *at = at.saturating_sub(by);
}
