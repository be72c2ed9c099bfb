//! What was said of late, and what of it each agent was handed.

use std::collections::VecDeque;
use std::sync::Arc;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::{AgentKey, MessageId, TurnId};

use super::talk::Talk;
use crate::ports::surroundings::TRANSCRIPT_MAX;
use crate::ports::turn::Said;
use crate::record::channel::Outgoing;
use crate::record::queued::QueuedMessages;
use crate::values::message::{AuthorKind, ChatKind};
use crate::{ChatMessage, UserId};

/// The longest late answer that is kept, in bytes.
const LATE_MAX: usize = 32 * 1024;

/// The messages of late, what each agent was given of them, and what people said that an agent is
/// still to be handed.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// What was said of late, oldest first.
    recent: VecDeque<Arc<ChatMessage>>,
    /// What was said before, once an agent has asked for it.
    earlier: Option<Box<Earlier>>,
    /// How often a message left memory, or was edited or deleted: a page that was read before may differ from what the
    /// channel has now.
    changes: u32,
    given: Vec<Given>,
    /// People's messages that the speaker is handed with its turn, whatever else it missed.
    pending: Option<QueuedMessages>,
    /// Whether it was handed them. If not, the next speaker is.
    is_pending_given: bool,
    /// What agents answered too late; of each agent the newest.
    late: Vec<(AgentKey, Box<Said>)>,
    pub(super) talk: Talk,
}

/// What an agent was given with its last turn: the messages after one and up to another.
#[derive(Debug)]
struct Given {
    agent: AgentKey,
    turn: TurnId,
    after: Option<MessageId>,
    until: Option<MessageId>,
    /// What does not follow that order.
    exceptions: Vec<(MessageId, Exception)>,
}

/// Why a message does not stand between those that an agent was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exception {
    /// An older one that it was given too, since it arrived late.
    Late,
    /// An older one that arrived only after it was given the others.
    Later,
    /// A newer one that it took while it ran.
    Taken,
}

impl Given {
    fn exceptions(&self, kind: Exception) -> Vec<MessageId> {
        let of_kind = self.exceptions.iter().filter(|(_, known)| *known == kind);
        of_kind.map(|(message, _)| *message).collect()
    }
}

impl Inbox {
    pub(crate) fn restored(pending: Option<QueuedMessages>) -> Self {
        Self { pending, ..Self::default() }
    }

    /// Keeps a message for agents that missed it. The oldest goes when there are more than `most`.
    pub(crate) fn remember(&mut self, message: Arc<ChatMessage>, most: usize) {
        if most == 0 {
            return self.let_go(message);
        }
        let id = message.id;
        if self.recent.back().is_none_or(|newest| newest.id < id) {
            self.recent.push_back(message);
        } else {
            let at = self.recent.partition_point(|known| known.id < id);
            if self.recent.get(at).is_some_and(|known| known.id == id) {
                return;
            }
            self.recent.insert(at, message);
        }
        for given in self.given.iter_mut().filter(|given| Some(id) <= given.until) {
            given.exceptions.push((id, Exception::Later));
        }
        if self.recent.len() > most {
            if let Some(oldest) = self.recent.pop_front() {
                self.let_go(oldest);
            }
        }
    }

    /// A message is only for transcripts from now on.
    fn let_go(&mut self, message: Arc<ChatMessage>) {
        match &mut self.earlier {
            Some(earlier) => earlier.add(message),
            None => self.changes = self.changes.wrapping_add(1),
        }
    }

    /// A message says something else now.
    pub(crate) fn changed(&mut self, message: ChatMessage) {
        self.changes = self.changes.wrapping_add(1);
        let message = Arc::new(message);
        let earlier = self.earlier.iter_mut().flat_map(|earlier| earlier.messages.iter_mut());
        for known in self.recent.iter_mut().chain(earlier).filter(|known| known.id == message.id) {
            *known = Arc::clone(&message);
        }
    }

