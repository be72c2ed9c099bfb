//! What an agent is handed with its call: what it missed, and what people said to it.

use std::sync::Arc;

use dirigent_core::{AgentKey, Author, MessageId, Timestamp, TurnId};

use super::context::Context;
use super::inbox::Inbox;
use super::reads::Reads;
use crate::ChatMessage;
use crate::values::message::ChatKind;

/// Brings together what an agent is handed: from memory, and from the chat where memory does not have it.
pub(super) struct Handing<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) now: Timestamp,
    pub(super) inbox: &'a mut Inbox,
    pub(super) reads: &'a mut Reads,
    pub(super) known: Known,
}

/// What is to be known of the room for that.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// The channel comes from the store: what was said before is not in memory.
    pub(super) forgot: bool,
    /// Up to where an earlier process heard the channel.
    pub(super) heard_before: Option<MessageId>,
    /// Whether what cannot be read for a call is done without after a while. Not while the chat is away, unless
    /// the run is permitted already: then its deadline runs.
    pub(super) gives_up: bool,
}

impl Handing<'_> {
    /// Whether what was said of late is in memory. If not, it is read, and a call waits for it for a while.
    pub(super) fn has_context(&mut self) -> bool {
        if !self.known.forgot || self.reads.skip_context {
            return true;
        }
        self.reads.want_context(self.now);
        false
    }

    /// What was said of late could not be read in time: the turn begins without. Not while the chat is away.
    pub(super) fn give_context_up(&mut self) -> bool {
        let is_over = self.reads.context_until.is_some_and(|until| until <= self.now);
        let gives_up = is_over && self.known.gives_up;
        if gives_up {
            self.reads.give_context_up();
        }
        gives_up
    }

    /// Whether what people said, and this turn is to be handed, is in memory. If not, it is read, and the run
    /// waits for it for a while.
    pub(super) fn has_words(&mut self, agent: AgentKey, turn: TurnId) -> bool {
        let is_nothing = self.inbox.pending_for(agent, turn).is_none();
        is_nothing || self.pending_words(agent, turn).is_some()
    }

    /// What people said that this turn is handed, and whether that is all of it. `None` while a call waits
    /// until it is read.
    fn pending_words(
        &mut self,
        agent: AgentKey,
        turn: TurnId,
    ) -> Option<(Vec<Arc<ChatMessage>>, bool)> {
        let Some(held) = self.inbox.pending_for(agent, turn) else {
            return Some((Vec::new(), true));
        };
        if let Some(said) = self.said_between(held.first, held.last) {
            return Some(said);
        }
        let until = self.reads.pending_until(self.now, agent, turn);
        let is_meant = |message: &ChatMessage| is_said_by_person(self.cx, message);
        let is_over = until <= self.now && self.known.gives_up;
        is_over.then(|| (self.inbox.between(held.first, held.last, is_meant), false))
    }

    /// What people said in this range, oldest first, and whether that is all of it. `None` while a part of
    /// it is read that is not in memory.
    pub(super) fn said_between(
        &mut self,
        first: MessageId,
        last: MessageId,
    ) -> Option<(Vec<Arc<ChatMessage>>, bool)> {
        let is_meant = |message: &ChatMessage| is_said_by_person(self.cx, message);
        let mut said = self.inbox.between(first, last, is_meant);
        if self.inbox.reaches_back_to(first) {
            return Some((said, true));
        }
        let Some((fetched, is_all)) = self.reads.fetched.as_ref().and_then(|f| f.of(first, last))
        else {
            self.reads.fetch(first, last);
            return None;
        };
        said.extend(fetched.filter(|message| is_meant(message)).cloned());
        in_order(&mut said);
        Some((said, is_all))
    }

    /// Whether all is in memory that the agent of this turn is handed. What is not is read, and waited for.
    pub(super) fn prepare(&mut self, agent: AgentKey, turn: TurnId) -> Option<Handout> {
        let (said, is_all) = self.pending_words(agent, turn)?;
        Some(Handout { agent, turn, said, is_all })
    }

    /// The agent is called with this, and with what else it missed. What could not be read is kept for the next
    /// turn.
    pub(super) fn hand_out(&mut self, handout: Handout) -> Vec<Arc<ChatMessage>> {
        let Handout { agent, turn, said, is_all } = handout;
        self.reads.handed();
        if is_all {
            self.inbox.give_pending(agent, turn);
        }
        let own = self.cx.directory.user(agent);
        let mut words = self.inbox.missed(agent, turn, own, self.known.heard_before);
        if !said.is_empty() {
            words.extend(said);
            in_order(&mut words);
        }
        words
    }
}

/// What people said to the agent of a turn.
pub(super) struct Handout {
    agent: AgentKey,
    turn: TurnId,
    said: Vec<Arc<ChatMessage>>,
    is_all: bool,
}

/// Sorts messages, and drops what stands among them twice.
fn in_order(messages: &mut Vec<Arc<ChatMessage>>) {
    messages.sort_unstable_by_key(|message| message.id);
    messages.dedup_by_key(|message| message.id);
}

fn is_said_by_person(cx: &Context<'_>, message: &ChatMessage) -> bool {
    message.kind != ChatKind::System && cx.directory.author(message) == Author::Human
}
