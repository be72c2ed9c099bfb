//! The reads from the chat, with their reasons. There is one read of each kind at a time.

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

pub(crate) const PAGE: u8 = 100;
/// The first wait before a failed read of missed messages is tried again.
pub(crate) const READ_WAIT: Duration = Duration::from_secs(1);
/// The time that a call waits for the messages that its agent must get.
pub(crate) const WORDS_MAX: Duration = Duration::from_secs(10);

/// A read, by its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Reads who can see the channel.
    Members(Ticket),
    /// Reads what was missed during a gap.
    Gap,
    /// Reads messages that an agent must get and that are not in memory: a page from the first message of a range on.
    Words(Span),
    /// Reads messages after this one that may have been lost unnoticed.
    Backfill(Option<MessageId>),
    /// Finds out whether the agent has posted its reply after this message.
    Poll { ticket: Ticket, after: Option<MessageId> },
}

/// The kinds of reads, in their starting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReadKind {
    Members,
    Gap,
    Words,
    Backfill,
    Poll,
}

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

    pub(crate) const fn effect(self) -> Option<Effect> {
        match self {
            Self::Members(ticket) => Some(Effect::FetchMembers { ticket }),
            Self::Poll { ticket, after } => Some(Effect::Poll { ticket, after }),
            Self::Gap | Self::Words(_) | Self::Backfill(_) => None,
        }
    }

    /// Returns the read as an action. `gap_from` is the message after which the gap is read.
    pub(crate) fn action(
        self,
        channel: ChannelId,
        gap_from: Option<MessageId>,
        settings: &Settings,
    ) -> Action {
        let (after, limit) = match self {
            Self::Members(_) => return Action::Members,
            Self::Gap => (gap_from, PAGE),
            // "After" is exclusive, and the first message of the range must be on the page.
            Self::Words(span) => (Some(MessageId::new(span.first.get().saturating_sub(1))), PAGE),
            Self::Backfill(after) => (after, PAGE),
            Self::Poll { .. } => (None, settings.limits.poll_limit),
        };
        let request = HistoryRequest { channel, after, limit: limit.clamp(1, PAGE) };
        Action::History { account: Account::Moderator, request }
    }
}

/// One kind of read: the one that is needed, and the one in progress.
#[derive(Debug)]
struct Slot {
    kind: ReadKind,
    wanted: Option<Wanted>,
    under_way: Option<(ActionId, Read)>,
}

#[derive(Debug)]
struct Wanted {
    read: Read,
    /// The state that must be committed before.
    stamp: Stamp,
    attempts: Attempts,
    /// `true` if the account does not reach the chat, and others ask first.
    is_in_line: bool,
}

impl Slot {
    /// Returns the read that is needed and not in progress.
    fn waiting(&self) -> Option<&Wanted> {
        self.wanted.as_ref().filter(|_| self.under_way.is_none())
    }

    fn due(&self, now: Timestamp, commit: &CommitState) -> Option<Read> {
        let wanted = self.waiting()?;
        (wanted.attempts.is_due(now) && commit.is_committed(wanted.stamp)).then_some(wanted.read)
    }

    fn is_idle(&self) -> bool {
        self.wanted.is_none() && self.under_way.is_none()
    }

