//! The pieces of a reply that an agent posts by itself, and the check whether all of it has arrived.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{Config, MessageId, Tail, Ticket, Timestamp};

/// The number of pieces that stay separate. Older ones are merged.
pub(crate) const PIECES_MAX: usize = 6;

/// The number of posts that Discord accepts in one channel within [`POST_WINDOW`]. It holds the next one back.
pub(crate) const POSTS_MAX: usize = 5;
const POST_WINDOW: Duration = Duration::from_secs(5);

/// The reply of the turn under way: its pieces so far, by ascending id, and the end that the last one must have.
///
/// ```
/// assert!(dirigent_core::snapshot::Delivery::default().pieces.is_empty());
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Delivery {
    /// The end of the reply. It is empty while the run lasts, and if any message confirms the reply.
    pub fingerprint: Tail,
    /// The pieces that have arrived, by ascending id; at most six.
    pub pieces: Vec<Piece>,
    /// The moment when the last piece, or an edit of one, was seen.
    pub last_seen: Timestamp,
    /// The moments when the last new pieces were seen, oldest first; at most five.
    pub arrivals: Vec<Timestamp>,
    /// The polls that look for the reply, while it is being confirmed.
    pub polls: Polls,
}

/// The polls for a reply.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Polls::default().open, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Polls {
    /// The poll under way.
    pub open: Option<Ticket>,
    /// The moment of the next poll, while none is under way.
    pub next: Timestamp,
    /// The wait before the poll after that.
    pub interval: Duration,
}

/// The part of a reply that has arrived, judged by its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// A length is not known.
    Unknown,
    /// Less than three quarters have arrived.
    Part,
    /// Three quarters or more have arrived, but not all.
    Most,
    /// At least as much as the reply has arrived, or a message with an attachment.
    Whole,
}

/// One message of the reply, or several old ones merged.
///
/// ```
/// assert!(dirigent_core::snapshot::Piece::default().tail.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Piece {
    /// The id of the message. For merged ones it is the newest.
    pub id: MessageId,
    /// The end of its text.
    pub tail: Tail,
}

impl Polls {
    pub(crate) fn begin(now: Timestamp, config: &Config) -> Self {
        Self {
            open: None,
            next: now + config.confirmation.poll_first,
            interval: config.confirmation.poll_interval,
        }
    }

    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.open.is_none().then_some(self.next)
    }

    /// Delays the next poll after a piece arrived, because the other pieces may be about to.
    pub(crate) fn put_off(&mut self, now: Timestamp) {
        // An open poll shows the new piece anyway.
        if self.open.is_none() {
            self.next = self.next.max(now + self.interval);
        }
    }

    /// Schedules the next poll after an answer. Polls grow rarer, and the next one does not come before `retry_at`.
    pub(crate) fn answered(
        &mut self,
        now: Timestamp,
        retry_at: Option<Timestamp>,
        longest: Duration,
    ) {
        self.open = None;
        // The chat may ask for a longer wait than ours.
        self.next = (now + self.interval).max(retry_at.unwrap_or(now));
        self.interval = longest.min(self.interval.saturating_add(self.interval / 2));
    }
}

