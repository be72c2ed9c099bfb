//! Has the whole reply arrived? The pieces of a reply, and what is waited for.

use core::time::Duration;

use crate::{Config, MessageId, Tail, Ticket, Timestamp};

/// How many pieces are kept apart; older ones are merged.
pub(crate) const PIECES_MAX: usize = 6;

/// Discord accepts five posts of one channel in [`POST_WINDOW`]; the next one is held back.
pub(crate) const POSTS_MAX: usize = 5;
/// See [`POSTS_MAX`].
const POST_WINDOW: Duration = Duration::from_secs(5);

/// The reply of the turn under way: what has arrived of it, by ascending id, and what is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Delivery {
    /// The end of the reply; empty while it runs, and when any message confirms.
    pub(crate) fingerprint: Tail,
    /// Slots in use stand in front.
    slots: [Piece; PIECES_MAX],
    /// How many are in use.
    len: usize,
    /// When the last piece, or an edit of one, was seen.
    pub(crate) last_seen: Timestamp,
    /// When the last new pieces were seen, oldest first; those in use stand in front.
    arrivals: [Timestamp; POSTS_MAX],
    /// How many of these are in use.
    arrived: usize,
    /// Looking for the reply, while it is confirmed.
    pub(crate) polls: Polls,
}

/// How the reply is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Polls {
    /// The poll under way.
    pub(crate) open: Option<Ticket>,
    /// When the next one is due, while none is under way.
    pub(crate) next: Timestamp,
    /// The wait before the one after that.
    pub(crate) interval: Duration,
}

/// How much of a reply has arrived, by its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// A length is not known.
    Unknown,
    /// Less than three quarters.
    Part,
    /// Three quarters or more, but less than all.
    Most,
    /// All of it, more than that, or something with an attachment.
    Whole,
}

/// One message of the reply, or several old ones merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Piece {
    /// The message; of merged ones the newest.
    pub id: MessageId,
    /// The end of its text.
    pub tail: Tail,
}

impl Polls {
    /// The first poll after a run's end.
    pub(crate) fn begin(now: Timestamp, config: &Config) -> Self {
        Self {
            open: None,
            next: now + config.confirmation.poll_first,
            interval: config.confirmation.poll_interval,
        }
    }

    /// When the next poll is due.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.open.is_none().then_some(self.next)
    }

    /// A piece arrived: the others may be about to.
    pub(crate) fn put_off(&mut self, now: Timestamp) {
        if self.open.is_none() {
            self.next = self.next.max(now + self.interval);
        }
    }

    /// A poll was answered: the next one follows, later and later, and not before `retry_at`.
    pub(crate) fn answered(
        &mut self,
        now: Timestamp,
        retry_at: Option<Timestamp>,
        longest: Duration,
    ) {
        self.open = None;
        self.next = (now + self.interval).max(retry_at.unwrap_or(now));
        self.interval = longest.min(self.interval.saturating_add(self.interval / 2));
    }
}

impl Delivery {
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn as_slice(&self) -> &[Piece] {
        self.slots.get(..self.len).unwrap_or_default()
    }

    /// Begins anew for the next turn.
    pub(crate) const fn clear(&mut self) {
        self.len = 0;
        self.arrived = 0;
        self.fingerprint.clear();
    }

    /// Adds a message or replaces what is known of it. An edit takes no attachment away: what tells
    /// of edits need not know.
    #[inline]
    pub(crate) fn put(&mut self, now: Timestamp, id: MessageId, tail: &Tail) {
        self.last_seen = now;
        let at = match self.as_slice().binary_search_by_key(&id, |known| known.id) {
            Ok(at) => {
                let attached = self.slots.get(at).is_some_and(|it| it.tail.has_attachment());
                self.write(at, id, tail, attached);
                return;
            }
            Err(at) => at,
        };
        self.note_arrival(now);
        if self.len < PIECES_MAX {
            self.len += 1;
            if let Some(moved) = self.slots.get_mut(at..self.len) {
                moved.rotate_right(1);
            }
            self.write(at, id, tail, false);
        } else {
            self.merge_into_full(at, id, tail);
        }
    }

    /// When the last new pieces were seen, oldest first.
    pub(crate) fn arrivals(&self) -> &[Timestamp] {
        self.arrivals.get(..self.arrived).unwrap_or_default()
    }

    fn arrivals_mut(&mut self) -> &mut [Timestamp] {
        self.arrivals.get_mut(..self.arrived).unwrap_or_default()
    }

    /// Brings back when the last new pieces were seen; of too many the last are kept.
    pub(crate) fn set_arrivals(&mut self, arrivals: &[Timestamp]) {
        self.arrived = 0;
        for at in arrivals {
            self.note_arrival(*at);
        }
    }

