//! What was said, what of it each agent was handed, and what each is handed next.

use std::sync::Arc;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, Tail, TurnId};

use super::talk::Talk;
use super::texts::Texts;
use crate::ports::turn::{Late, Said};
use crate::record::channel::Outgoing;
use crate::record::handed::{Handed, next};
use crate::values::embed::Embed;
use crate::values::error::PostFailure;
use crate::values::extras::Extras;
use crate::values::reply_file::ReplyFile;
use crate::{ChatMessage, UserId};

/// The longest late answer that is kept, in bytes.
const LATE_MAX: usize = 32 * 1024;
/// How often an agent is handed the same again after a turn that failed. Then it does without: an agent that fails because of
/// one message would fail in each turn of the conversation (a review saw five of five).
const AGAIN_MAX: u8 = 3;
/// About how many bytes stand around a text in a prompt: the name of who said it.
const LINE: usize = 32;

/// The messages of a channel, and what each agent was handed of them.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    texts: Texts,
    readers: Vec<Reader>,
    /// The agent that was woken for this turn. How the turn ends is the host's matter, and told by the machine.
    woken: Option<(AgentKey, TurnId)>,
    /// What people said and no agent was handed in a turn that ended well: the channel is woken for it, also where the turn machine
    /// was not told of it, for example because it was read of the chat.
    unserved: Option<Span>,
    /// Up to where an agent that reads the channel itself had it before it when its newest turn began.
    read: Option<MessageId>,
    /// What agents answered too late; of each agent the newest.
    late: Vec<(AgentKey, Box<Late>)>,
    /// Whose newest reply the chat did not take, and what of it.
    refused: Vec<(AgentKey, PostFailure, Said)>,
    pub(super) talk: Talk,
}

/// An agent that is handed what was said.
#[derive(Debug)]
struct Reader {
    handed: Handed,
    /// Whether the library hands it messages. An agent that reads the channel itself has a place in the list only.
    is_met: bool,
    /// Whether it takes turns in the channel now.
    is_listed: bool,
    /// What it has with its turn, until that ends.
    under_way: Option<UnderWay>,
    /// Its newest turn that ended well. If the same turn is called again, it is handed the same again.
    before: Option<Before>,
    /// Whether that turn could not bring it everything.
    is_cut: bool,
    /// People's messages that its newest turns brought and failed with, and how many turns did.
    failing: Vec<(MessageId, u8)>,
    /// How many of people's messages it does without, and was not told of yet in a turn that ended well.
    given_up: usize,
}

/// What an agent had been handed before a turn.
#[derive(Debug)]
struct Before {
    turn: TurnId,
    handed: Handed,
}

/// What an agent has with its turn.
#[derive(Debug)]
struct UnderWay {
    turn: TurnId,
    /// What it was handed, once the turn has ended well.
    next: Handed,
    /// People's messages that it took while it ran.
    taken: Vec<MessageId>,
    /// People's messages that it was called with.
    words: Vec<MessageId>,
    is_cut: bool,
}

impl Reader {
    fn new(handed: Handed) -> Self {
        let (before, under_way, failing) = (None, None, Vec::new());
        let (is_met, is_listed, is_cut, given_up) = (true, true, false, 0);
        Self { handed, is_met, is_listed, under_way, before, is_cut, failing, given_up }
    }

    /// Everything that is known of what it was handed.
    fn all_handed(&mut self) -> impl Iterator<Item = &mut Handed> {
        let under_way = self.under_way.as_mut().map(|under_way| &mut under_way.next);
        let before = self.before.as_mut().map(|before| &mut before.handed);
        under_way.into_iter().chain(before).chain([&mut self.handed])
    }

    /// Up to where it needs no text any more.
    fn needs_after(&self) -> Option<MessageId> {
        let owed = self.handed.owed.first().map(|span| span.first.get().checked_sub(1));
        owed.map_or(self.handed.until, |before| before.map(MessageId::new))
    }

    /// A turn that was to bring it these words has failed. Returns how many it does without from now on.
    fn fail(&mut self, words: Vec<MessageId>) -> usize {
        let mut given_up = 0;
        for word in words {
            let at = self.failing.binary_search_by_key(&word, |(known, _)| *known);
            let at = at.unwrap_or_else(|at| {
                self.failing.insert(at, (word, 0));
                at
            });
            let Some((_, turns)) = self.failing.get_mut(at) else {
                continue;
            };
            *turns += 1;
            if *turns > AGAIN_MAX {
                self.failing.remove(at);
                self.handed.take(word);
                given_up += 1;
            }
        }
        self.given_up += given_up;
        given_up
    }
}