impl Delivery {
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.arrivals.clear();
        self.fingerprint.clear();
    }

    /// Adds a message, or replaces it after an edit. An edit does not remove an attachment, because the event of an
    /// edit need not mention it.
    #[inline]
    pub(crate) fn put(&mut self, now: Timestamp, id: MessageId, tail: &Tail) {
        self.last_seen = now;
        let at = match self.pieces.binary_search_by_key(&id, |known| known.id) {
            Ok(at) => {
                if let Some(piece) = self.pieces.get_mut(at) {
                    let attached = piece.tail.has_attachment();
                    piece.tail = if attached { tail.with_attachment() } else { *tail };
                }
                return;
            }
            Err(at) => at,
        };
        self.note_arrival(now);
        // Only when the first piece comes, because a hosted reply is confirmed by its receipt and has none.
        if self.pieces.capacity() == 0 {
            self.pieces.reserve_exact(PIECES_MAX);
        }
        if self.pieces.len() < PIECES_MAX {
            self.pieces.insert(at, Piece { id, tail: *tail });
        } else {
            self.put_among_most(at, id, tail);
        }
    }

    /// Makes room by merging the two lowest pieces under the higher id. The new piece may be one of them.
    fn put_among_most(&mut self, at: usize, id: MessageId, tail: &Tail) {
        // Texts are joined in the order of ids, whatever the order of arrival.
        match (at, self.pieces.first_mut()) {
            (0, Some(lowest)) => {
                let mut joined = *tail;
                joined.join(&lowest.tail);
                lowest.tail = joined;
            }
            (1, Some(lowest)) => {
                lowest.id = id;
                lowest.tail.join(tail);
            }
            _ => {
                let lowest = self.pieces.remove(0);
                if let Some(next) = self.pieces.first_mut() {
                    let mut joined = lowest.tail;
                    joined.join(&next.tail);
                    next.tail = joined;
                }
                self.pieces.insert(at - 1, Piece { id, tail: *tail });
            }
        }
    }

    fn note_arrival(&mut self, now: Timestamp) {
        if self.arrivals.capacity() == 0 {
            self.arrivals.reserve_exact(POSTS_MAX);
        }
        if self.arrivals.len() >= POSTS_MAX {
            self.arrivals.remove(0);
        }
        self.arrivals.push(now);
    }

    /// Returns until when Discord may hold the next piece back, because five were posted within the window.
    fn held_back_until(&self) -> Option<Timestamp> {
        // Fewer than five posts are never held back.
        let full = self.arrivals.len() == POSTS_MAX;
        self.arrivals.first().filter(|_| full).map(|at| *at + POST_WINDOW)
    }

    /// Returns the moment at which the author has been quiet for long enough that any message confirms the reply.
    /// `since` is the end of the run.
    pub(crate) fn quiet_deadline(&self, since: Timestamp, config: &Config) -> Option<Timestamp> {
        if self.is_empty() {
            return None;
        }
        let (last, quiet) = (self.last_seen, config.confirmation.quiet_period);
        // Without a text to compare, any message confirms the reply.
        if self.fingerprint.is_empty() {
            return Some(last + quiet);
        }
        if !config.confirmation.any_message_fallback {
            return None;
        }
        let half = config.confirmation.delivery_timeout / 2;
        // Messages from the time of the run need not be the reply, so the quiet time begins with the run's end.
        let held_back = self.held_back_until().unwrap_or(last);
        let settled = last.max(since).max(held_back) + quiet;
        match self.extent() {
            Extent::Whole => Some(settled),
            // Either the host lost a word when it rewrote the reply, or a short last piece is still missing. Waiting
            // longer covers both.
            Extent::Most => Some(settled.max(last.max(since) + half)),
            // A short text waits for more, up to the delivery timeout.
            Extent::Part => None,
            // Without a length only time can tell a rewritten reply from an unfinished one.
            Extent::Unknown => Some((last + quiet).max(since + half)),
        }
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        visit(&mut self.last_seen);
        visit(&mut self.polls.next);
        self.arrivals.iter_mut().for_each(visit);
    }

    fn extent(&self) -> Extent {
        let pieces = &self.pieces;
        // A picture with a short text is a reply. The room once read texts only, and waited for the whole timeout.
        if pieces.iter().any(|piece| piece.tail.has_attachment()) {
            return Extent::Whole;
        }
        match (self.fingerprint.length(), self.length()) {
            (Some(reply), Some(seen)) if seen >= reply => Extent::Whole,
            (Some(reply), Some(seen)) if u64::from(seen) * 4 >= u64::from(reply) * 3 => {
                Extent::Most
            }
            (Some(_), Some(_)) => Extent::Part,
            (None, _) | (_, None) => Extent::Unknown,
        }
    }

    /// Returns true if the pieces are at least as long as the reply. It returns false if a length is unknown.
    pub(crate) fn is_as_long(&self) -> bool {
        let reply = self.fingerprint.length();
        reply.zip(self.length()).is_some_and(|(reply, seen)| seen >= reply)
    }

    fn length(&self) -> Option<u32> {
        let mut lengths = self.pieces.iter().map(|piece| piece.tail.length());
        lengths.try_fold(0_u32, |sum, length| Some(sum.saturating_add(length?)))
    }

    /// Returns true if the pieces end with the expected fingerprint.
    #[inline]
    pub(crate) fn is_matched(&self) -> bool {
        !self.is_empty() && !self.fingerprint.is_empty() && self.ends_with(&self.fingerprint)
    }

    fn ends_with(&self, fingerprint: &Tail) -> bool {
        // Almost every reply is one message, and needs no joined copy.
        if let [only] = self.pieces.as_slice() {
            return only.tail.ends_with(fingerprint);
        }
        let mut joined = Tail::EMPTY;
        for piece in &self.pieces {
            joined.join(&piece.tail);
        }
        joined.ends_with(fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(pieces: &mut Delivery, id: u64, text: &str) {
        pieces.put(Timestamp::from_millis(id), MessageId::new(id), &Tail::of(text));
    }

    #[test]
    fn pieces_join_in_id_order_whatever_the_order_of_arrival() {
        let mut pieces = Delivery::default();
        for (id, text) in [(3, "three"), (1, "one"), (2, "two")] {
            put(&mut pieces, id, text);
        }
        assert!(pieces.ends_with(&Tail::of("onetwothree")));
    }

    #[test]
    fn more_pieces_than_are_kept_apart_still_join_to_the_same_tail() {
        let words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        for rotation in 0..words.len() {
            let mut pieces = Delivery::default();
            for (id, word) in words.iter().enumerate().skip(rotation) {
                put(&mut pieces, id as u64 + 1, word);
            }
            assert!(pieces.pieces.len() <= PIECES_MAX);
            let expected: alloc::string::String =
                words.get(rotation..).unwrap_or_default().concat();
            assert!(pieces.ends_with(&Tail::of(&expected)), "{expected}");
        }
    }

    #[test]
    fn of_too_many_pieces_the_two_lowest_are_merged_under_the_higher_id() {
        for late in [1, 2, 3, 7] {
            let mut pieces = Delivery::default();
            for id in (1..=7).filter(|id| *id != late) {
                put(&mut pieces, id, "x");
            }
            put(&mut pieces, late, "y");
            let ids = pieces.pieces.iter().map(|piece| piece.id.get());
            assert!(ids.eq(2..=7), "{late} came last");
            let lowest = pieces.pieces.first().map(|piece| piece.tail);
            let merged = match late {
                1 => "yx",
                2 => "xy",
                _ => "xx",
            };
            assert_eq!(lowest, Some(Tail::of(merged)));
        }
    }

    #[test]
    fn an_edit_replaces_its_piece() {
        let mut pieces = Delivery::default();
        put(&mut pieces, 1, "draft");
        put(&mut pieces, 1, "the final text");
        assert_eq!(pieces.pieces.len(), 1);
        assert!(pieces.ends_with(&Tail::of("final text")));
    }
}
