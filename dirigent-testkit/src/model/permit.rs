//! The idle reminder and the initiator's leave to run once (rules 15, 36).

use dirigent_core::{Cause, Effect, ReminderPlace, Timestamp};

use super::Model;
use super::state::{Permit, Phase};

impl Model {
    /// Rule 36: on entering dormancy, now or when the interval has passed.
    pub(super) fn plan_reminder(&mut self) {
        if self.initiator.is_none() {
            return;
        }
        let interval = self.config.reminder_interval;
        let next = self.reminded.map_or(self.now, |last| last + interval);
        if next <= self.now {
            self.send_reminder();
        } else {
            self.reminder_due = Some(next);
        }
    }

    /// Rule 36: the reminder's moment, while the channel is dormant and not stopped.
    pub(super) fn reminder_moment(&self) -> Option<Timestamp> {
        let waits = self.phase == Phase::Dormant && !self.is_stopped() && !self.awaits_human;
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
        if self.is_present(initiator) {
            self.emit_reminder(initiator, ReminderPlace::Discussion);
            let able = !self.muted.contains(&initiator) && !self.away.contains_key(&initiator);
            self.permit = able.then_some(Permit { agent: initiator, running: None });
        } else {
            self.emit_reminder(initiator, ReminderPlace::Callback);
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