/// How much an agent is handed at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// What a turn brings its agent.
#[derive(Debug, Default)]
pub(crate) struct Brought {
    /// Oldest first.
    pub(crate) messages: Vec<Arc<ChatMessage>>,
    /// How many of people's messages the agent does not get any more.
    pub(crate) lost: usize,
    /// How many messages of other agents and bots are left out.
    pub(crate) left_out: usize,
}

/// What an agent is to be handed with its turn, and what it was handed after that.
#[derive(Debug, Default)]
pub(crate) struct Handout {
    agent: AgentKey,
    turn: TurnId,
    next: Handed,
    is_cut: bool,
    /// Oldest first.
    pub(crate) messages: Vec<Arc<ChatMessage>>,
    /// How many of people's messages the agent does not get any more.
    pub(crate) lost: usize,
    /// How many messages of other agents and bots are left out.
    pub(crate) left_out: usize,
}

/// What is found for an agent, oldest first, until it is enough.
struct Found {
    bounds: Bounds,
    messages: Vec<Arc<ChatMessage>>,
    words: usize,
    /// Of people's messages.
    bytes: usize,
    /// Of all messages.
    all: usize,
    /// The newest message of a person.
    newest_word: Option<MessageId>,
    /// A further message of a person does not fit.
    is_over: bool,
}

impl Found {
    fn new(bounds: Bounds) -> Self {
        let (messages, newest_word) = (Vec::new(), None);
        Self { bounds, messages, words: 0, bytes: 0, all: 0, newest_word, is_over: false }
    }

    /// Whether nothing more of people's words fits. One message always does.
    const fn is_full(&self) -> bool {
        let Bounds { messages, bytes } = self.bounds;
        self.words > 0 && (self.words >= messages || self.bytes >= bytes)
    }

    fn take(&mut self, message: &Arc<ChatMessage>) {
        if self.is_over {
            return;
        }
        let bytes = length(message);
        if message.is_by_person() {
            let fits = self.words == 0 || self.bytes + bytes <= self.bounds.bytes;
            if self.is_full() || !fits {
                self.is_over = true;
                return;
            }
            self.words += 1;
            self.bytes += bytes;
            self.newest_word = Some(message.id);
        }
        self.all += bytes;
        self.messages.push(Arc::clone(message));
    }

    /// What is beyond the bounds goes: what stands behind the last word that fits, and of what agents and bots said the
    /// oldest. Returns how many of the latter are left out.
    fn fit(&mut self) -> usize {
        if self.is_over {
            let newest = self.newest_word;
            self.messages.retain(|message| Some(message.id) <= newest);
        }
        let Bounds { messages: most, bytes: bytes_max } = self.bounds;
        let mut room = most.saturating_sub(self.words);
        let others = self.messages.len() - self.words;
        let mut left = bytes_max.saturating_sub(self.bytes);
        if others <= room && self.all <= bytes_max {
            return 0;
        }
        let mut kept = Vec::with_capacity(most.min(self.messages.len()));
        for message in self.messages.drain(..).rev() {
            if !message.is_by_person() {
                let bytes = length(&message);
                if room == 0 || bytes > left {
                    // What is older is left out, too: it would be without its context.
                    room = 0;
                    continue;
                }
                (room, left) = (room - 1, left - bytes);
            }
            kept.push(message);
        }
        kept.reverse();
        let left_out = others + self.words - kept.len();
        self.messages = kept;
        left_out
    }
}

/// About how many bytes a message takes in a prompt.
fn length(message: &Arc<ChatMessage>) -> usize {
    let files = message.attachments.iter().map(|file| file.name.len() + LINE);
    LINE + message.content.len() + files.sum::<usize>()
}

/// What was said.
impl Inbox {
    /// Of a channel that comes from its record, in which these agents take turns.
    pub(crate) fn restored(
        handed: Vec<Handed>,
        unserved: Option<Span>,
        newest: Option<MessageId>,
        listed: impl Iterator<Item = AgentKey>,
    ) -> Self {
        // An agent's own post, which the turn machine had not heard of yet, may be newer.
        let newest = newest.max(handed.iter().filter_map(|handed| handed.until).max());
        // An agent that is behind is in the record. Where words of people are in no turn, all are behind that were met, and
        // of the others none was handed them (a process ended between a wake and the first turn).
        let before = |span: Span| MessageId::new(span.first.get().saturating_sub(1));
        let until = unserved.map(before).map_or(newest, |before| newest.min(Some(before)));
        let mut readers: Vec<_> = handed.into_iter().map(Reader::new).collect();
        for agent in listed {
            if readers.iter().all(|reader| reader.handed.agent != agent) {
                let handed = Handed { until, ..Handed::new(agent) };
                readers.push(Reader { is_met: false, is_listed: false, ..Reader::new(handed) });
            }
        }
        Self { texts: Texts::beginning_after(newest), readers, unserved, ..Self::default() }
    }

