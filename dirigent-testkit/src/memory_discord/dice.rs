//! Chance from a seed.

use crate::Random;

/// Dice on the test kit's one generator.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number below `limit`; the bias of the multiplication is far below what a rate can show.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        let high = self.0.draw() >> 32;
        u32::try_from((high * u64::from(limit)) >> 32).unwrap_or(0)
    }
}
