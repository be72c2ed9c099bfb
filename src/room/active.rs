//! The lanes and caches that exist only while a channel is active.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{Author, MessageId, Timestamp};

use super::action::Signal;
use super::calls::{Calls, Consult};
use super::chat_health::ChatHealth;
use super::cleanup::Cleanup;
use super::commands::Commands;
use super::commit::CommitState;
use super::deferrals::Deferrals;
use super::inbox::Inbox;
use super::observed::Observation;
use super::outbox::Outbox;
use super::overrun::Overruns;
use super::reads::Reads;
use super::reply::{ReplyDelivery, WithdrawnReply};
use super::requests::Requests;
use super::voice::{PostItem, PostQueue, TriggerState};
use crate::values::message::Nonce;

#[derive(Debug, Default)]
pub(super) struct Active {
    pub(super) inbox: Inbox,
    pub(super) commands: Commands,
    pub(super) reply: Option<ReplyDelivery>,
    /// A withdrawn reply. It goes back to its agent once the outcome of its part in progress is known.
    pub(super) withdrawn: Option<Box<WithdrawnReply>>,
    pub(super) voice: PostQueue,
    pub(super) summons: TriggerState,
    /// `None` until a message is deleted for the first time.
    pub(super) cleanup: Option<Box<Cleanup>>,
    pub(super) reads: Reads,
    /// Present only in discussions.
    pub(super) outbox: Option<Box<Outbox>>,
    pub(super) calls: Calls,
    pub(super) overruns: Overruns,
    /// `None` if no agent is observed.
    pub(super) observed: Option<Box<Observation>>,
    pub(super) consult: Option<Box<Consult>>,
    /// `None` until a run is deferred for the first time.
    pub(super) deferrals: Option<Box<Deferrals>>,
    pub(super) chat: ChatHealth,
    pub(super) requests: Requests,
    pub(super) signals: VecDeque<Signal>,
    /// The last of people's unserved messages that the channel was woken for.
    pub(super) woken_for: Option<MessageId>,
    pub(super) receipt: Vec<MessageId>,
}

impl Active {
    /// Handles an event about a message of this author with this nonce. Returns whether the message is the post of the
    /// voice lane's head, while no answer to that post is awaited.
    pub(super) fn arrived(&mut self, nonce: Nonce, author: Author, message: MessageId) -> bool {
        if let Some(withdrawn) = &mut self.withdrawn {
            withdrawn.told_of(nonce, author, message);
        }
        let poster = match self.voice.head() {
            Some(PostItem::Reply) => {
                self.reply.as_ref().map(|reply| Author::Agent(reply.stored().agent))
            }
            Some(PostItem::Effect(..) | PostItem::Answer) => Some(Author::Moderator),
            None => None,
        };
        // The author is compared, because any account can post with a nonce that it has seen. Such a post once counted
        // as the part of a reply.
        poster == Some(author) && self.voice.arrived(nonce, message)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.reply.is_none()
            && self.calls.is_idle()
            && self.requests.is_idle()
            && self.reads.is_idle()
            && self.cleanup.as_ref().is_none_or(|cleanup| cleanup.is_empty())
            && self.signals.is_empty()
            && self.voice.is_empty()
            // A result that was given up waits for an operator, and must not keep the channel in memory for ever.
            && self.outbox.as_ref().is_none_or(|outbox| outbox.is_at_rest())
    }

    /// Returns whether a lane may have an action to offer. A lane that waits for its state to be stored has none,
    /// because the end of the commit is an event.
    pub(super) fn may_act(&self, commit: &CommitState) -> bool {
        let is_stored = |stamp| commit.is_committed(stamp);
        // While one post is in progress the head offers no other, because posts of a channel stay in order.
        let voice = !self.voice.is_under_way()
            && match self.voice.head() {
                Some(PostItem::Effect(_, stamp)) => is_stored(stamp),
                Some(PostItem::Reply) => {
                    self.reply.as_ref().is_none_or(|reply| is_stored(reply.stamp()))
                }
                Some(PostItem::Answer) => true,
                None => false,
            };
        let consult = self.consult.as_ref().is_some_and(|consult| consult.under_way.is_none());
        voice
            || self.calls.waiting().is_some_and(|call| is_stored(call.stamp))
            || consult
            || self.cleanup.as_ref().is_some_and(|cleanup| !cleanup.is_empty())
            || self.reads.may_act()
            || self.outbox.as_ref().is_some_and(|outbox| !outbox.is_empty())
            || self.chat.is_probing()
    }

    /// Returns the first moment after this one at which something is due. A deadline that has passed already waits for
    /// something else, and must not hide a later moment, not even of its own lane.
    pub(super) fn next_deadline(&self, at: Timestamp) -> Option<Timestamp> {
        let reply = self.reply.as_ref();
        let single = [
            self.voice.next_at(),
            self.deferrals.as_ref().and_then(|deferrals| deferrals.next_at()),
            reply.filter(|_| !self.voice.is_under_way()).and_then(ReplyDelivery::next_at),
        ];
        let cleanup = self.cleanup.iter().flat_map(|cleanup| cleanup.moments());
        let outbox = self.outbox.iter().flat_map(|outbox| outbox.moments());
        let others = self.reads.moments().chain(self.chat.moments()).chain(self.calls.moments());
        let others = others.chain(self.observed.iter().flat_map(|observed| observed.moments()));
        let all = single.into_iter().flatten().chain(others).chain(cleanup).chain(outbox);
        all.filter(|moment| *moment > at).min()
    }

