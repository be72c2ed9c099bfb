//! What is read of the channel's history, and why.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::requests::Single;
use crate::ChatMessage;

/// The first wait before a read of what was missed is tried again.
pub(crate) const READ_WAIT: Duration = Duration::from_secs(1);
/// How long a call waits for what was said of late, and for what its agent is to be handed.
pub(crate) const CONTEXT_MAX: Duration = Duration::from_secs(10);

/// The reads of a room: one of each kind at a time.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    /// What was missed during a gap.
    pub(crate) gap: Single<()>,
    /// What may have been lost without notice, after this message.
    pub(crate) backfill: Single<Option<MessageId>>,
    /// What was said of late, where it is not in memory.
    pub(crate) context: Single<()>,
    /// Until when calls wait for it.
    pub(crate) context_until: Option<Timestamp>,
    /// The agent that is next does without what was said before; the one after it has it read again.
    pub(crate) skip_context: bool,
    /// What an agent is to be handed, where that is not in memory.
    pub(crate) pending: Single<PendingRead>,
    /// Until when a call waits for it.
    pub(crate) pending_until: Option<Timestamp>,
    /// What was read for that.
    pub(crate) fetched: Option<Fetched>,
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
    pub(crate) first: MessageId,
    pub(crate) last: MessageId,
    pub(crate) messages: Vec<Arc<ChatMessage>>,
    /// Whether nothing more is read: the history's end was reached, or it cannot be read.
    pub(crate) is_complete: bool,
}

impl Reads {
    /// Messages of this range are to be read, unless that is under way.
    pub(crate) fn fetch(&mut self, first: MessageId, last: MessageId) {
        let wanted = self.pending.wanted();
        if wanted.is_none_or(|wanted| wanted.first > first || wanted.last < last) {
            let after = MessageId::new(first.get().saturating_sub(1));
            self.pending.want(PendingRead { first, last, after });
            self.fetched = Some(Fetched { first, last, messages: Vec::new(), is_complete: false });
        } else if self.fetched.is_none() {
            self.fetched = Some(Fetched { first, last, messages: Vec::new(), is_complete: false });
        }
    }

    /// What was said of late cannot be read: the agent that is next does without.
    pub(crate) fn give_context_up(&mut self) {
        self.skip_context = true;
        self.context_until = None;
        self.context.forget();
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.gap.is_idle()
            && self.backfill.is_idle()
            && self.context.is_idle()
            && self.pending.is_idle()
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let moments = [
            self.gap.next_at(),
            self.backfill.next_at(),
            self.context.next_at(),
            self.pending.next_at(),
            self.context_until,
            self.pending_until,
        ];
        moments.into_iter().flatten().min()
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        self.gap.move_back(by);
        self.backfill.move_back(by);
        self.context.move_back(by);
        self.pending.move_back(by);
        for until in [&mut self.context_until, &mut self.pending_until] {
            *until = until.map(|until| until.saturating_sub(by));
        }
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
