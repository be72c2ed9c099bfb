//! How the next of several messages gets into a channel exactly once: the next part of a reply, of a guide or of a result.
//!
//! It is posted with its nonce. If an attempt gets no answer the part is in doubt: it is posted again with the same nonce
//! while the chat surely remembers that, for almost two minutes. Later, and after a restart, it is looked for in the
//! history first, and posted only if it is certain that it is not there.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::attempts::{Attempts, Failure, LANDS_WITHIN, REPEAT_WITHIN, aged, is_forgotten};
use super::reads::{PAGE, page_after};
use crate::ChatMessage;
use crate::values::error::Certainty;

/// The attempts at the next message, and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) attempts: Attempts,
    /// Since when the message may stand in the channel: `None` while it surely does not.
    pub(super) doubt: Option<Timestamp>,
    /// Until when an attempt whose end is unknown may still arrive.
    lands_until: Option<Timestamp>,
    search: Option<Search>,
}

/// How far the look for the message got.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// What stands behind this message is read next.
    after: MessageId,
    /// Nothing stood there. Without the permission to read a history the chat shows an empty one, so it is
    /// asked for its newest message.
    may_be_hidden: bool,
    /// The newest message that the room knew of when the chat last showed none.
    heard: Option<MessageId>,
}

/// What is to be done for the message next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Todo {
    /// Read the history behind this message, or its newest messages.
    Read { after: Option<MessageId>, limit: u8 },
    /// Post it, but not later than this: then the chat may have forgotten its nonce.
    Post { not_after: Timestamp },
}

/// What is known of the channel when a page of it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelFacts {
    /// Whether an empty page proves nothing.
    pub(super) may_be_hidden: bool,
    /// The newest message that the room knows of; of a channel that it does not hear nothing is known.
    pub(super) newest: Option<MessageId>,
    pub(super) is_heard: bool,
}

/// What a page of the history says about the message.
#[derive(Debug)]
pub(super) enum Looked {
    /// It may be one of these, which are new and sorted; there may be more. [`Delivery::looked_through`] is to be told.
    Page(VecDeque<ChatMessage>, bool),
    /// It is not there, or the next page says more.
    Nothing,
    /// Something newer was hidden when the page was read, or everything was deleted: nothing is proven.
    Unproven,
    /// The chat hides what the room has heard.
    Hidden,
}

impl Delivery {
    /// A message that an earlier process was posting, in doubt since then. It may have made an attempt just before it ended.
    pub(super) fn restored(doubt: Option<Timestamp>, now: Timestamp) -> Self {
        Self { doubt, lands_until: Some(now + LANDS_WITHIN), ..Self::default() }
    }

    /// What is to be done next, if an attempt is due. `behind`: the message stands behind this one, if it stands anywhere.
    pub(super) fn todo(&mut self, now: Timestamp, behind: MessageId) -> Option<Todo> {
        if !self.attempts.is_due(now) {
            return None;
        }
        if self.search.is_none() && self.doubt.is_some_and(|since| is_forgotten(since, now)) {
            self.search_behind(behind);
        }
        Some(match self.search {
            Some(Search { may_be_hidden: true, .. }) => Todo::Read { after: None, limit: 1 },
            Some(Search { after, .. }) => Todo::Read { after: Some(after), limit: PAGE },
            None => Todo::Post { not_after: self.doubt.unwrap_or(now) + REPEAT_WITHIN },
        })
    }

    /// It is looked for before it is posted.
    pub(super) const fn search_behind(&mut self, after: MessageId) {
        self.search = Some(Search { after, may_be_hidden: false, heard: None });
    }

    pub(super) const fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// It is in the channel: from now on this is about the one behind it.
    pub(super) fn posted(&mut self, id: MessageId) {
        (self.attempts, self.doubt, self.lands_until) = (Attempts::default(), None, None);
        if let Some(search) = &mut self.search {
            // The next one may have the same words: what is this one is not that one, too.
            search.after = search.after.max(id);
        }
    }

    /// An attempt at it, or at looking for it, failed.
    pub(super) fn failed(&mut self, failure: &Failure) {
        if failure.certainty == Certainty::Unknown && self.search.is_none() {
            self.doubt.get_or_insert(failure.began);
            self.lands_until = self.lands_until.max(Some(failure.began + LANDS_WITHIN));
        }
    }

    /// What [`Todo::Read`] asked for was read.
    pub(super) fn page_read(
        &mut self,
        now: Timestamp,
        page: Vec<ChatMessage>,
        facts: &ChannelFacts,
    ) -> Looked {
        let Some(search) = self.search else {
            return Looked::Nothing;
        };
        if search.may_be_hidden {
            let newest = page.iter().map(|message| message.id).max();
            return self.newest_is(now, search, newest, facts);
        }
        let (page, is_full) = page_after(page, Some(search.after), usize::from(PAGE));
        if page.is_empty() {
            if facts.may_be_hidden {
                self.search = Some(Search { may_be_hidden: true, ..search });
            } else {
                self.not_found(now);
            }
            return Looked::Nothing;
        }
        Looked::Page(page, is_full)
    }

    /// Those messages were looked through, up to this one, and there may be more. What is still searched is not among them.
    pub(super) fn looked_through(&mut self, now: Timestamp, last: MessageId, is_full: bool) {
        if is_full {
            self.attempts = Attempts::default();
            self.search_behind(last);
        } else {
            self.not_found(now);
        }
    }

    /// The chat shows this message as its newest one, after a page that was empty.
    fn newest_is(
        &mut self,
        now: Timestamp,
        search: Search,
        newest: Option<MessageId>,
        facts: &ChannelFacts,
    ) -> Looked {
        let is_empty = match newest {
            Some(newest) => newest <= search.after,
            // As far as is known nothing was ever said.
            None => facts.is_heard && facts.newest.is_none(),
        };
        if is_empty {
            self.not_found(now);
            return Looked::Nothing;
        }
        if newest.is_none() && search.heard > Some(search.after) {
            // What was heard before the chat was asked is not shown.
            return Looked::Hidden;
        }
        let heard = facts.newest.filter(|_| newest.is_none());
        self.search = Some(Search { heard, may_be_hidden: false, ..search });
        Looked::Unproven
    }

    /// Read to its end: what is not there was not posted. While an earlier attempt may still arrive, its
    /// nonce is used now at the earliest.
    fn not_found(&mut self, now: Timestamp) {
        let may_land = self.lands_until.is_some_and(|until| now < until);
        self.doubt = may_land.then_some(now);
        (self.search, self.attempts) = (None, Attempts::default());
    }

    /// The history cannot be read. While the nonce is surely remembered the message is posted again with it; beyond that it
    /// would be posted on a guess. Returns whether it is posted again.
    pub(super) fn unreadable(&mut self, now: Timestamp) -> bool {
        let may_repeat = self.doubt.is_none_or(|since| !is_forgotten(since, now));
        if may_repeat {
            self.search = None;
        }
        may_repeat
    }

    /// Time went back by this much. The nonce of what is in doubt counts as forgotten.
    pub(super) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
        self.lands_until = self.lands_until.map(|until| until.saturating_sub(by));
        self.doubt = self.doubt.map(|since| aged(since, by));
    }
}
