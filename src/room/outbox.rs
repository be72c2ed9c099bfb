//! Posts the guide and the result of a discussion, each exactly once and in order.
//!
//! A request starts only once the record that it needs is stored, because the next process must know which parts may have
//! been posted.

pub(crate) mod entry;

use std::time::Duration;

use dirigent_core::{AgentKey, Cause, MessageId, Timestamp};

use self::entry::{OutboxEntry, PostState};
use super::action::{Account, Action, Outcome, Purpose};
use super::attempts::{Attempts, Failure};
use super::commit::{CommitState, Stamp};
use super::context::Context;
use super::delivery::{ChannelFacts, Delivery, Looked, Todo};
use super::doorway::Doorway;
use super::reads::is_post;
use super::requests::Requests;
use crate::admission::{Claim, ClaimKind, Wait};
use crate::ports::discord::{HistoryRequest, Post};
use crate::record::discussion::Discussion;
use crate::record::outbox::{OutboxKind, OutboxMessage};
use crate::values::error::{Certainty, ErrorKind};
use crate::{ChannelId, ChatMessage, UserId};

/// The wait after a failed attempt. It doubles up to [`RETRY_MAX`].
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(600);

/// The guide and the result of a discussion until they have arrived. They do not wait for each other, because they may
/// go to different channels.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    posts: Vec<OutboxPost>,
    pub(super) result: Option<String>,
}

