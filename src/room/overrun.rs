//! Warns about a run that nears its deadline, so that listeners can act before the turn is taken away.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{PhaseKind, Timestamp, TurnId};

use super::action::Signal;
use super::turns::Turns;

/// The longest time between the warning and the deadline. For a run with a short limit it is a quarter of that.
const AHEAD_MAX: Duration = Duration::from_secs(120);

/// The run that a warning was given for.
#[derive(Debug, Default)]
pub(super) struct Overruns {
    newest: Option<TurnId>,
}

impl Overruns {
    /// Returns when the warning for the current run is due. `None` if no agent runs or the warning was given.
    pub(super) fn next_at(&self, turns: &Turns) -> Option<Timestamp> {
        let view = turns.view();
        if view.phase() != PhaseKind::Running || self.newest == Some(view.turn()) {
            return None;
        }
        let config = turns.machine.config();
        // The first of the two ends the run.
        let limits = [config.deadlines.run, config.deadlines.turn];
        let limit = limits.into_iter().flatten().min()?;
        Some(view.turn_ends_at()?.saturating_sub(AHEAD_MAX.min(limit / 4)))
    }

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
