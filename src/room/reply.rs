//! A hosted reply on its way into the channel, part by part.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{AgentKey, Author, MessageId, RunId, Timestamp, TurnId};

use super::action::ActionId;
use super::attempts::{Attempts, Failure, Trouble};
use super::beside::Beside;
use super::commit::Stamp;
use super::context::ChatFacts;
use super::delivery::{ChannelFacts, Delivery, Looked, Todo};
use super::marks::CLOCKS_APART;
use super::reads::is_post;
use crate::ports::discord::{Mentions, Post};
use crate::record::channel::{Outgoing, OutgoingPart, ReplyEnd};
use crate::text::split::{is_one_message, split_up_to};
use crate::values::error::ErrorKind;
use crate::values::extras::Extras;
use crate::values::message::{Began, Nonce};
use crate::values::reply_file::ReplyFile;
use crate::{ChannelId, ChatMessage, Settings, UserId};

/// The number of bits of a nonce's number that count the parts.
const PART_BITS: u32 = 14;

/// A reply that is being delivered. `stored` has the part of it that survives a restart.
#[derive(Debug)]
pub(crate) struct ReplyDelivery {
    stored: Arc<Outgoing>,
    /// The state that must be committed before the next part leaves.
    stamp: Stamp,
    delivery: Delivery,
    /// The words of its agent that are in no part, because the reply was cut. They are unknown after a restart.
    rest: Arc<str>,
    /// The files of the last part. Their bytes are nowhere else.
    files: Box<[ReplyFile]>,
    /// The number of attempts at the part with files that got no answer.
    unanswered: u8,
    /// The message of the last part. It ends the reply, so the record no longer has the reply.
    last: Option<MessageId>,
}

/// Facts about the chat at the moment when a page was read.
pub(crate) struct SearchFacts<'a> {
    pub(crate) chat: &'a dyn ChatFacts,
    pub(crate) channel: ChannelId,
    /// The account that posts the reply.
    pub(crate) account: Option<UserId>,
    pub(crate) newest: Option<MessageId>,
}

/// The first wait between two looks at a history that may be hidden.
const HIDDEN_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two such looks.
const HIDDEN_WAIT_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    Retry,
    /// It is tried again without its files.
    WithoutFiles,
    GiveUp,
}

const LATE: Duration = Duration::from_secs(180);

/// The number of attempts at a part with files that may get no answer. A line may be too slow for the files, and then
/// the words go without them.
const UNANSWERED_MAX: u8 = 3;

/// The most parts of a reply, without the notice. The numbers in nonces allow more.
const PARTS_MAX: usize = 1_000;

/// Splits a reply into messages of at most `longest` UTF-16 code units, and at most as many as the settings allow. If
/// there are more, one more message says so. Also returns the text that is left out.
pub(crate) fn messages_of<'a>(
    words: &'a Arc<str>,
    settings: &Settings,
    longest: usize,
) -> (impl Iterator<Item = Arc<str>> + use<>, &'a str) {
    let most = settings.limits.reply_parts_max.clamp(1, PARTS_MAX);
    let whole = is_one_message(words, longest).then(|| Arc::clone(words));
    let (mut messages, rest) =
        if whole.is_some() { (Vec::new(), "") } else { split_up_to(words, longest, most) };
    if !rest.is_empty() {
        messages.extend(cut_notice(settings, longest));
    }
    (whole.into_iter().chain(messages.into_iter().map(Arc::from)), rest)
}

/// Returns the text that ends a cut reply, as far as one message takes it.
pub(crate) fn cut_notice(settings: &Settings, longest: usize) -> Option<String> {
    split_up_to(&settings.texts.cut_notice, longest, 1).0.pop()
}

/// Creates a reply from an agent's messages and its extras. `newest` is the newest known message, and `began` the start
/// of this process.
pub(crate) fn compose(
    channel: ChannelId,
    (agent, turn, run): (AgentKey, TurnId, RunId),
    messages: impl Iterator<Item = Arc<str>>,
    extras: Option<Arc<Extras>>,
    end: ReplyEnd,
    (newest, now, began): (Option<MessageId>, Timestamp, &Began),
) -> Outgoing {
    // The run is in the nonce, so that two replies of one moment do not share it. The last bits are the part.
    let run_bits = (run.get() & 0xf_ffff) << PART_BITS;
    let part = |content, number| {
        let nonce = Nonce::of_reply(channel.get(), now, run_bits | number, *began);
        OutgoingPart { content, nonce, posted: None }
    };
    let mut parts = Vec::with_capacity(1);
    for (content, number) in messages.zip(0_u64..1 << PART_BITS) {
        parts.push(part(content, number));
    }
    let shows = |extras: &Arc<Extras>| !extras.embeds.is_empty() || !extras.files.is_empty();
    // A reply of embeds or files alone has no text to split.
    if parts.is_empty() && extras.as_ref().is_some_and(shows) {
        parts.push(part(Arc::default(), 0));
    }
    let (after, composed_at, doubt_since, waiting_since) = (newest, Some(now), None, None);
    Outgoing {
        agent,
        turn,
        run,
        end,
        parts,
        after,
        composed_at,
        doubt_since,
        waiting_since,
        extras,
    }
}

