//! The counters of the ceilings, which limit how long agents may talk among themselves.

use crate::values::config::Ceiling;
use crate::{Config, Mode, Timestamp};

/// Counters since a human last spoke.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::CeilingCounts::default().turns, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CeilingCounts {
    /// Turns that were granted, and messages of agents outside their turns.
    pub turns: u32,
    /// Cycles that began.
    pub cycles: u32,
    /// True if the notice of the reached ceiling was given.
    pub announced: bool,
    /// The moment when a discussion was created, or when a human last spoke in it.
    pub since: Timestamp,
}

impl CeilingCounts {
    pub(crate) const fn count_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    pub(crate) const fn count_cycle(&mut self) {
        self.cycles = self.cycles.saturating_add(1);
    }

    pub(crate) fn turns_reached(&self, config: &Config, mode: Mode) -> bool {
        ceiling(config, mode).turns.is_some_and(|max| self.turns >= max)
    }

    pub(crate) fn cycles_reached(&self, config: &Config, mode: Mode) -> bool {
        ceiling(config, mode).cycles.is_some_and(|max| self.cycles >= max)
    }

    /// Returns when the time of a discussion is up. This is a ceiling like the others: it grants no further turn, but
    /// cuts none short.
    pub(crate) fn time_up(&self, config: &Config, mode: Mode) -> Option<Timestamp> {
        let max = config.ceilings.discussion_time.filter(|_| mode == Mode::Discussion);
        max.map(|max| self.since + max)
    }
}

const fn ceiling(config: &Config, mode: Mode) -> Ceiling {
    match mode {
        Mode::Discussion => config.ceilings.discussion,
        Mode::None | Mode::Chat | Mode::Work | Mode::Report => config.ceilings.chat,
    }
}
