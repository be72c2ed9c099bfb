//! What is read of the chat, and why: one read of each kind at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{AgentKey, Effect, MessageId, PhaseKind, Ticket, Timestamp, TurnId};

use super::action::{Account, Action, ActionId};
use super::attempts::Attempts;
use super::commit::{CommitState, Stamp};
use super::marks::Marks;
use super::turns::Turns;
use crate::ports::discord::HistoryRequest;
use crate::values::message::{ChatKind, Nonce};
use crate::{ChannelId, ChatMessage, Settings};

/// Messages on a page.
pub(crate) const PAGE: u8 = 100;
/// The first wait before a read of what was missed is tried again.
pub(crate) const READ_WAIT: Duration = Duration::from_secs(1);
/// How long a call waits for what was said of late, and for what its agent is to be handed.
pub(crate) const CONTEXT_MAX: Duration = Duration::from_secs(10);

/// One read, by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Who can see the channel.
    Members(Ticket),
    /// What was missed during a gap.
    Gap,
    /// What was said of late, where it is not in memory.
    Context,
    /// What an agent is to be handed, where that is not in memory.
    Pending(PendingRead),
    /// What may have been lost without notice, after this message.
    Backfill(Option<MessageId>),
    /// Whether the agent has posted its reply, after this message.
    Poll { ticket: Ticket, after: Option<MessageId> },
}

/// The kinds of reads, in the order in which they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReadKind {
    Members,
    Gap,
    Context,
    Pending,
    Backfill,
    Poll,
}

/// How many kinds of reads there are.
const KINDS: usize = 6;

impl Read {
    pub(crate) const fn kind(self) -> ReadKind {
        match self {
            Self::Members(_) => ReadKind::Members,
            Self::Gap => ReadKind::Gap,
            Self::Context => ReadKind::Context,
            Self::Pending(_) => ReadKind::Pending,
            Self::Backfill(_) => ReadKind::Backfill,
            Self::Poll { .. } => ReadKind::Poll,
        }
    }

    /// What the machine has asked for, where it is the one who asked.
    pub(crate) const fn effect(self) -> Option<Effect> {
        match self {
            Self::Members(ticket) => Some(Effect::FetchMembers { ticket }),
            Self::Poll { ticket, after } => Some(Effect::Poll { ticket, after }),
            Self::Gap | Self::Context | Self::Pending(_) | Self::Backfill(_) => None,
        }
    }

    /// The read as an action. `gap_from`: after which message the gap is to be read.
    pub(crate) fn action(
        self,
        channel: ChannelId,
        gap_from: Option<MessageId>,
        settings: &Settings,
    ) -> Action {
        let (after, limit) = match self {
            Self::Members(_) => return Action::Members,
            Self::Gap => (gap_from, PAGE),
            Self::Context => (None, u8::try_from(settings.missed_max).unwrap_or(PAGE)),
            Self::Pending(read) => (Some(read.after), PAGE),
            Self::Backfill(after) => (after, PAGE),
            Self::Poll { .. } => (None, settings.poll_limit),
        };
        let request = HistoryRequest { channel, after, limit: limit.clamp(1, PAGE) };
        Action::History { account: Account::Moderator, request }
    }
}

/// Which messages are read for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingRead {
    pub(crate) first: MessageId,
    pub(crate) last: MessageId,
    /// Up to where it was read.
    pub(crate) after: MessageId,
}

/// Messages that were read for an agent.
#[derive(Debug)]
pub(crate) struct Fetched {
    first: MessageId,
    last: MessageId,
    messages: Vec<Arc<ChatMessage>>,
    progress: Fetching,
}

/// How far messages were read for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fetching {
    /// More is to be read.
    Begun,
    /// All of them were read.
    Whole,
    /// The others cannot be read now.
    GivenUp,
}

