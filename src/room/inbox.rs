//! The messages of a channel, what each agent got of them, and what each gets next.

use std::sync::Arc;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, Tail, TurnId};

use super::talk::RepetitionMemory;
use super::texts::Texts;
use crate::ports::turn::{Late, Said};
use crate::record::channel::Outgoing;
use crate::record::handed::{ReadMark, next};
use crate::values::embed::Embed;
use crate::values::error::PostFailure;
use crate::values::extras::Extras;
use crate::values::reply_file::ReplyFile;
use crate::{ChatMessage, UserId};

/// The longest late answer that is kept, in bytes.
const LATE_MAX: usize = 32 * 1024;
/// The number of times that an agent gets the same messages again after a failed turn. After that it does without them,
/// because an agent that fails because of one message would fail in each turn of the conversation (a review saw five of
/// five).
const AGAIN_MAX: u8 = 3;
/// The approximate number of bytes around a text in a prompt, for the name of its author.
const LINE: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    texts: Texts,
    readers: Vec<Reader>,
    /// The agent that was woken for this turn. The host decides how the turn ends, and the machine reports it.
    woken: Option<(AgentKey, TurnId)>,
    /// Messages of people that no agent got in a turn that ended well. The channel is woken for them, even if the turn
    /// machine does not know them, for example because they were read from the chat.
    unserved: Option<Span>,
    /// The last message that an agent with its own view of the channel had before it when its newest turn began.
    read: Option<MessageId>,
    /// Answers of agents that came too late, the newest of each agent.
    late: Vec<(AgentKey, Box<Late>)>,
    /// The agents with a newest reply that the chat refused, with the failure and the text.
    refused: Vec<(AgentKey, PostFailure, Said)>,
    pub(super) talk: RepetitionMemory,
}

/// An agent that gets messages.
#[derive(Debug)]
struct Reader {
    handed: ReadMark,
    /// `true` if the library passes it messages. An agent that reads the channel itself only has a place in the list.
    is_met: bool,
    /// `true` if it takes turns in the channel now.
    is_listed: bool,
    under_way: Option<UnderWay>,
    /// Its newest turn that ended well. If that turn is called again, it gets the same messages again.
    before: Option<Before>,
    /// `true` if that turn could not bring everything.
    is_cut: bool,
    /// People's messages of its newest failed turns, each with the number of these turns.
    failing: Vec<(MessageId, u8)>,
    /// The number of people's messages that it does without, and that no turn which ended well has reported yet.
    given_up: usize,
}

/// What an agent had got before a turn.
#[derive(Debug)]
struct Before {
    turn: TurnId,
    handed: ReadMark,
}

/// What an agent has got with its turn.
#[derive(Debug)]
struct UnderWay {
    turn: TurnId,
    /// What it will have got once the turn has ended well.
    next: ReadMark,
    /// People's messages that it took while it ran.
    taken: Vec<MessageId>,
    /// People's messages that it was called with.
    words: Vec<MessageId>,
    is_cut: bool,
}

impl Reader {
    fn new(handed: ReadMark) -> Self {
        let (before, under_way, failing) = (None, None, Vec::new());
        let (is_met, is_listed, is_cut, given_up) = (true, true, false, 0);
        Self { handed, is_met, is_listed, under_way, before, is_cut, failing, given_up }
    }

    fn all_handed(&mut self) -> impl Iterator<Item = &mut ReadMark> {
        let under_way = self.under_way.as_mut().map(|under_way| &mut under_way.next);
        let before = self.before.as_mut().map(|before| &mut before.handed);
        under_way.into_iter().chain(before).chain([&mut self.handed])
    }

    /// Returns the message up to which it needs no text.
    fn needs_after(&self) -> Option<MessageId> {
        let owed = self.handed.owed.first().map(|span| span.first.get().checked_sub(1));
        owed.map_or(self.handed.until, |before| before.map(MessageId::new))
    }

