//! The messages that an agent gets with its call, from memory, and from the chat if memory does not have them.

use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, TurnId};

use super::inbox::{Bounds, Handout, TurnMessages};
use super::step::Step;
use crate::ChatMessage;

impl Step<'_> {
    /// Returns whether all messages for this turn are in memory. If not, they are read, and the run waits for a while.
    pub(super) fn is_ready(&mut self, agent: AgentKey, turn: TurnId) -> bool {
        self.lanes.inbox.is_in_memory(agent) || self.prepare_handout(agent, turn).is_some()
    }

    /// Returns the messages for the agent of this turn. `None` while some of them are being read.
    pub(super) fn prepare_handout(&mut self, agent: AgentKey, turn: TurnId) -> Option<Handout> {
        let own = self.cx.directory.user(agent);
        // While the chat is away the agent waits for them. A permitted run does not, because its deadline runs.
        let may_do_without = !self.lanes.chat.is_out() || self.lanes.calls.waiting().is_some();
        let gives_up = self.lanes.reads.is_given_up(self.now, agent, turn, may_do_without);
        let bounds = self.bounds();
        match self.lanes.inbox.hand_out(agent, turn, own, bounds, gives_up) {
            Ok(handout) => Some(handout),
            Err(span) => {
                self.lanes.reads.want_words(span);
                self.lanes.reads.wait_for_words(self.now, agent, turn);
                None
            }
        }
    }

    fn bounds(&self) -> Bounds {
        let settings = self.cx.settings;
        // With 0 no agent would ever get a message.
        Bounds {
            messages: settings.limits.missed_max.max(1),
            bytes: settings.limits.missed_bytes_max,
        }
    }

    pub(super) fn hand_out(&mut self, handout: Handout) -> TurnMessages {
        self.lanes.reads.handed();
        self.lanes.inbox.handed(handout)
    }

    /// Returns people's messages in this range, oldest first, and whether these are all of them. `None` while a part of
    /// them is read from the chat.
    pub(super) fn said_within(&mut self, span: Span) -> Option<(Vec<Arc<ChatMessage>>, bool)> {
        match self.lanes.inbox.said_within(span, self.lanes.reads.has_failed()) {
            Ok(said) => Some(said),
            Err(span) => {
                self.lanes.reads.want_words(span);
                None
            }
        }
    }

    /// Records that the agent's turn failed. It gets the messages again, a few times.
    pub(super) fn turn_failed(&mut self, agent: AgentKey) {
        let words = self.lanes.inbox.failed(agent);
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
