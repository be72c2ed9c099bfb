//! The idle reminder and the initiator's leave to run once (rules 15, 36).

use dirigent_core::{AgentKey, Cause, Effect, ReminderPlace, Timestamp};

use super::Model;
use super::state::{Permit, Phase};

/// Reminders sent at most while nothing is said (rule 36).
pub(super) const REMINDERS_MAX: u32 = 3;

impl Model {
    /// Rule 36: on entering dormancy, now or when the interval has passed.
    pub(super) fn plan_reminder(&mut self) {
        if self.initiator.is_none() {
            return;
        }
        let interval = self.config.discussion.reminder_interval;
        let next = self.reminded.map_or(self.now, |last| last + interval);
        if next <= self.now {
            self.send_reminder();
        } else {
            self.reminder_due = Some(next);
        }
    }

    /// Rule 36: the reminder's moment, while the channel is dormant and neither stopped nor held.
    pub(super) fn reminder_moment(&self) -> Option<Timestamp> {
        let waits = self.phase == Phase::Dormant && self.rest.is_none() && !self.awaits_human;
        self.reminder_due.filter(|_| waits)
    }

    /// Rule 36.
    pub(super) fn send_reminder(&mut self) {
        self.reminder_due = None;
        let Some(initiator) = self.initiator else {
            return;
        };
        self.causes.push(Cause::InitiatorReminded);
        self.reminded = Some(self.now);
        self.reminders += 1;
        if self.is_present(initiator) {
            self.emit_reminder(initiator, ReminderPlace::Discussion);
            let able = !self.is_barred(initiator);
            self.permit = able.then_some(Permit { agent: initiator, running: None });
        } else {
            self.emit_reminder(initiator, ReminderPlace::Callback);
        }
        if self.permit.is_none() {
            self.plan_next_reminder();
        }
    }

    /// Rule 36: another reminder, up to three.
    fn plan_next_reminder(&mut self) {
        if self.reminders < REMINDERS_MAX {
            self.reminder_due = Some(self.now + self.config.discussion.reminder_interval);
        }
    }

    /// Rule 36: as if a reminder had been sent now; another follows, up to three.
    pub(super) fn set_reminder_anew(&mut self) {
        if self.phase != Phase::Dormant {
            return;
        }
        self.reminded = Some(self.now);
        self.plan_next_reminder();
    }

    /// Rule 36: the permit's run took too long.
    pub(super) fn on_permit_due(&mut self) {
        let Some(Permit { agent, running: Some(running) }) = self.permit.clone() else {
            return;
        };
        self.withdraw_permit();
        self.go_on_after_permit(agent, running.spoken);
    }

    /// Rule 36: an agent that is gone, muted or offline loses the permit.
    pub(super) fn lose_permit(&mut self, agent: AgentKey) {
        if self.permit.as_ref().is_some_and(|permit| permit.agent == agent) {
            self.withdraw_permit();
            self.set_reminder_anew();
        }
    }

    /// Rules 27 and 36: a running permit is cancelled, an offered one withdrawn.
    pub(super) fn withdraw_permit(&mut self) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        if let Some(running) = permit.running {
            self.emitted.push(Effect::CancelRun {
                agent: permit.agent,
                run: running.run,
                turn: None,
            });
            self.remember_ended(running.run);
        }
    }

    /// Rules 13 and 25: something of the permit's run was seen.
    pub(super) fn mark_permit_spoken(&mut self) {
        let running = self.permit.as_mut().and_then(|permit| permit.running.as_mut());
        if let Some(running) = running {
            running.spoken = true;
        }
    }
}
