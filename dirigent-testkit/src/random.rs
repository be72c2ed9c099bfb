//! Random numbers from a seed.

/// A small generator. Equal seeds give equal numbers, on every machine.
///
/// ```
/// use dirigent_testkit::Random;
/// assert_eq!(Random::new(7).bytes(5), Random::new(7).bytes(5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Random {
    /// The whole state.
    state: u64,
}

impl Random {
    /// Begins with a seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next number.
    pub const fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below this one, or 0 if there is none. The bias is far too small to matter
    /// to a test.
    pub const fn below(&mut self, bound: u64) -> u64 {
        let product = self.draw() as u128 * bound as u128;
        (product >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included.
    pub const fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Returns an index into a list of this length.
    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// Returns one of these, or `None` if there are none.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> Option<T> {
        let place = self.place(choices.len());
        choices.get(place).cloned()
    }

    /// Returns true once in this many times, on average.
    pub const fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns true this often in a million times, on average.
    pub const fn hits(&mut self, per_million: u32) -> bool {
        self.below(1_000_000) < per_million as u64
    }

    /// Returns one of these by its rate in thousandths, or none of them.
    pub fn by_rate<T: Copy>(&mut self, rates: impl IntoIterator<Item = (T, u32)>) -> Option<T> {
        let mut roll = self.below(1_000);
        for (choice, per_mille) in rates {
            match roll.checked_sub(per_mille.into()) {
                None => return Some(choice),
                Some(rest) => roll = rest,
            }
        }
        None
    }

    /// Draws this many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.draw().to_le_bytes()[7]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut one, mut other) = (Random::new(5), Random::new(5));
        assert!((0..100).all(|_| one.draw() == other.draw()));
    }

    #[test]
    fn rates_are_about_right() {
        let mut random = Random::new(1);
        let hits = (0..100_000).filter(|_| random.hits(20_000)).count();
        assert!((1_800..2_200).contains(&hits), "{hits}");
        let rates = [('a', 100), ('b', 20)];
        let drawn: Vec<_> = (0..100_000).filter_map(|_| random.by_rate(rates)).collect();
        let rare = drawn.iter().filter(|choice| **choice == 'b').count();
        assert!((11_600..12_400).contains(&drawn.len()), "{}", drawn.len());
        assert!((1_800..2_200).contains(&rare), "{rare}");
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = Random::new(2);
        assert!((0..1_000).all(|_| random.below(3) < 3 && (5..=7).contains(&random.between(5, 7))));
        assert_eq!((random.below(0), random.between(4, 4), random.place(1)), (0, 4, 0));
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
