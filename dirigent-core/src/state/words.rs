//! What was said that no agent has heard yet.

use crate::state::queue::Queue;
use crate::state::queue::Span;
use crate::state::rare::Rare;

/// Words that are still to be heard: each is kept until an agent was told, or a person was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Words {
    /// A qualifying message waits, and wakes the channel when an agent can be granted.
    pub(crate) wake_pending: bool,
    /// The channel woke for a word that no agent has heard yet.
    pub(crate) wake_unserved: bool,
    /// Only a human wakes the channel: an agent asked for one.
    pub(crate) awaits_human: bool,
    /// People's messages that the next grant hands over.
    pub(crate) queue: Rare<Queue>,
}

impl Words {
    pub(crate) fn queued(&self) -> Option<Span> {
        self.queue.get().and_then(|queue| queue.0)
    }

    /// Whether anything waits for the next grant.
    pub(crate) fn has_queued(&self) -> bool {
        self.queue.get().is_some_and(|queue| !queue.is_empty())
    }

    /// Keeps these messages for the next grant; gives whether there are any.
    pub(crate) fn enqueue(&mut self, span: Option<Span>) -> bool {
        span.is_some() && self.queue.edit().add(span)
    }

    /// Hands over what waited for this grant.
    pub(crate) fn take_queued(&mut self) -> Option<Span> {
        self.queue.existing().and_then(Queue::take)
    }

    /// Turns end for now: a word that no agent has heard makes a wake pending.
    pub(crate) fn keep_unserved(&mut self) {
        self.wake_pending |= self.wake_unserved || self.has_queued();
        self.wake_unserved = false;
    }

    /// Forgets what people said before the mode changed or the channel was archived.
    pub(crate) fn forget(&mut self) {
        (self.wake_pending, self.wake_unserved) = (false, false);
        self.take_queued();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageId;

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
