//! Reminders for the initiator of an idle discussion (rules 36 and 48)

use crate::machine::out::Out;
use crate::state::{
    Floor, InitiatorPermit, PermitRun, Phase, REMINDERS_MAX, Rare, Reminders, Roster, Situation,
};
use crate::{Cause, Effect, ReminderPlace};

/// Sends reminders, now or later.
pub(crate) struct Reminding<'a, 'o> {
    pub(crate) standing: &'a Situation,
    pub(crate) floor: &'a Floor,
    pub(crate) roster: &'a Roster,
    pub(crate) reminders: &'a mut Rare<Reminders>,
    pub(crate) out: &'a mut Out<'o>,
}

impl Reminding<'_, '_> {
    /// Reminds the initiator of a discussion that became idle, at once or when the last reminder is old enough.
    pub(crate) fn schedule(&mut self) {
        let interval = self.out.config.discussion.reminder_interval;
        let last_at = self.reminders.get().and_then(|reminders| reminders.last_at);
        match last_at.map(|at| at + interval) {
            Some(at) if at > self.out.now => self.reminders.edit().due_at = Some(at),
            _ => self.remind(),
        }
    }

    pub(crate) fn remind(&mut self) {
        self.reminders.cancel();
        let initiator = match self.standing.initiator {
            Some(initiator) if self.standing.is_discussion() => initiator,
            _ => return,
        };
        let reminders = self.reminders.edit();
        reminders.last_at = Some(self.out.now);
        reminders.sent = reminders.sent.saturating_add(1);
        // An initiator that has left the discussion can read the reminder only where it came from.
        let listed = self.roster.is_present(initiator);
        let place = if listed { ReminderPlace::Discussion } else { ReminderPlace::Callback };
        if self.roster.is_available(initiator) {
            reminders.permit = Some(InitiatorPermit { agent: initiator, run: PermitRun::Offered });
        } else {
            // The initiator cannot run now, so this reminder leads to no run. It takes another one.
            self.schedule_next();
        }
        self.out.tell(self.floor, Some(initiator), Cause::InitiatorReminded);
        self.out.request(|ticket| Effect::Reminder { ticket, initiator, place });
    }

    /// Reminds the initiator once more after its permit led nowhere, unless it was reminded often enough. If its run
    /// failed or was lost, the discussion would otherwise wait for ever.
    pub(crate) fn remind_anew(&mut self) {
        if self.floor.phase != Phase::Dormant {
            return;
        }
        self.reminders.edit().last_at = Some(self.out.now);
        self.schedule_next();
        self.out.changed();
    }

    /// Schedules another reminder after one that may lead to no run, unless there were enough.
    fn schedule_next(&mut self) {
        let next = self.out.now + self.out.config.discussion.reminder_interval;
        let reminders = self.reminders.edit();
        if reminders.sent < REMINDERS_MAX {
            reminders.due_at = Some(next);
        }
    }

    /// Handles a reminder that was not posted, because the initiator may not know that it may run.
    pub(crate) fn on_failed(&mut self) {
        if self.reminders.permit().is_some_and(|permit| !permit.is_running()) {
            self.remind_anew();
        }
    }

    /// Reminds the initiator after a while if a discussion is still idle after a pause. A discussion that has had
    /// neither a turn nor a reminder has not begun, because its guide may still be on its way.
    pub(crate) fn remind_after_pause(&mut self, awaits_human: bool) {
        let idle = self.standing.is_discussion() && self.reminders.permit().is_none();
        let was_reminded = self.reminders.get().is_some_and(|it| it.last_at.is_some());
        let has_begun = self.floor.turn.get() > 0 || was_reminded;
        if idle && has_begun && !awaits_human {
            self.remind_anew();
        }
    }
}
