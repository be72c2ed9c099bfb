//! Chance from one number.

/// `SplitMix64`: small, fast, well spread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where there is none.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        ((self.number() as u128 * bound as u128) >> 64) as u64
    }

    /// True so many times in a thousand.
    pub(super) const fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// A place in a list of this length.
    pub(super) const fn place(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }
}
