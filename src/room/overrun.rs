//! A run that nears its deadline: that is told before the turn is taken away, while something can be done
//! about it.

use std::time::Duration;

use dirigent_core::{PhaseKind, Timestamp};

use super::Room;
use super::action::Signal;

/// The longest time before a deadline at which it is told; where the run may take less than four times as
/// long, a quarter of that.
const AHEAD_MAX: Duration = Duration::from_secs(120);

impl Room {
    /// When it is told that the run under way nears its deadline; `None` where there is none or it was told.
    pub(super) fn overrun_at(&self) -> Option<Timestamp> {
        let view = self.machine.view();
        let is_told = self.active.as_ref()?.overrun == Some(view.turn());
        if is_told || view.phase() != PhaseKind::Running {
            return None;
        }
        let config = self.machine.config();
        let limits = [config.run_deadline, config.turn_deadline];
        let limit = limits.into_iter().flatten().min()?;
        Some(view.turn_ends_at()?.saturating_sub(AHEAD_MAX.min(limit / 4)))
    }

    /// Tells it, if it is time.
    pub(super) fn tell_overrun(&mut self, now: Timestamp) {
        if self.overrun_at().is_none_or(|at| now < at) {
            return;
        }
        let view = self.machine.view();
        let (agent, turn, ends_at) = (view.speaker(), view.turn(), view.turn_ends_at());
        if let (Some(active), Some(agent), Some(ends_at)) = (&mut self.active, agent, ends_at) {
            active.overrun = Some(turn);
            active.signals.push_back(Signal::Overrun { agent, turn, ends_at });
        }
    }
}
