//! What is read of the chat, and why: one read of each kind at a time.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, Effect, MessageId, PhaseKind, Ticket, Timestamp, TurnId};

use super::action::{Account, Action, ActionId};
use super::attempts::Attempts;
use super::commit::{CommitState, Stamp};
use super::marks::Marks;
use super::turns::Turns;
use crate::ports::discord::HistoryRequest;
pub(crate) use crate::values::message::is_post;
use crate::{ChannelId, ChatMessage, Settings};

/// Messages on a page.
pub(crate) const PAGE: u8 = 100;
/// The first wait before a read of what was missed is tried again.
pub(crate) const READ_WAIT: Duration = Duration::from_secs(1);
/// How long a call waits for what its agent is to be handed.
pub(crate) const WORDS_MAX: Duration = Duration::from_secs(10);

/// One read, by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Who can see the channel.
    Members(Ticket),
    /// What was missed during a gap.
    Gap,
    /// What an agent is to be handed, where that is not in memory: a page from the first message of a range on.
    Words(Span),
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
    Words,
    Backfill,
    Poll,
}

/// How many kinds of reads there are.
const KINDS: usize = 5;

impl Read {
    pub(crate) const fn kind(self) -> ReadKind {
        match self {
            Self::Members(_) => ReadKind::Members,
            Self::Gap => ReadKind::Gap,
            Self::Words(_) => ReadKind::Words,
            Self::Backfill(_) => ReadKind::Backfill,
            Self::Poll { .. } => ReadKind::Poll,
        }
    }

    /// What the machine has asked for, where it is the one who asked.
    pub(crate) const fn effect(self) -> Option<Effect> {
        match self {
            Self::Members(ticket) => Some(Effect::FetchMembers { ticket }),
            Self::Poll { ticket, after } => Some(Effect::Poll { ticket, after }),
            Self::Gap | Self::Words(_) | Self::Backfill(_) => None,
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
            Self::Words(span) => (Some(MessageId::new(span.first.get().saturating_sub(1))), PAGE),
            Self::Backfill(after) => (after, PAGE),
            Self::Poll { .. } => (None, settings.limits.poll_limit),
        };
        let request = HistoryRequest { channel, after, limit: limit.clamp(1, PAGE) };
        Action::History { account: Account::Moderator, request }
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
    /// The account does not reach the chat, and others ask first.
    is_in_line: bool,
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
    /// Until when the call of this turn waits for what its agent is to be handed.
    words_until: Option<(AgentKey, TurnId, Timestamp)>,
    /// What is to be handed to the next agent cannot be read.
    words_failed: bool,
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
        let wanted = Wanted { read, stamp, attempts: Attempts::default(), is_in_line: false };
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

    pub(crate) fn is_under_way(&self, kind: ReadKind) -> bool {
        let slot = self.slots.iter().find(|slot| slot.kind == kind);
        slot.is_some_and(|slot| slot.under_way.is_some())
    }

    pub(crate) fn wanted(&self, kind: ReadKind) -> Option<Read> {
        let slot = self.slots.iter().find(|slot| slot.kind == kind)?;
        slot.wanted.as_ref().map(|wanted| wanted.read)
    }

    /// Whether a read of this kind failed, and is tried again later, or stands in line.
    pub(crate) fn is_put_off(&self, kind: ReadKind) -> bool {
        let slot = self.slots.iter().find(|slot| slot.kind == kind);
        let waits = slot.filter(|slot| slot.under_way.is_none());
        let waits = waits.and_then(|slot| slot.wanted.as_ref());
        waits.is_some_and(|wanted| wanted.is_in_line || wanted.attempts.failed() > 0)
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

    /// It may not be asked yet.
    pub(crate) fn stands_in_line(&mut self, kind: ReadKind) {
        if let Some(wanted) = self.slot(kind).and_then(|slot| slot.wanted.as_mut()) {
            wanted.is_in_line = true;
        }
    }

    /// It is asked now.
    pub(crate) fn begin(&mut self, read: Read, id: ActionId) {
        if let Some(slot) = self.slot_or_new(read.kind()) {
            slot.under_way = Some((id, read));
            if let Some(wanted) = &mut slot.wanted {
                wanted.is_in_line = false;
            }
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

    pub(crate) fn is_idle(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether something is to be asked, now or later.
    pub(crate) fn may_act(&self) -> bool {
        self.slots.iter().any(|slot| slot.wanted.is_some() && slot.under_way.is_none())
    }

    /// The moments at which a read is tried again, or no longer waited for.
    pub(crate) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let own = self.slots.iter().filter_map(Slot::next_at);
        own.chain(self.words_until.map(|(.., until)| until))
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        for wanted in self.slots.iter_mut().filter_map(|slot| slot.wanted.as_mut()) {
            wanted.attempts.move_back(by);
        }
        if let Some((.., until)) = &mut self.words_until {
            *until = until.saturating_sub(by);
        }
    }
}

/// What an agent is called with.
impl Reads {
    /// These messages are to be read, from the first on.
    pub(crate) fn want_words(&mut self, span: Span) {
        if self.wanted(ReadKind::Words) != Some(Read::Words(span)) {
            self.want(Read::Words(span), Stamp::default());
        }
    }

    /// The call of this turn waits for them, but not for ever.
    pub(crate) fn wait_for_words(&mut self, now: Timestamp, agent: AgentKey, turn: TurnId) {
        if self.words_until.is_none_or(|(a, t, _)| (a, t) != (agent, turn)) {
            self.words_until = Some((agent, turn, now + WORDS_MAX));
        }
    }

    /// Whether the call of this turn does without what cannot be read: all attempts failed, or it has waited long enough
    /// and may do without (`gives_up`).
    pub(crate) fn is_given_up(
        &self,
        now: Timestamp,
        agent: AgentKey,
        turn: TurnId,
        gives_up: bool,
    ) -> bool {
        let is_over = |(a, t, until)| (a, t) == (agent, turn) && until <= now;
        self.words_failed || (gives_up && self.words_until.is_some_and(is_over))
    }

    /// Whether what is to be handed over cannot be read.
    pub(crate) const fn has_failed(&self) -> bool {
        self.words_failed
    }

    /// It cannot be read now.
    pub(crate) fn give_words_up(&mut self) {
        self.words_failed = true;
        self.forget(ReadKind::Words);
    }

    /// An agent was called, with what was read for it.
    pub(crate) fn handed(&mut self) {
        (self.words_until, self.words_failed) = (None, false);
        self.forget(ReadKind::Words);
    }

    /// An outage is over, whatever its cause: the chat, the gateway, a limit on posts or the store. What could not
    /// be read for a call meanwhile is read anew, and waited for anew.
    pub(crate) fn chat_back(&mut self) {
        if let Some(attempts) = self.attempts(ReadKind::Words) {
            attempts.retry_now();
        }
        (self.words_until, self.words_failed) = (None, false);
    }
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