impl Fetched {
    /// What of a range was read, and whether that is all of it. `None` while more is to be read.
    pub(crate) fn of(
        &self,
        first: MessageId,
        last: MessageId,
    ) -> Option<(impl Iterator<Item = &Arc<ChatMessage>>, bool)> {
        let covers = self.first <= first && self.last >= last;
        let said = self.messages.iter().filter(move |m| (first..=last).contains(&m.id));
        let is_over = covers && self.progress != Fetching::Begun;
        is_over.then_some((said, self.progress == Fetching::Whole))
    }
}

/// One kind of read: what is wanted, and what is under way.
#[derive(Debug)]
struct Slot {
    kind: ReadKind,
    wanted: Option<Wanted>,
    under_way: Option<(ActionId, Read)>,
}

#[derive(Debug)]
struct Wanted {
    read: Read,
    /// What must be committed before.
    stamp: Stamp,
    attempts: Attempts,
}

impl Slot {
    fn due(&self, now: Timestamp, commit: &CommitState) -> Option<Read> {
        let wanted = self.wanted.as_ref().filter(|_| self.under_way.is_none())?;
        (wanted.attempts.is_due(now) && commit.is_committed(wanted.stamp)).then_some(wanted.read)
    }

    fn is_idle(&self) -> bool {
        self.wanted.is_none() && self.under_way.is_none()
    }

    fn next_at(&self) -> Option<Timestamp> {
        let wanted = self.wanted.as_ref().filter(|_| self.under_way.is_none())?;
        wanted.attempts.next_at()
    }
}

/// The reads of a room.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// Those that are not idle, in the order in which they are asked for.
    slots: Vec<Slot>,
    /// Reads that newer ones have replaced: the machine is to be told.
    pub(crate) replaced: Vec<Ticket>,
    /// Until when calls wait for what was said of late.
    pub(crate) context_until: Option<Timestamp>,
    /// The agent that is next does without what was said before; the one after it has it read again.
    pub(crate) skip_context: bool,
    /// Until when the call of this turn waits for what its agent is to be handed.
    pending_until: Option<(AgentKey, TurnId, Timestamp)>,
    /// What was read for that.
    pub(crate) fetched: Option<Box<Fetched>>,
}