#[derive(Debug)]
struct OutboxPost {
    message: OutboxMessage,
    /// The state that must be committed before its next request.
    needs: Stamp,
    delivery: Delivery,
    progress: OutboxProgress,
    /// `true` once an attempt has failed, or could not begin because the chat is away.
    has_failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutboxProgress {
    /// The next request may start when its time has come.
    Ready,
    /// It waits in the line of an account that does not reach the chat.
    InLine,
    UnderWay,
    /// The chat does not accept it. The next start tries once more, and so may an operator.
    GivenUp,
    /// It is posted, and the room that it wakes is awake or about to be.
    Arrived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// Wakes the callback room, and waits until that is stored. A refusal counts as done.
    Wake,
    Chat(Todo),
}

/// An operator's choice for a message that could not be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undelivered {
    Retry,
    /// The result is dropped.
    Dismiss,
    /// The result goes to this channel instead.
    SendTo(ChannelId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstAttempt {
    Pending,
    /// All parts are in the channel.
    Posted,
    /// It failed, or the chat is away, so the message is posted later.
    Queued,
}

impl Outbox {
    /// Restores the messages that an earlier process, or an earlier stay in memory, left.
    pub(crate) fn restore(now: Timestamp, messages: Vec<OutboxMessage>) -> Self {
        let posts = messages.into_iter().map(|message| OutboxPost::restored(now, message));
        Self { posts: posts.collect(), result: None }
    }

    /// Adds a message. It is posted once it is stored.
    pub(super) fn write(&mut self, commit: &mut CommitState, message: OutboxMessage) {
        let mut post = OutboxPost::written(message);
        post.note(commit, Change::Eager);
        self.posts.push(post);
    }

    pub(super) fn owe_guide(
        &mut self,
        cx: &Context<'_>,
        (channel, now): (ChannelId, Timestamp),
        commit: &mut CommitState,
        terms: &Discussion,
    ) {
        let text = (&*terms.guide, cx.chat.longest_message());
        let guide = OutboxMessage::new(OutboxKind::Guide, channel, channel, now, text);
        self.write(commit, guide);
    }

    /// Adds the result of a discussion that was archived, for its callback channel, with or without a summary.
    pub(super) fn owe_result(
        &mut self,
        cx: &Context<'_>,
        (channel, now): (ChannelId, Timestamp),
        commit: &mut CommitState,
        (terms, cause): (&Discussion, Cause),
    ) {
        let text = if cause == Cause::Overdue {
            cx.settings.texts.overdue_result(channel)
        } else {
            self.result.take().unwrap_or_else(|| cx.settings.texts.result(channel, None))
        };
        let text = (&*text, cx.chat.longest_message());
        let result = OutboxMessage::new(OutboxKind::Result, channel, terms.callback, now, text);
        self.write(commit, result);
    }

    /// Carries out an operator's choice for each message that could not be delivered. Returns `false` if there is none.
    pub(super) fn redress(
        &mut self,
        (channel, now): (ChannelId, Timestamp),
        commit: &mut CommitState,
        what: Undelivered,
    ) -> bool {
        // Only a result may be dropped or sent elsewhere. A guide belongs to its own channel.
        let of = |post: &OutboxPost| {
            post.is_undelivered()
                && (what == Undelivered::Retry || post.message.kind == OutboxKind::Result)
        };
        if !self.posts.iter().any(of) {
            return false;
        }
        match what {
            Undelivered::Retry => {
                self.posts.iter_mut().filter(|post| of(post)).for_each(OutboxPost::begin_anew);
            }
            Undelivered::Dismiss => self.posts.retain(|post| !of(post)),
            Undelivered::SendTo(to) => {
                for post in self.posts.iter_mut().filter(|post| of(post)) {
                    // It begins anew with nonces of its own, because parts of it may be in the old channel.
                    *post = OutboxPost::written(post.message.sent_to(channel, to, now));
                    post.note(commit, Change::Eager);
                }
            }
        }
        commit.change();
        true
    }

    /// Removes a message that arrived, and returns its kind. Call it until it returns `None`. The arrival of a guide
    /// wakes the room itself, so its last part and the wake are stored together.
    pub(super) fn take_arrived(&mut self, commit: &mut CommitState) -> Option<OutboxKind> {
        let index = self.posts.iter().position(|post| post.progress == OutboxProgress::Arrived)?;
        commit.change();
        Some(self.posts.remove(index).message.kind)
    }
}

impl Outbox {
    pub(super) fn messages(&self) -> impl Iterator<Item = &OutboxMessage> {
        self.posts.iter().map(|post| &post.message)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = OutboxEntry> {
        self.posts.iter().map(OutboxPost::entry)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.posts.is_empty()
    }

    /// Returns `true` if it gave up all remaining messages, so that none is posted before the next start.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.posts.iter().all(|post| post.progress == OutboxProgress::GivenUp)
    }

    pub(crate) fn first_attempt(&self, kind: OutboxKind) -> FirstAttempt {
        let post = self.posts.iter().find(|post| post.message.kind == kind);
        match post.map(|post| (post.has_failed, post.message.next())) {
            None | Some((true, None)) => FirstAttempt::Posted,
            Some((false, _)) => FirstAttempt::Pending,
            Some((true, Some(_))) => FirstAttempt::Queued,
        }
    }

    pub(crate) fn moments(&self) -> impl Iterator<Item = Timestamp> {
        let ready = self.posts.iter().filter(|post| post.progress == OutboxProgress::Ready);
        ready.filter_map(|post| post.delivery.attempts.next_at())
    }
}

impl Outbox {
    /// Starts the next request that may start now. `callback` is the agent that speaks first in the callback channel.
    pub(super) fn offer(
        &mut self,
        cx: &Context<'_>,
        (room, now): (ChannelId, Timestamp),
        commit: &mut CommitState,
        requests: &mut Requests,
        callback: Option<AgentKey>,
        door: &mut Doorway<'_>,
    ) -> bool {
        for post in &mut self.posts {
            let (kind, to, account) = (post.message.kind, post.message.to, Account::Moderator);
            // A message that waits does not hold back the other, which may go to another channel.
            let Some(request) = post.next(now, commit) else {
                continue;
            };
            let mut latest = None;
            let (action, of) = match request {
                Request::Wake => {
                    let action = Action::WakeRoom { room: to, first: callback };
                    let time_out = now + cx.settings.time_limits.call;
                    requests.start_freely(door, Purpose::Outbox(kind), action, time_out);
                    post.progress = OutboxProgress::UnderWay;
                    return true;
                }
                Request::Chat(Todo::Read { after, limit }) => {
                    let request = HistoryRequest { channel: to, after, limit };
                    (Action::History { account, request }, ClaimKind::Read)
                }
                Request::Chat(Todo::Post { not_after }) => {
                    let Some(part) = post.message.next() else {
                        continue;
                    };
                    latest = Some(not_after);
                    let post = Post::new(to, part.content.clone(), part.nonce);
                    (Action::Post { account, post }, ClaimKind::Post)
                }
            };
            // No other post takes the place of a post of the outbox.
            let claim = Claim { target: to, has_waited: true, ..Claim::new(room, account, of) };
            match door.admission.admit(now, claim) {
                Ok(admitted) => {
                    requests.start(cx, now, door, admitted, Purpose::Outbox(kind), action);
                    if let Some(at) = latest {
                        door.not_after(at);
                    }
                    post.progress = OutboxProgress::UnderWay;
                    return true;
                }
                Err(wait) => post.waits(wait),
            }
        }
        false
    }

    /// Handles the end of a message's request. `newest` is the newest message of this channel that the room knows.
    pub(super) fn done(
        &mut self,
        cx: &Context<'_>,
        (room, now): (ChannelId, Timestamp),
        commit: &mut CommitState,
        newest: Option<MessageId>,
        (kind, outcome): (OutboxKind, Outcome),
    ) {
        let mut posts = self.posts.iter_mut();
        let Some(post) = posts.find(|post| post.message.kind == kind) else {
            return;
        };
        let to = post.message.to;
        // Of another channel the room hears nothing, so its own newest message proves nothing there.
        let (is_heard, may_be_hidden) = (to == room, cx.chat.may_be_hidden(to));
        let newest = newest.filter(|_| is_heard);
        let facts = ChannelFacts { may_be_hidden, newest, is_heard };
        let change = post.done(now, outcome, cx.directory.moderator(), &facts);
        post.note(commit, change);
    }

    /// Allows every message that waits for the chat to be tried at once, because the chat answers again.
    pub(super) fn chat_back(&mut self) {
        for post in &mut self.posts {
            post.delivery.attempts.retry_now();
            if post.progress == OutboxProgress::InLine {
                post.progress = OutboxProgress::Ready;
            }
        }
    }

    pub(super) fn move_back(&mut self, by: Duration) {
        for post in &mut self.posts {
            post.delivery.move_back(by);
            if let Some(since) = post.delivery.doubt {
                post.message.at = since;
            }
        }
    }
}

/// The change of the stored message by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    /// The change is stored with the next commit.
    Lazy,
    /// The change is stored before the next request.
    Eager,
}

impl OutboxPost {
    fn written(message: OutboxMessage) -> Self {
        let mut post =
            Self { delivery: Delivery::default(), ..Self::restored(message.at, message) };
        post.prepare();
        post
    }

