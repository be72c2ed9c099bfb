//! What people said during a turn: handed to whoever has the floor, so that no word of theirs is lost.

use std::sync::Arc;

use dirigent_core::{AgentKey, Author, MessageId, PhaseKind, TurnId};

use crate::agent::TurnLink;
use crate::room::{Active, Room, RoomState};
use crate::shared::Shared;
use crate::{ChatKind, ChatMessage};

/// How many pages of a history are read in search of what was held.
const PAGES_MAX: usize = 50;

/// What people said and an agent is handed with its turn, whatever else it missed: a range of
/// messages. Part of a channel's record while that turn lasts, so that a restart hands it over too.
///
/// ```
/// use dirigent::{AgentKey, Held, MessageId, TurnId};
///
/// let (first, last) = (MessageId::new(7), MessageId::new(9));
/// let held = Held { agent: AgentKey::new(1), turn: TurnId::new(2), first, last };
/// assert!(held.first <= held.last);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Held {
    /// Who has the floor.
    pub agent: AgentKey,
    /// In which turn.
    pub turn: TurnId,
    /// The first of the messages.
    pub first: MessageId,
    /// The last one; what people said in between is meant too.
    pub last: MessageId,
}

impl Shared {
    /// Hands people's messages to the agent whose turn it is: at once if the library has called it,
    /// else with its next call. Where a host runs its agents itself, they stand in the channel.
    pub(crate) async fn hand_over(&self, room: &Room, held: Held) {
        if room.lock().running_call(held).is_none() {
            return;
        }
        let messages = self.said_between(room, held.first, held.last).await;
        let mut state = room.lock();
        if let Some(link) = state.running_call(held) {
            let taken = messages.into_iter().all(|message| link.inject(message));
            state.active().is_held_given = taken;
        }
    }

    /// What the agent missed, with what it is handed besides. The same turn again is given the same
    /// again; what a turn before was to be handed and never was, goes to this one.
    pub(crate) async fn missed(
        &self,
        room: &Room,
        agent: AgentKey,
        turn: TurnId,
    ) -> (Option<MessageId>, Vec<Arc<ChatMessage>>) {
        let own = self.registry.user(agent);
        let (newest, mut missed, held) = {
            let mut state = room.lock();
            let newest = state.channel.view().newest();
            let active = state.active();
            (newest, active.missed(agent, turn, own), active.give_held(agent, turn))
        };
        if let Some(held) = held {
            missed.extend(self.said_between(room, held.first, held.last).await);
            missed.sort_unstable_by_key(|message| message.id);
            missed.dedup_by_key(|message| message.id);
        }
        (newest, missed)
    }

    /// What people said from one message to another, oldest first: from memory, or from the history
    /// where memory does not reach back so far.
    pub(crate) async fn said_between(
        &self,
        room: &Room,
        first: MessageId,
        last: MessageId,
    ) -> Vec<Arc<ChatMessage>> {
        let is_meant = |message: &ChatMessage| {
            (first..=last).contains(&message.id)
                && message.kind != ChatKind::System
                && self.registry.author(message) == Author::Human
        };
        let (mut said, reaches_back) = {
            let state = room.lock();
            let recent = state.active.iter().flat_map(|active| active.recent.iter());
            let oldest = recent.clone().next().map(|message| message.id);
            let meant = recent.filter(|message| is_meant(message)).cloned();
            (meant.collect::<Vec<_>>(), oldest.is_some_and(|oldest| oldest <= first))
        };
        if reaches_back {
            return said;
        }
        for message in self.read_between(room, first, last).await {
            if is_meant(&message) && said.iter().all(|known| known.id != message.id) {
                said.push(Arc::new(message));
            }
        }
        said.sort_unstable_by_key(|message| message.id);
        said
    }

    /// The history from one message to another, as far as it can be read.
    async fn read_between(
        &self,
        room: &Room,
        first: MessageId,
        last: MessageId,
    ) -> Vec<ChatMessage> {
        let mut after = Some(MessageId::new(first.get().saturating_sub(1)));
        let mut read = Vec::new();
        for _ in 0..PAGES_MAX {
            // What went wrong is logged there.
            let Ok((page, full)) = self.read_page(room.id, after).await else {
                break;
            };
            after = page.last().map(|message| message.id);
            read.extend(page);
            if !full || after >= Some(last) {
                break;
            }
        }
        read
    }
}

impl Active {
    /// What this turn is handed, if anything is held. It counts as given from here on.
    pub(crate) fn give_held(&mut self, agent: AgentKey, turn: TurnId) -> Option<Held> {
        let held = self.held.take()?;
        if (held.agent, held.turn) != (agent, turn) && self.is_held_given {
            return None;
        }
        self.is_held_given = true;
        self.held = Some(Held { agent, turn, ..held });
        self.held
    }
}

impl RoomState {
    /// Takes note of what is handed over with this turn, in the record too.
    pub(crate) fn hold(&mut self, held: Held) {
        let active = self.active();
        let given = active.is_held_given;
        let known = active
            .held
            .filter(|known| !given || (known.agent, known.turn) == (held.agent, held.turn));
        active.held = Some(match known {
            Some(known) => {
                Held { first: known.first.min(held.first), last: known.last.max(held.last), ..held }
            }
            None => held,
        });
        active.is_held_given = false;
    }

    /// Forgets what was handed over with a turn that is over. What was not, is kept for the next one.
    pub(crate) fn let_go_of_held(&mut self) {
        let view = self.channel.view();
        let now = (view.speaker(), view.turn());
        if let Some(active) = &mut self.active {
            let given = active.is_held_given;
            active.held = active.held.filter(|held| !given || (Some(held.agent), held.turn) == now);
        }
    }

    /// The call of a hosted agent that is under way in this turn.
    fn running_call(&self, held: Held) -> Option<Arc<TurnLink>> {
        let view = self.channel.view();
        let runs = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting);
        let run = view.run().filter(|_| runs)?;
        let call = self.active.as_ref()?.call.as_ref()?;
        (call.agent == held.agent && call.run == run).then(|| Arc::clone(&call.link))
    }
}