impl ReplyDelivery {
    pub(crate) fn new(
        outgoing: Outgoing,
        files: Box<[ReplyFile]>,
        rest: &str,
        stamp: Stamp,
    ) -> Self {
        let rest = if rest.is_empty() { Arc::default() } else { rest.into() };
        Self { rest, files, ..Self::of(Arc::new(outgoing), stamp) }
    }

    fn of(stored: Arc<Outgoing>, stamp: Stamp) -> Self {
        Self {
            stored,
            stamp,
            delivery: Delivery::default(),
            rest: Arc::default(),
            files: Box::default(),
            unanswered: 0,
            last: None,
        }
    }

    /// Restores a reply that an earlier process was delivering. Its next part may have arrived unseen. `anchor` is the
    /// newest message when its agent was called, for a record that does not say which message the parts follow.
    pub(crate) fn restored(
        mut stored: Arc<Outgoing>,
        anchor: Option<MessageId>,
        stored_at: Timestamp,
        now: Timestamp,
    ) -> Self {
        let outgoing = Arc::make_mut(&mut stored);
        outgoing.after = outgoing.after.or(anchor);
        outgoing.doubt_since.get_or_insert(stored_at);
        let mut delivery = Delivery::restored(outgoing.doubt_since, now);
        delivery.search_behind(behind(outgoing));
        Self { delivery, ..Self::of(stored, Stamp::default()) }
    }

    pub(crate) const fn stored(&self) -> &Arc<Outgoing> {
        &self.stored
    }

    pub(crate) const fn rest(&self) -> &Arc<str> {
        &self.rest
    }

    pub(crate) const fn stamp(&self) -> Stamp {
        self.stamp
    }

    pub(crate) const fn next_at(&self) -> Option<Timestamp> {
        self.delivery.attempts.next_at()
    }

    pub(crate) fn is_posted(&self) -> bool {
        self.last.is_some() || newest_posted(&self.stored).is_some()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.next_part().is_none()
    }

    pub(crate) fn posted_messages(&self) -> impl Iterator<Item = MessageId> {
        self.stored.parts.iter().filter_map(|part| part.posted).chain(self.last)
    }

    fn next_part(&self) -> Option<&OutgoingPart> {
        let next = self.stored.parts.iter().find(|part| part.posted.is_none());
        next.filter(|_| self.last.is_none())
    }

    pub(super) fn todo(&mut self, now: Timestamp) -> Option<Todo> {
        self.delivery.todo(now, behind(&self.stored))
    }

    /// Returns the post of the next part, with the extras of the reply. A reply that waited for minutes, for example in
    /// an outage, is posted as an answer to the message before it, because people may have written more since then.
    pub(super) fn next_post(&self, channel: ChannelId, now: Timestamp) -> Option<Post> {
        let part = self.next_part()?;
        let mut post = Post::new(channel, Arc::clone(&part.content), part.nonce);
        // People may have written more during an outage, so a late answer says what it answers.
        let is_late = self.stored.composed_at.is_some_and(|at| now.since(at) >= LATE);
        if is_late && self.stored.is_first(part) {
            post.reply_to = self.stored.after;
        }
        if let Some(extras) = &self.stored.extras {
            post.mentions = Mentions::from(&extras.mentions);
            post.reply_to = self.stored.reply_to(part).or(post.reply_to);
            if self.stored.embeds(part) > 0 {
                post.embeds = extras.embeds.as_slice().into();
            }
            if self.carries_files() {
                post.files.clone_from(&self.files);
            }
        }
        Some(post)
    }

    fn carries_files(&self) -> bool {
        let next = self.next_part().filter(|_| !self.files.is_empty());
        next.is_some_and(|part| self.stored.is_last(part))
    }