    pub(crate) const fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(crate) const fn texts_mut(&mut self) -> &mut Texts {
        &mut self.texts
    }

    /// Keeps a message for agents that are to be handed it.
    pub(crate) fn remember(&mut self, message: Arc<ChatMessage>) {
        let (id, before) = (message.id, self.texts.newest());
        if !self.texts.keep(message) {
            return;
        }
        if before < Some(id) {
            return self.release();
        }
        // It comes late.
        let texts = &self.texts;
        let is_joined = |one, next| texts.are_joined(one, next);
        let all = self.readers.iter_mut().flat_map(Reader::all_handed);
        for handed in all.filter(|handed| Some(id) <= handed.until) {
            handed.owe(Span::of(id), is_joined);
        }
    }

    /// The agent's own post is in the channel: it is no news to it.
    pub(crate) fn remember_own(&mut self, agent: Option<AgentKey>, message: Arc<ChatMessage>) {
        let (id, before) = (message.id, self.texts.newest());
        self.remember(message);
        let reader = self.readers.iter_mut().find(|reader| Some(reader.handed.agent) == agent);
        if let Some(reader) = reader.filter(|_| before < Some(id)) {
            let under_way = reader.under_way.as_mut().map(|under_way| &mut under_way.next);
            for handed in under_way.into_iter().chain([&mut reader.handed]) {
                if handed.until >= before {
                    handed.move_to(Some(id));
                }
            }
        }
    }

    /// Whether a turn brought this message to any agent, or brings it now.
    pub(crate) fn was_brought(&self, message: MessageId) -> bool {
        self.readers.iter().any(|reader| {
            let under_way = reader.under_way.as_ref().map(|under_way| &under_way.next);
            under_way.into_iter().chain([&reader.handed]).any(|it| it.includes(message))
        })
    }

    /// This message says again what a deleted one said. An agent that was handed that, and everything since, is not handed
    /// it again.
    pub(crate) fn remember_copy(&mut self, original: MessageId, message: Arc<ChatMessage>) {
        let (id, before) = (message.id, self.texts.newest());
        self.remember(message);
        if before < Some(id) {
            let all = self.readers.iter_mut().flat_map(Reader::all_handed);
            for handed in all.filter(|it| it.until >= before && it.includes(original)) {
                handed.move_to(Some(id));
            }
        }
    }

    /// A message says something else now.
    pub(crate) fn changed(&mut self, message: ChatMessage) {
        self.texts.changed(message);
    }

    /// A message was deleted.
    pub(crate) fn deleted(&mut self, message: MessageId) {
        self.texts.deleted(message);
    }

    /// The channel's conversation begins behind this message.
    pub(crate) fn begin(&mut self, after: Option<MessageId>) {
        self.texts.forget(after);
        self.readers.clear();
        (self.woken, self.unserved, self.read) = (None, None, None);
    }

    /// Whether any agent was met in the channel's conversation.
    pub(crate) fn has_readers(&self) -> bool {
        !self.readers.is_empty()
    }

    /// From now on it is as if nothing had been said.
    pub(crate) fn forget(&mut self) {
        self.begin(None);
        self.late.clear();
        self.refused.clear();
        self.talk = Talk::default();
    }

    /// Memory is short: all texts leave it.
    pub(crate) fn give_way(&mut self) {
        self.texts.give_way();
    }
}

/// What agents are handed.
impl Inbox {
    fn reader(&mut self, agent: AgentKey) -> Option<&mut Reader> {
        self.readers.iter_mut().find(|reader| reader.handed.agent == agent)
    }

    /// This agent takes turns here. Where it is new it is handed what was said of late, and what no other agent was handed
    /// yet.
    pub(crate) fn meet(&mut self, agent: AgentKey) {
        self.met(agent);
    }

