//! A fast hash for ids that is equal in every run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by ids. No outside party chooses the ids, so none can make them collide.
pub(crate) type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Folds 64 bits at a time by a long multiplication, so that every bit of an id counts. The low
/// bits of ids are often alike.
#[derive(Debug, Default)]
pub struct IdHasher {
    state: u64,
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            for (place, byte) in word.iter_mut().zip(chunk) {
                *place = *byte;
            }
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves of the product are used")]
    fn write_u64(&mut self, word: u64) {
        let mixed = self.state ^ word ^ 0x243f_6a88_85a3_08d3;
        let product = u128::from(mixed) * 0x9e37_79b9_7f4a_7c15;
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}
