//! A run that nears its deadline: that is told before the turn is taken away, while something can be done
//! about it.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{PhaseKind, Timestamp, TurnId};

use super::action::Signal;
use super::turns::Turns;

/// The longest time before a deadline at which it is told; where the run may take less than four times as
/// long, a quarter of that.
const AHEAD_MAX: Duration = Duration::from_secs(120);

/// Of which run it was told that it nears its deadline.
#[derive(Debug, Default)]
pub(super) struct Overruns {
    newest: Option<TurnId>,
}

impl Overruns {
    /// When it is told that the run under way nears its deadline; `None` where there is none or it was told.
    pub(super) fn next_at(&self, turns: &Turns) -> Option<Timestamp> {
        let view = turns.view();
        if view.phase() != PhaseKind::Running || self.newest == Some(view.turn()) {
            return None;
        }
        let config = turns.machine.config();
        let limits = [config.run_deadline, config.turn_deadline];
        let limit = limits.into_iter().flatten().min()?;
        Some(view.turn_ends_at()?.saturating_sub(AHEAD_MAX.min(limit / 4)))
    }

    /// Tells it, if it is time.
    pub(super) fn tell(&mut self, turns: &Turns, now: Timestamp, out: &mut VecDeque<Signal>) {
        if self.next_at(turns).is_none_or(|at| now < at) {
            return;
        }
        let view = turns.view();
        if let (Some(agent), Some(ends_at)) = (view.speaker(), view.turn_ends_at()) {
            self.newest = Some(view.turn());
            out.push_back(Signal::Overrun { agent, turn: view.turn(), ends_at });
        }
    }
}