    /// Returns the names of the files that were not posted with the last part, as files without bytes.
    pub(crate) fn lost_files(&self) -> Vec<ReplyFile> {
        let named = self.stored.extras.iter().flat_map(|extras| &extras.files);
        let mut went: Vec<&str> = self.files.iter().map(ReplyFile::name).collect();
        let mut lost: Vec<ReplyFile> = named.cloned().collect();
        lost.retain(|file| match went.iter().position(|name| *name == file.name()) {
            Some(at) => {
                went.swap_remove(at);
                false
            }
            None => true,
        });
        lost
    }

    /// Records that the last part was found in the channel as this message.
    fn found_last(&mut self, message: &ChatMessage) {
        let Some(extras) = self.stored.extras.as_ref().filter(|it| !it.files.is_empty()) else {
            return;
        };
        // A chat may rename files, so their number is compared before their names.
        let has_all = message.attachments.len() >= extras.files.len();
        let has = |file: &&ReplyFile| message.attachments.iter().any(|it| *it.name == *file.name());
        self.files = extras.files.iter().filter(|file| has_all || has(file)).cloned().collect();
    }

    /// Returns the extras of the part that is in the channel as this message.
    pub(crate) fn beside(&self, id: MessageId) -> Option<Beside> {
        self.stored.extras.as_ref()?;
        let mut posted = self.stored.parts.iter().filter(|part| part.posted == Some(id));
        let last = self.stored.parts.last().filter(|_| self.last == Some(id));
        let part = last.or_else(|| posted.next())?;
        let is_last = self.stored.is_last(part);
        let extras = self.stored.extras.clone().filter(|_| is_last);
        let files = if is_last { self.files.clone() } else { Box::default() };
        Some(Beside { reply_to: self.stored.reply_to(part), extras, files })
    }

    /// Records that the next part is in the channel. Returns its text.
    pub(crate) fn posted(&mut self, id: MessageId) -> Option<Arc<str>> {
        self.delivery.posted(id);
        let content = Arc::clone(&self.next_part()?.content);
        let mut unposted = self.stored.parts.iter().filter(|part| part.posted.is_none());
        // The last part ends the reply, so the record never has it as posted.
        if unposted.nth(1).is_none() {
            self.last = Some(id);
            return Some(content);
        }
        let stored = Arc::make_mut(&mut self.stored);
        (stored.doubt_since, stored.waiting_since) = (None, None);
        let part = stored.parts.iter_mut().find(|part| part.posted.is_none())?;
        part.posted = Some(id);
        Some(content)
    }

    /// Sets the state that must be stored before the next part leaves.
    pub(crate) const fn needs(&mut self, stamp: Stamp) {
        self.stamp = stamp;
    }

    /// Handles a failed attempt. Returns whether the reply is tried again.
    pub(crate) fn failed(&mut self, now: Timestamp, failure: &Failure) -> AfterFailure {
        self.delivery.failed(failure);
        self.keep_doubt();
        if !self.delivery.is_searching() && self.does_without_files(failure) {
            // A part without its files is another post, so the wait for the old one does not apply.
            (self.files, self.delivery.attempts) = (Box::default(), Attempts::default());
            return AfterFailure::WithoutFiles;
        }
        if failure.is_final() {
            return AfterFailure::GiveUp;
        }
        // A rate limit is no outage, so it does not use up the hour.
        if failure.trouble() == Trouble::Away {
            Arc::make_mut(&mut self.stored).waiting_since.get_or_insert(now);
        }
        self.delivery.attempts.back_off(now, failure.retry_after);
        AfterFailure::Retry
    }

    /// Stores in the record since when the next part is in doubt.
    fn keep_doubt(&mut self) {
        if self.stored.doubt_since != self.delivery.doubt {
            Arc::make_mut(&mut self.stored).doubt_since = self.delivery.doubt;
        }
    }

    /// Handles the page of the search. Returns the parts that were found, in their order. `None` if the history is
    /// hidden.
    pub(crate) fn searched(
        &mut self,
        now: Timestamp,
        page: Vec<ChatMessage>,
        facts: &SearchFacts<'_>,
    ) -> Option<Vec<(MessageId, Arc<str>)>> {
        let may_be_hidden = facts.chat.may_be_hidden(facts.channel);
        let of_channel = ChannelFacts { may_be_hidden, newest: facts.newest, is_heard: true };
        let mut found = Vec::new();
        match self.delivery.page_read(now, page, &of_channel) {
            Looked::Page(page, is_full) => {
                found = self.look_through(&page, facts);
                if let Some(last) = page.back() {
                    self.delivery.looked_through(now, last.id, is_full);
                }
            }
            Looked::Nothing => {}
            Looked::Unproven => {
                if !self.delivery.unreadable(now) {
                    Arc::make_mut(&mut self.stored).waiting_since.get_or_insert(now);
                    let attempts = &mut self.delivery.attempts;
                    attempts.back_off_between(now, None, HIDDEN_WAIT, HIDDEN_WAIT_MAX);
                }
            }
            Looked::Hidden => return None,
        }
        self.keep_doubt();
        Some(found)
    }