    /// Records that a turn with these words failed. Returns how many of them the agent does without from now on.
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
            // An agent that fails because of one message would fail in each turn of the conversation.
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

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// The messages that a turn brings its agent.
#[derive(Debug, Default)]
pub(crate) struct TurnMessages {
    pub(crate) messages: Vec<Arc<ChatMessage>>,
    /// The number of people's messages that the agent will never get.
    pub(crate) lost: usize,
    /// The number of messages of other agents and bots that are left out.
    pub(crate) left_out: usize,
}

/// The messages for an agent's turn, and what the agent will have got after it.
#[derive(Debug, Default)]
pub(crate) struct Handout {
    agent: AgentKey,
    turn: TurnId,
    next: ReadMark,
    is_cut: bool,
    pub(super) brought: TurnMessages,
}

/// The messages that are found for an agent, oldest first, until there are enough.
struct Found {
    bounds: Bounds,
    messages: Vec<Arc<ChatMessage>>,
    words: usize,
    /// The bytes of people's messages.
    bytes: usize,
    /// The bytes of all messages.
    all: usize,
    newest_word: Option<MessageId>,
    /// `true` if another message of a person does not fit.
    is_over: bool,
}

impl Found {
    fn new(bounds: Bounds) -> Self {
        let (messages, newest_word) = (Vec::new(), None);
        Self { bounds, messages, words: 0, bytes: 0, all: 0, newest_word, is_over: false }
    }

    /// Returns whether no more of people's messages fit. One message always does.
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
            // One message always fits, or an agent could never get a message that is longer than the limit.
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

