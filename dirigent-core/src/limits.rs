//! The ceilings: how long agents may talk among themselves (F01, F02).

use crate::Config;

/// Counts since a human last spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Limits {
    /// Turns granted, and messages of agents outside their turns.
    pub(crate) turns: u32,
    /// Cycles begun.
    pub(crate) cycles: u32,
    /// Whether the reached ceiling was announced.
    pub(crate) announced: bool,
}

impl Limits {
    pub(crate) const fn count_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    pub(crate) const fn count_cycle(&mut self) {
        self.cycles = self.cycles.saturating_add(1);
    }

    pub(crate) fn turns_reached(&self, config: &Config) -> bool {
        config.turns_max.is_some_and(|max| self.turns >= max)
    }

    pub(crate) fn cycles_reached(&self, config: &Config) -> bool {
        config.cycles_max.is_some_and(|max| self.cycles >= max)
    }

    pub(crate) fn reached(&self, config: &Config) -> bool {
        self.turns_reached(config) || self.cycles_reached(config)
    }
}