    pub(super) fn move_back(&mut self, by: Duration) {
        self.voice.move_back(by);
        if let Some(cleanup) = &mut self.cleanup {
            cleanup.move_back(by);
        }
        self.reads.move_back(by);
        if let Some(outbox) = &mut self.outbox {
            outbox.move_back(by);
        }
        if let Some(deferrals) = &mut self.deferrals {
            deferrals.move_back(by);
        }
        if let Some(observed) = &mut self.observed {
            observed.move_back(by);
        }
        self.chat.move_back(by);
        if let Some(reply) = &mut self.reply {
            reply.move_back(by);
        }
        self.calls.move_back(by);
        // A command that seemed to lie in the future would overrule words that people write later.
        let commanded_at = &mut self.commands.commanded_at;
        *commanded_at = commanded_at.map(|at| at.saturating_sub(by));
    }

    /// Retries at once, because the chat answers again, or because it is this room's turn to ask whether it does. How
    /// often a chat that is away is asked is decided for all rooms together.
    pub(super) fn retry_now(&mut self) {
        self.voice.retry_now();
        if let Some(outbox) = &mut self.outbox {
            outbox.chat_back();
        }
        if let Some(reply) = &mut self.reply {
            reply.retry_now();
        }
    }

    /// Ends all work, because another process has the channel. Runs in progress are taken away, and no message is
    /// posted after this.
    pub(super) fn abandon(&mut self, now: Timestamp) {
        let left = self.calls.abandon(now).into_iter();
        // Their agents may still run, so each keeps its ten seconds of grace, although no room counts them.
        self.signals.extend(left.map(|(id, drop_at)| Signal::Leave { id, drop_at }));
        self.withdraw_question();
        self.voice.clear();
        if let Some(cleanup) = &mut self.cleanup {
            cleanup.clear();
        }
        (self.reply, self.withdrawn, self.observed) = (None, None, None);
    }

    /// Stops waiting for the run of a hosted agent and for the question to the orchestrator.
    pub(super) fn abandon_runs(&mut self, now: Timestamp) {
        if let Some((agent, run)) = self.calls.current().map(|call| (call.agent, call.run)) {
            if let Some(call) = self.calls.cancel(now, agent, Some(run)) {
                self.signals.extend(call.under_way.map(Signal::Cancel));
            }
        }
        self.withdraw_question();
    }

    /// Drops the question to the orchestrator, with its answer.
    pub(super) fn withdraw_question(&mut self) {
        if let Some(consult) = self.consult.take() {
            self.signals.extend(consult.under_way.map(Signal::DropConsult));
            self.voice.withdraw(PostItem::Answer);
        }
    }

    pub(super) fn forget_all(&mut self) {
        // The turn machine begins anew, and does not have that trigger.
        self.calls.take_never_begun();
        self.voice.clear();
        if let Some(cleanup) = &mut self.cleanup {
            cleanup.clear();
        }
        (self.reply, self.withdrawn) = (None, None);
        self.inbox.forget();
        // A late page of a read from before must not bring back what was forgotten.
        (self.outbox, self.observed) = (None, None);
        self.reads = Reads::default();
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{AgentKey, TurnId};

    use super::super::action::Account;
    use super::super::commit::Stamp;
    use super::super::reads::{Read, ReadKind};
    use super::*;
    use crate::values::error::ErrorKind;

    /// WD14: a wait that was not ended since its moment stood behind that of a read which was due and waited for its turn.
    #[test]
    fn what_is_due_and_waits_hides_no_later_moment_of_its_lane() {
        let (now, second) = (Timestamp::from_millis(90_000), Duration::from_secs(1));
        let due = now + second * 5;

        let mut active = Active::default();
        active.reads.want(Read::Gap, Stamp::default());
        active.reads.back_off(ReadKind::Gap, now, None);
        active.reads.wait_for_words(now, AgentKey::new(1), TurnId::new(1));
        let until = now + super::super::reads::WORDS_MAX;
        assert!(active.reads.moments().min() <= Some(due) && due < until);
        assert_eq!(active.next_deadline(due), Some(until), "a wait for a read");

        let mut active = Active::default();
        active.chat.failed(Account::Moderator, now, ErrorKind::NoAnswer);
        assert_eq!(active.chat.due(now + second * 6), Some(true));
        active.chat.lost_gateway(now + second * 12);
        let look_at = now + second * 17;
        assert_eq!(
            active.next_deadline(now + second * 12),
            Some(look_at),
            "a look while nothing is heard"
        );
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_command_newer_than_what_people_said_after_it() {
        let (at, by) = (Timestamp::from_millis(90_000), Duration::from_secs(60));
        let mut active = Active::default();
        active.commands.commanded_at = Some(at);
        active.move_back(by);
        assert_eq!(active.commands.commanded_at, Some(at.saturating_sub(by)));
    }
}