    /// The same. Returns its place among the readers.
    fn met(&mut self, agent: AgentKey) -> usize {
        let known = self.readers.iter_mut().position(|reader| {
            let is_it = reader.handed.agent == agent;
            reader.is_met |= is_it;
            is_it
        });
        known.unwrap_or_else(|| self.add(agent))
    }

    #[cold]
    fn add(&mut self, agent: AgentKey) -> usize {
        let mut until = self.texts.context_begins();
        if let Some(most) = self.readers.iter().map(|reader| reader.handed.until).max() {
            until = until.min(most);
        }
        if let Some(unserved) = self.unserved {
            until = until.min(unserved.first.get().checked_sub(1).map(MessageId::new));
        }
        self.readers.push(Reader::new(Handed { until, ..Handed::new(agent) }));
        self.readers.len() - 1
    }

    /// Whether all that an agent is to be handed is in memory.
    fn has_all_after(&self, handed: &Handed) -> bool {
        let has_owed = || handed.owed.iter().all(|span| self.texts.has_all(*span));
        self.texts.reach() <= handed.until && has_owed()
    }

    /// The same, of this agent.
    pub(crate) fn is_in_memory(&mut self, agent: AgentKey) -> bool {
        let at = self.met(agent);
        self.readers.get(at).is_none_or(|reader| self.has_all_after(&reader.handed))
    }

    /// What the agent is handed in this turn.
    ///
    /// # Errors
    ///
    /// What is to be read of the chat before. Where that cannot be read (`gives_up`) the agent is handed the rest, and what
    /// could not be read stays for its next turn.
    pub(crate) fn hand_out(
        &mut self,
        agent: AgentKey,
        turn: TurnId,
        own: Option<UserId>,
        bounds: Bounds,
        gives_up: bool,
    ) -> Result<Handout, Span> {
        let at = self.met(agent);
        let (reader, new) = (self.readers.get(at), Handed::new(agent));
        let (handed, done_without) = match reader {
            Some(reader) => (&reader.handed, reader.given_up),
            None => (&new, 0),
        };
        // Called again in a turn in which it was called already, it is handed the same again, if all of that fits.
        let before = reader.and_then(|reader| reader.before.as_ref());
        let before = before.filter(|before| before.turn == turn).map(|before| &before.handed);
        if let Some(before) = before.filter(|handed| self.has_all_after(handed)) {
            let again = self.search(before, turn, own, bounds, gives_up, done_without)?;
            if !again.is_cut {
                return Ok(again);
            }
        }
        self.search(handed, turn, own, bounds, gives_up, done_without)
    }

    /// What comes after what an agent was handed. `lost`: how many of people's messages it does without.
    fn search(
        &self,
        handed: &Handed,
        turn: TurnId,
        own: Option<UserId>,
        bounds: Bounds,
        gives_up: bool,
        lost: usize,
    ) -> Result<Handout, Span> {
        let (texts, found) = (&self.texts, Found::new(bounds));
        let mut search = Search { texts, handed, own, gives_up, found, unread: Vec::new(), lost };
        search.run()?;
        let Search { mut found, unread, lost, .. } = search;
        let (left_out, is_cut) = (found.fit(), found.is_over);
        let next = self.after_handout(handed, unread, found.newest_word.filter(|_| is_cut));
        let (agent, messages) = (handed.agent, found.messages);
        Ok(Handout { agent, turn, next, is_cut, messages, lost, left_out })
    }

    /// What an agent was handed after a turn that brought it everything up to this word, or everything at all; but not what
    /// could not be read.
    fn after_handout(&self, handed: &Handed, unread: Vec<Span>, cut: Option<MessageId>) -> Handed {
        let mut after = Handed { owed: unread, ahead: Vec::new(), ..*handed };
        let unfitting = cut.into_iter().flat_map(|cut| {
            let beyond = handed.owed.iter().filter(move |span| span.last > cut);
            beyond.map(move |span| (cut, span))
        });
        for (cut, span) in unfitting {
            let first = if span.first > cut {
                span.first
            } else {
                // Where all of it is in memory, the next message there: so it is known to be there.
                let rest = Span { first: next(cut), last: span.last };
                let mut later = self.texts.within(rest).filter(|_| self.texts.has_all(*span));
                later.next().map_or(next(cut), |message| message.id)
            };
            after.owe(Span { first, last: span.last }, |_, _| false);
        }
        after.move_to(cut.or_else(|| self.texts.newest()));
        // Of what could not be read, and of what comes later, it took these all the same.
        handed.ahead.iter().for_each(|message| after.take(*message));
        after
    }

