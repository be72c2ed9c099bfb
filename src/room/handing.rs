//! What an agent is handed with its call: from memory, and from the chat where memory does not have it.

use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, Timestamp, TurnId};

use super::context::Context;
use super::inbox::{Bounds, Brought, Handout, Inbox};
use super::reads::Reads;
use crate::ChatMessage;

/// Brings together what an agent is handed.
pub(super) struct Handing<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) now: Timestamp,
    pub(super) inbox: &'a mut Inbox,
    pub(super) reads: &'a mut Reads,
    /// Whether what cannot be read for a call is done without after a while. Not while the chat is away, unless
    /// the run is permitted already: then its deadline runs.
    pub(super) gives_up: bool,
}

impl Handing<'_> {
    /// Whether all that this turn is to bring is in memory. If not, it is read, and the run waits for it for a while.
    pub(super) fn is_ready(&mut self, agent: AgentKey, turn: TurnId) -> bool {
        self.inbox.is_in_memory(agent) || self.prepare(agent, turn).is_some()
    }

    /// What the agent of this turn is handed. `None` while something of it is read.
    pub(super) fn prepare(&mut self, agent: AgentKey, turn: TurnId) -> Option<Handout> {
        let own = self.cx.directory.user(agent);
        let gives_up = self.reads.is_given_up(self.now, agent, turn, self.gives_up);
        match self.inbox.hand_out(agent, turn, own, self.bounds(), gives_up) {
            Ok(handout) => Some(handout),
            Err(span) => {
                self.reads.want_words(span);
                self.reads.wait_for_words(self.now, agent, turn);
                None
            }
        }
    }

    /// How much an agent is handed at once.
    fn bounds(&self) -> Bounds {
        let settings = self.cx.settings;
        Bounds {
            messages: settings.limits.missed_max.max(1),
            bytes: settings.limits.missed_bytes_max,
        }
    }

    /// The agent is called with this.
    pub(super) fn hand_out(&mut self, handout: Handout) -> Brought {
        self.reads.handed();
        self.inbox.handed(handout)
    }

    /// What people said in this range, oldest first, and whether that is all of it. `None` while a part of
    /// it is read that is not in memory.
    pub(super) fn said_within(&mut self, span: Span) -> Option<(Vec<Arc<ChatMessage>>, bool)> {
        match self.inbox.said_within(span, self.reads.has_failed()) {
            Ok(said) => Some(said),
            Err(span) => {
                self.reads.want_words(span);
                None
            }
        }
    }

    /// The agent's turn failed: it is handed the same again, a few times.
    pub(super) fn failed(&mut self, agent: AgentKey) {
        let words = self.inbox.failed(agent);
        self.tell_given_up(agent, words);
    }

    fn tell_given_up(&self, agent: AgentKey, words: usize) {
        if words > 0 {
            let agent = self.cx.directory.name(agent).map(crate::AgentId::as_str);
            tracing::warn!(
                agent,
                words,
                "an agent failed again and again with the same messages of people: it is not handed them any more"
            );
        }
    }
}