    /// Restores a message that an earlier process, or an earlier stay in memory, left.
    fn restored(now: Timestamp, message: OutboxMessage) -> Self {
        let delivery = Delivery::restored(message.tried.then_some(message.at), now);
        let (needs, progress, has_failed) = (Stamp::default(), OutboxProgress::Ready, false);
        let mut post = Self { message, needs, delivery, progress, has_failed };
        post.close_guide();
        post
    }

    /// Notes that the next part is about to be tried, if it is known which message it follows. From then on the next
    /// process must expect it in the channel.
    fn prepare(&mut self) {
        self.message.tried |= self.message.next().is_some() && self.message.behind().is_some();
        self.close_guide();
    }

    fn close_guide(&mut self) {
        if self.message.next().is_none() && self.message.kind == OutboxKind::Guide {
            self.progress = OutboxProgress::Arrived;
        }
    }

    fn note(&mut self, commit: &mut CommitState, change: Change) {
        if change != Change::None {
            commit.change();
        }
        if change == Change::Eager {
            self.needs = commit.newest();
        }
    }

    fn next(&mut self, now: Timestamp, commit: &mut CommitState) -> Option<Request> {
        if self.progress != OutboxProgress::Ready || !commit.is_committed(self.needs) {
            return None;
        }
        let is_due = self.delivery.attempts.is_due(now);
        if self.message.next().is_none() {
            // All parts are posted, so only the callback room's wake is missing.
            return is_due.then_some(Request::Wake);
        }
        // Without a message before it, a part in doubt could not be looked for later.
        let Some(behind) = self.message.behind() else {
            return is_due.then_some(Request::Chat(Todo::Read { after: None, limit: 1 }));
        };
        let todo = self.delivery.todo(now, behind)?;
        if matches!(todo, Todo::Post { .. }) && !self.message.tried {
            // The record says so before the attempt, because the next process must know that there is a doubt.
            (self.message.tried, self.message.at) = (true, now);
            self.note(commit, Change::Eager);
            return None;
        }
        Some(Request::Chat(todo))
    }

    /// Records that the request was not admitted. It waits until that time, or in a line.
    fn waits(&mut self, wait: Wait) {
        match wait {
            Wait::Until(until) => self.delivery.attempts.wait_until(until),
            Wait::Line => (self.progress, self.has_failed) = (OutboxProgress::InLine, true),
        }
    }

    fn done(
        &mut self,
        now: Timestamp,
        outcome: Outcome,
        moderator: Option<UserId>,
        facts: &ChannelFacts,
    ) -> Change {
        // The operator may have dismissed it, or sent it elsewhere, since.
        if self.progress != OutboxProgress::UnderWay {
            return Change::None;
        }
        self.progress = OutboxProgress::Ready;
        if let Outcome::Posted(id) = outcome {
            return self.posted(now, id);
        }
        if matches!(outcome, Outcome::RoomWoken) {
            self.progress = OutboxProgress::Arrived;
            return Change::Eager;
        }
        match outcome.into_page() {
            Some(Ok(page)) if self.message.behind().is_none() => {
                let newest = page.iter().map(|message| message.id).max();
                self.message.after = Some(newest.unwrap_or(MessageId::new(0)));
                (self.message.at, self.delivery.attempts) = (now, Attempts::default());
                self.prepare();
                Change::Eager
            }
            Some(Ok(page)) => self.looked(now, page, moderator, facts),
            Some(Err(failure)) => self.failed(now, &failure),
            None => Change::None,
        }
    }