    /// The agent is called with this.
    pub(crate) fn handed(&mut self, handout: Handout) -> Brought {
        let Handout { agent, turn, next, messages, is_cut, lost, left_out } = handout;
        if let Some(reader) = self.reader(agent) {
            let words = messages.iter().filter(|message| message.is_by_person());
            let words = words.map(|message| message.id).collect();
            let taken = Vec::new();
            reader.under_way = Some(UnderWay { turn, next, taken, words, is_cut });
        }
        Brought { messages, lost, left_out }
    }

    /// Those of these messages that the running agent has not had with its turn, nor in the midst of this one or an earlier
    /// one: a range that begins with a message that came late holds also what came before it.
    pub(crate) fn news_for(
        &mut self,
        agent: AgentKey,
        mut messages: Vec<Arc<ChatMessage>>,
    ) -> Vec<Arc<ChatMessage>> {
        if let Some(under_way) = self.reader(agent).and_then(|reader| reader.under_way.as_ref()) {
            let UnderWay { next, taken, .. } = under_way;
            messages.retain(|said| !next.includes(said.id) && !taken.contains(&said.id));
        }
        messages
    }

    /// The running agent was reached with these of people's messages.
    pub(crate) fn injected(&mut self, agent: AgentKey, taken: &[MessageId]) {
        if let Some(under_way) = self.reader(agent).and_then(|reader| reader.under_way.as_mut()) {
            under_way.taken.extend(taken);
        }
    }

    /// The agent's turn ended with a reply or a pass. `took_all`: it took what reached it while it ran; if not, it is handed
    /// that again. Returns whether it was handed something that people said.
    pub(crate) fn ended_well(&mut self, agent: AgentKey, took_all: bool) -> bool {
        let mut readers = self.readers.iter_mut();
        let Some(reader) = readers.find(|reader| reader.handed.agent == agent) else {
            return false;
        };
        let Some(UnderWay { turn, next, taken, words, is_cut, .. }) = reader.under_way.take()
        else {
            return false;
        };
        let taken = if took_all { taken } else { Vec::new() };
        let has_words = !words.is_empty() || !taken.is_empty();
        let handed = std::mem::replace(&mut reader.handed, next);
        for message in taken {
            reader.handed.take(message);
        }
        // The runs that an initiator's permits allow are in no turn, and each is for itself.
        let is_in_turn = turn != TurnId::default();
        if is_in_turn && reader.before.as_ref().is_none_or(|before| before.turn != turn) {
            reader.before = Some(Before { turn, handed });
        }
        (reader.is_cut, reader.given_up) = (is_cut, 0);
        let handed = &reader.handed;
        // It may still fail with others, which this turn had no room for.
        reader.failing.retain(|(word, _)| !handed.includes(*word));
        let is_served = |span: &mut Span| handed.includes(span.first) && handed.includes(span.last);
        self.unserved.take_if(is_served);
        self.release();
        has_words
    }

    /// The agent knows that it is its turn, and was handed this.
    pub(crate) fn woken(&mut self, agent: AgentKey, turn: TurnId) {
        let was_handed = self.reader(agent).is_some_and(|reader| reader.under_way.is_some());
        if was_handed {
            self.woken = Some((agent, turn));
        } else {
            self.reads_itself();
        }
    }

    /// An agent has its turn that the library hands nothing: it reads the channel itself.
    pub(crate) const fn reads_itself(&mut self) {
        (self.unserved, self.read) = (None, self.texts.newest());
    }

    /// The turn of the agent that was woken is over, and did not fail, unless it is this one. Returns what
    /// [`Inbox::ended_well`] does.
    pub(crate) fn close_woken(&mut self, speaker: Option<AgentKey>, turn: TurnId) -> bool {
        let is_over = |woken: &mut (AgentKey, TurnId)| (speaker, turn) != (Some(woken.0), woken.1);
        let over = self.woken.take_if(is_over);
        over.is_some_and(|(agent, _)| self.ended_well(agent, true))
    }

    /// A turn was taken away. If it is that of the agent that was woken, it is handed the same again.
    pub(crate) fn woken_in_vain(&mut self) {
        if let Some((agent, _)) = self.woken.take() {
            self.taken_away(agent);
        }
    }

    /// The agent's turn was taken away: it is handed the same again.
    pub(crate) fn taken_away(&mut self, agent: AgentKey) {
        if let Some(reader) = self.reader(agent) {
            reader.under_way = None;
        }
    }

