//! Chance from one number, so that a seed determines a whole story.

use dirigent_testkit::Random;

/// Dice on the test kit's one generator.
#[derive(Clone, Debug)]
pub(super) struct Dice(Random);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0.draw()
    }

    /// A number below `bound`; 0 when there is no choice. The bias is far below what matters here.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next() % bound }
    }

    /// A number from `low` to `high`.
    pub(super) const fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with this probability, in millionths.
    pub(super) const fn hits(&mut self, per_million: u32) -> bool {
        per_million > 0 && self.below(1_000_000) < per_million as u64
    }

    /// One of these.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        let count = u64::try_from(choices.len()).unwrap_or(0);
        let at = usize::try_from(self.below(count)).unwrap_or(0);
        choices.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut one, mut other) = (Dice::new(5), Dice::new(5));
        assert!((0..100).all(|_| one.next() == other.next()));
    }

    #[test]
    fn rates_are_about_right() {
        let mut dice = Dice::new(1);
        let hits = (0..100_000).filter(|_| dice.hits(20_000)).count();
        assert!((1_800..2_200).contains(&hits), "{hits}");
    }
}
