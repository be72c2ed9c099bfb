//! What a discussion still has to post, its guide and its result, each exactly once and in order.
//!
//! Results of requests enter, requests leave. A request is offered only when the record that it
//! needs is stored, so that the next process can tell what may have been posted.

mod action;
mod delivery;
pub(crate) mod entry;

use std::time::Duration;

use dirigent_core::Timestamp;

pub(crate) use self::action::{ChatFacts, FirstAttempt, OutboxAction, OutboxResult};
use self::delivery::{Change, Delivery};
use self::entry::OutboxEntry;
use crate::ChannelId;
pub(crate) use crate::record::outbox::{OutboxKind, OutboxMessage};

/// What an operator does with a message that could not be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undelivered {
    /// It is tried once more.
    Retry,
    /// The result is dropped.
    Dismiss,
    /// The result goes to this channel instead.
    SendTo(ChannelId),
}

/// The outbox messages of a channel: at most one of each kind. None waits for the other, since they
/// may go to different channels.
///
/// A part that may have been posted is repeated with its nonce for almost two minutes. Later, and after a
/// restart that took longer, it is looked for in the history first.
#[derive(Debug, Default)]
pub(crate) struct OutboxMachine {
    deliveries: Vec<Delivery>,
    /// Counts the changes of what is stored.
    version: u64,
    /// The newest change that is to be stored before anything else happens.
    eager: u64,
    /// The version that is known to be stored.
    stored: u64,
}

impl OutboxMachine {
    /// Takes up what an earlier process, or an earlier stay in memory, left.
    pub(crate) fn restore(now: Timestamp, messages: Vec<OutboxMessage>) -> Self {
        let deliveries = messages.into_iter().map(|message| Delivery::restored(now, message));
        Self { deliveries: deliveries.collect(), ..Self::default() }
    }

    /// Adds a message. It is posted once it is stored.
    pub(crate) fn write(&mut self, message: OutboxMessage) {
        self.deliveries.push(Delivery::written(message));
        let last = self.deliveries.len() - 1;
        self.note(last, Change::Eager);
    }