    /// A message was deleted.
    pub(crate) fn deleted(&mut self, message: MessageId) {
        self.changes = self.changes.wrapping_add(1);
        self.recent.retain(|known| known.id != message);
        if let Some(earlier) = &mut self.earlier {
            earlier.messages.retain(|known| known.id != message);
        }
    }

    /// What the agent was not given in an earlier turn, but for its own words. The same turn again is
    /// given the same again: the call before may not have reached its agent. `heard_before`: up to where
    /// an earlier process heard the channel.
    pub(crate) fn missed(
        &mut self,
        agent: AgentKey,
        turn: TurnId,
        own: Option<UserId>,
        heard_before: Option<MessageId>,
    ) -> Vec<Arc<ChatMessage>> {
        let known = self.given.iter().position(|given| given.agent == agent);
        let given = known.map(|at| self.given.swap_remove(at));
        // After a restart what it was given is not known, but it knew what it answered: all before its
        // own words but what people said that the earlier process had not heard.
        let answered = || self.recent.iter().rev().find(|message| Some(message.author) == own);
        let unheard = || {
            let after = heard_before.map_or(self.recent.len(), |heard| {
                self.recent.partition_point(|message| message.id <= heard)
            });
            let later = self.recent.range(after..);
            later.filter(|message| message.author_kind == AuthorKind::Human)
        };
        let (after, late, taken) = match given {
            Some(given) if given.turn == turn => {
                let mut late = given.exceptions(Exception::Late);
                late.append(&mut given.exceptions(Exception::Later));
                (given.after, late, Vec::new())
            }
            Some(given) => {
                let late = given.exceptions(Exception::Later);
                (given.until, late, given.exceptions(Exception::Taken))
            }
            None => {
                let late = unheard().map(|message| message.id).collect();
                (answered().map(|message| message.id), late, Vec::new())
            }
        };
        let from = after.map_or(0, |id| self.recent.partition_point(|message| message.id <= id));
        let is_new = |message: &&Arc<ChatMessage>| {
            Some(message.author) != own && !taken.contains(&message.id)
        };
        let mut new = Vec::with_capacity(self.recent.len() - from);
        if !late.is_empty() {
            let earlier = self.recent.range(..from).filter(|message| late.contains(&message.id));
            new.extend(earlier.filter(is_new).cloned());
        }
        for message in self.recent.range(from..).filter(is_new) {
            new.push(Arc::clone(message));
        }
        let until = self.recent.back().map(|message| message.id).or(after);
        let exceptions = late.into_iter().map(|message| (message, Exception::Late)).collect();
        self.given.reserve_exact(1);
        self.given.push(Given { agent, turn, after, until, exceptions });
        new
    }

    /// The running agent was reached with these of people's messages, with `all` of them or not; what does not reach it,
    /// or what it does not take, is handed to the next one.
    pub(crate) fn injected(&mut self, agent: AgentKey, handed: &[MessageId], all: bool) {
        self.set_given(all);
        for message in handed {
            self.took(agent, *message);
        }
    }

    /// The agent took this message while it ran: its next turn does not bring it again.
    pub(crate) fn took(&mut self, agent: AgentKey, message: MessageId) {
        if let Some(given) = self.given.iter_mut().find(|given| given.agent == agent) {
            given.exceptions.retain(|known| *known != (message, Exception::Later));
            given.exceptions.push((message, Exception::Taken));
        }
    }

    /// The agent returned without having taken everything: what it was handed is brought again.
    pub(crate) fn took_not_all(&mut self, agent: AgentKey) {
        if let Some(given) = self.given.iter_mut().find(|given| given.agent == agent) {
            given.exceptions.retain(|(_, kind)| *kind != Exception::Taken);
        }
    }

    /// The agent failed: what it was given is given again with its next turn.
    pub(crate) fn failed(&mut self, agent: AgentKey) {
        if let Some(given) = self.given.iter_mut().find(|given| given.agent == agent) {
            given.until = given.after;
            given.exceptions.retain(|(_, kind)| *kind != Exception::Taken);
            for (_, kind) in &mut given.exceptions {
                *kind = Exception::Later;
            }
        }
    }

