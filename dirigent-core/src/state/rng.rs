//! Chance: a small generator with a state of one number.

/// The `SplitMix64` generator. It spreads well, and its state fits into the snapshot. It is not secret, and need not
/// be.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Rng(7).0, 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rng(pub u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, each equally likely. It returns 0 if there is no choice.
    ///
    /// A number that would favour the low end is drawn again, so the result is exactly uniform.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the published generator. They may never change: a stored state would deal
    /// other orders after an update than before.
    #[test]
    fn the_same_seed_gives_the_same_numbers_for_ever() {
        let mut from_zero = Rng(0);
        let drawn = [from_zero.next(), from_zero.next(), from_zero.next()];
        assert_eq!(drawn, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
        let mut from_seven = Rng(7);
        let places: [usize; 12] = core::array::from_fn(|_| from_seven.below(10));
        assert_eq!(places, [7, 4, 6, 3, 4, 5, 8, 2, 5, 5, 3, 6]);
    }

    #[test]
    fn where_there_is_no_choice_nothing_is_drawn() {
        let mut rng = Rng(5);
        assert_eq!((rng.below(0), rng.below(1)), (0, 0));
        assert_eq!(rng, Rng(5));
    }

    #[test]
    fn every_number_below_the_bound_is_equally_likely() {
        for bound in [2, 3, 7, 64] {
            let mut rng = Rng(1);
            let mut counts = [0_u32; 64];
            for _ in 0..bound * 10_000 {
                counts[rng.below(bound)] += 1;
            }
            let (possible, impossible) = counts.split_at(bound);
            assert!(possible.iter().all(|count| count.abs_diff(10_000) < 400), "{possible:?}");
            assert!(impossible.iter().all(|count| *count == 0));
        }
    }

    /// Of 2^64 numbers, 2^63 + 1 places can be filled once only: what is left over is drawn again.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_number_that_would_favour_the_low_end_is_drawn_again() {
        assert_eq!(Rng(0).below((1 << 63) + 1), 0x6e78_9e6a_a1b9_65f4, "the second drawn");
        assert_eq!(Rng(0).below(1 << 63), 0x6220_a839_7b1d_cdaf, "half of them fit twice");
    }
}