    fn next_at(&self) -> Option<Timestamp> {
        self.waiting()?.attempts.next_at()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// The slots that are not idle, in their starting order.
    slots: Vec<Slot>,
    /// Reads that newer ones have replaced. The machine must learn it.
    pub(crate) replaced: Vec<Ticket>,
    /// The time until which the call of this turn waits for its messages.
    words_until: Option<(AgentKey, TurnId, Timestamp)>,
    /// `true` if the messages for the next agent cannot be read.
    words_failed: bool,
}

impl Reads {
    fn slot(&mut self, kind: ReadKind) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.kind == kind)
    }

    fn slot_or_new(&mut self, kind: ReadKind) -> Option<&mut Slot> {
        let at = self.slots.partition_point(|slot| slot.kind < kind);
        if self.slots.get(at).is_none_or(|slot| slot.kind != kind) {
            // There is rarely more than one that is not idle.
            self.slots.reserve_exact(1);
            self.slots.insert(at, Slot { kind, wanted: None, under_way: None });
        }
        self.slots.get_mut(at)
    }

    fn attempts(&mut self, kind: ReadKind) -> Option<&mut Attempts> {
        self.slot(kind)?.wanted.as_mut().map(|wanted| &mut wanted.attempts)
    }

    /// Requests a read once the state of this stamp is stored. It replaces a read of its kind.
    pub(crate) fn want(&mut self, read: Read, stamp: Stamp) {
        let wanted = Wanted { read, stamp, attempts: Attempts::default(), is_in_line: false };
        let older = self.slot_or_new(read.kind()).and_then(|slot| slot.wanted.replace(wanted));
        let ticket = |read: Read| read.effect().and_then(|effect| effect.ticket());
        let older = older.and_then(|older| ticket(older.read));
        // The machine still waits for the older ticket. Without an answer to it the channel never left memory.
        self.replaced.extend(older.filter(|older| Some(*older) != ticket(read)));
    }

    /// Requests a read of messages that may have been missed, unless it is already requested.
    pub(crate) fn want_gap(&mut self) {
        if self.wanted(ReadKind::Gap).is_none() {
            self.want(Read::Gap, Stamp::default());
        }
    }

    /// Looks for messages that were lost unnoticed, if they matter.
    pub(super) fn want_backfill(&mut self, turns: &Turns, marks: &Marks) {
        let is_open = turns.view().phase() != PhaseKind::Archived;
        // In an archived discussion nothing is read, and a gap is read with more care anyway.
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

    /// Returns whether a read of this kind failed and is tried again later, or stands in line.
    pub(crate) fn is_put_off(&self, kind: ReadKind) -> bool {
        let slot = self.slots.iter().find(|slot| slot.kind == kind);
        let waiting = slot.and_then(Slot::waiting);
        waiting.is_some_and(|wanted| wanted.is_in_line || wanted.attempts.failed() > 0)
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

    /// Returns the reads that may start now, in order.
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

    pub(crate) fn stands_in_line(&mut self, kind: ReadKind) {
        if let Some(wanted) = self.slot(kind).and_then(|slot| slot.wanted.as_mut()) {
            wanted.is_in_line = true;
        }
    }

    pub(crate) fn begin(&mut self, read: Read, id: ActionId) {
        if let Some(slot) = self.slot_or_new(read.kind()) {
            slot.under_way = Some((id, read));
            if let Some(wanted) = &mut slot.wanted {
                wanted.is_in_line = false;
            }
        }
    }

    /// Handles the end of a read. Returns the read, unless it is no longer needed.
    pub(crate) fn end(&mut self, id: ActionId) -> Option<Read> {
        let is_it = |slot: &&mut Slot| slot.under_way.is_some_and(|(known, _)| known == id);
        let slot = self.slots.iter_mut().find(is_it)?;
        let (_, read) = slot.under_way.take()?;
        // The answer to a read that was replaced once counted for the newer range, and words between the two were lost.
        let is_wanted = slot.wanted.as_ref().is_some_and(|wanted| wanted.read == read);
        self.drop_idle();
        is_wanted.then_some(read)
    }

    /// Records that the read failed. Returns how often it did.
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

    pub(crate) fn may_act(&self) -> bool {
        self.slots.iter().any(|slot| slot.waiting().is_some())
    }

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

impl Reads {
    pub(crate) fn want_words(&mut self, span: Span) {
        // A repeated request must not reset the attempts of the read that is under way.
        if self.wanted(ReadKind::Words) != Some(Read::Words(span)) {
            self.want(Read::Words(span), Stamp::default());
        }
    }

    /// Lets the call of this turn wait for them, for a limited time.
    pub(crate) fn wait_for_words(&mut self, now: Timestamp, agent: AgentKey, turn: TurnId) {
        if self.words_until.is_none_or(|(a, t, _)| (a, t) != (agent, turn)) {
            self.words_until = Some((agent, turn, now + WORDS_MAX));
        }
    }

    /// Returns whether the call of this turn does without messages that cannot be read. This is so if all attempts
    /// failed, or if it has waited long enough and may do without them (`gives_up`).
    pub(crate) fn is_given_up(
        &self,
        now: Timestamp,
        agent: AgentKey,
        turn: TurnId,
        gives_up: bool,
    ) -> bool {
        let is_over = |(a, t, until)| (a, t) == (agent, turn) && until <= now;
        // The wait alone does not decide while the chat is away, because its return starts the read anew.
        self.words_failed || (gives_up && self.words_until.is_some_and(is_over))
    }

    pub(crate) const fn has_failed(&self) -> bool {
        self.words_failed
    }

    pub(crate) fn give_words_up(&mut self) {
        self.words_failed = true;
        self.forget(ReadKind::Words);
    }

    pub(crate) fn handed(&mut self) {
        (self.words_until, self.words_failed) = (None, false);
        self.forget(ReadKind::Words);
    }

    /// Handles the end of an outage, whatever its cause was: the chat, the gateway, a limit on posts or the store.
    /// Failed reads for a call start again, and so does the wait for them.
    pub(crate) fn chat_back(&mut self) {
        if let Some(attempts) = self.attempts(ReadKind::Words) {
            attempts.retry_now();
        }
        (self.words_until, self.words_failed) = (None, false);
    }
}

/// Sorts a page, and drops the messages that are not behind `after`. Returns whether there may be more.
pub(crate) fn page_after(
    mut messages: Vec<ChatMessage>,
    after: Option<MessageId>,
    limit: usize,
) -> (VecDeque<ChatMessage>, bool) {
    let full = messages.len() >= limit;
    // A poll reads the newest page, which also has messages from before the anchor.
    messages.retain(|message| Some(message.id) > after);
    messages.sort_unstable_by_key(|message| message.id);
    (messages.into(), full)
}

#[cfg(test)]
mod tests;
