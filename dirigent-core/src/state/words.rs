//! People's words that no agent has taken yet.

use crate::state::interruption::join;
use crate::state::rare::Rare;
use crate::state::span::Span;
use crate::state::speaker_list::SpeakerList;

/// The words that an agent must still hear. Each is remembered until a turn took it, or an agent asked for a person.
///
/// ```
/// assert!(!dirigent_core::snapshot::Words::default().wake_pending);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Words {
    /// True if a qualifying message waits, and wakes the channel when an agent can be granted.
    pub wake_pending: bool,
    /// True if the channel woke for a word, or handed one over, and no turn has replied or passed since.
    pub wake_unserved: bool,
    /// True if a message that came after the cycle began asks for another cycle.
    pub cycle_requested: bool,
    /// True if an agent that was skipped in this cycle is back. Another cycle then follows if no turn takes the words.
    pub returned: bool,
    /// True if only a human wakes the channel, because an agent asked for one.
    pub awaits_human: bool,
    /// The messages of people that the next grant hands over.
    pub queue: Rare<Option<Span>>,
}

impl Words {
    pub(crate) fn queued(&self) -> Option<Span> {
        self.queue.get().copied().flatten()
    }

    pub(crate) fn has_queued(&self) -> bool {
        self.queued().is_some()
    }

    /// Queues these messages for the next grant. Returns true if there are any.
    pub(crate) fn enqueue(&mut self, span: Option<Span>) -> bool {
        // Most turns queue nothing, and the memory is made with the first message.
        if span.is_some() {
            join(self.queue.edit(), span);
        }
        span.is_some()
    }

    pub(crate) fn take_queued(&mut self) -> Option<Span> {
        self.queue.existing().and_then(Option::take)
    }

    /// Requests another cycle, because something was said after this one began. Agents that passed or spoke last get
    /// another chance. Returns true if that is a change.
    pub(crate) fn request_cycle(&mut self, list: &mut SpeakerList) -> bool {
        let may_start_again = list.forget_silent();
        !core::mem::replace(&mut self.cycle_requested, true) || may_start_again
    }

    /// Returns true if there are words that no turn has taken.
    pub(crate) fn are_owed(&self) -> bool {
        self.wake_unserved || self.has_queued()
    }

    /// Forgets the pending wake and the unserved words, because their question was withdrawn.
    pub(crate) fn withdraw(&mut self) {
        (self.wake_pending, self.wake_unserved) = (false, false);
    }

    /// Makes a wake pending for words that no turn took, because turns end for now.
    pub(crate) fn keep_unserved(&mut self) {
        // They must wake the channel later, because no turn is left to take them.
        self.wake_pending |= self.are_owed();
        // A pending wake says the same, and two facts would wake twice.
        self.wake_unserved = false;
    }

    /// Forgets all that people said before the mode changed or the channel was archived.
    pub(crate) fn forget(&mut self) {
        self.withdraw();
        self.take_queued();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageId;

    #[test]
    fn a_queue_widens_to_cover_everything_and_is_handed_over_once() {
        let span =
            |first, last| Some(Span { first: MessageId::new(first), last: MessageId::new(last) });
        let mut words = Words::default();
        assert!(!words.has_queued() && !words.enqueue(None));
        assert!(words.enqueue(span(5, 5)) && words.enqueue(span(2, 3)));
        assert!(words.enqueue(span(4, 9)) && !words.enqueue(None));
        assert_eq!(words.take_queued(), span(2, 9));
        assert_eq!(words.take_queued(), None);
    }

    #[test]
    fn an_unserved_or_a_queued_word_makes_a_wake_pending_when_the_channel_falls_silent() {
        let mut unserved = Words { wake_unserved: true, ..Words::default() };
        unserved.keep_unserved();
        assert!(unserved.wake_pending && !unserved.wake_unserved);
        let mut queued = Words::default();
        assert!(queued.enqueue(Some(Span::of(MessageId::new(1)))) && !queued.enqueue(None));
        queued.keep_unserved();
        assert!(queued.wake_pending && queued.has_queued());
        let mut silent = Words::default();
        silent.keep_unserved();
        assert_eq!(silent, Words::default());
    }
}
