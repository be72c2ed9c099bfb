//! What was read of the chat, and what follows from it.

use std::time::Duration;

use dirigent_core::{Author, Input, MessageId, Settlement, Ticket, Timestamp};

use super::Room;
use super::action::Outcome;
use super::attempts::Trouble;
use super::claims::Lane;
use super::commit::Stamp;
use super::context::Context;
use super::listen::is_word_of_person;
use super::reads::{PAGE, PendingRead, READ_WAIT, Read, ReadKind, page_after};
use crate::{ChatKind, ChatMessage, GapFrom};

/// The longest wait between two attempts at a read of what was missed.
const READ_WAIT_MAX: Duration = Duration::from_secs(10);
/// The same, where the chat refuses the read.
const READ_WAIT_REFUSED: Duration = Duration::from_secs(600);
/// After how many failed attempts an agent is called without what could not be read for it. While the chat is
/// away they do not count.
const PENDING_ATTEMPTS: u32 = 4;

impl Room {
    /// A read ended that is still wanted.
    pub(super) fn take_read(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        read: Read,
        outcome: Outcome,
    ) {
        match read {
            Read::Members(ticket) => self.members_read(cx, now, ticket, outcome),
            Read::Gap => self.gap_read(cx, now, outcome),
            Read::Context => self.context_read(cx, now, outcome),
            Read::Pending(read) => self.pending_read(cx, now, read, outcome),
            Read::Backfill(after) => self.backfill_read(cx, now, after, outcome),
            Read::Poll { ticket, after } => self.polled(cx, now, (ticket, after), outcome),
        }
    }

    /// What is not wanted any more is not read. What the machine asked for is settled.
    pub(super) fn drop_reads(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let Some(active) = &self.active else {
            return false;
        };
        let unwanted = [ReadKind::Members, ReadKind::Poll].into_iter().find_map(|kind| {
            let effect = active.reads.wanted(kind).and_then(Read::effect);
            let effect = effect.filter(|effect| !self.machine.wants(effect))?;
            Some((kind, effect.ticket()?))
        });
        if active.reads.wanted(ReadKind::Gap).is_some() && !self.marks.has_gap() {
            self.forget_read(ReadKind::Gap);
        }
        if let Some((kind, ticket)) = unwanted {
            self.forget_read(kind);
            self.settled(cx, now, ticket, Settlement::Dropped);
        }
        unwanted.is_some()
    }

    fn forget_read(&mut self, kind: ReadKind) {
        let active = self.active();
        active.reads.forget(kind);
        active.claims.withdraw(Lane::Read(kind));
    }

    pub(super) fn want_gap(&mut self) {
        let reads = &mut self.active().reads;
        if reads.wanted(ReadKind::Gap).is_none() {
            reads.want(Read::Gap, Stamp::default());
        }
    }

    fn members_read(&mut self, cx: &Context<'_>, now: Timestamp, ticket: Ticket, outcome: Outcome) {
        let reads = &mut self.active().reads;
        match outcome.into_members() {
            Some(Ok(users)) => {
                reads.forget(ReadKind::Members);
                let agents = cx.directory.agents_among(users);
                if let Err(refusal) = self.submit(cx, now, &Input::Members { ticket, agents }) {
                    tracing::debug!(channel = %self.id, %refusal, "a member list was refused");
                }
            }
            Some(Err(failure)) if failure.trouble() == Trouble::Definite => {
                reads.forget(ReadKind::Members);
                self.settled(cx, now, ticket, failure.settlement(now));
            }
            Some(Err(failure)) => {
                reads.back_off(ReadKind::Members, now, failure.retry_after);
            }
            None => {}
        }
    }

    fn polled(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        (ticket, after): (Ticket, Option<MessageId>),
        outcome: Outcome,
    ) {
        self.active().reads.forget(ReadKind::Poll);
        let settlement = match outcome.into_page() {
            Some(Ok(messages)) => {
                // Without an anchor everything is new, and only the speaker's words are looked for.
                let speaker = self.machine.view().speaker().map(Author::Agent);
                let (page, _) = page_after(messages, after, usize::from(PAGE));
                for message in page {
                    if after.is_some() || Some(cx.directory.author(&message)) == speaker {
                        self.note_own(message.id);
                        self.take_message(cx, now, message, false);
                    }
                }
                Settlement::Done { message: None }
            }
            Some(Err(failure)) => failure.settlement(now),
            None => return,
        };
        self.settled(cx, now, ticket, settlement);
    }