    /// Whether everything from this message on is in memory.
    pub(crate) fn reaches_back_to(&self, first: MessageId) -> bool {
        self.recent.front().is_some_and(|oldest| oldest.id <= first)
    }

    /// What this account posted after this message, where that is nothing but words, and is in memory.
    pub(super) fn words_of(&self, author: UserId, after: MessageId) -> Option<String> {
        let from = self.recent.partition_point(|message| message.id <= after);
        let mut words = String::new();
        for message in self.recent.range(from..).filter(|message| message.author == author) {
            if message.embeds > 0 || !message.attachments.is_empty() {
                return None;
            }
            words.push_str(&message.content);
            words.push('\n');
        }
        (!words.is_empty()).then_some(words)
    }

    /// The messages in this range that are meant, oldest first, as far as they are in memory.
    pub(crate) fn between(
        &self,
        first: MessageId,
        last: MessageId,
        is_meant: impl Fn(&ChatMessage) -> bool,
    ) -> Vec<Arc<ChatMessage>> {
        let meant =
            |message: &&Arc<ChatMessage>| (first..=last).contains(&message.id) && is_meant(message);
        self.recent.iter().filter(meant).cloned().collect()
    }
}

/// Access to transcripts.
impl Inbox {
    /// The newest `limit` messages, oldest first; `None` where memory holds fewer and the channel may have more.
    pub(crate) fn transcript(&self, limit: usize) -> Option<Vec<Arc<ChatMessage>>> {
        let earlier = self.earlier.as_deref();
        let recent = self.recent.iter().filter(|message| message.kind != ChatKind::System);
        let mut said: Vec<_> =
            recent.chain(earlier.into_iter().flat_map(|e| e.messages.iter())).cloned().collect();
        said.sort_unstable_by_key(|message| message.id);
        said.dedup_by_key(|message| message.id);
        let first = said.len().saturating_sub(limit);
        let is_enough = said.len() >= limit || earlier.is_some();
        is_enough.then(|| said.split_off(first))
    }

    /// To be given to [`Inbox::recall`] with a page whose read begins now.
    pub(crate) const fn changes(&self) -> u32 {
        self.changes
    }

    /// The newest messages were read for a transcript: a page as long as the longest transcript. It is kept unless what
    /// it tells may have changed since the read began (`changes`), or another read has brought one.
    pub(crate) fn recall(&mut self, page: &[Arc<ChatMessage>], changes: u32) {
        if self.changes == changes && self.earlier.is_none() {
            self.earlier = Some(Box::new(Earlier { messages: page.iter().cloned().collect() }));
        }
    }

    /// From now on it is as if nothing had been said. A page whose read is under way is not kept.
    pub(crate) fn forget(&mut self) {
        *self = Self { changes: self.changes.wrapping_add(1), ..Self::default() };
    }
}

/// What was said before what the inbox has, oldest first. Some of it may be in both.
#[derive(Debug)]
struct Earlier {
    messages: VecDeque<Arc<ChatMessage>>,
}

impl Earlier {
    /// The inbox lets this message go.
    fn add(&mut self, message: Arc<ChatMessage>) {
        let at = self.messages.partition_point(|known| known.id < message.id);
        if message.kind == ChatKind::System
            || self.messages.get(at).is_some_and(|known| known.id == message.id)
        {
            return;
        }
        self.messages.insert(at, message);
        if self.messages.len() > TRANSCRIPT_MAX {
            self.messages.pop_front();
        }
    }
}

/// People's messages that an agent is handed with its turn.
impl Inbox {
    pub(crate) const fn pending(&self) -> Option<QueuedMessages> {
        self.pending
    }

    /// What is pending and no agent was handed yet.
    pub(crate) fn ungiven(&self) -> Option<QueuedMessages> {
        self.pending.filter(|_| !self.is_pending_given)
    }

    pub(crate) const fn forget_pending(&mut self) {
        self.pending = None;
    }