    /// Records that a part is in the channel. This and the attempt at the next part are stored together.
    fn posted(&mut self, now: Timestamp, id: MessageId) -> Change {
        self.message.posted(id, now);
        self.delivery.posted(id);
        self.prepare();
        Change::Eager
    }

    /// Looks for the next part in a page of the history. The record stores the progress of the search, so that a long
    /// history is read in as many attempts as it takes.
    fn looked(
        &mut self,
        now: Timestamp,
        page: Vec<ChatMessage>,
        moderator: Option<UserId>,
        facts: &ChannelFacts,
    ) -> Change {
        // Anyone can post the same words, so without the moderator's account nothing is recognised.
        let Some(moderator) = moderator else {
            self.back_off(now, None);
            return Change::None;
        };
        let was_searching = self.delivery.is_searching();
        match self.delivery.page_read(now, page, facts) {
            Looked::Page(page, is_full) => {
                let Some(part) = self.message.next() else {
                    return Change::None;
                };
                let is_part = |message: &&ChatMessage| {
                    message.author == moderator && is_post(message, (&part.content, 0), &part.nonce)
                };
                if let Some(id) = page.iter().find(is_part).map(|message| message.id) {
                    // The part behind it leaves only once this is stored, so the library need not look for it.
                    self.delivery = Delivery::default();
                    return self.posted(now, id);
                }
                if let Some(last) = page.back() {
                    self.message.after = Some(last.id);
                    self.delivery.looked_through(now, last.id, is_full);
                }
            }
            Looked::Nothing => {}
            Looked::Unproven | Looked::Hidden => {
                if !self.delivery.unreadable(now) {
                    self.back_off(now, None);
                }
                return Change::None;
            }
        }
        if was_searching && !self.delivery.is_searching() {
            self.message.at = now;
        }
        Change::Lazy
    }

    /// Handles a failed attempt. The message waits, longer each time, or is given up.
    fn failed(&mut self, now: Timestamp, failure: &Failure) -> Change {
        let is_post = self.message.next().is_some() && self.message.behind().is_some();
        let is_post = is_post && !self.delivery.is_searching();
        self.back_off(now, failure.retry_after);
        // These would fail for ever. Everything else waits, because a result must not be lost to a missing right.
        if matches!(failure.kind, ErrorKind::Gone | ErrorKind::Invalid) {
            self.progress = OutboxProgress::GivenUp;
        }
        if !is_post {
            return Change::None;
        }
        let was_doubtful = self.delivery.doubt.is_some();
        self.delivery.failed(failure);
        match failure.certainty {
            // An earlier attempt may still arrive, whatever this one says.
            _ if was_doubtful => return Change::None,
            Certainty::Unknown => self.message.at = failure.began,
            Certainty::NotDone => self.message.tried = false,
        }
        Change::Lazy
    }

    fn back_off(&mut self, now: Timestamp, retry_after: Option<Duration>) {
        self.has_failed = true;
        self.delivery.attempts.back_off_between(now, retry_after, RETRY, RETRY_MAX);
    }

    fn begin_anew(&mut self) {
        (self.progress, self.delivery.attempts) = (OutboxProgress::Ready, Attempts::default());
    }

    /// Returns `true` if a part is missing, and the message waits after an attempt or was given up.
    fn is_undelivered(&self) -> bool {
        let rests = match self.progress {
            OutboxProgress::GivenUp | OutboxProgress::InLine => true,
            OutboxProgress::Ready => self.delivery.attempts.next_at().is_some(),
            OutboxProgress::UnderWay | OutboxProgress::Arrived => false,
        };
        rests && self.message.next().is_some()
    }

    fn entry(&self) -> OutboxEntry {
        let parts = &self.message.parts;
        let next_at = self.delivery.attempts.next_at();
        OutboxEntry {
            kind: self.message.kind,
            to: self.message.to,
            posted: parts.iter().filter(|part| part.posted.is_some()).count(),
            parts: parts.len(),
            state: match self.progress {
                OutboxProgress::Ready if next_at.is_some() => PostState::Waiting(next_at),
                OutboxProgress::Ready => PostState::Ready,
                OutboxProgress::InLine => PostState::Waiting(None),
                OutboxProgress::UnderWay | OutboxProgress::Arrived => PostState::UnderWay,
                OutboxProgress::GivenUp => PostState::GivenUp,
            },
            in_doubt: self.delivery.doubt.is_some(),
            text: parts.iter().map(|part| &*part.content).collect::<Vec<_>>().join("\n").into(),
        }
    }
}

#[cfg(test)]
mod tests;
