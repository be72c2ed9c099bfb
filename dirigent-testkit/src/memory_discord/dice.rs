//! Chance from a seed.

/// The SplitMix64 generator: small, fast, and the same everywhere. Not for secrets.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below `limit`; the bias of the multiplication is far below what a rate can show.
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        let high = self.roll() >> 32;
        u32::try_from((high * u64::from(limit)) >> 32).unwrap_or(0)
    }

    const fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
