//! Chance from a seed.

use dirigent_testkit::Random;

/// Dice on the test kit's one generator.
#[derive(Clone, Debug)]
pub(super) struct Dice(Random);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number below this one, which is not 0.
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.0.draw() % u64::from(limit.max(1))).unwrap_or(0)
    }

    /// A number from 1 to this one.
    pub(super) fn up_to(&mut self, limit: u32) -> u32 {
        self.below(limit) + 1
    }

    pub(super) fn one_in(&mut self, limit: u32) -> bool {
        self.below(limit) == 0
    }
}