    fn look_through<'a>(
        &mut self,
        page: impl IntoIterator<Item = &'a ChatMessage>,
        facts: &SearchFacts<'_>,
    ) -> Vec<(MessageId, Arc<str>)> {
        let mut found = Vec::new();
        // Anyone can post with the same words or nonce.
        for message in page.into_iter().filter(|message| Some(message.author) == facts.account) {
            let is_part = |part: &OutgoingPart| {
                let embeds = self.stored.embeds(part);
                is_post(message, (&part.content, embeds), &part.nonce)
            };
            // Parts are taken in order, because two of them may have the same words.
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

    /// Returns whether a message is from before the agent answered, if no message is known that the parts follow.
    fn is_older(&self, message: MessageId, chat: &dyn ChatFacts) -> bool {
        let composed_at = self.stored.composed_at.filter(|_| self.stored.after.is_none());
        composed_at.is_some_and(|at| chat.sent_at(message) + CLOCKS_APART < at)
    }

    /// Handles a history that cannot be read. Returns whether the next part is posted nevertheless.
    pub(crate) fn unreadable(&mut self, now: Timestamp) -> bool {
        self.delivery.unreadable(now)
    }

    /// Returns whether the part is tried without its files after this failure. The chat refused it, perhaps because of
    /// them, or takes too long to accept them. A part that has only files is not.
    fn does_without_files(&mut self, failure: &Failure) -> bool {
        let shows = |part: &OutgoingPart| !part.content.is_empty() || self.stored.embeds(part) > 0;
        if !self.carries_files() || !self.next_part().is_some_and(shows) {
            return false;
        }
        // A slow line may never carry the files, and the words must not wait for them.
        self.unanswered += u8::from(failure.kind == ErrorKind::NoAnswer);
        self.unanswered >= UNANSWERED_MAX || is_of_files(failure.kind)
    }

    pub(crate) const fn retry_now(&mut self) {
        self.delivery.attempts.retry_now();
    }

    /// Starts the wait for the chat again. Returns whether there was one.
    pub(crate) fn resume(&mut self, now: Timestamp) -> bool {
        let waits = self.stored.waiting_since.is_some();
        if waits {
            Arc::make_mut(&mut self.stored).waiting_since = Some(now);
        }
        waits
    }

    /// Adjusts the wait for the chat by the time that the process was down.
    pub(crate) fn was_down(&mut self, down: Duration) {
        if let Some(since) = self.stored.waiting_since {
            Arc::make_mut(&mut self.stored).waiting_since = Some(since + down);
        }
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        self.delivery.move_back(by);
        let stored = Arc::make_mut(&mut self.stored);
        for moment in [&mut stored.waiting_since, &mut stored.composed_at] {
            *moment = moment.map(|at| at.saturating_sub(by));
        }
        stored.doubt_since = self.delivery.doubt;
    }
}

/// Returns whether a chat may refuse a post with this error because of its files.
pub(crate) const fn is_of_files(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Invalid | ErrorKind::Forbidden | ErrorKind::Unsupported)
}

impl Outgoing {
    /// Returns the message that this part answers. Only the first part may answer one.
    fn reply_to(&self, part: &OutgoingPart) -> Option<MessageId> {
        self.extras.as_ref()?.reply_to.filter(|_| self.is_first(part))
    }

    fn is_first(&self, part: &OutgoingPart) -> bool {
        self.parts.first().is_some_and(|first| first.nonce == part.nonce)
    }

    fn is_last(&self, part: &OutgoingPart) -> bool {
        self.parts.last().is_some_and(|last| last.nonce == part.nonce)
    }

    /// Returns the number of embeds of this part. All embeds are in the last part.
    fn embeds(&self, part: &OutgoingPart) -> u8 {
        let extras = self.extras.as_ref().filter(|_| self.is_last(part));
        let embeds = extras.map_or(0, |extras| extras.embeds.len());
        u8::try_from(embeds).unwrap_or(u8::MAX)
    }
}

