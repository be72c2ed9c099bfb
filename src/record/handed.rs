//! The messages of a channel that an agent got.

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId};

/// The most ranges that an agent must still get. Above it, the two oldest ranges become one, so the agent may get the
/// messages between them again.
pub(crate) const OWED_MAX: usize = 256;

/// The last message that an agent got, and the exceptions. It contains only ids, because the texts stay in the chat.
///
/// It moves on when a turn of the agent ends with a reply or a pass. If the turn fails, is taken away, or is lost with
/// its process, the agent therefore gets the messages again.
///
/// ```
/// use dirigent::MessageId;
/// use dirigent::snapshot::AgentKey;
/// use dirigent::store::ReadMark;
///
/// let handed = ReadMark { until: Some(MessageId::new(7)), ..ReadMark::new(AgentKey::new(1)) };
/// assert!(handed.includes(MessageId::new(5)));
/// assert!(!handed.includes(MessageId::new(8)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct ReadMark {
    /// The agent.
    pub agent: AgentKey,
    /// The last message up to which the agent got every message, except for those in [`owed`](Self::owed). `None` if it
    /// got no message.
    pub until: Option<MessageId>,
    /// The ranges up to [`until`](Self::until) that the agent did not get, in ascending order. They contain messages
    /// that came after newer ones, and messages that could not be read.
    pub owed: Vec<Span>,
    /// The messages after [`until`](Self::until) that the agent already got, because it took them during a turn, in
    /// ascending order.
    pub ahead: Vec<MessageId>,
}

impl ReadMark {
    /// Creates the mark of an agent that got no message.
    pub const fn new(agent: AgentKey) -> Self {
        Self { agent, until: None, owed: Vec::new(), ahead: Vec::new() }
    }

    /// Makes this value equal to the other. Most agents have got everything, and then the copy is cheap.
    pub(crate) fn copy(&mut self, other: &Self) {
        (self.agent, self.until) = (other.agent, other.until);
        if self.owed.len() | other.owed.len() | self.ahead.len() | other.ahead.len() > 0 {
            self.owed.clone_from(&other.owed);
            self.ahead.clone_from(&other.ahead);
        }
    }

    /// Returns whether the agent got this message, or the message comes before every message that the agent must still
    /// get.
    pub fn includes(&self, message: MessageId) -> bool {
        let is_owed = || self.owed.iter().any(|span| (span.first..=span.last).contains(&message));
        if Some(message) <= self.until {
            !is_owed()
        } else {
            self.ahead.binary_search(&message).is_ok()
        }
    }

    /// Returns whether the agent got everything up to this message.
    pub(crate) fn is_up_to(&self, newest: Option<MessageId>) -> bool {
        newest <= self.until && self.owed.is_empty()
    }

    /// Records that the agent still has to get these messages, which come before some that it got. `is_joined` says
    /// whether there is no message between two messages that the agent got.
    pub(crate) fn owe(&mut self, span: Span, is_joined: impl Fn(MessageId, MessageId) -> bool) {
        let at = self.owed.partition_point(|known| known.first < span.first);
        self.owed.insert(at, span);
        for lower in [Some(at), at.checked_sub(1)].into_iter().flatten() {
            // The range merges with those after it, and then the one before it merges with the range.
            while let (Some(one), Some(next)) = (self.owed.get(lower), self.owed.get(lower + 1)) {
                if next.first > one.last && !is_joined(one.last, next.first) {
                    break;
                }
                self.join(lower);
            }
        }
        if self.owed.len() > OWED_MAX {
            self.join(0);
        }
    }

    fn join(&mut self, lower: usize) {
        let next = self.owed.remove(lower + 1);
        if let Some(one) = self.owed.get_mut(lower) {
            one.last = one.last.max(next.last);
        }
    }

    /// Records that the agent got this message during a turn.
    pub(crate) fn take(&mut self, message: MessageId) {
        if Some(message) > self.until {
            if let Err(at) = self.ahead.binary_search(&message) {
                self.ahead.insert(at, message);
            }
            return;
        }
        let holds = |span: &Span| (span.first..=span.last).contains(&message);
        let Some(at) = self.owed.iter().position(holds) else {
            return;
        };
        let Span { first, last } = self.owed.remove(at);
        let after = Span { first: next(message), last };
        let before = Span { first, last: MessageId::new(message.get().saturating_sub(1)) };
        for part in [after, before].into_iter().filter(|part| part.first <= part.last) {
            self.owed.insert(at, part);
        }
    }

    /// Records that the agent got everything up to here.
    pub(crate) fn move_to(&mut self, until: Option<MessageId>) {
        self.until = self.until.max(until);
        let until = self.until;
        self.ahead.retain(|message| Some(*message) > until);
    }
}

/// Returns the lowest id after this one.
pub(crate) const fn next(message: MessageId) -> MessageId {
    MessageId::new(message.get().saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: u64, last: u64) -> Span {
        Span { first: MessageId::new(first), last: MessageId::new(last) }
    }

    fn handed(until: u64, owed: &[Span]) -> ReadMark {
        let until = Some(MessageId::new(until));
        ReadMark { until, owed: owed.to_vec(), ..ReadMark::new(AgentKey::new(1)) }
    }

    #[test]
    fn ranges_that_touch_become_one_and_others_stay_apart() {
        let mut known = handed(90, &[]);
        for (first, last) in [(40, 40), (10, 10), (42, 50), (41, 41), (12, 12), (49, 60)] {
            known.owe(span(first, last), |one, next| next.get() == one.get() + 1);
        }
        assert_eq!(known.owed, [span(10, 10), span(12, 12), span(40, 60)]);
    }

    #[test]
    fn a_copy_is_the_same_whatever_it_was() {
        let ahead = vec![MessageId::new(95)];
        let all = [handed(90, &[]), handed(7, &[span(1, 2)]), ReadMark { ahead, ..handed(9, &[]) }];
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            let mut copy = one.clone();
            copy.copy(other);
            assert_eq!(copy, *other);
        }
    }

    #[test]
    fn a_message_that_is_taken_is_owed_no_more() {
        let mut known = handed(90, &[span(10, 12), span(20, 20)]);
        for message in [11, 20, 95, 93, 93] {
            known.take(MessageId::new(message));
        }
        assert_eq!(known.owed, [span(10, 10), span(12, 12)]);
        assert_eq!(known.ahead, [93, 95].map(MessageId::new));
        assert!(known.includes(MessageId::new(95)) && !known.includes(MessageId::new(94)));
        known.move_to(Some(MessageId::new(94)));
        assert_eq!(known.ahead, [MessageId::new(95)]);
    }

    #[test]
    fn too_many_ranges_become_fewer_and_nothing_owed_is_lost() {
        let mut known = handed(10_000, &[]);
        for first in 0..1_000 {
            known.owe(span(first * 3 + 1, first * 3 + 1), |_, _| false);
        }
        assert_eq!(known.owed.len(), OWED_MAX);
        assert!((0..1_000).all(|first| !known.includes(MessageId::new(first * 3 + 1))));
    }
}