    /// The agent's turn failed: it is handed the same again, at most three times. Returns how many of people's messages it
    /// does without from now on.
    pub(crate) fn failed(&mut self, agent: AgentKey) -> usize {
        let Some(reader) = self.reader(agent) else {
            return 0;
        };
        let under_way = reader.under_way.take();
        under_way.map_or(0, |under_way| reader.fail(under_way.words))
    }

    /// These agents take turns in the channel now, and are handed what was said.
    pub(crate) fn list(&mut self, listed: impl Fn(AgentKey) -> bool) {
        for reader in &mut self.readers {
            reader.is_listed = listed(reader.handed.agent);
        }
    }

    /// Texts that no agent needs leave memory.
    fn release(&mut self) {
        let Self { readers, texts, .. } = self;
        let newest = texts.newest();
        texts.release(|| {
            let listed = readers.iter().filter(|reader| reader.is_listed);
            listed.map(Reader::needs_after).min().unwrap_or(newest)
        });
    }

    /// Whether the agent was handed this message.
    pub(super) fn was_handed(&self, agent: AgentKey, message: MessageId) -> bool {
        let mut readers = self.readers.iter();
        let reader = readers.find(|reader| reader.handed.agent == agent);
        reader.is_some_and(|reader| reader.handed.includes(message))
    }

    /// Whether the agent, which was called, will not be handed this message, unless it was just now.
    #[cfg(test)]
    pub(super) fn leaves_out(&self, agent: AgentKey, message: MessageId) -> bool {
        let mut readers = self.readers.iter();
        let reader = readers.find(|reader| reader.handed.agent == agent);
        let under_way = reader.and_then(|reader| reader.under_way.as_ref());
        under_way.is_some_and(|under_way| under_way.next.includes(message))
    }

    /// Whether the agent has failed with this word or with an older one, and has not taken that since: what comes after it waits,
    /// too.
    #[cfg(test)]
    pub(super) fn is_failing(&self, agent: AgentKey, word: MessageId) -> bool {
        let mut readers = self.readers.iter();
        let reader = readers.find(|reader| reader.handed.agent == agent);
        let failing = reader.and_then(|reader| reader.failing.first());
        failing.is_some_and(|(oldest, _)| *oldest <= word)
    }

    #[cfg(test)]
    pub(super) fn knows(&self, agent: AgentKey) -> bool {
        self.readers.iter().any(|reader| reader.handed.agent == agent)
    }

    /// What agents were handed, of those that were not handed everything. For the record.
    ///
    /// Of all of them as long as words of people are in no turn, or did not fit into one: an agent that is not in such a record
    /// was not met yet. And of those that take no turns at the moment: they come back, and are no new agents then.
    pub(crate) fn behind(&self, unserved: Option<Span>) -> impl Iterator<Item = &Handed> {
        let (newest, is_unserved) = (self.texts.newest(), unserved.is_some());
        let is_stored = move |reader: &&Reader| {
            let is_owed = is_unserved || !reader.is_listed || !reader.handed.is_up_to(newest);
            reader.is_met && is_owed
        };
        self.readers.iter().filter(is_stored).map(|reader| &reader.handed)
    }
}

/// What an agent is to be handed, on its way from memory and from what was read.
struct Search<'a> {
    texts: &'a Texts,
    handed: &'a Handed,
    own: Option<UserId>,
    /// What cannot be read is done without.
    gives_up: bool,
    found: Found,
    unread: Vec<Span>,
    lost: usize,
}

