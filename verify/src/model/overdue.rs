//! The end of a discussion without its initiator (rules 47 and 48).

use dirigent_core::{Mode, Timestamp};

use super::Model;
use super::permit::REMINDERS_MAX;
use super::state::Phase;

impl Model {
    /// Rules 30 and 47.
    pub(super) fn are_turns_used_up(&self) -> bool {
        match (self.mode, self.config.ceilings.chat.turns, self.config.ceilings.discussion.turns) {
            (Mode::Discussion, _, Some(most)) | (Mode::Chat, Some(most), _) => self.turns >= most,
            _ => false,
        }
    }

    /// Rules 29 and 47.
    pub(super) fn are_cycles_used_up(&self) -> bool {
        match (self.mode, self.config.ceilings.chat.cycles, self.config.ceilings.discussion.cycles)
        {
            (Mode::Discussion, _, Some(most)) | (Mode::Chat, Some(most), _) => self.cycles >= most,
            _ => false,
        }
    }

    /// Rule 47.
    pub(super) fn is_time_up(&self) -> bool {
        self.time_up().is_some_and(|moment| self.now >= moment)
    }

    pub(super) fn time_up(&self) -> Option<Timestamp> {
        match (self.mode, self.config.ceilings.discussion_time) {
            (Mode::Discussion, Some(time)) => Some(self.talk_since + time),
            _ => None,
        }
    }

    /// Rule 48.
    pub(super) fn overdue_moment(&self) -> Option<Timestamp> {
        let patience = self.config.discussion.overdue_archive_after;
        if self.mode != Mode::Discussion || self.phase != Phase::Dormant || self.rest.is_some() {
            return None;
        }
        if self.permit.as_ref().is_some_and(|permit| permit.running.is_some()) {
            return None;
        }
        let quiet_since = self.phase_since.max(self.memory.since);
        let at_ceiling = if self.are_turns_used_up() || self.are_cycles_used_up() {
            Some(quiet_since)
        } else {
            self.time_up().map(|moment| moment.max(quiet_since))
        };
        let reminded = self.reminded.filter(|_| self.reminders >= REMINDERS_MAX);
        let in_vain = reminded.map(|moment| moment.max(quiet_since));
        let without_answer = patience.unwrap_or(
            self.config.discussion.reminder_interval.max(std::time::Duration::from_secs(600)),
        );
        let overdue = at_ceiling.and_then(|moment| Some(moment + patience?));
        let in_vain = in_vain.map(|moment| moment + without_answer);
        overdue.into_iter().chain(in_vain).min()
    }
}
