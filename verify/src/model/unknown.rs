//! Members that are not known (rule 72).

use std::time::Duration;

use dirigent_core::{Cause, Timestamp};

use super::Model;
use super::state::Phase;

impl Model {
    /// No list was ever read, and again there is no answer.
    pub(super) fn on_members_unknown(&mut self) {
        if self.is_stopped() {
            return;
        }
        let failures = if let Phase::Unknown { failures, .. } = self.phase {
            failures.saturating_add(1)
        } else {
            1
        };
        let seconds = match failures {
            0 | 1 => 1,
            2 => 2,
            3 => 5,
            4 => 10,
            _ => 30,
        };
        let ask = Some(self.now + Duration::from_secs(seconds));
        let unknown = Phase::Unknown { failures, ask };
        if matches!(self.phase, Phase::Unknown { .. }) {
            self.phase = unknown; // it is where it was
        } else {
            self.causes.push(Cause::MembersUnknown);
            self.keep_no_turns();
            self.enter(unknown);
        }
    }

    /// When the list is asked for again.
    pub(super) fn members_retry_due(&self) -> Option<Timestamp> {
        if let Phase::Unknown { ask, .. } = self.phase { ask } else { None }
    }

    /// Asks again.
    pub(super) fn ask_again(&mut self) {
        if let Phase::Unknown { ask, .. } = &mut self.phase {
            *ask = None;
            self.ask_refresh();
        }
    }
}
