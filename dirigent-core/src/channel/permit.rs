//! The reminder of an idle discussion, and the initiator's one run after it (rules 36 and 48)

use super::Channel;
use super::phase::Phase;
use super::step::Step;
use crate::seen::RunFate;
use crate::{AgentKey, Author, Cause, Effect, Mode, ReminderPlace, RunId, Timestamp};

/// How often an initiator is reminded while nothing is said.
const REMINDERS_MAX: u8 = 3;

/// How long a discussion that was reminded in vain is kept at least, where no time is set.
const PATIENCE_MIN: core::time::Duration = core::time::Duration::from_secs(600);

/// The initiator of an idle discussion may run once, to conclude it or to go on.
///
/// ```
/// use dirigent_core::{AgentKey, Permit, PermitRun};
/// let permit = Permit { agent: AgentKey::new(1), run: PermitRun::Offered };
/// assert_eq!(permit.run, PermitRun::Offered);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Permit {
    /// The initiator.
    pub agent: AgentKey,
    /// How far its run got.
    pub run: PermitRun,
}

/// How far the permitted run got.
///
/// ```
/// use dirigent_core::PermitRun;
/// let running = PermitRun::Running { id: None, until: None, spoke: false, replied: false };
/// assert_ne!(running, PermitRun::Offered);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "plain data of a snapshot")]
pub enum PermitRun {
    /// It has not started.
    Offered,
    /// It is under way.
    Running {
        /// The host's name for it.
        id: Option<RunId>,
        /// When it must have ended.
        until: Option<Timestamp>,
        /// Whether the initiator wrote something meanwhile.
        spoke: bool,
        /// Whether the library has the whole reply and delivers it.
        replied: bool,
    },
}

impl Permit {
    pub(crate) const fn is_running(&self) -> bool {
        matches!(self.run, PermitRun::Running { .. })
    }

    pub(crate) const fn run_id(&self) -> Option<RunId> {
        match self.run {
            PermitRun::Running { id, .. } => id,
            PermitRun::Offered => None,
        }
    }

    pub(crate) const fn until(&self) -> Option<Timestamp> {
        match self.run {
            PermitRun::Running { until, .. } => until,
            PermitRun::Offered => None,
        }
    }

    pub(crate) const fn until_mut(&mut self) -> Option<&mut Timestamp> {
        match &mut self.run {
            PermitRun::Running { until: Some(until), .. } => Some(until),
            PermitRun::Offered | PermitRun::Running { .. } => None,
        }
    }

    /// Whether an end or a receipt with this run id is about the permitted run.
    pub(crate) fn matches(&self, agent: AgentKey, run: Option<RunId>) -> bool {
        match self.run {
            PermitRun::Running { id, .. } => self.agent == agent && (id.is_none() || id == run),
            PermitRun::Offered => false,
        }
    }

    /// Notes that the initiator wrote something while it runs.
    pub(crate) const fn mark_spoken(&mut self) {
        if let PermitRun::Running { spoke, .. } = &mut self.run {
            *spoke = true;
        }
    }
}

impl Channel {
    /// When the discussion is archived without its initiator: it lay idle at a ceiling, or its
    /// initiator was reminded [`REMINDERS_MAX`] times and nothing was said.
    pub(crate) fn overdue_at(&self) -> Option<Timestamp> {
        let patience = self.config.overdue_archive_after;
        let is_idle = self.mode == Mode::Discussion
            && self.phase == Phase::Dormant
            && self.rest.is_none()
            && !self.permit.is_some_and(|permit| permit.is_running());
        let counted = self.limits.turns_reached(&self.config, self.mode)
            || self.limits.cycles_reached(&self.config, self.mode);
        let at_ceiling = if counted {
            Some(self.stirred_at)
        } else {
            let time_up = self.limits.time_up(&self.config, self.mode);
            time_up.map(|at| at.max(self.stirred_at))
        };
        let in_vain = self.reminded_at.filter(|_| self.limits.reminders >= REMINDERS_MAX);
        let in_vain = in_vain.map(|at| at.max(self.stirred_at));
        let at_ceiling = at_ceiling.and_then(|at| Some(at + patience?));
        let in_vain = in_vain
            .map(|at| at + patience.unwrap_or(self.config.reminder_interval.max(PATIENCE_MIN)));
        at_ceiling.into_iter().chain(in_vain).min().filter(|_| is_idle)
    }
}