    fn note_arrival(&mut self, now: Timestamp) {
        if self.arrived < POSTS_MAX {
            self.arrived += 1;
        } else {
            self.arrivals.rotate_left(1);
        }
        if let Some(last) = self.arrived.checked_sub(1).and_then(|at| self.arrivals.get_mut(at)) {
            *last = now;
        }
    }

    /// Until when Discord may hold the next piece back, because five were posted within the window.
    fn held_back_until(&self) -> Option<Timestamp> {
        let full = self.arrived == POSTS_MAX;
        self.arrivals.first().filter(|_| full).map(|at| *at + POST_WINDOW)
    }

    /// When the author will have been quiet long enough, since a run that ended then, for any message
    /// to confirm.
    pub(crate) fn quiet_deadline(&self, since: Timestamp, config: &Config) -> Option<Timestamp> {
        if self.is_empty() {
            return None;
        }
        let (last, quiet) = (self.last_seen, config.confirmation.quiet_period);
        if self.fingerprint.is_empty() {
            return Some(last + quiet);
        }
        if !config.confirmation.any_message_fallback {
            return None;
        }
        let half = config.confirmation.delivery_timeout / 2;
        // What was said while the agent ran need not be the reply: the quiet begins with the run's end.
        let held_back = self.held_back_until().unwrap_or(last);
        let settled = last.max(since).max(held_back) + quiet;
        match self.extent() {
            Extent::Whole => Some(settled),
            // A word was lost in rewriting, or a short last piece is missing: more patience.
            Extent::Most => Some(settled.max(last.max(since) + half)),
            Extent::Part => None,
            Extent::Unknown => Some((last + quiet).max(since + half)),
        }
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        visit(&mut self.last_seen);
        visit(&mut self.polls.next);
        self.arrivals_mut().iter_mut().for_each(visit);
    }

    /// How much of the reply has arrived, by its length.
    fn extent(&self) -> Extent {
        let pieces = self.as_slice();
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

    /// Whether what arrived is at least as long as the reply. Not where a length is unknown.
    pub(crate) fn is_as_long(&self) -> bool {
        let reply = self.fingerprint.length();
        reply.zip(self.length()).is_some_and(|(reply, seen)| seen >= reply)
    }

    /// How long what arrived is, where the length of each piece is known.
    fn length(&self) -> Option<u32> {
        let mut lengths = self.as_slice().iter().map(|piece| piece.tail.length());
        lengths.try_fold(0_u32, |sum, length| Some(sum.saturating_add(length?)))
    }

    /// Writes a piece in place.
    fn write(&mut self, at: usize, id: MessageId, tail: &Tail, attached: bool) {
        if let Some(slot) = self.slots.get_mut(at) {
            slot.id = id;
            slot.tail.set_to_last(tail, Tail::MAX);
            if attached {
                slot.tail = slot.tail.with_attachment();
            }
        }
    }

    /// Makes room by merging the two lowest of all pieces under the higher id.
    fn merge_into_full(&mut self, at: usize, id: MessageId, tail: &Tail) {
        if at <= 1 {
            let Some(first) = self.slots.first_mut() else {
                return;
            };
            let piece = Piece { id, tail: *tail };
            let (mut low, high) = if at == 0 { (piece, *first) } else { (*first, piece) };
            low.tail.join(&high.tail);
            *first = Piece { id: high.id, tail: low.tail };
        } else {
            let [first, second, ..] = &mut self.slots;
            first.tail.join(&second.tail);
            first.id = second.id;
            if let Some(moved) = self.slots.get_mut(1..at) {
                moved.rotate_left(1);
            }
            self.write(at - 1, id, tail, false);
        }
    }

    /// Whether what arrived ends with the fingerprint that is waited for.
    #[inline]
    pub(crate) fn is_matched(&self) -> bool {
        !self.is_empty() && !self.fingerprint.is_empty() && self.ends_with(&self.fingerprint)
    }

    fn ends_with(&self, fingerprint: &Tail) -> bool {
        if let [only] = self.as_slice() {
            return only.tail.ends_with(fingerprint);
        }
        let mut joined = Tail::EMPTY;
        for piece in self.as_slice() {
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
            assert!(pieces.as_slice().len() <= PIECES_MAX);
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
            let ids = pieces.as_slice().iter().map(|piece| piece.id.get());
            assert!(ids.eq(2..=7), "{late} came last");
            let lowest = pieces.as_slice().first().map(|piece| piece.tail);
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
        assert_eq!(pieces.as_slice().len(), 1);
        assert!(pieces.ends_with(&Tail::of("final text")));
    }
}
