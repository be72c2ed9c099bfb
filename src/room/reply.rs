//! A hosted reply on its way into the channel, part by part.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{AgentKey, MessageId, RunId, Timestamp, TurnId};

use super::attempts::{Attempts, Failure, REPEAT_WITHIN, Trouble, is_forgotten};
use super::commit::Stamp;
use crate::split::split_reply;
use crate::{Certainty, ChannelId, ChatMessage, Nonce, Outgoing, OutgoingPart, ReplyEnd, UserId};

/// Keeps the nonces of replies apart from those of effects.
const REPLIES: u64 = 1 << 35;
/// How many bits of a nonce's number count the parts.
const PART_BITS: u32 = 14;

/// A reply being delivered. What survives a restart is in `stored`.
#[derive(Debug)]
pub(crate) struct ReplyDelivery {
    stored: Arc<Outgoing>,
    /// The newest message when the agent was called: every part stands behind it.
    anchor: Option<MessageId>,
    /// What must be committed before the next part leaves.
    stamp: Stamp,
    attempts: Attempts,
    /// The next part may stand in the channel already, and its nonce may be forgotten: it is looked for
    /// first.
    search: Option<Search>,
}

/// A look for the next part in the history, behind this message. It is read itself, too: a history without it
/// may be one that is hidden.
#[derive(Clone, Copy, Debug)]
struct Search {
    after: Option<MessageId>,
}

/// What is to be done for a reply next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplyStep {
    /// Read what stands behind this message, and look for the next part.
    Find { after: Option<MessageId> },
    /// Post the next part.
    Post { content: String, nonce: Nonce, not_after: Option<Timestamp> },
}

/// What becomes of a reply after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// It is tried again.
    Retry,
    /// It cannot be delivered.
    GiveUp,
}

/// Cuts an agent's words into the parts of a reply.
pub(crate) fn compose(
    channel: ChannelId,
    (agent, turn, run): (AgentKey, TurnId, RunId),
    words: &str,
    end: ReplyEnd,
    now: Timestamp,
) -> Outgoing {
    let run_bits = (run.get() & 0xf_ffff) << PART_BITS;
    let parts = split_reply(words).into_iter().zip(0_u64..1 << PART_BITS);
    let parts = parts.map(|(content, number)| {
        let number = REPLIES | run_bits | number;
        let nonce = Nonce::from_parts(channel.get(), now.as_millis(), number);
        OutgoingPart { content, nonce, posted: None }
    });
    let parts = parts.collect();
    Outgoing { agent, turn, run, end, parts, doubt_since: None, waiting_since: None }
}

impl ReplyDelivery {
    pub(crate) fn new(outgoing: Outgoing, anchor: Option<MessageId>, stamp: Stamp) -> Self {
        let (stored, attempts) = (Arc::new(outgoing), Attempts::default());
        Self { stored, anchor, stamp, attempts, search: None }
    }

    /// A reply that an earlier process was delivering. Its next part may have arrived unseen: it is looked
    /// for behind the last part that is known, or behind the anchor.
    pub(crate) fn restored(
        mut stored: Arc<Outgoing>,
        anchor: Option<MessageId>,
        stored_at: Timestamp,
    ) -> Self {
        let after = anchor.max(newest_posted(&stored));
        Arc::make_mut(&mut stored).doubt_since.get_or_insert(stored_at);
        let (stamp, attempts) = (Stamp::default(), Attempts::default());
        Self { stored, anchor, stamp, attempts, search: Some(Search { after }) }
    }

    pub(crate) const fn stored(&self) -> &Arc<Outgoing> {
        &self.stored
    }

    pub(crate) const fn stamp(&self) -> Stamp {
        self.stamp
    }

    pub(crate) const fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    /// Whether any part is in the channel.
    pub(crate) fn is_posted(&self) -> bool {
        newest_posted(&self.stored).is_some()
    }

    /// Whether every part is in the channel.
    pub(crate) fn is_whole(&self) -> bool {
        self.next_part().is_none()
    }

    /// The messages of the parts that are in the channel.
    pub(crate) fn posted_messages(&self) -> Vec<MessageId> {
        self.stored.parts.iter().filter_map(|part| part.posted).collect()
    }

