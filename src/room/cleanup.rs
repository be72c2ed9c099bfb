//! Deletions. They delay no other work.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{AgentKey, MessageId, Ticket, Timestamp};

use super::action::ActionId;
use super::attempts::{Attempts, Failure, Trouble};
use super::commit::Stamp;
use crate::values::message::Nonce;

const DELETIONS_AT_ONCE: usize = 2;
/// The most withdrawn triggers that a room looks for at a time.
const STRAYS_MAX: usize = 16;
/// How long a deletion is tried. It outlasts an outage, and delays no post.
const DELETION_MAX: Duration = Duration::from_secs(3_600);

#[derive(Debug, Default)]
pub(crate) struct Cleanup {
    items: Vec<Deletion>,
    /// Triggers that may be in the channel although they were withdrawn.
    strays: VecDeque<Stray>,
}

#[derive(Debug)]
struct Stray {
    nonce: Nonce,
    /// The action that posts it.
    post: Option<ActionId>,
}

#[derive(Debug)]
struct Deletion {
    /// The ticket. `None` for a trigger that the machine does not know.
    ticket: Option<Ticket>,
    message: MessageId,
    /// The observed agent that wrote it. `None` for the moderator.
    by: Option<AgentKey>,
    stamp: Stamp,
    attempts: Attempts,
    since: Option<Timestamp>,
    under_way: Option<ActionId>,
}

impl Cleanup {
    /// Adds a message of the moderator. It is deleted once the state of this stamp is stored, and not before `stays`.
    pub(crate) fn push(
        &mut self,
        ticket: Option<Ticket>,
        message: MessageId,
        (stamp, stays): (Stamp, Option<Timestamp>),
    ) {
        let known = self.items.iter_mut().find(|item| item.message == message);
        // A message may have to go for two reasons, for example as a stale trigger and a stray. It is deleted once.
        if let Some(known) = known.filter(|known| ticket.is_none() || known.ticket.is_none()) {
            known.ticket = known.ticket.or(ticket);
            return;
        }
        let mut attempts = Attempts::default();
        if let Some(until) = stays {
            attempts.wait_until(until);
        }
        let (by, since, under_way) = (None, None, None);
        self.items.push(Deletion { ticket, message, by, stamp, attempts, since, under_way });
    }

    pub(crate) fn remove(&mut self, by: AgentKey, message: MessageId, stamp: Stamp) {
        self.push(None, message, (stamp, None));
        if let Some(item) = self.items.iter_mut().find(|item| item.message == message) {
            item.by = Some(by);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }

    /// Returns the next deletion that is due and has a committed stamp: the message, and its author as in `by`.
    pub(crate) fn ready(
        &self,
        now: Timestamp,
        is_committed: impl Fn(Stamp) -> bool,
    ) -> Option<(MessageId, Option<AgentKey>)> {
        // A deletion that hangs must not hold back the others, and many at once would use up the rate limit.
        let under_way = self.items.iter().filter(|item| item.under_way.is_some()).count();
        if under_way >= DELETIONS_AT_ONCE {
            return None;
        }
        let is_free = |item: &&Deletion| {
            item.under_way.is_none() && item.attempts.is_due(now) && is_committed(item.stamp)
        };
        self.items.iter().find(is_free).map(|item| (item.message, item.by))
    }

    pub(crate) fn begin(&mut self, message: MessageId, id: ActionId, now: Timestamp) {
        let mut waiting = self.items.iter_mut().filter(|item| item.under_way.is_none());
        if let Some(item) = waiting.find(|item| item.message == message) {
            item.under_way = Some(id);
            item.since.get_or_insert(now);
        }
    }

    /// Records that a deletion is over, whatever its outcome. Returns the ticket that it settles, and the message's
    /// author as in `by`.
    pub(crate) fn done(&mut self, message: MessageId) -> (Option<Ticket>, Option<AgentKey>) {
        let at = self.items.iter().position(|item| item.message == message);
        let done = at.map(|at| self.items.swap_remove(at));
        done.map_or((None, None), |item| (item.ticket, item.by))
    }

    /// Records a withdrawn trigger with this nonce that may be in the channel. `post` is the action that posts it.
    pub(crate) fn look_for(&mut self, nonce: Nonce, post: Option<ActionId>) {
        self.strays.push_back(Stray { nonce, post });
        // These posts may never arrive, so the list is bounded.
        if self.strays.len() > STRAYS_MAX {
            self.strays.pop_front();
        }
    }

    /// Checks a message with this nonce in the channel. If it is such a trigger, it is deleted once the state of this
    /// stamp is stored, because the trigger is no longer pending there.
    pub(crate) fn see(&mut self, nonce: Nonce, message: MessageId, stamp: Stamp) {
        let stray = self.strays.iter().position(|known| known.nonce == nonce);
        self.found(stray, message, stamp);
    }

    /// Checks a message that this action posted after all. If it is such a trigger, it is deleted.
    pub(crate) fn landed(&mut self, post: ActionId, message: MessageId, stamp: Stamp) {
        let stray = self.strays.iter().position(|known| known.post == Some(post));
        self.found(stray, message, stamp);
    }

    fn found(&mut self, stray: Option<usize>, message: MessageId, stamp: Stamp) {
        if let Some(at) = stray {
            self.strays.remove(at);
            self.push(None, message, (stamp, None));
        }
    }

    /// Records that a deletion failed. Returns whether it is given up.
    pub(crate) fn failed(&mut self, message: MessageId, now: Timestamp, failure: &Failure) -> bool {
        let Some(item) = self.items.iter_mut().find(|item| item.message == message) else {
            return false;
        };
        item.under_way = None;
        item.attempts.back_off(now, failure.retry_after);
        // The next attempt is compared, not this one, so that none is planned beyond the limit.
        let late = item.since.is_some_and(|since| {
            item.attempts.next_at().is_some_and(|next| next.since(since) >= DELETION_MAX)
        });
        failure.trouble() == Trouble::Definite || late
    }

    pub(crate) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let waiting = self.items.iter().filter(|item| item.under_way.is_none());
        waiting.filter_map(|item| item.attempts.next_at())
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        for item in &mut self.items {
            item.attempts.move_back(by);
            item.since = item.since.map(|since| since.saturating_sub(by));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::active::Active;
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const TRIGGER: MessageId = MessageId::new(7);

    fn seen(stamp: Stamp) -> Active {
        let mut active = Active::default();
        let nonce = Nonce::from_parts(1, 2, 3);
        let cleanup = active.cleanup.get_or_insert_default();
        cleanup.look_for(nonce, None);
        cleanup.see(nonce, TRIGGER, stamp);
        active
    }

    #[test]
    fn a_trigger_that_was_withdrawn_is_deleted_once_that_is_stored() {
        let stamp = Stamp::default();
        let cleanup = seen(stamp).cleanup.unwrap();
        assert_eq!(cleanup.ready(NOW, |needed| needed < stamp), None);
        assert_eq!(cleanup.ready(NOW, |needed| needed <= stamp), Some((TRIGGER, None)));
    }

    #[test]
    fn a_room_that_has_something_to_delete_stays_in_memory() {
        let mut active = seen(Stamp::default());
        assert!(!active.is_idle());
        active.cleanup.as_mut().unwrap().done(TRIGGER);
        assert!(active.is_idle());
    }
}
