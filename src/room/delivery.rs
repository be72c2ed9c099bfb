//! Brings the next message of several into a channel exactly once: the next part of a reply, of a guide or of a result.
//!
//! Each attempt has the same nonce. If one gets no answer the message is in doubt, because it may stand in the channel. For
//! almost two minutes the chat surely remembers the nonce, so the message is simply posted again. Later, and after a restart,
//! it is looked for in the history first, and posted only if it is certainly not there.

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
    /// Start of the first attempt without an answer: since then the message may stand in the channel. `None` while it surely does not.
    pub(super) doubt: Option<Timestamp>,
    /// Time until which an attempt without an answer may still arrive.
    lands_until: Option<Timestamp>,
    search: Option<Search>,
}

/// Progress of the look for the message in the history.
#[derive(Clone, Copy, Debug)]
struct Search {
    /// The next page begins behind this message.
    after: MessageId,
    /// The page was empty. That proves little, because an account without the permission to read a history is shown an empty
    /// one. So the newest message is asked for next.
    may_be_hidden: bool,
    /// The newest message that the room knew of when the chat last showed none.
    heard: Option<MessageId>,
}

/// The next step for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Todo {
    /// Read the history behind this message, or its newest messages.
    Read { after: Option<MessageId>, limit: u8 },
    /// Post it, but not later than this, because the chat may forget its nonce then.
    Post { not_after: Timestamp },
}

/// Facts about the channel at the moment at which a page of it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChannelFacts {
    /// True if the account may lack the permission to read the history, so that an empty page does not count.
    pub(super) may_be_hidden: bool,
    /// The newest message that the room knows of in the channel.
    pub(super) newest: Option<MessageId>,
    /// True if the room hears the channel. If not, `newest` does not count.
    pub(super) is_heard: bool,
}

/// Result of reading a page of the history.
#[derive(Debug)]
pub(super) enum Looked {
    /// These messages are new and sorted, and there are more if the flag is set. The caller looks for its own among them,
    /// and then calls [`Delivery::looked_through`].
    Page(VecDeque<ChatMessage>, bool),
    /// The caller has nothing to look through.
    Nothing,
    /// The history was hidden when the page was read, or everything in it was deleted. The look begins anew.
    Unproven,
    /// The history is hidden: the chat does not show messages that the room has heard.
    Hidden,
}

impl Delivery {
    /// Takes up a message that an earlier process was posting. That process may have made an attempt just before it ended.
    pub(super) fn restored(doubt: Option<Timestamp>, now: Timestamp) -> Self {
        Self { doubt, lands_until: Some(now + LANDS_WITHIN), ..Self::default() }
    }

    /// Returns the next step, if an attempt is due. If the message is in the channel, it stands behind `behind`.
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

    /// Looks for the message, from this one on, before it is posted.
    pub(super) const fn search_behind(&mut self, after: MessageId) {
        self.search = Some(Search { after, may_be_hidden: false, heard: None });
    }

    pub(super) const fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// The message is in the channel. From now on this is the delivery of the one behind it.
    pub(super) fn posted(&mut self, id: MessageId) {
        (self.attempts, self.doubt, self.lands_until) = (Attempts::default(), None, None);
        if let Some(search) = &mut self.search {
            // The next one may have the same words, and must not be found in this one.
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

    /// Takes the page that [`Todo::Read`] asked for.
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

    /// Goes on after a page that ended with `last` and was looked through. The message that is still searched was not in it.
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
            // The room heard something before it asked, and the chat does not show it.
            return Looked::Hidden;
        }
        let heard = facts.newest.filter(|_| newest.is_none());
        self.search = Some(Search { heard, may_be_hidden: false, ..search });
        Looked::Unproven
    }

    /// The history was read to its end without finding the message, so it was not posted. An earlier attempt may still
    /// arrive for a while. Then the message stays in doubt, from now on, because its nonce is used now at the earliest.
    fn not_found(&mut self, now: Timestamp) {
        let may_land = self.lands_until.is_some_and(|until| now < until);
        self.doubt = may_land.then_some(now);
        (self.search, self.attempts) = (None, Attempts::default());
    }

    /// The history cannot be read. Returns true if the message is posted again, because the chat surely remembers its nonce.
    /// Later it would be posted on a guess.
    pub(super) fn unreadable(&mut self, now: Timestamp) -> bool {
        let may_repeat = self.doubt.is_none_or(|since| !is_forgotten(since, now));
        if may_repeat {
            self.search = None;
        }
        may_repeat
    }

    /// Shifts all times back after the clock was set back by `by`. The nonce of a message in doubt counts as forgotten then.
    pub(super) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
        self.lands_until = self.lands_until.map(|until| until.saturating_sub(by));
        self.doubt = self.doubt.map(|since| aged(since, by));
    }
}
