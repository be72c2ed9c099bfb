//! The ceilings: how long agents may talk among themselves.

use crate::values::config::Ceiling;
use crate::{Config, Mode, Timestamp};

/// Counts since a human last spoke.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::CeilingCounts::default().turns, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CeilingCounts {
    /// Turns granted, and messages of agents outside their turns.
    pub turns: u32,
    /// Cycles begun.
    pub cycles: u32,
    /// Whether the reached ceiling was announced.
    pub announced: bool,
    /// In a discussion: when it was created or a human last spoke.
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

    /// When the time of a discussion is up, which is a ceiling like the others.
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