    /// Drops messages beyond the limits: those after the last word of a person that fits, and the oldest of agents and
    /// bots. Returns how many of agents and bots are left out.
    fn fit(&mut self) -> usize {
        if self.is_over {
            // What follows the last word that fits comes with the next turn, so that no answer comes before its
            // question.
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
                    // Older messages are left out, too, because they would be without their context.
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

/// Returns about how many bytes a message takes in a prompt.
fn length(message: &Arc<ChatMessage>) -> usize {
    let files = message.attachments.iter().map(|file| file.name.len() + LINE);
    LINE + message.content.len() + files.sum::<usize>()
}

impl Inbox {
    /// Creates the inbox of a channel from its record, in which these agents take turns.
    pub(crate) fn restored(
        handed: Vec<ReadMark>,
        unserved: Option<Span>,
        newest: Option<MessageId>,
        listed: impl Iterator<Item = AgentKey>,
    ) -> Self {
        // An agent's own post, which the turn machine had not heard yet, may be newer.
        let newest = newest.max(handed.iter().filter_map(|handed| handed.until).max());
        // The record has each agent that is behind. If words of people are in no turn, all agents that were met are
        // behind, and the others got none of the words (a process ended between a wake and the first turn).
        let before = |span: Span| MessageId::new(span.first.get().saturating_sub(1));
        let until = unserved.map(before).map_or(newest, |before| newest.min(Some(before)));
        let mut readers: Vec<_> = handed.into_iter().map(Reader::new).collect();
        for agent in listed {
            if readers.iter().all(|reader| reader.handed.agent != agent) {
                let handed = ReadMark { until, ..ReadMark::new(agent) };
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

    /// Keeps a message for agents that have to get it.
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
        // The agent counts as having got everything up to its mark, so a message that comes late is owed by itself.
        for handed in all.filter(|handed| Some(id) <= handed.until) {
            handed.owe(Span::of(id), is_joined);
        }
    }

    /// Records that the agent's own post is in the channel, so that the agent does not get it.
    pub(crate) fn remember_own(&mut self, agent: Option<AgentKey>, message: Arc<ChatMessage>) {
        let (id, before) = (message.id, self.texts.newest());
        self.remember(message);
        let reader = self.readers.iter_mut().find(|reader| Some(reader.handed.agent) == agent);
        if let Some(reader) = reader.filter(|_| before < Some(id)) {
            let under_way = reader.under_way.as_mut().map(|under_way| &mut under_way.next);
            for handed in under_way.into_iter().chain([&mut reader.handed]) {
                // It moves only over its own post. If it has not got everything before, it must still get that.
                if handed.until >= before {
                    handed.move_to(Some(id));
                }
            }
        }
    }

    /// Returns whether a turn brought this message to any agent, or brings it now.
    pub(crate) fn was_brought(&self, message: MessageId) -> bool {
        self.readers.iter().any(|reader| {
            let under_way = reader.under_way.as_ref().map(|under_way| &under_way.next);
            under_way.into_iter().chain([&reader.handed]).any(|it| it.includes(message))
        })
    }

    /// Records a message that repeats a deleted one. An agent that got that one, and all since, does not get it.
    pub(crate) fn remember_copy(&mut self, original: MessageId, message: Arc<ChatMessage>) {
        let (id, before) = (message.id, self.texts.newest());
        self.remember(message);
        // An agent that is behind has not answered the original, so it gets the copy.
        if before < Some(id) {
            let all = self.readers.iter_mut().flat_map(Reader::all_handed);
            for handed in all.filter(|it| it.until >= before && it.includes(original)) {
                handed.move_to(Some(id));
            }
        }
    }

    pub(crate) fn changed(&mut self, message: ChatMessage) {
        self.texts.changed(message);
    }

    pub(crate) fn deleted(&mut self, message: MessageId) {
        self.texts.deleted(message);
    }

    /// Records that the channel's conversation begins behind this message.
    pub(crate) fn begin(&mut self, after: Option<MessageId>) {
        self.texts.forget(after);
        self.readers.clear();
        (self.woken, self.unserved, self.read) = (None, None, None);
    }

    /// Returns whether any agent was met in the channel's conversation.
    pub(crate) fn has_readers(&self) -> bool {
        !self.readers.is_empty()
    }

    /// Forgets everything, as if no message had been written.
    pub(crate) fn forget(&mut self) {
        self.begin(None);
        self.late.clear();
        self.refused.clear();
        self.talk = RepetitionMemory::default();
    }

    /// Drops all texts, because memory is short.
    pub(crate) fn give_way(&mut self) {
        self.texts.give_way();
    }
}

impl Inbox {
    fn known(&self, agent: AgentKey) -> Option<&Reader> {
        self.readers.iter().find(|reader| reader.handed.agent == agent)
    }

    fn reader(&mut self, agent: AgentKey) -> Option<&mut Reader> {
        self.readers.iter_mut().find(|reader| reader.handed.agent == agent)
    }

    /// Records that this agent takes turns here, and returns its place among the readers. A new agent gets the recent
    /// messages, and those that no agent got yet.
    pub(crate) fn meet(&mut self, agent: AgentKey) -> usize {
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
        // These words are in no turn yet, so a new agent must be able to answer them.
        if let Some(unserved) = self.unserved {
            until = until.min(unserved.first.get().checked_sub(1).map(MessageId::new));
        }
        self.readers.push(Reader::new(ReadMark { until, ..ReadMark::new(agent) }));
        self.readers.len() - 1
    }

    fn has_all_after(&self, handed: &ReadMark) -> bool {
        let has_owed = || handed.owed.iter().all(|span| self.texts.has_all(*span));
        self.texts.reach() <= handed.until && has_owed()
    }

    pub(crate) fn is_in_memory(&mut self, agent: AgentKey) -> bool {
        let at = self.meet(agent);
        self.readers.get(at).is_none_or(|reader| self.has_all_after(&reader.handed))
    }

    /// Returns the messages that the agent gets in this turn.
    ///
    /// # Errors
    ///
    /// Fails with the range to read from the chat first. If that cannot be read (`gives_up`), the agent gets the rest,
    /// and the unread part stays for its next turn.
    pub(crate) fn hand_out(
        &mut self,
        agent: AgentKey,
        turn: TurnId,
        own: Option<UserId>,
        bounds: Bounds,
        gives_up: bool,
    ) -> Result<Handout, Span> {
        let at = self.meet(agent);
        let (reader, new) = (self.readers.get(at), ReadMark::new(agent));
        let (handed, done_without) = match reader {
            Some(reader) => (&reader.handed, reader.given_up),
            None => (&new, 0),
        };
        // If it is called again in the same turn, it gets the same messages again, provided that all of them fit.
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

    /// Finds the messages after those that an agent got. `lost` is how many of people's messages it does without.
    fn search(
        &self,
        handed: &ReadMark,
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
        let brought = TurnMessages { messages: found.messages, lost, left_out };
        Ok(Handout { agent: handed.agent, turn, next, is_cut, brought })
    }

    /// Returns what an agent has got after a turn that brought it everything up to this word, or everything at all,
    /// except for messages that could not be read.
    fn after_handout(
        &self,
        handed: &ReadMark,
        unread: Vec<Span>,
        cut: Option<MessageId>,
    ) -> ReadMark {
        let mut after = ReadMark { owed: unread, ahead: Vec::new(), ..*handed };
        let unfitting = cut.into_iter().flat_map(|cut| {
            let beyond = handed.owed.iter().filter(move |span| span.last > cut);
            beyond.map(move |span| (cut, span))
        });
        for (cut, span) in unfitting {
            let first = if span.first > cut {
                span.first
            } else {
                // If all of it is in memory, it is the next message there, so that it is known to exist.
                let rest = Span { first: next(cut), last: span.last };
                let mut later = self.texts.within(rest).filter(|_| self.texts.has_all(*span));
                later.next().map_or(next(cut), |message| message.id)
            };
            after.owe(Span { first, last: span.last }, |_, _| false);
        }
        after.move_to(cut.or_else(|| self.texts.newest()));
        // Of unread messages, and of later ones, it already took these.
        handed.ahead.iter().for_each(|message| after.take(*message));
        after
    }

    pub(crate) fn handed(&mut self, handout: Handout) -> TurnMessages {
        let Handout { agent, turn, next, is_cut, brought } = handout;
        if let Some(reader) = self.reader(agent) {
            let words = brought.messages.iter().filter(|message| message.is_by_person());
            let words = words.map(|message| message.id).collect();
            let taken = Vec::new();
            reader.under_way = Some(UnderWay { turn, next, taken, words, is_cut });
        }
        brought
    }

    /// Returns those of these messages that the running agent has not got with its turn, or during this turn or an
    /// earlier one. A range that begins with a late message also contains the messages before it.
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

    /// Records that the running agent got these messages of people.
    pub(crate) fn injected(&mut self, agent: AgentKey, taken: &[MessageId]) {
        if let Some(under_way) = self.reader(agent).and_then(|reader| reader.under_way.as_mut()) {
            under_way.taken.extend(taken);
        }
    }

    /// Records that the agent's turn ended with a reply or a pass. If it did not take all messages that reached it
    /// while it ran (`took_all`), it gets them again. Returns whether it got a message of a person.
    pub(crate) fn ended_well(&mut self, agent: AgentKey, took_all: bool) -> bool {
        let mut readers = self.readers.iter_mut();
        let Some(reader) = readers.find(|reader| reader.handed.agent == agent) else {
            return false;
        };
        // A host may report the end of a run that was never called.
        let Some(UnderWay { turn, next, taken, words, is_cut, .. }) = reader.under_way.take()
        else {
            return false;
        };
        // An agent that ended without a look at them may have answered without them.
        let taken = if took_all { taken } else { Vec::new() };
        let has_words = !words.is_empty() || !taken.is_empty();
        let handed = std::mem::replace(&mut reader.handed, next);
        for message in taken {
            reader.handed.take(message);
        }
        // The runs of an initiator's permits belong to no turn, and each counts by itself.
        let is_in_turn = turn != TurnId::default();
        if is_in_turn && reader.before.as_ref().is_none_or(|before| before.turn != turn) {
            reader.before = Some(Before { turn, handed });
        }
        (reader.is_cut, reader.given_up) = (is_cut, 0);
        let handed = &reader.handed;
        // It may still fail with others that had no room in this turn.
        reader.failing.retain(|(word, _)| !handed.includes(*word));
        let is_served = |span: &mut Span| handed.includes(span.first) && handed.includes(span.last);
        self.unserved.take_if(is_served);
        self.release();
        has_words
    }

    /// Records that the agent knows its turn, and got these messages.
    pub(crate) fn woken(&mut self, agent: AgentKey, turn: TurnId) {
        let was_handed = self.reader(agent).is_some_and(|reader| reader.under_way.is_some());
        // Without a handout the agent reads the channel, and nothing counts as owed to it.
        if was_handed {
            self.woken = Some((agent, turn));
        } else {
            self.reads_itself();
        }
    }

    /// Records the turn of an agent that gets no messages from the library, because it reads the channel itself.
    pub(crate) const fn reads_itself(&mut self) {
        (self.unserved, self.read) = (None, self.texts.newest());
    }

    /// Closes the turn of the woken agent, unless it is this one. The turn did not fail. Returns the same as
    /// [`Inbox::ended_well`].
    pub(crate) fn close_woken(&mut self, speaker: Option<AgentKey>, turn: TurnId) -> bool {
        let is_over = |woken: &mut (AgentKey, TurnId)| (speaker, turn) != (Some(woken.0), woken.1);
        let over = self.woken.take_if(is_over);
        over.is_some_and(|(agent, _)| self.ended_well(agent, true))
    }

    /// Records that a turn was taken away. If it was that of the woken agent, the agent gets the messages again.
    pub(crate) fn woken_in_vain(&mut self) {
        if let Some((agent, _)) = self.woken.take() {
            self.taken_away(agent);
        }
    }

    /// Records that the agent's turn was taken away, so that it gets the messages again.
    pub(crate) fn taken_away(&mut self, agent: AgentKey) {
        if let Some(reader) = self.reader(agent) {
            reader.under_way = None;
        }
    }

    /// Records that the agent's turn failed. It gets the messages again, at most three times. Returns how many of
    /// people's messages it does without from now on.
    pub(crate) fn failed(&mut self, agent: AgentKey) -> usize {
        let Some(reader) = self.reader(agent) else {
            return 0;
        };
        let under_way = reader.under_way.take();
        under_way.map_or(0, |under_way| reader.fail(under_way.words))
    }

    /// Sets the agents that take turns in the channel now, and get messages.
    pub(crate) fn list(&mut self, listed: impl Fn(AgentKey) -> bool) {
        for reader in &mut self.readers {
            reader.is_listed = listed(reader.handed.agent);
        }
    }

    fn release(&mut self) {
        let Self { readers, texts, .. } = self;
        let newest = texts.newest();
        texts.release(|| {
            let listed = readers.iter().filter(|reader| reader.is_listed);
            listed.map(Reader::needs_after).min().unwrap_or(newest)
        });
    }

    pub(super) fn was_handed(&self, agent: AgentKey, message: MessageId) -> bool {
        self.known(agent).is_some_and(|reader| reader.handed.includes(message))
    }

    /// Returns whether this message counts as handed to the agent once its current turn has ended well.
    #[cfg(test)]
    pub(super) fn leaves_out(&self, agent: AgentKey, message: MessageId) -> bool {
        let under_way = self.known(agent).and_then(|reader| reader.under_way.as_ref());
        under_way.is_some_and(|under_way| under_way.next.includes(message))
    }

    /// Returns whether the agent has failed with this word or with an older one, and has not taken it since. Later
    /// messages then wait, too.
    #[cfg(test)]
    pub(super) fn is_failing(&self, agent: AgentKey, word: MessageId) -> bool {
        let failing = self.known(agent).and_then(|reader| reader.failing.first());
        failing.is_some_and(|(oldest, _)| *oldest <= word)
    }

    #[cfg(test)]
    pub(super) fn knows(&self, agent: AgentKey) -> bool {
        self.known(agent).is_some()
    }

    /// Returns what agents got, for those that are behind. It is for the record.
    ///
    /// It has all agents while words of people are in no turn, or did not fit into one, because an agent without an
    /// entry in such a record was not met yet. It also has agents that take no turns at the moment, because they come
    /// back, and are no new agents then.
    pub(crate) fn behind(&self, unserved: Option<Span>) -> impl Iterator<Item = &ReadMark> {
        let (newest, is_unserved) = (self.texts.newest(), unserved.is_some());
        let is_stored = move |reader: &&Reader| {
            let is_owed = is_unserved || !reader.is_listed || !reader.handed.is_up_to(newest);
            reader.is_met && is_owed
        };
        self.readers.iter().filter(is_stored).map(|reader| &reader.handed)
    }
}

/// The search for an agent's messages, in memory and among those that were read.
struct Search<'a> {
    texts: &'a Texts,
    handed: &'a ReadMark,
    own: Option<UserId>,
    /// `true` if the agent does without messages that cannot be read.
    gives_up: bool,
    found: Found,
    unread: Vec<Span>,
    lost: usize,
}

impl Search<'_> {
    /// Finds all messages, oldest first, as far as they fit.
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

    /// Takes messages that are in memory.
    fn find(&mut self, span: Span) -> Result<(), Span> {
        if self.texts.has_all(span) {
            self.take(self.texts.within(span));
            return Ok(());
        }
        self.read(span)
    }

    /// Takes the messages that were read from the chat, and those in memory that came after that read.
    fn read(&mut self, Span { mut first, last }: Span) -> Result<(), Span> {
        let texts = self.texts;
        if let Some(known) = texts.read_up_to(first) {
            let part = Span { first, last: last.min(known) };
            // A message may have come late, after its range was read.
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
            // There may be more, and it comes with the next turn.
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

impl Inbox {
    /// Keeps these messages, so that the channel does not become dormant without an answer to them.
    pub(crate) fn keep_unserved(&mut self, span: Span) {
        self.unserved.get_or_insert(span).cover(span);
    }

    /// Returns these messages, together with those that no turn could bring whole. It is for the record.
    pub(crate) fn unserved(&self) -> Option<Span> {
        let mut unserved = self.unserved;
        let mut keep = |span: Span| unserved.get_or_insert(span).cover(span);
        let cut = self.readers.iter().filter(|reader| reader.is_cut);
        let rest = cut.filter_map(Reader::needs_after).min().map(next);
        if let Some((first, last)) = rest.zip(self.texts.newest()) {
            keep(Span { first, last });
        }
        // While no agent was met, none got a message. An agent that reads the channel itself has those up to `read`.
        if !self.readers.iter().any(|reader| reader.is_met) {
            self.texts.words_after(self.read).into_iter().for_each(keep);
        }
        unserved
    }

    /// Returns the newest message for which the channel must wake, if it is dormant. If an agent has asked people
    /// something (`awaits_human`), a word that no agent has heard may be the answer. The rest of a long backlog comes
    /// with the next word.
    pub(crate) fn wakes_for(&self, awaits_human: bool) -> Option<MessageId> {
        // The rest of a backlog was said before the agent's question, so it is no answer to it.
        let is_cut =
            !awaits_human && self.readers.iter().any(|reader| reader.is_cut && reader.is_listed);
        let rest = if is_cut { self.texts.newest() } else { None };
        self.unserved.map(|span| span.last).max(rest)
    }

    /// Returns people's messages in this range, oldest first, and whether these are all of them.
    ///
    /// # Errors
    ///
    /// Fails with the range to read from the chat first.
    pub(crate) fn said_within(
        &self,
        span: Span,
        gives_up: bool,
    ) -> Result<(Vec<Arc<ChatMessage>>, bool), Span> {
        let bounds = Bounds { messages: usize::MAX, bytes: usize::MAX };
        let (texts, handed) = (&self.texts, &ReadMark::new(AgentKey::default()));
        let (found, unread, lost) = (Found::new(bounds), Vec::new(), 0);
        let mut search = Search { texts, handed, own: None, gives_up, found, unread, lost };
        search.find(span)?;
        let Search { found, unread, .. } = search;
        let mut said = found.messages;
        said.retain(|message| message.is_by_person());
        Ok((said, unread.is_empty()))
    }
}

/// The leftovers for agents' next turns: answers that were not posted, and the chat's failures of the newest ones. No
/// record has them.
#[derive(Debug, Default)]
pub(crate) struct Leftovers {
    late: Vec<(AgentKey, Box<Late>)>,
    refused: Vec<(AgentKey, PostFailure, Said)>,
}

impl Leftovers {
    pub(crate) fn is_empty(&self) -> bool {
        self.late.is_empty() && self.refused.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        let late = self.late.iter().map(|(_, late)| &late.said);
        let said = late.chain(self.refused.iter().map(|(.., said)| said));
        let files = |extras: &Extras| extras.files.iter().map(|file| file.bytes().len()).sum();
        said.map(|said| said.words.len() + said.extras.as_deref().map_or(0usize, files)).sum()
    }
}

impl Inbox {
    pub(crate) fn take_leftovers(&mut self) -> Leftovers {
        let Self { late, refused, .. } = self;
        Leftovers { late: std::mem::take(late), refused: std::mem::take(refused) }
    }

    pub(crate) fn keep_leftovers(&mut self, leftovers: Leftovers) {
        (self.late, self.refused) = (leftovers.late, leftovers.refused);
    }

    /// Keeps an agent's late answer for its next turn. An answer beyond 32 KiB is dropped.
    pub(crate) fn keep_late(&mut self, agent: AgentKey, said: Said) {
        self.hand_back(agent, said.into());
    }

    fn hand_back(&mut self, agent: AgentKey, late: Late) {
        // An agent gets its newest late answer only.
        self.take_late(agent);
        if late.said.words.len() <= LATE_MAX && self.late.len() < AGENTS_MAX {
            self.late.push((agent, Box::new(late)));
        }
    }

    /// Keeps the part of a reply that is not in the channel: its unposted messages, without the `notice` that it was
    /// cut, and the `rest` that was in none of them, if there is room for it. A text that the chat refused twice for
    /// its words is not kept, because its agent would say it again (a review saw five calls and five refusals of one
    /// text).
    pub(crate) fn keep_late_reply(
        &mut self,
        reply: &Outgoing,
        (rest, notice): (&str, Option<&str>),
        failure: Option<PostFailure>,
    ) {
        let unposted = reply.parts.iter().filter(|part| part.posted.is_none());
        let words = unposted.map(|part| &*part.content).filter(|words| Some(*words) != notice);
        let mut words: Vec<&str> = words.collect();
        // The last message carries the extras.
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

    /// Records that the chat refused it. Returns whether the agent gets it back.
    fn is_new_failure(&mut self, agent: AgentKey, failure: PostFailure, said: &Said) -> bool {
        let before = self.refused.iter().position(|(known, ..)| *known == agent);
        let before = before.map(|at| self.refused.swap_remove(at));
        self.refused.push((agent, failure, said.clone()));
        let is_same = |(_, before, refused): (_, PostFailure, Said)| {
            // AutoMod refused one text five times in a row, because its agent said it again each time.
            before.is_for_its_words() && is_said_again(&refused, said)
        };
        !(failure.is_for_its_words() && before.is_some_and(is_same))
    }

    pub(crate) fn reply_taken(&mut self, agent: AgentKey) {
        self.refused.retain(|(known, ..)| *known != agent);
    }

    /// Returns how the chat refused the agent's newest reply, if it did.
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

/// Returns whether two texts are equal for this comparison. If a text is cut at another place, its marks differ.
fn is_said_again(before: &Said, said: &Said) -> bool {
    fn shown(said: &Said) -> (&[Embed], &[ReplyFile]) {
        said.extras.as_deref().map_or((&[], &[]), |extras| (&extras.embeds, &extras.files))
    }
    shown(before) == shown(said) && Tail::compared(&before.words).eq(Tail::compared(&said.words))
}

#[cfg(test)]
mod tests;