impl Reads {
    fn slot(&mut self, kind: ReadKind) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.kind == kind)
    }

    /// The slot of this kind, made if there is none.
    fn slot_or_new(&mut self, kind: ReadKind) -> Option<&mut Slot> {
        let at = self.slots.partition_point(|slot| slot.kind < kind);
        if self.slots.get(at).is_none_or(|slot| slot.kind != kind) {
            // Hardly ever more than one is not idle.
            self.slots.reserve_exact(1);
            self.slots.insert(at, Slot { kind, wanted: None, under_way: None });
        }
        self.slots.get_mut(at)
    }

    fn attempts(&mut self, kind: ReadKind) -> Option<&mut Attempts> {
        self.slot(kind)?.wanted.as_mut().map(|wanted| &mut wanted.attempts)
    }

    /// Asks for a read once the state of this stamp is stored. It takes the place of one of its kind.
    pub(crate) fn want(&mut self, read: Read, stamp: Stamp) {
        let wanted = Wanted { read, stamp, attempts: Attempts::default() };
        let older = self.slot_or_new(read.kind()).and_then(|slot| slot.wanted.replace(wanted));
        let ticket = |read: Read| read.effect().and_then(|effect| effect.ticket());
        let older = older.and_then(|older| ticket(older.read));
        self.replaced.extend(older.filter(|older| Some(*older) != ticket(read)));
    }

    /// Asks for what may have been missed, unless that is asked for.
    pub(crate) fn want_gap(&mut self) {
        if self.wanted(ReadKind::Gap).is_none() {
            self.want(Read::Gap, Stamp::default());
        }
    }

    /// Looks for messages that were lost without notice, where that matters.
    pub(super) fn want_backfill(&mut self, turns: &Turns, marks: &Marks) {
        let is_open = turns.view().phase() != PhaseKind::Archived;
        let matters = turns.keeps_turns() && is_open && !marks.has_gap();
        if matters && self.wanted(ReadKind::Backfill).is_none() {
            self.want(Read::Backfill(marks.verified()), Stamp::default());
        }
    }

    pub(crate) fn wanted(&self, kind: ReadKind) -> Option<Read> {
        let slot = self.slots.iter().find(|slot| slot.kind == kind)?;
        slot.wanted.as_ref().map(|wanted| wanted.read)
    }

    pub(crate) fn forget(&mut self, kind: ReadKind) {
        if let Some(slot) = self.slot(kind) {
            slot.wanted = None;
        }
        self.drop_idle();
    }

    fn drop_idle(&mut self) {
        self.slots.retain(|slot| !slot.is_idle());
    }

    /// What may be asked now, in order.
    pub(crate) fn due(
        &self,
        now: Timestamp,
        commit: &CommitState,
    ) -> impl Iterator<Item = Read> + use<> {
        let mut due = [None; KINDS];
        for (place, slot) in due.iter_mut().zip(&self.slots) {
            *place = slot.due(now, commit);
        }
        due.into_iter().flatten()
    }

    /// It is asked now.
    pub(crate) fn begin(&mut self, read: Read, id: ActionId) {
        if let Some(slot) = self.slot_or_new(read.kind()) {
            slot.under_way = Some((id, read));
        }
    }

    /// The read ended. Returns it, unless it is not wanted any more.
    pub(crate) fn end(&mut self, id: ActionId) -> Option<Read> {
        let is_it = |slot: &&mut Slot| slot.under_way.is_some_and(|(known, _)| known == id);
        let slot = self.slots.iter_mut().find(is_it)?;
        let (_, read) = slot.under_way.take()?;
        let is_wanted = slot.wanted.as_ref().is_some_and(|wanted| wanted.read == read);
        self.drop_idle();
        is_wanted.then_some(read)
    }

    /// It failed. Returns how often it did by now.
    pub(crate) fn back_off(
        &mut self,
        kind: ReadKind,
        now: Timestamp,
        retry_after: Option<Duration>,
    ) -> u32 {
        self.attempts(kind).map_or(0, |attempts| {
            attempts.back_off(now, retry_after);
            attempts.failed()
        })
    }

    pub(crate) fn back_off_between(
        &mut self,
        kind: ReadKind,
        now: Timestamp,
        retry_after: Option<Duration>,
        (first, longest): (Duration, Duration),
    ) {
        if let Some(attempts) = self.attempts(kind) {
            attempts.back_off_between(now, retry_after, first, longest);
        }
    }

    /// It may be tried at once.
    pub(crate) fn retry_now(&mut self, kind: ReadKind) {
        if let Some(attempts) = self.attempts(kind) {
            attempts.retry_now();
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether something is to be asked, now or later.
    pub(crate) fn may_act(&self) -> bool {
        self.slots.iter().any(|slot| slot.wanted.is_some() && slot.under_way.is_none())
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let own = self.slots.iter().filter_map(Slot::next_at);
        own.chain(self.context_until).chain(self.pending_until.map(|(.., until)| until)).min()
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        for wanted in self.slots.iter_mut().filter_map(|slot| slot.wanted.as_mut()) {
            wanted.attempts.move_back(by);
        }
        let pending = self.pending_until.as_mut().map(|(.., until)| until);
        for until in self.context_until.iter_mut().chain(pending) {
            *until = until.saturating_sub(by);
        }
    }
}

/// What an agent is called with.
impl Reads {
    /// An outage is over, whatever its cause: the chat, the gateway, a limit on posts or the store. What could not
    /// be read for a call meanwhile is read anew, and waited for anew.
    pub(crate) fn chat_back(&mut self, now: Timestamp) {
        self.retry_now(ReadKind::Context);
        self.retry_now(ReadKind::Pending);
        self.context_until = self.context_until.map(|_| now + CONTEXT_MAX);
        self.pending_until = None;
        self.fetched.take_if(|fetched| fetched.progress == Fetching::GivenUp);
    }
}

/// What was said of late.
impl Reads {
    /// It is read, and calls wait for it.
    pub(crate) fn want_context(&mut self, now: Timestamp) {
        if self.wanted(ReadKind::Context).is_none() {
            self.want(Read::Context, Stamp::default());
            self.context_until = Some(now + CONTEXT_MAX);
        }
    }

    pub(crate) fn context_known(&mut self) {
        self.context_until = None;
        self.forget(ReadKind::Context);
    }

    /// It cannot be read: the agent that is next does without.
    pub(crate) fn give_context_up(&mut self) {
        self.skip_context = true;
        self.context_known();
    }
}

/// What an agent is to be handed.
impl Reads {
    /// Messages of this range are to be read, unless that is under way. What is being read is read with it.
    pub(crate) fn fetch(&mut self, mut first: MessageId, mut last: MessageId) {
        let begun = self.fetched.as_ref().filter(|f| f.progress == Fetching::Begun);
        if !begun.is_some_and(|f| f.first <= first && f.last >= last) {
            if let Some(begun) = begun {
                (first, last) = (first.min(begun.first), last.max(begun.last));
            }
            let after = MessageId::new(first.get().saturating_sub(1));
            self.want(Read::Pending(PendingRead { first, last, after }), Stamp::default());
            let (messages, progress) = (Vec::new(), Fetching::Begun);
            self.fetched = Some(Box::new(Fetched { first, last, messages, progress }));
        }
    }

    /// A page of it was read.
    pub(crate) fn fetched(&mut self, read: PendingRead, page: Vec<ChatMessage>) {
        let Some(fetched) = &mut self.fetched else {
            return self.forget(ReadKind::Pending);
        };
        let (page, full) = page_after(page, Some(read.after), usize::from(PAGE));
        let last = page.back().map(|message| message.id);
        fetched.messages.extend(page.into_iter().map(Arc::new));
        if let Some(after) = last.filter(|last| full && *last < read.last) {
            self.want(Read::Pending(PendingRead { after, ..read }), Stamp::default());
        } else {
            fetched.progress = Fetching::Whole;
            self.forget(ReadKind::Pending);
        }
    }

    /// The rest of it cannot be read now.
    pub(crate) fn give_fetching_up(&mut self) {
        if let Some(fetched) = &mut self.fetched {
            fetched.progress = Fetching::GivenUp;
        }
        self.forget(ReadKind::Pending);
    }

    /// Until when the call of this turn waits for it.
    pub(crate) fn pending_until(
        &mut self,
        now: Timestamp,
        agent: AgentKey,
        turn: TurnId,
    ) -> Timestamp {
        let own = self.pending_until.filter(|(a, t, _)| (*a, *t) == (agent, turn));
        let (.., until) =
            *self.pending_until.insert(own.unwrap_or((agent, turn, now + CONTEXT_MAX)));
        until
    }

    /// It was handed over, as far as it was read.
    pub(crate) fn handed(&mut self) {
        self.pending_until = None;
        self.fetched = None;
        self.forget(ReadKind::Pending);
    }
}

/// Whether this message, by the account that posts, is the post with these words, as many embeds and this nonce. A chat
/// may add embeds to words, for the links in them: without words, the embeds must be as many.
pub(crate) fn is_post(message: &ChatMessage, (content, embeds): (&str, u8), nonce: &Nonce) -> bool {
    let has_nonce = message.nonce == Some(*nonce);
    let has_embeds = || message.embeds == embeds && message.kind != ChatKind::System;
    let has_words = message.content.trim() == content.trim();
    has_nonce || (has_words && (!content.trim().is_empty() || has_embeds()))
}

/// Sorts a page, and drops what does not stand behind `after`. Says whether there may be more.
pub(crate) fn page_after(
    mut messages: Vec<ChatMessage>,
    after: Option<MessageId>,
    limit: usize,
) -> (VecDeque<ChatMessage>, bool) {
    let full = messages.len() >= limit;
    messages.retain(|message| Some(message.id) > after);
    messages.sort_unstable_by_key(|message| message.id);
    (messages.into(), full)
}

#[cfg(test)]
mod tests;
