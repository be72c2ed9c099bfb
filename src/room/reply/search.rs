//! A look for the next part of a reply in the channel's history.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::{AfterFailure, ReplyDelivery, ReplyStep};
use crate::record::channel::OutgoingPart;
use crate::room::attempts::{Attempts, is_forgotten};
use crate::room::context::ChatFacts;
use crate::room::marks::CLOCKS_APART;
use crate::room::reads::{PAGE, is_post, page_after};
use crate::{ChannelId, ChatMessage, UserId};

/// The first wait between two looks at a history that may be hidden.
const HIDDEN_WAIT: Duration = Duration::from_secs(1);
/// The longest one.
const HIDDEN_WAIT_MAX: Duration = Duration::from_secs(30);

/// How far the look got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// What stands behind this message is read next.
    pub(super) after: MessageId,
    /// Nothing stood there. Without the permission to read a history the chat shows an empty one, so it is
    /// asked for its newest message.
    may_be_hidden: bool,
    /// The newest message that the room knew of when the chat last showed none.
    heard: Option<MessageId>,
}

/// What is known of the chat when a page was read.
pub(crate) struct SearchFacts<'a> {
    pub(crate) chat: &'a dyn ChatFacts,
    pub(crate) channel: ChannelId,
    /// The account that posts the reply.
    pub(crate) account: Option<UserId>,
    /// The newest message that the room knows of.
    pub(crate) newest: Option<MessageId>,
}

impl Search {
    const fn behind(after: MessageId) -> Self {
        Self { after, may_be_hidden: false, heard: None }
    }

    pub(super) const fn step(self) -> ReplyStep {
        if self.may_be_hidden {
            ReplyStep::Read { after: None, limit: 1 }
        } else {
            ReplyStep::Read { after: Some(self.after), limit: PAGE }
        }
    }
}

impl ReplyDelivery {
    /// The next part may stand in the channel, and its nonce may be forgotten: it is looked for behind the
    /// last part that is known, or behind what was known before the first.
    pub(super) fn begin_search(&mut self) {
        let after = self.stored.after.max(super::newest_posted(&self.stored));
        self.search = Some(Search::behind(after.unwrap_or(MessageId::new(0))));
    }

    /// What the search asked for was read. Parts that stand there count as posted, in their order. Returns
    /// those that were found; `None` where the history is hidden.
    pub(crate) fn searched(
        &mut self,
        now: Timestamp,
        page: Vec<ChatMessage>,
        facts: &SearchFacts<'_>,
    ) -> Option<Vec<(MessageId, Arc<str>)>> {
        let search = self.search?;
        if search.may_be_hidden {
            let newest = page.iter().map(|message| message.id).max();
            return self.newest_is(now, search, newest, facts).then(Vec::new);
        }
        let (page, full) = page_after(page, Some(search.after), usize::from(PAGE));
        let Some(last) = page.back().map(|message| message.id) else {
            if facts.chat.may_be_hidden(facts.channel) {
                self.search = Some(Search { may_be_hidden: true, ..search });
            } else {
                self.not_found(now);
            }
            return Some(Vec::new());
        };
        let found = self.look_through(page.iter(), facts);
        if full {
            self.attempts = Attempts::default();
            self.search = Some(Search::behind(last));
        } else {
            self.not_found(now);
        }
        Some(found)
    }

    fn look_through<'a>(
        &mut self,
        page: impl Iterator<Item = &'a ChatMessage>,
        facts: &SearchFacts<'_>,
    ) -> Vec<(MessageId, Arc<str>)> {
        let mut found = Vec::new();
        for message in page.filter(|message| Some(message.author) == facts.account) {
            let is_part = |part: &OutgoingPart| {
                let embeds = self.stored.embeds(part);
                is_post(message, (&part.content, embeds), &part.nonce)
            };
            let is_it =
                self.next_part().is_some_and(is_part) && !self.is_older(message.id, facts.chat);
            if let Some(content) = is_it.then(|| self.posted(message.id)).flatten() {
                if self.is_whole() {
                    self.found_last(message);
                }
                found.push((message.id, content));
            }
        }
        found
    }

    /// Whether a message was said before the agent had answered, where no message is known that the parts
    /// stand behind.
    fn is_older(&self, message: MessageId, chat: &dyn ChatFacts) -> bool {
        let composed_at = self.stored.composed_at.filter(|_| self.stored.after.is_none());
        composed_at.is_some_and(|at| chat.sent_at(message) + CLOCKS_APART < at)
    }

    /// The chat shows this message as its newest one, after a page that was empty. Returns whether the part
    /// may still be found, or need not be.
    fn newest_is(
        &mut self,
        now: Timestamp,
        search: Search,
        newest: Option<MessageId>,
        facts: &SearchFacts<'_>,
    ) -> bool {
        let is_empty = match newest {
            Some(newest) => newest <= search.after,
            // As far as is known nothing was ever said.
            None => facts.newest.is_none(),
        };
        if is_empty {
            self.not_found(now);
            return true;
        }
        if newest.is_none() && search.heard > Some(search.after) {
            // What was heard before the chat was asked is not shown.
            return false;
        }
        // Where something newer is shown now, it was hidden when the page was read. Otherwise the history may
        // be hidden still, or everything was deleted.
        let heard = facts.newest.filter(|_| newest.is_none());
        self.search = Some(Search { heard, ..Search::behind(search.after) });
        if self.unreadable(now) == AfterFailure::GiveUp {
            Arc::make_mut(&mut self.stored).waiting_since.get_or_insert(now);
            self.attempts.back_off_between(now, None, HIDDEN_WAIT, HIDDEN_WAIT_MAX);
        }
        true
    }

    /// Read to its end: what is not there was not posted. While an earlier attempt may still arrive, its
    /// nonce is used now at the earliest.
    fn not_found(&mut self, now: Timestamp) {
        let may_land = self.lands_until.is_some_and(|until| now < until);
        Arc::make_mut(&mut self.stored).doubt_since = may_land.then_some(now);
        (self.search, self.attempts) = (None, Attempts::default());
    }

    /// The history cannot be read. While the nonce is surely remembered the part is posted again with it;
    /// beyond that it would be posted on a guess.
    pub(crate) fn unreadable(&mut self, now: Timestamp) -> AfterFailure {
        match self.stored.doubt_since {
            Some(since) if is_forgotten(since, now) => AfterFailure::GiveUp,
            Some(_) | None => {
                self.search = None;
                AfterFailure::Retry
            }
        }
    }
}
