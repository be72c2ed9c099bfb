//! Chance with a seed.

/// A small generator: the same seed gives the same numbers, on every machine.
///
/// ```
/// use dirigent_testkit::Random;
/// assert_eq!(Random::new(7).bytes(5), Random::new(7).bytes(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// The whole state.
    state: u64,
}

impl Random {
    /// Begins anew with a seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number.
    pub const fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws this many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.draw().to_le_bytes()[7]).collect()
    }
}