impl Search<'_> {
    /// Finds all of it, oldest first, as far as it fits.
    fn run(&mut self) -> Result<(), Span> {
        let (texts, handed) = (self.texts, self.handed);
        for span in &handed.owed {
            self.find(*span)?;
        }
        let reach = texts.reach();
        if let Some(last) = reach.filter(|_| reach > handed.until) {
            let first = handed.until.map_or(MessageId::new(1), next);
            self.read(Span { first, last })?;
        }
        self.take(texts.after(reach.max(handed.until)));
        Ok(())
    }

    /// What is in memory comes from there.
    fn find(&mut self, span: Span) -> Result<(), Span> {
        if self.texts.has_all(span) {
            self.take(self.texts.within(span));
            return Ok(());
        }
        self.read(span)
    }

    /// What is not comes from what was read of the chat.
    fn read(&mut self, Span { mut first, last }: Span) -> Result<(), Span> {
        let texts = self.texts;
        if let Some(known) = texts.read_up_to(first) {
            let part = Span { first, last: last.min(known) };
            // Some of it may have come late, after that was read.
            let mut part_known: Vec<_> =
                texts.read_within(part).chain(texts.within(part)).collect();
            part_known.sort_unstable_by_key(|message| message.id);
            part_known.dedup_by_key(|message| message.id);
            self.take(part_known.into_iter());
            if self.found.is_over {
                return Ok(());
            }
            self.lost += texts.lost_within(part.first..=part.last);
            if known >= last {
                return Ok(());
            }
            first = next(known);
        }
        if self.found.is_over || self.found.is_full() {
            // More may be there: it comes with the next turn.
            self.found.is_over = true;
            return Ok(());
        }
        let rest = Span { first, last };
        if !self.gives_up {
            return Err(rest);
        }
        self.unread.push(rest);
        Ok(())
    }

    fn take<'m>(&mut self, messages: impl Iterator<Item = &'m Arc<ChatMessage>>) {
        if self.found.messages.is_empty() {
            self.found.messages = Vec::with_capacity(messages.size_hint().0);
        }
        for message in messages {
            let is_own = Some(message.author) == self.own;
            if !is_own && self.handed.ahead.binary_search(&message.id).is_err() {
                self.found.take(message);
            }
        }
    }
}

/// What people said that no turn has taken yet.
impl Inbox {
    /// The channel does not go to sleep over these messages.
    pub(crate) fn keep_unserved(&mut self, span: Span) {
        match &mut self.unserved {
            Some(known) => known.cover(span),
            unserved @ None => *unserved = Some(span),
        }
    }

    /// The same, and what no turn could bring whole. For the record.
    pub(crate) fn unserved(&self) -> Option<Span> {
        let mut unserved = self.unserved;
        let mut keep = |span: Span| match &mut unserved {
            Some(known) => known.cover(span),
            known @ None => *known = Some(span),
        };
        let cut = self.readers.iter().filter(|reader| reader.is_cut);
        let rest = cut.filter_map(Reader::needs_after).min().map(next);
        if let Some((first, last)) = rest.zip(self.texts.newest()) {
            keep(Span { first, last });
        }
        // As long as no agent was met, none was handed anything.
        if !self.readers.iter().any(|reader| reader.is_met) {
            self.texts.words_after(self.read).into_iter().for_each(keep);
        }
        unserved
    }

    /// The newest message for which the channel is to wake, if it sleeps. If an agent has asked people something
    /// (`awaits_human`), a word that no agent has heard may be the answer; the rest of a long backlog comes with the next word.
    pub(crate) fn wakes_for(&self, awaits_human: bool) -> Option<MessageId> {
        let is_cut =
            !awaits_human && self.readers.iter().any(|reader| reader.is_cut && reader.is_listed);
        let rest = if is_cut { self.texts.newest() } else { None };
        self.unserved.map(|span| span.last).max(rest)
    }

    /// What people said in this range, oldest first, and whether that is all of it.
    ///
    /// # Errors
    ///
    /// What is to be read of the chat before.
    pub(crate) fn said_within(
        &self,
        span: Span,
        gives_up: bool,
    ) -> Result<(Vec<Arc<ChatMessage>>, bool), Span> {
        let bounds = Bounds { messages: usize::MAX, bytes: usize::MAX };
        let (texts, handed) = (&self.texts, &Handed::new(AgentKey::default()));
        let (found, unread, lost) = (Found::new(bounds), Vec::new(), 0);
        let mut search = Search { texts, handed, own: None, gives_up, found, unread, lost };
        search.find(span)?;
        let Search { found, unread, .. } = search;
        let mut said = found.messages;
        said.retain(|message| message.is_by_person());
        Ok((said, unread.is_empty()))
    }
}

/// What waits for agents' next turns and stands in no record: answers that were not posted, and how the chat refused the newest.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    late: Vec<(AgentKey, Box<Late>)>,
    refused: Vec<(AgentKey, PostFailure, Said)>,
}

impl Leftovers {
    pub(crate) fn is_empty(&self) -> bool {
        self.late.is_empty() && self.refused.is_empty()
    }

    /// About how much memory they take.
    pub(crate) fn bytes(&self) -> usize {
        let late = self.late.iter().map(|(_, late)| &late.said);
        let said = late.chain(self.refused.iter().map(|(.., said)| said));
        let files = |extras: &Extras| extras.files.iter().map(|file| file.bytes().len()).sum();
        said.map(|said| said.words.len() + said.extras.as_deref().map_or(0usize, files)).sum()
    }
}

