//! A member list that was never read (rule 72)

use core::time::Duration;

use super::Channel;
use super::phase::Phase;
use super::step::Step;
use crate::{Cause, Timestamp};

/// How long to wait, after this many failures in a row, before the list is asked for again.
const fn wait(failures: u8) -> Duration {
    match failures {
        0 | 1 => Duration::from_secs(1),
        2 => Duration::from_secs(2),
        3 => Duration::from_secs(5),
        4 => Duration::from_secs(10),
        _ => Duration::from_secs(30),
    }
}

impl Channel {
    /// When the list that was never read is asked for again.
    pub(super) const fn members_retry_at(&self) -> Option<Timestamp> {
        if let Phase::Unknown { ask_at, .. } = self.phase { ask_at } else { None }
    }

    /// Whether the phase says that turns are not kept for lack of agents, though the list was never
    /// read. Older versions went there when the first list could not be read.
    fn is_disabled_unread(&self) -> bool {
        self.phase == Phase::Disabled
            && self.mode.keeps_turns()
            && self.archived.is_none()
            && self.list_at.is_none()
    }

    /// Turns a state of an older version into one that denies.
    pub(crate) fn distrust_unread_list(&mut self) {
        if !self.is_disabled_unread() {
            return;
        }
        self.phase = if self.is_stopped() {
            Phase::Dormant
        } else {
            let ask_at = self.refresh.is_none().then_some(self.now);
            Phase::Unknown { failures: 0, ask_at }
        };
    }
}

impl Step<'_> {
    /// The first list could not be read: who is here is not known.
    pub(super) fn on_members_unknown(&mut self) {
        if self.channel.is_stopped() {
            return;
        }
        let now = self.channel.now;
        if let Phase::Unknown { failures, ask_at } = &mut self.channel.phase {
            *failures = failures.saturating_add(1);
            *ask_at = Some(now + wait(*failures));
        } else {
            let phase = Phase::Unknown { failures: 1, ask_at: Some(now + wait(1)) };
            self.leave_turns(phase, Cause::MembersUnknown);
        }
    }

    /// Asks for the list again.
    pub(super) fn ask_again(&mut self) {
        if let Phase::Unknown { ask_at, .. } = &mut self.channel.phase {
            *ask_at = None;
            self.fetch_members();
        }
    }
}
