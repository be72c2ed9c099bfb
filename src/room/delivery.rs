//! Brings the next message of several into a channel exactly once: the next part of a reply, of a guide or of a result.
//!
//! Each attempt has the same nonce. If an attempt gets no answer, the message is in doubt, because it may be in the
//! channel. For almost two minutes the chat surely remembers the nonce, so the message is simply posted again. Later,
//! and after a restart, the library first looks for it in the history, and posts it only if it is certainly not there.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::attempts::{Attempts, Failure, LANDS_WITHIN, REPEAT_WITHIN, aged, is_forgotten};
use super::reads::{PAGE, page_after};
use crate::ChatMessage;
use crate::values::error::Certainty;

/// The attempts at the next message, and the doubt that they left.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) attempts: Attempts,
    /// The start of the first attempt without an answer. The message may be in the channel since then. `None` while it
    /// surely is not.
    pub(super) doubt: Option<Timestamp>,
    /// The time until which an attempt without an answer may still arrive.
    lands_until: Option<Timestamp>,
    search: Option<Search>,
}

/// The progress of the search for the message in the history.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// The message after which the next page begins.
    after: MessageId,
    /// `true` if the page was empty. That proves little, because an account without the permission to read a history
    /// gets an empty page. For this reason the newest message is requested next.
    may_be_hidden: bool,
    /// The newest message that the room knew when the chat last showed none.
    heard: Option<MessageId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Todo {
    /// Read the history behind this message, or its newest messages.
    Read { after: Option<MessageId>, limit: u8 },
    /// Post the message, but not later than this, because the chat may forget its nonce then.
    Post { not_after: Timestamp },
}

/// Facts about the channel at the moment when a page of it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelFacts {
    /// `true` if the account may lack the permission to read the history, so that an empty page does not count.
    pub(super) may_be_hidden: bool,
    pub(super) newest: Option<MessageId>,
    /// `true` if the room hears the channel. Otherwise `newest` does not count.
    pub(super) is_heard: bool,
}

#[derive(Debug)]
pub(super) enum Looked {
    /// These messages are new and sorted, and the flag says that there are more. The caller looks for its own among
    /// them, and then calls [`Delivery::looked_through`].
    Page(VecDeque<ChatMessage>, bool),
    /// There are no messages for the caller.
    Nothing,
    /// The history was hidden when the page was read, or all of its messages were deleted. The search begins again.
    Unproven,
    /// The history is hidden, because the chat does not show messages that the room has heard.
    Hidden,
}

impl Delivery {
    /// Continues with a message that an earlier process was posting, and may have tried just before its end.
    pub(super) fn restored(doubt: Option<Timestamp>, now: Timestamp) -> Self {
        Self { doubt, lands_until: Some(now + LANDS_WITHIN), ..Self::default() }
    }

    /// Returns the next step, if an attempt is due. If the message is in the channel, it is behind `behind`.
    pub(super) fn todo(&mut self, now: Timestamp, behind: MessageId) -> Option<Todo> {
        if !self.attempts.is_due(now) {
            return None;
        }
        // Beyond two minutes the chat may post a second copy instead of recognising the nonce, so the history decides.
        if self.search.is_none() && self.doubt.is_some_and(|since| is_forgotten(since, now)) {
            self.search_behind(behind);
        }
        Some(match self.search {
            // An empty page is no proof yet. The newest message shows whether the history can be read at all.
            Some(Search { may_be_hidden: true, .. }) => Todo::Read { after: None, limit: 1 },
            Some(Search { after, .. }) => Todo::Read { after: Some(after), limit: PAGE },
            None => Todo::Post { not_after: self.doubt.unwrap_or(now) + REPEAT_WITHIN },
        })
    }

    /// Searches for the message behind this one before it is posted.
    pub(super) const fn search_behind(&mut self, after: MessageId) {
        self.search = Some(Search { after, may_be_hidden: false, heard: None });
    }

    pub(super) const fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// Records that the message is in the channel. From now on this is the delivery of the next one.
    pub(super) fn posted(&mut self, id: MessageId) {
        (self.attempts, self.doubt, self.lands_until) = (Attempts::default(), None, None);
        if let Some(search) = &mut self.search {
            // The next message may have the same words, and the search must not find this one instead.
            search.after = search.after.max(id);
        }
    }

    /// Records that an attempt to post or to find the message failed.
    pub(super) fn failed(&mut self, failure: &Failure) {
        // A search posts nothing, so its failures leave no doubt.
        if failure.certainty == Certainty::Unknown && self.search.is_none() {
            self.doubt.get_or_insert(failure.began);
            self.lands_until = self.lands_until.max(Some(failure.began + LANDS_WITHIN));
        }
    }

    /// Handles the page that [`Todo::Read`] asked for.
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
            // A chat that hides the history answers with an empty page. Taken as proof, it posted a part twice.
            if facts.may_be_hidden {
                self.search = Some(Search { may_be_hidden: true, ..search });
            } else {
                self.not_found(now);
            }
            return Looked::Nothing;
        }
        Looked::Page(page, is_full)
    }

    /// Continues after a page that ended with `last` and did not contain the message.
    pub(super) fn looked_through(&mut self, now: Timestamp, last: MessageId, is_full: bool) {
        if is_full {
            self.attempts = Attempts::default();
            self.search_behind(last);
        } else {
            self.not_found(now);
        }
    }

    /// Compares the newest message that the chat shows with a page that was empty.
    fn newest_is(
        &mut self,
        now: Timestamp,
        search: Search,
        newest: Option<MessageId>,
        facts: &ChannelFacts,
    ) -> Looked {
        let is_empty = match newest {
            Some(newest) => newest <= search.after,
            // As far as the room knows, the channel is empty.
            None => facts.is_heard && facts.newest.is_none(),
        };
        if is_empty {
            self.not_found(now);
            return Looked::Nothing;
        }
        if newest.is_none() && search.heard > Some(search.after) {
            // The room heard a message before it asked, and the chat does not show it. Waiting longer kept a person
            // without an answer for an hour.
            return Looked::Hidden;
        }
        let heard = facts.newest.filter(|_| newest.is_none());
        self.search = Some(Search { heard, may_be_hidden: false, ..search });
        Looked::Unproven
    }

    /// Handles the end of a history without the message, so that it was not posted. An earlier attempt may still arrive
    /// for a while. In that case the message stays in doubt, from now on, because its nonce is used now at the
    /// earliest.
    fn not_found(&mut self, now: Timestamp) {
        let may_land = self.lands_until.is_some_and(|until| now < until);
        self.doubt = may_land.then_some(now);
        (self.search, self.attempts) = (None, Attempts::default());
    }

    /// Handles a history that cannot be read. Returns `true` if the message is posted again, because the chat surely
    /// remembers its nonce. Later a post would be a guess.
    pub(super) fn unreadable(&mut self, now: Timestamp) -> bool {
        let may_repeat = self.doubt.is_none_or(|since| !is_forgotten(since, now));
        if may_repeat {
            self.search = None;
        }
        may_repeat
    }

    /// Shifts all times back after the clock was set back by `by`. The nonce in doubt then counts as forgotten.
    pub(super) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
        self.lands_until = self.lands_until.map(|until| until.saturating_sub(by));
        self.doubt = self.doubt.map(|since| aged(since, by));
    }
}