/// Returns the message that the next part follows: the last known part, or the message before the first part.
fn behind(outgoing: &Outgoing) -> MessageId {
    outgoing.after.max(newest_posted(outgoing)).unwrap_or(MessageId::new(0))
}

fn newest_posted(outgoing: &Outgoing) -> Option<MessageId> {
    outgoing.parts.iter().filter_map(|part| part.posted).max()
}

/// A reply that was withdrawn while a request for its next part was in progress. If that part still arrives, its agent
/// does not get it back.
#[derive(Debug)]
pub(crate) struct WithdrawnReply {
    request: ActionId,
    stored: Arc<Outgoing>,
    rest: Arc<str>,
}

impl WithdrawnReply {
    /// Creates it. `arrived` is the message of the part in progress, as far as events reported it.
    pub(crate) fn new(
        request: ActionId,
        reply: &ReplyDelivery,
        arrived: Option<MessageId>,
    ) -> Self {
        let (stored, rest) = (Arc::clone(&reply.stored), Arc::clone(&reply.rest));
        let mut withdrawn = Self { request, stored, rest };
        withdrawn.arrived(arrived);
        withdrawn
    }

    pub(crate) fn is_request(&self, id: ActionId) -> bool {
        self.request == id
    }

    #[cfg(test)]
    pub(crate) fn agent(&self) -> AgentKey {
        self.stored.agent
    }

    pub(crate) fn told_of(&mut self, nonce: Nonce, author: Author, message: MessageId) {
        let next = self.stored.parts.iter().find(|part| part.posted.is_none());
        let has_nonce = next.is_some_and(|part| part.nonce == nonce);
        if has_nonce && author == Author::Agent(self.stored.agent) {
            self.arrived(Some(message));
        }
    }

    /// Handles the end of the request, after which its part may be this message. Returns the state of the reply, and
    /// the words of its agent that are in no part.
    pub(crate) fn ended(mut self, message: Option<MessageId>) -> (Arc<Outgoing>, Arc<str>) {
        self.arrived(message);
        (self.stored, self.rest)
    }

    fn arrived(&mut self, message: Option<MessageId>) {
        let parts = &mut Arc::make_mut(&mut self.stored).parts;
        // The event and the answer report the same message.
        if message.is_some() && parts.iter().all(|part| part.posted != message) {
            if let Some(next) = parts.iter_mut().find(|part| part.posted.is_none()) {
                next.posted = message;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UserId;
    use crate::room::context::ChatFacts;
    use crate::values::message::AuthorKind;

    const AUTHOR: UserId = UserId::new(7);

    /// A chat in which everything was sent at this moment.
    struct Readable(Timestamp);

    impl ChatFacts for Readable {
        fn sent_at(&self, _: MessageId) -> Timestamp {
            self.0
        }

        fn id_before(&self, _: Timestamp) -> Option<MessageId> {
            None
        }

        fn reads_history(&self, _: ChannelId) -> Option<bool> {
            Some(true)
        }
    }

    fn message(id: u64, content: &str) -> ChatMessage {
        ChatMessage {
            author_kind: AuthorKind::Bot,
            ..ChatMessage::new(MessageId::new(id), ChannelId::new(1), AUTHOR, content)
        }
    }

    #[test]
    fn a_part_that_an_event_told_of_is_not_found_again_as_the_next_one_with_the_same_words() {
        let now = Timestamp::from_millis(1_000_000);
        let messages =
            crate::text::split::split_reply(&"x".repeat(5_000)).into_iter().map(Arc::from);
        let of = (AgentKey::new(2), TurnId::new(1), RunId::new(3));
        let (channel, end) = (ChannelId::new(1), ReplyEnd::Finished);
        let stored = compose(channel, of, messages, None, end, (None, now, &Began::new(now)));
        let mut reply = ReplyDelivery::restored(Arc::new(stored), None, now, now);
        assert!(matches!(reply.todo(now), Some(Todo::Read { .. })));
        let first = reply.posted(MessageId::new(10)).unwrap();
        let page = vec![message(10, &first)];
        let (chat, account) = (&Readable(now), Some(AUTHOR));
        let facts = SearchFacts { chat, channel, account, newest: None };
        assert_eq!(reply.searched(now, page, &facts), Some(Vec::new()));
        assert!(reply.posted_messages().eq([MessageId::new(10)]));
    }
}