    /// The words of the parts that are not in the channel.
    pub(crate) fn remaining_words(&self) -> String {
        let rest = self.stored.parts.iter().filter(|part| part.posted.is_none());
        rest.map(|part| part.content.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn next_part(&self) -> Option<&OutgoingPart> {
        self.stored.parts.iter().find(|part| part.posted.is_none())
    }

    /// What is to be done next, when an attempt is due.
    pub(crate) fn next_step(&mut self, now: Timestamp) -> Option<ReplyStep> {
        if !self.attempts.is_due(now) {
            return None;
        }
        let doubt = self.stored.doubt_since;
        if self.search.is_none() && doubt.is_some_and(|since| is_forgotten(since, now)) {
            let after = self.anchor.max(newest_posted(&self.stored));
            self.search = Some(Search { after });
        }
        if let Some(Search { after }) = self.search {
            let before = |id: MessageId| MessageId::new(id.get().saturating_sub(1));
            return Some(ReplyStep::Find { after: after.map(before) });
        }
        let part = self.next_part()?;
        let not_after = doubt.map(|since| since + REPEAT_WITHIN);
        let (content, nonce) = (part.content.clone(), part.nonce.clone());
        Some(ReplyStep::Post { content, nonce, not_after })
    }

    /// The next part is in the channel. `stamp` is what must be stored before the part after it.
    pub(crate) fn posted(&mut self, id: MessageId) -> Option<OutgoingPart> {
        let stored = Arc::make_mut(&mut self.stored);
        stored.doubt_since = None;
        stored.waiting_since = None;
        self.attempts = Attempts::default();
        if let Some(search) = &mut self.search {
            // The next part may have the same words: what is this one is not that one, too.
            search.after = search.after.max(Some(id));
        }
        let part = stored.parts.iter_mut().find(|part| part.posted.is_none())?;
        part.posted = Some(id);
        Some(part.clone())
    }

    /// What changed is to be stored before the next part leaves.
    pub(crate) const fn needs(&mut self, stamp: Stamp) {
        self.stamp = stamp;
    }

    /// A page of the search was read, oldest first. Parts that stand there count as posted, in their
    /// order. Returns those that were found.
    pub(crate) fn searched(
        &mut self,
        page: &[ChatMessage],
        full: bool,
        account: Option<UserId>,
    ) -> Vec<(MessageId, OutgoingPart)> {
        let mut found = Vec::new();
        let after = self.search.and_then(|search| search.after);
        for message in page.iter().filter(|message| Some(message.id) > after) {
            let is_it = self.next_part().is_some_and(|part| is_part(message, part, account));
            if is_it {
                if let Some(part) = self.posted(message.id) {
                    found.push((message.id, part));
                }
            }
        }
        let last = page.last().map(|message| message.id);
        self.search = full.then_some(Search { after: after.max(last) });
        self.attempts = Attempts::default();
        if self.search.is_none() {
            // Read to its end: what is not there was not posted.
            Arc::make_mut(&mut self.stored).doubt_since = None;
        }
        found
    }

    /// An attempt failed. Says whether the reply is tried on.
    pub(crate) fn failed(&mut self, now: Timestamp, failure: &Failure) -> AfterFailure {
        if failure.certainty == Certainty::Unknown && self.search.is_none() {
            let stored = Arc::make_mut(&mut self.stored);
            stored.doubt_since.get_or_insert(failure.began);
        }
        if failure.is_final() {
            return AfterFailure::GiveUp;
        }
        if failure.trouble() == Trouble::Away {
            Arc::make_mut(&mut self.stored).waiting_since.get_or_insert(now);
        }
        self.attempts.back_off(now, failure.retry_after);
        AfterFailure::Retry
    }

    /// The history cannot be read, or may be hidden. While the nonce is surely remembered the part is posted again with it;
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

    /// The chat answers again: the next attempt may be made at once.
    pub(crate) const fn hurry(&mut self) {
        self.attempts.hurry();
    }

    pub(crate) const fn wait_until(&mut self, at: Timestamp) {
        self.attempts.wait_until(at);
    }

    /// The wait for the chat begins anew. Returns whether there was one.
    pub(crate) fn resume(&mut self, now: Timestamp) -> bool {
        let waits = self.stored.waiting_since.is_some();
        if waits {
            Arc::make_mut(&mut self.stored).waiting_since = Some(now);
        }
        waits
    }

    /// The process was down for this long: that is no time that the reply waited for the chat.
    pub(crate) fn was_down(&mut self, down: Duration) {
        if let Some(since) = self.stored.waiting_since {
            Arc::make_mut(&mut self.stored).waiting_since = Some(since + down);
        }
    }

    /// Time went back by this much. What is in doubt stays so since when it was: that ages a nonce.
    pub(crate) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
        if let Some(since) = self.stored.waiting_since {
            Arc::make_mut(&mut self.stored).waiting_since = Some(since.saturating_sub(by));
        }
    }
}

/// The newest of a reply's messages that are known to be in the channel.
fn newest_posted(outgoing: &Outgoing) -> Option<MessageId> {
    outgoing.parts.iter().filter_map(|part| part.posted).max()
}

/// Whether this message is that part of a reply: from the same account, by its nonce or by its words.
fn is_part(message: &ChatMessage, part: &OutgoingPart, account: Option<UserId>) -> bool {
    let has_nonce = message.nonce.as_deref() == Some(part.nonce.as_str());
    let has_words = message.content.trim() == part.content.trim();
    Some(message.author) == account && (has_nonce || has_words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AuthorKind, ChatKind};

    const AUTHOR: UserId = UserId::new(7);

    fn message(id: u64, content: &str) -> ChatMessage {
        ChatMessage {
            id: MessageId::new(id),
            channel: ChannelId::new(1),
            author: AUTHOR,
            author_kind: AuthorKind::Bot,
            kind: ChatKind::Default,
            content: content.to_owned(),
            has_attachments: false,
            nonce: None,
        }
    }

    #[test]
    fn a_part_that_an_event_told_of_is_not_found_again_as_the_next_one_with_the_same_words() {
        let now = Timestamp::from_millis(1_000_000);
        let words = "x".repeat(5_000);
        let of = (AgentKey::new(2), TurnId::new(1), RunId::new(3));
        let stored = compose(ChannelId::new(1), of, &words, ReplyEnd::Finished, now);
        let mut reply = ReplyDelivery::restored(Arc::new(stored), None, now);
        assert!(matches!(reply.next_step(now), Some(ReplyStep::Find { .. })));
        let first = reply.posted(MessageId::new(10)).map(|part| part.content).unwrap();
        let page = [message(10, &first)];
        assert_eq!(reply.searched(&page, false, Some(AUTHOR)), []);
        assert_eq!(reply.posted_messages(), [MessageId::new(10)]);
    }
}
