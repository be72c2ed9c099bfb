//! Chance from a seed.

/// A small generator (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below this one, which is not 0.
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        u32::try_from(mixed % u64::from(limit.max(1))).unwrap_or(0)
    }

    /// A number from 1 to this one.
    pub(super) fn up_to(&mut self, limit: u32) -> u32 {
        self.below(limit) + 1
    }

    pub(super) fn one_in(&mut self, limit: u32) -> bool {
        self.below(limit) == 0
    }
}