    /// The messages, as they are to be stored.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &OutboxMessage> {
        self.deliveries.iter().map(|delivery| &delivery.message)
    }

    /// The messages as those see them who look.
    pub(crate) fn unposted(&self) -> impl Iterator<Item = OutboxEntry> {
        self.deliveries.iter().map(Delivery::unposted)
    }

    /// Whether no message is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.deliveries.is_empty()
    }

    /// The version of [`OutboxMachine::messages`]: it rises with each change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The messages of this version are stored. To be told after each commit, with the version from
    /// when the record was taken.
    pub(crate) fn stored(&mut self, version: u64) {
        self.stored = self.stored.max(version);
    }

    /// Whether the messages changed since they were stored.
    pub(crate) fn is_changed(&self) -> bool {
        self.version > self.stored
    }

    /// Whether a request waits for a commit, or a message arrived since the last one.
    #[cfg(test)]
    pub(crate) fn needs_commit(&self) -> bool {
        self.eager > self.stored
    }

    /// The next request that may start now; it counts as under way until [`OutboxMachine::done`] or
    /// [`OutboxMachine::postponed`] is called. One at a time for each message. `None` where a commit
    /// or a time is waited for.
    pub(crate) fn next(&mut self, now: Timestamp) -> Option<(OutboxKind, OutboxAction)> {
        for index in 0..self.deliveries.len() {
            let stored = self.stored;
            let Some(delivery) = self.deliveries.get_mut(index) else {
                break;
            };
            if delivery.needs > stored {
                continue;
            }
            let kind = delivery.kind();
            let (action, change) = delivery.next(now);
            self.note(index, change);
            if let Some(action) = action {
                return Some((kind, action));
            }
        }
        None
    }

    /// The request was offered but not started. It is offered again at `until`, or where that is
    /// `None` after [`OutboxMachine::try_again`] or [`OutboxMachine::chat_back`].
    pub(crate) fn postponed(&mut self, now: Timestamp, kind: OutboxKind, until: Option<Timestamp>) {
        if let Some(delivery) = self.delivery(kind) {
            delivery.postponed(now, until);
        }
    }

    /// Ends the wait of a message.
    #[cfg(test)]
    pub(crate) fn try_again(&mut self, kind: OutboxKind) {
        if let Some(delivery) = self.delivery(kind) {
            delivery.try_again();
        }
    }

    /// An operator does this with what could not be delivered. Returns whether there was any.
    pub(crate) fn redress(&mut self, now: Timestamp, from: ChannelId, what: Undelivered) -> bool {
        let of = |delivery: &Delivery| {
            delivery.is_undelivered()
                && (what == Undelivered::Retry || delivery.kind() == OutboxKind::Result)
        };
        let mut is_any = false;
        for index in 0..self.deliveries.len() {
            let Some(delivery) = self.deliveries.get_mut(index).filter(|delivery| of(delivery))
            else {
                continue;
            };
            is_any = true;
            match what {
                Undelivered::Retry => delivery.begin_anew(),
                Undelivered::SendTo(to) => {
                    *delivery = Delivery::written(delivery.message.sent_to(from, to, now));
                    self.note(index, Change::Eager);
                }
                Undelivered::Dismiss => {}
            }
        }
        if is_any && what == Undelivered::Dismiss {
            self.deliveries.retain(|delivery| !of(delivery));
            self.version += 1;
            self.eager = self.version;
        }
        is_any
    }

    /// Ends all waits: the chat answers again.
    pub(crate) fn chat_back(&mut self) {
        self.deliveries.iter_mut().for_each(Delivery::try_again);
    }

    /// The request that was under way for a message ended. [`OutboxMachine::take_arrived`] returns
    /// the messages that it completed.
    pub(crate) fn done(
        &mut self,
        now: Timestamp,
        kind: OutboxKind,
        result: OutboxResult<'_>,
        facts: ChatFacts,
    ) {
        let index = self.deliveries.iter().position(|delivery| delivery.kind() == kind);
        let Some(index) = index else {
            return;
        };
        let delivery = self.deliveries.get_mut(index);
        let change = delivery.map_or(Change::None, |delivery| delivery.done(now, result, facts));
        self.note(index, change);
    }

    /// Whether the request under way for a message asks for the newest message of its channel.
    pub(crate) fn asks_newest(&self, kind: OutboxKind) -> bool {
        let mut deliveries = self.deliveries.iter();
        deliveries.any(|delivery| delivery.kind() == kind && delivery.asks_newest())
    }

    /// Removes a message that arrived, and says which. The arrival of a guide wakes the room itself,
    /// in the same pass: its last part and that are stored together. To be asked until it is `None`,
    /// after [`OutboxMachine::restore`], [`OutboxMachine::write`] and [`OutboxMachine::done`].
    pub(crate) fn take_arrived(&mut self) -> Option<OutboxKind> {
        let index = self.deliveries.iter().position(Delivery::has_arrived)?;
        let kind = self.deliveries.remove(index).kind();
        self.version += 1;
        self.eager = self.version;
        Some(kind)
    }

    /// Time went back by this much.
    pub(crate) fn move_back(&mut self, by: Duration) {
        self.deliveries.iter_mut().for_each(|delivery| delivery.move_back(by));
    }

    /// When [`OutboxMachine::next`] is to be asked next for a message that waits for a time.
    pub(crate) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        self.deliveries.iter().filter_map(Delivery::due)
    }

    /// Whether a message cannot arrive before the next start: its channel is gone, or the chat will
    /// never take it.
    #[cfg(test)]
    pub(crate) fn is_hopeless(&self, kind: OutboxKind) -> bool {
        let mut deliveries = self.deliveries.iter();
        deliveries.any(|delivery| delivery.kind() == kind && delivery.is_hopeless())
    }

    /// Whether there is nothing to do and nothing to wait for before the next start.
    pub(crate) fn is_at_rest(&self) -> bool {
        !self.is_changed() && self.deliveries.iter().all(Delivery::is_hopeless)
    }

    /// What became of the first attempt at a message since it was written or restored.
    pub(crate) fn first_attempt(&self, kind: OutboxKind) -> FirstAttempt {
        let delivery = self.deliveries.iter().find(|delivery| delivery.kind() == kind);
        delivery.map_or(FirstAttempt::Posted, Delivery::first_attempt)
    }

    fn delivery(&mut self, kind: OutboxKind) -> Option<&mut Delivery> {
        self.deliveries.iter_mut().find(|delivery| delivery.kind() == kind)
    }

    fn note(&mut self, index: usize, change: Change) {
        if change != Change::None {
            self.version += 1;
        }
        if change == Change::Eager {
            self.eager = self.version;
            if let Some(delivery) = self.deliveries.get_mut(index) {
                delivery.needs = self.version;
            }
        }
    }
}

#[cfg(test)]
mod tests;
