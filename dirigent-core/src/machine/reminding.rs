//! Reminding the initiator of an idle discussion (rules 36 and 48)

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
    /// The discussion became idle: the initiator is reminded, now or when the last reminder is long
    /// enough ago.
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
        let listed = self.roster.is_present(initiator);
        let place = if listed { ReminderPlace::Discussion } else { ReminderPlace::Callback };
        if self.roster.is_available(initiator) {
            reminders.permit = Some(InitiatorPermit { agent: initiator, run: PermitRun::Offered });
        } else {
            // It cannot run now, so no run can follow: that takes another reminder.
            self.schedule_next();
        }
        self.out.tell(self.floor, Some(initiator), Cause::InitiatorReminded);
        self.out.request(|ticket| Effect::Reminder { ticket, initiator, place });
    }

    /// The permit came to nothing and the discussion is idle: the initiator is reminded once more, unless
    /// that was done often enough.
    pub(crate) fn remind_anew(&mut self) {
        if self.floor.phase != Phase::Dormant {
            return;
        }
        self.reminders.edit().last_at = Some(self.out.now);
        self.schedule_next();
        self.out.changed();
    }

    /// No run may follow from the reminder that was sent: there is another, unless there were enough.
    fn schedule_next(&mut self) {
        let next = self.out.now + self.out.config.discussion.reminder_interval;
        let reminders = self.reminders.edit();
        if reminders.sent < REMINDERS_MAX {
            reminders.due_at = Some(next);
        }
    }

    /// The reminder was not posted: its initiator may not know that it may run.
    pub(crate) fn on_failed(&mut self) {
        if self.reminders.permit().is_some_and(|permit| !permit.is_running()) {
            self.remind_anew();
        }
    }

    /// An idle discussion goes on being idle after a pause: its initiator is reminded after a while. One that
    /// has had neither a turn nor a reminder has not begun: its guide may still be on its way.
    pub(crate) fn remind_after_pause(&mut self, awaits_human: bool) {
        let idle = self.standing.is_discussion() && self.reminders.permit().is_none();
        let was_reminded = self.reminders.get().is_some_and(|it| it.last_at.is_some());
        let has_begun = self.floor.turn.get() > 0 || was_reminded;
        if idle && has_begun && !awaits_human {
            self.remind_anew();
        }
    }
}
