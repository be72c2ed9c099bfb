//! The events of a session that a resume may need again.

use std::collections::VecDeque;
use std::sync::Arc;

/// The events of a session in the order of sending. The oldest are forgotten.
///
/// Each entry has its event's number, which two copies share, and a place of its own.
pub(super) struct Replay {
    entries: VecDeque<Entry>,
    /// The place of the first entry.
    first: u64,
    /// The newest number that was forgotten.
    forgotten: u64,
    /// The most entries that are stored for a resume.
    kept_max: usize,
}

struct Entry {
    seq: u64,
    text: Arc<str>,
}

impl Replay {
    pub(super) const fn new(kept_max: usize) -> Self {
        Self { entries: VecDeque::new(), first: 0, forgotten: 0, kept_max }
    }

    pub(super) fn add(&mut self, seq: u64, text: Arc<str>) {
        self.entries.push_back(Entry { seq, text });
    }

    /// Forgets the oldest entries beyond the limit, except those from this place on.
    pub(super) fn trim(&mut self, needed_from: u64) {
        while self.entries.len() > self.kept_max && self.first < needed_from {
            if let Some(entry) = self.entries.pop_front() {
                self.forgotten = self.forgotten.max(entry.seq);
                self.first += 1;
            }
        }
    }

    /// Returns the place after the newest entry.
    pub(super) fn end(&self) -> u64 {
        self.first.saturating_add(self.entries.len() as u64)
    }

    /// Returns the place of the first entry after this number, or `None` if one of them is forgotten.
    pub(super) fn place_after(&self, seq: u64) -> Option<u64> {
        if self.forgotten > seq {
            return None;
        }
        let later = self.entries.iter().position(|entry| entry.seq > seq);
        Some(later.map_or_else(|| self.end(), |later| self.first.saturating_add(later as u64)))
    }

    /// Returns the entries from one place to before another, or `None` if one of them is forgotten.
    pub(super) fn between(&self, from: u64, to: u64) -> Option<impl Iterator<Item = Arc<str>>> {
        let skipped = usize::try_from(from.checked_sub(self.first)?).ok()?;
        let count = usize::try_from(to.checked_sub(from)?).ok()?;
        let entries = self.entries.iter().skip(skipped).take(count);
        Some(entries.map(|entry| Arc::clone(&entry.text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(replay: &Replay, place: u64) -> Option<Vec<String>> {
        Some(replay.between(place, replay.end())?.map(|text| text.to_string()).collect())
    }

    fn replay_of(seqs: &[u64], kept_max: usize) -> Replay {
        let mut replay = Replay::new(kept_max);
        for seq in seqs {
            replay.add(*seq, seq.to_string().into());
        }
        replay
    }

    #[test]
    fn everything_after_a_number_is_told_again_in_order() {
        let replay = replay_of(&[1, 2, 2, 3], 10);
        let place = replay.place_after(1).unwrap();
        assert_eq!(texts(&replay, place).unwrap(), ["2", "2", "3"]);
        assert_eq!(replay.place_after(3), Some(replay.end()));
        assert_eq!(texts(&replay, replay.end()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_forgotten_cannot_be_told_again() {
        let mut replay = replay_of(&[1, 2, 3, 4], 2);
        replay.trim(replay.end());
        assert_eq!(replay.place_after(1), None);
        assert_eq!(texts(&replay, replay.place_after(2).unwrap()).unwrap(), ["3", "4"]);
        assert_eq!(texts(&replay, 0), None);
    }

    #[test]
    fn what_was_not_sent_yet_is_kept_beyond_the_limit() {
        let mut replay = replay_of(&[1, 2, 3, 4], 1);
        replay.trim(1);
        assert_eq!(texts(&replay, 1).unwrap(), ["2", "3", "4"]);
    }
}
