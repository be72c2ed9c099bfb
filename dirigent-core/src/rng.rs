//! Chance: a small generator whose whole state is one number.

/// SplitMix64. Small, well spread, and its state fits the snapshot; it need not be secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each equally likely; 0 when there is no choice.
    ///
    /// Numbers that would favour the low end are drawn again, so the result is exactly uniform.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let Ok(wide @ 2..) = u64::try_from(bound) else {
            return 0;
        };
        let unfair = u64::MAX - (u64::MAX % wide + 1) % wide;
        loop {
            let drawn = self.next();
            if drawn <= unfair {
                return usize::try_from(drawn % wide).unwrap_or(0);
            }
        }
    }
}