    /// These messages are handed over with this turn; joined with what an earlier turn was to be handed
    /// and was not.
    pub(crate) fn queue(&mut self, queued: QueuedMessages) {
        let given = self.is_pending_given;
        let known = self
            .pending
            .filter(|known| !given || (known.agent, known.turn) == (queued.agent, queued.turn));
        self.pending = Some(match known {
            Some(known) => QueuedMessages {
                first: known.first.min(queued.first),
                last: known.last.max(queued.last),
                ..queued
            },
            None => queued,
        });
        self.is_pending_given = false;
    }

    /// What this turn is handed, if anything is pending. It counts as given from here on.
    pub(crate) fn give_pending(&mut self, agent: AgentKey, turn: TurnId) -> Option<QueuedMessages> {
        let queued = self.pending_for(agent, turn);
        self.pending = queued;
        self.is_pending_given |= queued.is_some();
        queued
    }

    /// What this turn would be handed.
    pub(crate) fn pending_for(&self, agent: AgentKey, turn: TurnId) -> Option<QueuedMessages> {
        let is_free = !self.is_pending_given;
        let pending = self.pending?;
        let own = (pending.agent, pending.turn) == (agent, turn);
        (own || is_free).then_some(QueuedMessages { agent, turn, ..pending })
    }

    /// The agent of this turn was handed everything that is pending, or it was not.
    pub(crate) const fn set_given(&mut self, given: bool) {
        self.is_pending_given = given;
    }

    /// The call of this turn was taken away. What it was handed may not have been looked at: the next one is
    /// handed it, too.
    pub(crate) fn cancelled(&mut self, agent: AgentKey, turn: Option<TurnId>) {
        self.took_not_all(agent);
        if self.pending.is_some_and(|queued| queued.agent == agent && Some(queued.turn) == turn) {
            self.set_given(false);
        }
    }

    /// Forgets what was handed over with a turn that is over. What was not is kept for the next one.
    pub(crate) fn clear_delivered(&mut self, speaker: Option<AgentKey>, turn: TurnId) {
        let given = self.is_pending_given;
        let now = (speaker, turn);
        self.pending =
            self.pending.filter(|queued| !given || (Some(queued.agent), queued.turn) == now);
    }
}

/// Answers that came when their turn was over.
impl Inbox {
    /// Keeps what an agent said too late for its next turn. An answer beyond 32 KiB is dropped.
    pub(crate) fn keep_late(&mut self, agent: AgentKey, said: Said) {
        self.take_late(agent);
        if said.words.len() <= LATE_MAX && self.late.len() < AGENTS_MAX {
            self.late.push((agent, Box::new(said)));
        }
    }

    /// Keeps what of a reply did not get into the channel: of its messages those that were not posted, without the
    /// `notice` that it was cut, and the `rest` that was in none of them, if there is room for it.
    pub(crate) fn keep_late_reply(&mut self, reply: &Outgoing, rest: &str, notice: &str) {
        let unposted = reply.parts.iter().filter(|part| part.posted.is_none());
        let words = unposted.map(|part| &*part.content).filter(|words| *words != notice);
        let mut words: Vec<&str> = words.collect();
        // They stand in the last message.
        let is_shown = reply.parts.last().is_none_or(|last| last.posted.is_some());
        let extras = reply.extras.clone().filter(|_| !is_shown);
        let length: usize = words.iter().map(|part| part.len() + 1).sum();
        if !rest.is_empty() && (words.is_empty() || length + rest.len() <= LATE_MAX) {
            words.push(rest);
        }
        if !words.is_empty() || extras.is_some() {
            self.keep_late(reply.agent, Said { words: words.join("\n").into(), extras });
        }
    }

    pub(crate) fn take_late(&mut self, agent: AgentKey) -> Option<Box<Said>> {
        let at = self.late.iter().position(|(known, _)| *known == agent)?;
        Some(self.late.swap_remove(at).1)
    }

    #[cfg(test)]
    pub(crate) fn has_late(&self, agent: AgentKey) -> bool {
        self.late.iter().any(|(known, _)| *known == agent)
    }
}

#[cfg(test)]
mod tests;