impl Step<'_> {
    /// The discussion became idle: the initiator is reminded, now or when the last reminder is long
    /// enough ago.
    pub(super) fn schedule_reminder(&mut self) {
        let interval = self.channel.config.reminder_interval;
        let earliest = self.channel.reminded_at.map(|at| at + interval);
        match earliest {
            Some(at) if at > self.channel.now => self.channel.reminder_due = Some(at),
            _ => self.remind(),
        }
    }

    pub(super) fn remind(&mut self) {
        self.channel.reminder_due = None;
        let (Mode::Discussion, Some(initiator)) = (self.channel.mode, self.channel.initiator)
        else {
            return;
        };
        self.channel.reminded_at = Some(self.channel.now);
        self.channel.limits.reminders = self.channel.limits.reminders.saturating_add(1);
        let listed = self.channel.list.slot(initiator).is_some_and(|slot| !slot.left);
        let place = if listed { ReminderPlace::Discussion } else { ReminderPlace::Callback };
        if self.channel.is_available(initiator) {
            self.channel.permit = Some(Permit { agent: initiator, run: PermitRun::Offered });
        } else {
            self.schedule_next_reminder();
        }
        self.tell(Some(initiator), Cause::InitiatorReminded);
        self.owe(|ticket| Effect::Reminder { ticket, initiator, place });
    }

    /// The permitted run ended; what it said wakes the channel.
    pub(super) fn end_permit_run(&mut self) {
        let Some(permit) = self.channel.permit.take() else {
            return;
        };
        self.remember_run(permit.run_id(), RunFate::Ended);
        self.tell(Some(permit.agent), Cause::PermitUsed);
        self.go_on_after_permit(&permit);
    }

    /// What the permitted run said wakes the channel; after a run in vain there is another reminder.
    fn go_on_after_permit(&mut self, permit: &Permit) {
        let spoke = matches!(permit.run, PermitRun::Running { spoke: true, .. });
        if !(spoke && self.wake_by(Author::Agent(permit.agent), None)) {
            self.remind_anew();
        }
    }

    /// The permit came to nothing and the discussion is idle: the initiator is reminded once more, unless
    /// that was done often enough.
    pub(super) fn remind_anew(&mut self) {
        if self.channel.phase != Phase::Dormant {
            return;
        }
        self.channel.reminded_at = Some(self.channel.now);
        self.schedule_next_reminder();
        self.changed();
    }

    /// No run may follow from the reminder that was sent: there is another, unless there were enough.
    fn schedule_next_reminder(&mut self) {
        if self.channel.limits.reminders < REMINDERS_MAX {
            let interval = self.channel.config.reminder_interval;
            self.channel.reminder_due = Some(self.channel.now + interval);
        }
    }

    /// The reminder was not posted: its initiator may not know that it may run.
    pub(super) fn on_reminder_failed(&mut self) {
        if self.channel.permit.is_some_and(|permit| !permit.is_running()) {
            self.remind_anew();
        }
    }

    /// Something was said: reminders are counted anew.
    pub(super) const fn note_activity(&mut self) {
        if self.channel.limits.reminders > 0 {
            self.channel.limits.reminders = 0;
            self.changed();
        }
    }

    /// The initiator has left, is muted or away: it has no permit, and is reminded once more.
    pub(super) fn take_permit_from(&mut self, agent: AgentKey) {
        if self.channel.permit.is_some_and(|permit| permit.agent == agent) {
            self.withdraw_permit();
            self.remind_anew();
        }
    }

    /// The permitted run is gone with its process: its agent is reminded again and may run again, as often as
    /// there are reminders, or the permit is used up.
    pub(super) fn lose_permit_run(&mut self, rerun: bool) {
        let Some(permit) = self.channel.permit else {
            return;
        };
        let PermitRun::Running { id, spoke, replied, .. } = permit.run else {
            return;
        };
        if replied {
            // The library has the reply and goes on delivering it.
            return;
        }
        let agent = permit.agent;
        if spoke || !rerun || self.channel.limits.reminders >= REMINDERS_MAX {
            return self.end_permit_run();
        }
        self.channel.permit = None;
        self.remember_run(id, RunFate::Ended);
        self.tell(Some(agent), Cause::RunLost);
        if self.channel.rest.is_some() {
            return self.remind_anew();
        }
        // The reminder is how the initiator learns that it may run: without one no agent would be called.
        self.remind();
    }

    /// The permitted run took too long.
    pub(super) fn expire_permit(&mut self) {
        if let (Phase::Dormant, Some(permit)) = (self.channel.phase, self.channel.permit) {
            self.withdraw_permit();
            self.tell(Some(permit.agent), Cause::RunTimedOut);
            self.go_on_after_permit(&permit);
        }
    }
}
