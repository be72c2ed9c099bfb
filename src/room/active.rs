//! What only an active channel has: each lane with its own data.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{Author, Effect, MessageId, Timestamp, TurnId};

use super::action::{Account, ActionId, Purpose, Signal};
use super::calls::{Calls, Consult};
use super::chat_health::ChatHealth;
use super::claims::Claims;
use super::cleanup::Cleanup;
use super::deferrals::Deferrals;
use super::inbox::Inbox;
use super::outbox::OutboxMachine;
use super::reads::Reads;
use super::reply::{ReplyDelivery, WithdrawnReply};
use super::voice::{VoiceItem, VoiceLane};
use crate::runtime::admission::ClaimKind;

/// Whose request to the chat is under way, and of which kind.
pub(super) type Request = (Account, ClaimKind);

/// What only an active channel has: each lane with its own data.
#[derive(Debug, Default)]
pub(super) struct Active {
    pub(super) inbox: Inbox,
    pub(super) reply: Option<ReplyDelivery>,
    /// A reply that goes back to its agent once it is known what became of its part under way.
    pub(super) withdrawn: Option<WithdrawnReply>,
    pub(super) voice: VoiceLane,
    pub(super) cleanup: Cleanup,
    pub(super) reads: Reads,
    pub(super) outbox: OutboxMachine,
    /// The version of the outbox that the commit stamp takes into account.
    pub(super) outbox_seen: u64,
    /// The version that the commit under way stores.
    pub(super) outbox_sent: u64,
    /// The summary of a discussion that is being concluded.
    pub(super) summary: Option<String>,
    pub(super) calls: Calls,
    pub(super) consult: Option<Box<Consult>>,
    pub(super) deferrals: Deferrals,
    pub(super) chat: ChatHealth,
    /// The gateway was lost: the agent that is awaited may not have heard its trigger.
    pub(super) trigger_again: bool,
    /// The newest turn whose agent knows of it without a message: the host's waker called it.
    pub(super) called: Option<TurnId>,
    /// The newest turn of which it was told that its run nears its deadline.
    pub(super) overrun: Option<TurnId>,
    pub(super) claims: Claims,
    pub(super) under_way: Vec<(ActionId, Purpose, Option<Request>)>,
    pub(super) signals: VecDeque<Signal>,
    /// Up to which of people's messages that no agent took the channel was woken.
    pub(super) woken_for: Option<MessageId>,
    /// The newest person's stop or resume word that acted.
    pub(super) word: Option<MessageId>,
    /// When an operator last stopped, held or resumed the channel.
    pub(super) commanded_at: Option<Timestamp>,
    pub(super) next_action: u64,
    /// Reused for the messages of a reply.
    pub(super) receipt: Vec<MessageId>,
    /// Reused for the machine's effects.
    pub(super) effects: Vec<Effect>,
}

impl Active {
    pub(super) fn next_id(&mut self) -> ActionId {
        self.next_action += 1;
        ActionId(self.next_action)
    }

    /// An event tells of a message of this author with this nonce: any account can choose another's nonce.
    /// Returns whether it is the post of the voice lane's head, and no answer to that is waited for.
    pub(super) fn arrived(&mut self, nonce: &str, author: Author, message: MessageId) -> bool {
        if let Some(withdrawn) = &mut self.withdrawn {
            withdrawn.told_of(nonce, author, message);
        }
        let poster = match self.voice.head() {
            Some(VoiceItem::Reply) => {
                self.reply.as_ref().map(|reply| Author::Agent(reply.stored().agent))
            }
            Some(VoiceItem::Effect(..) | VoiceItem::Answer) => Some(Author::Moderator),
            None => None,
        };
        poster == Some(author) && self.voice.arrived(nonce, message)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.reply.is_none()
            && self.calls.is_idle()
            && self.under_way.is_empty()
            && self.reads.is_idle()
            && self.cleanup.is_empty()
            && self.signals.is_empty()
            && self.voice.is_empty()
            && self.outbox.is_at_rest()
    }

    pub(super) fn may_act(&self) -> bool {
        let voice = !self.voice.is_empty() && !self.voice.is_under_way();
        let consult = self.consult.as_ref().is_some_and(|consult| consult.under_way.is_none());
        voice
            || self.calls.is_waiting()
            || consult
            || !self.cleanup.is_empty()
            || self.reads.may_act()
            || !self.outbox.is_empty()
            || self.claims.is_called()
            || self.claims.has_withdrawn()
            || self.chat.is_probing()
    }

    pub(super) fn next_deadline(&self, at: Timestamp) -> Option<Timestamp> {
        let reply = self.reply.as_ref();
        let moments = [
            self.voice.next_at(),
            self.cleanup.next_at(),
            self.reads.next_at(),
            self.outbox.due(),
            self.deferrals.next_at(),
            self.chat.next_at(),
            self.calls.next_at(),
            reply.filter(|_| !self.voice.is_under_way()).and_then(|r| r.attempts().next_at()),
        ];
        moments.into_iter().flatten().filter(|moment| *moment > at).min()
    }

    pub(super) fn move_back(&mut self, by: Duration) {
        self.voice.move_back(by);
        self.cleanup.move_back(by);
        self.reads.move_back(by);
        self.deferrals.move_back(by);
        self.chat.move_back(by);
        if let Some(reply) = &mut self.reply {
            reply.move_back(by);
        }
        self.calls.move_back(by);
        self.commanded_at = self.commanded_at.map(|at| at.saturating_sub(by));
    }
}
