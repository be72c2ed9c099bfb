//! Which of people's words each agent that the library calls was handed, kept from outside.
//!
//! Each word that the room heard is in exactly one turn of each agent that ended with a reply or a pass. A turn that failed, was
//! taken away or died with its process does not count, and of those that fail there are at most four with the same word.

use std::collections::HashMap;

use dirigent_core::{AgentKey, MessageId, TurnId};

/// The most turns that fail with one word.
const FAILURES_MAX: u8 = 4;

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// What people said.
    words: Vec<MessageId>,
    /// What of it the room was ever told, by an event or a page.
    told: Vec<MessageId>,
    states: HashMap<(AgentKey, MessageId), MessageFate>,
    /// The newest turn of each agent that ended well: if it is called again it brings the same again.
    newest: HashMap<AgentKey, TurnId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct MessageFate {
    is_done: bool,
    /// The agent took no turns here when it was said, or the room has forgotten that it did.
    is_excused: bool,
    failures: u8,
}

impl Ledger {
    pub(super) fn spoken(&mut self, word: MessageId) {
        self.words.push(word);
    }

    /// The room hears of a message.
    pub(super) fn tell(&mut self, message: MessageId) {
        if self.is_word(message) && !self.told.contains(&message) {
            self.told.push(message);
        }
    }

    /// What people said and the room was told of.
    pub(super) fn words(&self) -> impl Iterator<Item = MessageId> {
        self.told.iter().copied()
    }

    pub(super) fn is_word(&self, message: MessageId) -> bool {
        self.words.contains(&message)
    }

    /// Whether a turn of the agent ended well with this word, or the agent failed too often with it.
    pub(super) fn is_settled(&self, agent: AgentKey, word: MessageId) -> bool {
        let state = self.states.get(&(agent, word)).copied().unwrap_or_default();
        state.is_done || state.is_excused || state.failures >= FAILURES_MAX
    }

    /// An agent is called with these words. `left_out`: whether a word was heard, and the agent will not be handed it
    /// unless it is among them.
    pub(super) fn called(
        &self,
        (agent, turn): (AgentKey, TurnId),
        words: &[MessageId],
        left_out: impl Fn(MessageId) -> bool,
    ) -> Result<(), String> {
        // The runs of permits are in no turn.
        let is_again = self.newest.get(&agent) == Some(&turn) && turn != TurnId::default();
        for word in words {
            let state = self.states.get(&(agent, *word)).copied().unwrap_or_default();
            if state.is_done && !is_again {
                return Err(format!("{agent:?} is handed {word:?} again"));
            }
        }
        let lost = |word: &MessageId| {
            !words.contains(word) && !self.is_settled(agent, *word) && left_out(*word)
        };
        let lost = self.words().find(lost);
        lost.map_or(Ok(()), |word| Err(format!("{agent:?} is never handed {word:?}")))
    }

    /// A turn ended that brought these words.
    pub(super) fn ended(
        &mut self,
        (agent, turn): (AgentKey, TurnId),
        words: &[MessageId],
        is_well: bool,
    ) -> Result<(), String> {
        for word in words {
            let state = self.states.entry((agent, *word)).or_default();
            if is_well {
                state.is_done = true;
            } else {
                state.failures += 1;
                if state.failures > FAILURES_MAX {
                    return Err(format!("{agent:?} fails once more with {word:?}"));
                }
            }
        }
        if is_well {
            self.newest.insert(agent, turn);
        }
        Ok(())
    }

    /// The room was taken up from its record. What that does not know is as if it had not happened.
    pub(super) fn restored(&mut self, is_handed: impl Fn(AgentKey, MessageId) -> bool) {
        self.newest.clear();
        for ((agent, word), state) in &mut self.states {
            state.is_done &= is_handed(*agent, *word);
            state.is_excused |= state.failures >= FAILURES_MAX;
            state.failures = 0;
        }
    }

    /// The room does not know yet that this agent takes turns: what was said so far need not be handed to it.
    pub(super) fn excuse(&mut self, agent: AgentKey) {
        for word in &self.words {
            self.states.entry((agent, *word)).or_default().is_excused = true;
        }
    }

    /// What was said before does not have to be handed over any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
