//! Remembers which hashes were seen recently.

/// A set of the newest hashes, at least the newest [`MOST`], in 4 KB. It wrongly contains about one of twenty hashes
/// that were never added. A reply has many hashes, so a single one decides nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    newest: Bits,
    older: Bits,
    /// The number of hashes in the newest half.
    count: usize,
}

/// The number of bits in a half.
const BITS: usize = 1 << 14;
/// The number of hashes in a half until it becomes the older one. One bit in six is set then.
const MOST: usize = 1_500;

impl Seen {
    pub(super) fn has(&self, hash: u64) -> bool {
        self.newest.has(hash) || self.older.has(hash)
    }

    pub(super) fn put(&mut self, hash: u64) {
        if self.newest.has(hash) {
            return;
        }
        if self.count >= MOST {
            self.older = std::mem::take(&mut self.newest);
            self.count = 0;
        }
        self.newest.put(hash);
        self.count += 1;
    }
}

/// A Bloom filter with two bits for each hash. It allocates no memory before the first one.
#[derive(Clone, Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    /// Returns the places of the two bits of a hash.
    fn places(hash: u64) -> [(usize, u64); 2] {
        [hash, hash >> 32].map(|part| {
            let bit = usize::try_from(part % BITS as u64).unwrap_or_default();
            (bit / 64, 1 << (bit % 64))
        })
    }

    fn has(&self, hash: u64) -> bool {
        let is_set = |(at, bit): (usize, u64)| self.0.get(at).is_some_and(|bits| bits & bit != 0);
        Self::places(hash).into_iter().all(is_set)
    }

    fn put(&mut self, hash: u64) {
        if self.0.is_empty() {
            self.0.resize(BITS / 64, 0);
        }
        for (at, bit) in Self::places(hash) {
            if let Some(bits) = self.0.get_mut(at) {
                *bits |= bit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(number: u64) -> u64 {
        (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    #[test]
    fn the_newest_are_held_and_the_others_go_and_the_memory_stays_the_same() {
        let mut seen = Seen::default();
        for number in 0..10_000 {
            seen.put(spread(number));
        }
        assert!((9_999 - MOST as u64..10_000).all(|number| seen.has(spread(number))));
        let strangers = (20_000..30_000).filter(|number| seen.has(spread(*number))).count();
        assert!(strangers < 700, "{strangers} of 10,000");
        let bytes = [&seen.newest, &seen.older].map(|bits| bits.0.capacity() * size_of::<u64>());
        assert_eq!(bytes.iter().sum::<usize>(), 4_096);
    }
}
