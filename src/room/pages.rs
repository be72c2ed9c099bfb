//! Handles pages of messages that were read from the chat.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::view::Span;
use dirigent_core::{Author, Input, MessageId, Settlement, Ticket};

use super::action::Outcome;
use super::attempts::Trouble;
use super::commit::Stamp;
use super::hearing::{is_handed, is_word_of_person};
use super::reads::{PAGE, READ_WAIT, Read, ReadKind, page_after};
use super::step::Step;
use crate::ChatMessage;
use crate::record::channel::GapFrom;

const READ_WAIT_MAX: Duration = Duration::from_secs(10);
/// The longest wait if the chat refuses the read.
const READ_WAIT_REFUSED: Duration = Duration::from_secs(600);
/// The number of failed attempts after which an agent is called without the messages that could not be read for it.
/// Attempts do not count while the chat is away.
const WORDS_ATTEMPTS: u32 = 4;

impl Step<'_> {
    pub(super) fn read_ended(&mut self, read: Read, outcome: Outcome) {
        match read {
            Read::Members(ticket) => self.members_read(ticket, outcome),
            Read::Gap => self.gap_read(outcome),
            Read::Words(span) => self.words_read(span, outcome),
            Read::Backfill(after) => self.backfill_read(after, outcome),
            Read::Poll { ticket, after } => self.polled(ticket, after, outcome),
        }
    }

    fn members_read(&mut self, ticket: Ticket, outcome: Outcome) {
        let Self { cx, now, turns, lanes, .. } = self;
        match outcome.into_members() {
            Some(Ok(users)) => {
                lanes.reads.forget(ReadKind::Members);
                let mut agents = cx.directory.agents_among(users);
                if agents.len() > AGENTS_MAX {
                    // The machine refuses such a list, and without a list no agent may speak at all.
                    let (channel, present) = (turns.channel, agents.len());
                    tracing::warn!(%channel, present, "more agents than {AGENTS_MAX} see a channel: the others have no turns there");
                    agents.truncate(AGENTS_MAX);
                }
                let members = Input::Members { ticket, agents };
                if let Err(refusal) = turns.submit(cx, *now, &members) {
                    let channel = turns.channel;
                    tracing::debug!(%channel, %refusal, "a member list was refused");
                }
            }
            // The machine goes on with the list that it has, or denies every run if it never had one.
            Some(Err(failure)) if failure.trouble() == Trouble::Definite => {
                lanes.reads.forget(ReadKind::Members);
                let settlement = failure.settlement(*now);
                self.settled(ticket, settlement);
            }
            Some(Err(failure)) => {
                lanes.reads.back_off(ReadKind::Members, *now, failure.retry_after);
            }
            None => {}
        }
    }

    fn polled(&mut self, ticket: Ticket, after: Option<MessageId>, outcome: Outcome) {
        self.lanes.reads.forget(ReadKind::Poll);
        let settlement = match outcome.into_page() {
            Some(Ok(messages)) => {
                // Without an anchor everything is new, and only the speaker's messages are needed.
                let speaker = self.turns.view().speaker().map(Author::Agent);
                let (page, _) = page_after(messages, after, usize::from(PAGE));
                for message in page {
                    let author = self.cx.directory.author(&message);
                    if after.is_some() || Some(author) == speaker {
                        let is_known = self.marks.is_known(message.id);
                        self.note_own(message.id);
                        self.take_message(message, false, is_known);
                    }
                }
                Settlement::Done { message: None }
            }
            Some(Err(failure)) => failure.settlement(self.now),
            None => return,
        };
        self.settled(ticket, settlement);
    }

    fn gap_read(&mut self, outcome: Outcome) {
        match outcome.into_page() {
            Some(Ok(messages)) => {
                let from = self.marks.gap_from().and_then(GapFrom::message);
                let (page, full) = page_after(messages, from, usize::from(PAGE));
                let last = page.back().map(|message| message.id);
                let before = self.marks.heard();
                self.take_page(page);
                let Self { turns, marks, lanes, .. } = self;
                lanes.reads.forget(ReadKind::Gap);
                // A full page has more behind it, and another gap may have opened meanwhile.
                if !marks.read_page(last, full) {
                    lanes.reads.want_gap();
                } else if marks.heard() != before {
                    turns.commit.change();
                }
            }
            Some(Err(failure)) => {
                let Self { now, marks, lanes, .. } = self;
                marks.read_failed();
                // A right may come back at any time, but refused requests count towards a ban, so they are made seldom.
                let refused = failure.trouble() == Trouble::Definite;
                let longest = if refused { READ_WAIT_REFUSED } else { READ_WAIT_MAX };
                let waits = (READ_WAIT, longest);
                lanes.reads.back_off_between(ReadKind::Gap, *now, failure.retry_after, waits);
            }
            None => {}
        }
    }

    /// Handles the new messages of a page that was read late.
    fn take_page(&mut self, page: impl IntoIterator<Item = ChatMessage>) {
        let Self { cx, marks, .. } = self;
        // A message from before the channel's mode belongs to no conversation here.
        let is_new = |message: &ChatMessage| {
            marks.is_ours(cx.chat.sent_at(message.id)) && !marks.is_known(message.id)
        };
        let page: Vec<_> = page.into_iter().filter(is_new).collect();
        // A person who stops and resumes while nothing is heard means the newest word.
        let mut newest_first = page.iter().rev();
        let acting = newest_first.find(|message| is_word_of_person(cx, message));
        let acting = acting.map(|message| message.id);
        for message in page {
            // It acts at its place, because messages after a stop are kept for the resume.
            let acts = Some(message.id) == acting;
            let late = self.hear_late(message, acts);
            self.sort();
            self.hold(late);
        }
    }

    fn backfill_read(&mut self, after: Option<MessageId>, outcome: Outcome) {
        self.lanes.reads.forget(ReadKind::Backfill);
        let Outcome::Page(messages) = outcome else {
            // The next round looks again.
            return self.history_read(false);
        };
        // The read of the gap covers all of this, and knows from where.
        if self.marks.has_gap() {
            return;
        }
        let (page, full) = page_after(messages, after, usize::from(PAGE));
        let last = page.back().map(|message| message.id);
        self.take_page(page);
        self.marks.verify(last);
        if full && last.is_some() {
            self.lanes.reads.want(Read::Backfill(last), Stamp::default());
        } else {
            self.history_read(true);
        }
    }

    fn words_read(&mut self, span: Span, outcome: Outcome) {
        let Self { cx, now, turns, marks, lanes, .. } = self;
        let (reads, is_out) = (&mut lanes.reads, lanes.chat.is_out());
        match outcome.into_page() {
            // An empty page of a hidden history once counted as "nothing was said", and words were lost.
            Some(Ok(page)) if page.is_empty() && cx.chat.may_be_hidden(turns.channel) => {
                reads.give_words_up();
            }
            Some(Ok(messages)) => {
                reads.forget(ReadKind::Words);
                let before = MessageId::new(span.first.get().saturating_sub(1));
                let (page, full) = page_after(messages, Some(before), usize::from(PAGE));
                let last = page.back().map(|message| message.id).filter(|_| full);
                let last = last.map_or(span.last, |last| last.min(span.last));
                let mut said = Vec::with_capacity(page.len());
                for mut message in page.into_iter().take_while(|message| message.id <= last) {
                    let author = cx.directory.author(&message);
                    // A message that was not heard yet is handled as an event first, and counts there.
                    if marks.is_known(message.id) && is_handed(cx, &message, author) {
                        cx.directory.name_author(&mut message, author);
                        said.push(Arc::new(message));
                    }
                }
                lanes.inbox.texts_mut().read(Span { last, ..span }, said);
            }
            Some(Err(failure)) => {
                let failed = reads.back_off(ReadKind::Words, *now, failure.retry_after);
                let is_over = failed >= WORDS_ATTEMPTS && !is_out;
                if is_over || failure.trouble() == Trouble::Definite {
                    // A turn must not wait for ever for messages that the chat does not return.
                    let (channel, kind) = (turns.channel, failure.kind);
                    tracing::warn!(%channel, ?kind, "what an agent is to be handed cannot be read: its turn begins without");
                    reads.give_words_up();
                }
            }
            None => {}
        }
    }

    /// Drops reads that are no longer needed. A read of the machine is settled.
    pub(super) fn drop_unwanted_reads(&mut self) -> bool {
        let Self { turns, marks, lanes, .. } = self;
        if lanes.reads.is_idle() {
            return false;
        }
        // Only the machine's reads have a ticket that it waits for.
        let unwanted = [ReadKind::Members, ReadKind::Poll].into_iter().find_map(|kind| {
            let effect = lanes.reads.wanted(kind).and_then(Read::effect);
            let effect = effect.filter(|effect| !turns.machine.wants(effect))?;
            Some((kind, effect.ticket()?))
        });
        if lanes.reads.wanted(ReadKind::Gap).is_some() && !marks.has_gap() {
            self.lanes.reads.forget(ReadKind::Gap);
        }
        if let Some((kind, ticket)) = unwanted {
            self.lanes.reads.forget(kind);
            self.settled(ticket, Settlement::Dropped);
        }
        unwanted.is_some()
    }
}