/// Answers that came when their turn was over.
impl Inbox {
    /// What waits for agents' next turns is kept elsewhere from now on.
    pub(crate) fn take_leftovers(&mut self) -> Leftovers {
        let Self { late, refused, .. } = self;
        Leftovers { late: std::mem::take(late), refused: std::mem::take(refused) }
    }

    /// It waits here again.
    pub(crate) fn keep_leftovers(&mut self, leftovers: Leftovers) {
        (self.late, self.refused) = (leftovers.late, leftovers.refused);
    }

    /// Keeps what an agent said too late for its next turn. An answer beyond 32 KiB is dropped.
    pub(crate) fn keep_late(&mut self, agent: AgentKey, said: Said) {
        self.hand_back(agent, said.into());
    }

    fn hand_back(&mut self, agent: AgentKey, late: Late) {
        self.take_late(agent);
        if late.said.words.len() <= LATE_MAX && self.late.len() < AGENTS_MAX {
            self.late.push((agent, Box::new(late)));
        }
    }

    /// Keeps what of a reply did not get into the channel: of its messages those that were not posted, without the
    /// `notice` that it was cut, and the `rest` that was in none of them, if there is room for it. What the chat refused twice
    /// for its words is not kept: its agent would say it again (a review saw five calls and five refusals of one text).
    pub(crate) fn keep_late_reply(
        &mut self,
        reply: &Outgoing,
        (rest, notice): (&str, Option<&str>),
        failure: Option<PostFailure>,
    ) {
        let unposted = reply.parts.iter().filter(|part| part.posted.is_none());
        let words = unposted.map(|part| &*part.content).filter(|words| Some(*words) != notice);
        let mut words: Vec<&str> = words.collect();
        // They stand in the last message.
        let is_shown = reply.parts.last().is_none_or(|last| last.posted.is_some());
        let extras = reply.extras.clone().filter(|_| !is_shown);
        let length: usize = words.iter().map(|part| part.len() + 1).sum();
        if !rest.is_empty() && (words.is_empty() || length + rest.len() <= LATE_MAX) {
            words.push(rest);
        }
        if !words.is_empty() || extras.is_some() {
            let said = Said { words: words.join("\n").into(), extras };
            if failure.is_none_or(|failure| self.is_new_failure(reply.agent, failure, &said)) {
                self.hand_back(reply.agent, Late { said, failure });
            }
        }
    }

    /// Notes that the chat did not take it. Returns whether it is to be handed back.
    fn is_new_failure(&mut self, agent: AgentKey, failure: PostFailure, said: &Said) -> bool {
        let before = self.refused.iter().position(|(known, ..)| *known == agent);
        let before = before.map(|at| self.refused.swap_remove(at));
        self.refused.push((agent, failure, said.clone()));
        let is_same = |(_, before, refused): (_, PostFailure, Said)| {
            before.is_for_its_words() && is_said_again(&refused, said)
        };
        !(failure.is_for_its_words() && before.is_some_and(is_same))
    }

    /// A reply of the agent is in the channel.
    pub(crate) fn reply_taken(&mut self, agent: AgentKey) {
        self.refused.retain(|(known, ..)| *known != agent);
    }

    /// How the chat refused the agent's newest reply, where it did.
    pub(crate) fn post_failure(&self, agent: AgentKey) -> Option<PostFailure> {
        self.refused.iter().find(|(known, ..)| *known == agent).map(|(_, failure, _)| *failure)
    }

    pub(crate) fn take_late(&mut self, agent: AgentKey) -> Option<Box<Late>> {
        let at = self.late.iter().position(|(known, _)| *known == agent)?;
        Some(self.late.swap_remove(at).1)
    }

    #[cfg(test)]
    pub(crate) fn has_late(&self, agent: AgentKey) -> bool {
        self.late.iter().any(|(known, _)| *known == agent)
    }
}

/// Whether one is the other, as far as texts are compared: where a text is cut elsewhere, its marks are others.
fn is_said_again(before: &Said, said: &Said) -> bool {
    fn shown(said: &Said) -> (&[Embed], &[ReplyFile]) {
        said.extras.as_deref().map_or((&[], &[]), |extras| (&extras.embeds, &extras.files))
    }
    shown(before) == shown(said) && Tail::compared(&before.words).eq(Tail::compared(&said.words))
}

#[cfg(test)]
mod tests;
