//! Chance from one number.

use dirigent_testkit::Random;

/// Dice of this simulation: another way to throw them would make other worlds of its seeds.
#[derive(Clone, Debug)]
pub(super) struct Dice(Random);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// The generator itself, for the runner.
    pub(super) const fn random(&mut self) -> &mut Random {
        &mut self.0
    }

    /// A number below `bound`; 0 where there is none.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        ((self.0.draw() as u128 * bound as u128) >> 64) as u64
    }

    /// True with a chance of `per_mille` in a thousand.
    pub(super) const fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// A place in a list of this length.
    pub(super) const fn place(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }
}
