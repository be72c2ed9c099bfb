//! The numbers of a session that were accepted.

/// The greatest distance of a question behind the highest number.
const WIDTH: u64 = 4_096;
const WORDS: usize = (WIDTH / 64) as usize;

/// The accepted numbers, with one bit for each of the last 4,096.
#[derive(Debug)]
pub(super) struct Window {
    highest: u64,
    taken: Box<[u64; WORDS]>,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { highest: 0, taken: Box::new([0; WORDS]) }
    }

    /// Accepts a number. Returns false if it was accepted before, or is too far behind to be known. Numbers begin with
    /// 1.
    pub(super) fn take(&mut self, number: u64) -> bool {
        if number == 0 || number.saturating_add(WIDTH) <= self.highest {
            return false;
        }
        if number > self.highest {
            self.forget_up_to(number);
            self.highest = number;
        }
        let (word, bit) = place(number);
        let Some(word) = self.taken.get_mut(word) else {
            return false;
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Clears the bits for the numbers up to this one. The bits belonged to numbers that are too far behind now.
    fn forget_up_to(&mut self, number: u64) {
        if number - self.highest >= WIDTH {
            self.taken.fill(0);
            return;
        }
        for passed in self.highest + 1..=number {
            let (word, bit) = place(passed);
            if let Some(word) = self.taken.get_mut(word) {
                *word &= !bit;
            }
        }
    }
}

fn place(number: u64) -> (usize, u64) {
    let index = number % WIDTH;
    // The index is below 4,096, so it fits.
    (usize::try_from(index / 64).unwrap_or_default(), 1 << (index % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Compares the window with a set that never forgets, for numbers in any order.
    #[test]
    fn a_number_is_taken_once_and_never_when_it_is_too_old() {
        let (mut window, mut taken, mut state) = (Window::new(), BTreeSet::new(), 7_u64);
        let mut base = 0;
        for step in 0..200_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let draw = state >> 33;
            base += draw % 3;
            let number = match draw % 50 {
                0 => base + draw % 9_000,
                1 => base.saturating_sub(WIDTH + draw % 10),
                _ => base.saturating_sub(draw % 200),
            };
            let highest = taken.last().copied().unwrap_or(0);
            let is_known = number > 0 && number + WIDTH > highest;
            let expected = is_known && taken.insert(number);
            assert_eq!(window.take(number), expected, "step {step}, number {number}");
            base = base.max(highest.saturating_sub(WIDTH));
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let mut window = Window::new();
        assert!(window.take(1) && window.take(u64::MAX - WIDTH));
        assert!(!window.take(1));
    }
}