    /// A page of what was missed was read.
    fn gap_read(&mut self, cx: &Context<'_>, now: Timestamp, outcome: Outcome) {
        match outcome.into_page() {
            Some(Ok(messages)) => {
                let from = self.marks.gap_from().and_then(GapFrom::message);
                let (page, full) = page_after(messages, from, usize::from(PAGE));
                let last = page.back().map(|message| message.id);
                let before = self.marks.heard();
                self.take_page(cx, now, page);
                self.active().reads.forget(ReadKind::Gap);
                if !self.marks.read_page(last, full) {
                    self.want_gap();
                } else if self.marks.heard() != before {
                    self.commit.change();
                }
            }
            Some(Err(failure)) => {
                self.marks.read_failed();
                let refused = failure.trouble() == Trouble::Definite;
                let longest = if refused { READ_WAIT_REFUSED } else { READ_WAIT_MAX };
                let (reads, waits) = (&mut self.active().reads, (READ_WAIT, longest));
                reads.back_off_between(ReadKind::Gap, now, failure.retry_after, waits);
            }
            None => {}
        }
    }

    /// Takes what is new of a page that was read late.
    fn take_page(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        page: impl IntoIterator<Item = ChatMessage>,
    ) {
        let is_new = |message: &ChatMessage| {
            let is_ours = self.marks.is_ours(cx.chat.sent_at(message.id));
            is_ours && !self.marks.is_known(message.id)
        };
        let page: Vec<_> = page.into_iter().filter(is_new).collect();
        let mut newest_first = page.iter().rev();
        let acting = newest_first.find(|message| is_word_of_person(cx, message));
        let acting = acting.map(|message| message.id);
        for message in page {
            // It acts where it stands: what was said after a stop is kept for the resume.
            let acts = Some(message.id) == acting;
            if let Some(word) = self.take_backfilled(cx, now, message) {
                self.take_word(cx, now, &word, acts);
            }
        }
    }

    fn backfill_read(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        after: Option<MessageId>,
        outcome: Outcome,
    ) {
        self.active().reads.forget(ReadKind::Backfill);
        let Outcome::Page(messages) = outcome else {
            // The next round looks again.
            return;
        };
        if self.marks.has_gap() {
            return;
        }
        let (page, full) = page_after(messages, after, usize::from(PAGE));
        let last = page.back().map(|message| message.id);
        self.take_page(cx, now, page);
        self.marks.verify(last);
        if full && last.is_some() {
            self.active().reads.want(Read::Backfill(last), Stamp::default());
        }
    }

    /// What was said of late was read.
    fn context_read(&mut self, cx: &Context<'_>, now: Timestamp, outcome: Outcome) {
        match outcome.into_page() {
            Some(Ok(messages)) => {
                for message in messages {
                    let author = cx.directory.author(&message);
                    if message.kind != ChatKind::System {
                        self.remember(cx, message, author);
                    }
                }
                self.forgot = false;
                self.active().reads.context_known();
            }
            Some(Err(failure)) if failure.trouble() == Trouble::Definite => {
                tracing::warn!(channel = %self.id, kind = ?failure.kind, "recent messages could not be read");
                self.active().reads.give_context_up();
            }
            Some(Err(failure)) => {
                self.active().reads.back_off(ReadKind::Context, now, failure.retry_after);
            }
            None => {}
        }
    }

    /// A page of what an agent is to be handed was read.
    fn pending_read(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        read: PendingRead,
        outcome: Outcome,
    ) {
        let (id, is_first) = (self.id, read.after < read.first);
        let active = self.active();
        let (reads, is_out) = (&mut active.reads, active.chat.is_out());
        match outcome.into_page() {
            Some(Ok(page)) if is_first && page.is_empty() && cx.chat.may_be_hidden(id) => {
                reads.give_fetching_up();
            }
            Some(Ok(messages)) => reads.fetched(read, messages),
            Some(Err(failure)) => {
                let failed = reads.back_off(ReadKind::Pending, now, failure.retry_after);
                let is_over = failed >= PENDING_ATTEMPTS && !is_out;
                if is_over || failure.trouble() == Trouble::Definite {
                    reads.give_fetching_up();
                }
            }
            None => {}
        }
    }
}
