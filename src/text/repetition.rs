//! Whether a reply says what was just said, nearly word for word.
//!
//! Rooms of models loop by content: two agents count on in a list that says nothing, or thank each other. Of the newest
//! replies a digest is kept, never a text, and the next one is held against it.
//!
//! What is compared are words in their order, without case, punctuation, list numbers, names and words that only
//! connect. What carries a fact must be the same: numbers in the text, single letters, negations, code, whether it asks, and the
//! pictures, addresses and files that it shows.

use dirigent_core::AgentKey;

mod words;

pub(crate) use words::words_of_name;
use words::{Word, words};

/// How many replies of a channel are remembered.
const RECENT: usize = 4;
/// The fewest words of a reply that counts as repeating the agent itself: a shorter one is an answer.
const OWN_MIN: u8 = 4;
/// The fewest words of a reply that counts as repeating another agent: a shorter one may be agreement.
const OTHERS_MIN: u8 = 7;
/// The fewest words of a reply in which a few may differ.
const LONG: u8 = 12;
const BUCKETS: usize = 9;

/// The words of a reply, those of its embeds included, and a hash of what else it shows, if it shows anything.
pub(crate) type Said<'a> = (&'a str, Option<u64>);

/// What is left of a reply: 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Digest {
    /// Whose it is.
    author: u16,
    /// What carries a fact.
    facts: u16,
    /// The words in their order.
    sequence: u16,
    /// How many words; at most 255 are counted.
    count: u8,
    /// The sums of the words' hashes, spread by the words: a word more or less changes one of them, another word two.
    buckets: [u8; BUCKETS],
}

impl Digest {
    /// `None` for a text that says too little to be held against another, and for a vote. What shows something besides is held
    /// against others however little it says.
    fn of(author: AgentKey, (text, shown): Said<'_>, names: &[u64]) -> Option<Self> {
        let author = u16::try_from(author.get() & 0xFFFF).unwrap_or_default();
        let mut digest = Self { author, ..Self::default() };
        let (mut total, mut newest, mut again) = (0_u8, None, 0_u8);
        for word in words(text, names) {
            total = total.saturating_add(1);
            again = if newest == Some(word) { again.saturating_add(1) } else { 0 };
            newest = Some(word);
            match word {
                Word::Vote => return None,
                // "No, no, no" says the same however often.
                Word::Fact(_) if again >= 2 => {}
                Word::Fact(hash) => digest.facts = mixed(digest.facts, hash),
                Word::Light(hash) => digest.sequence = mixed(digest.sequence, hash),
                Word::Plain(hash) => {
                    digest.sequence = mixed(digest.sequence, hash);
                    digest.count = digest.count.saturating_add(1);
                    let [low, high, ..] = hash.to_le_bytes();
                    if let Some(bucket) = digest.buckets.get_mut(usize::from(low) % BUCKETS) {
                        *bucket = bucket.wrapping_add(high | 1);
                    }
                }
            }
        }
        if let Some(shown) = shown {
            digest.show(shown);
            return Some(digest);
        }
        (digest.count >= OWN_MIN || total >= LONG).then_some(digest)
    }

    /// Takes up what the reply shows besides its words. It is the same, or it is a fact of its own.
    fn show(&mut self, shown: u64) {
        self.facts = mixed(self.facts, shown);
        self.sequence = mixed(self.sequence, shown.rotate_left(32));
        for (bucket, byte) in self.buckets.iter_mut().zip(shown.to_le_bytes()) {
            *bucket = bucket.wrapping_add(byte);
        }
        if self.count < OTHERS_MIN {
            // With so few words it repeats its own author alone.
            let author = u64::from(self.author).wrapping_add(1);
            self.facts = mixed(self.facts, author.rotate_left(48));
        }
    }

    /// Whether this one says nothing but what the earlier one said.
    fn repeats(&self, earlier: &Self) -> bool {
        let is_own = self.author == earlier.author;
        let enough = if is_own { OWN_MIN } else { OTHERS_MIN };
        if self.facts != earlier.facts {
            return false;
        }
        let is_same = self.count == earlier.count && self.sequence == earlier.sequence;
        if self.count.min(earlier.count) < enough {
            // Long, and next to nothing in it but facts: numbers, letters, "no".
            return is_same && self.count < OWN_MIN;
        }
        if is_same {
            return true;
        }
        let pairs = self.buckets.iter().zip(&earlier.buckets);
        let differing = pairs.filter(|(one, other)| one != other).count();
        let shorter = self.count.min(earlier.count);
        let allowed = match shorter {
            0..LONG => return false,
            LONG..16 => 1,
            16..28 => 2,
            28..40 => 3,
            40.. => 4,
        };
        differing <= allowed && self.count.abs_diff(earlier.count) <= shorter / 8
    }
}

/// A hash with the order of what it is made of.
fn mixed(known: u16, hash: u64) -> u16 {
    let [.., low, high] = hash.to_le_bytes();
    known.rotate_left(5).wrapping_mul(0x9E37) ^ u16::from_le_bytes([low, high])
}

/// The digests of a channel's newest replies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    /// The newest first. An empty one is like none.
    digests: [Digest; RECENT],
}

impl Recent {
    /// A reply is made. Returns whether it repeats one of the newest; if not, it is one of them from now on. What is too
    /// short to be held against another reply takes no room. `names`: of the agents, which are left aside, as sorted
    /// [`words_of_name`].
    pub(crate) fn is_repeated(
        recent: &mut Option<Box<Self>>,
        author: AgentKey,
        said: Said<'_>,
        names: &[u64],
    ) -> bool {
        let digest = Digest::of(author, said, names);
        digest.is_some_and(|digest| recent.get_or_insert_default().take(digest))
    }

    fn take(&mut self, digest: Digest) -> bool {
        if self.digests.iter().any(|earlier| digest.repeats(earlier)) {
            return true;
        }
        self.digests.rotate_right(1);
        self.digests[0] = digest;
        false
    }
}

#[cfg(test)]
mod tests;
