//! The chat: channels with their messages, nonces that are forgotten, events, and what fails.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::super::action::Account;
use super::super::context::ChatFacts;
use crate::ports::discord::Post;
use crate::values::message::{Attachment, AuthorKind, ChatKind, Nonce};
use crate::{ChannelId, ChatMessage, UserId};

/// The room's channel.
pub(super) const ROOM: ChannelId = ChannelId::new(1);
/// Where the result of a discussion goes.
pub(super) const CALLBACK: ChannelId = ChannelId::new(2);
pub(super) const MODERATOR: UserId = UserId::new(10);
pub(super) const PERSON: UserId = UserId::new(11);

/// Ids hold the time in their upper bits.
pub(super) const SEQUENCE_BITS: u32 = 8;

pub(super) fn user_of(agent: u32) -> UserId {
    UserId::new(100 + u64::from(agent))
}

pub(super) fn user(account: Account) -> UserId {
    match account {
        Account::Moderator => MODERATOR,
        Account::Agent(key) => user_of(key.get()),
    }
}

/// What the chat says without being asked.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) reads_history: Option<bool>,
}

impl ChatFacts for Facts {
    fn sent_at(&self, message: MessageId) -> Timestamp {
        Timestamp::from_millis(message.get() >> SEQUENCE_BITS)
    }

    fn id_before(&self, moment: Timestamp) -> Option<MessageId> {
        (moment.as_millis() << SEQUENCE_BITS).checked_sub(1).map(MessageId::new)
    }

    fn reads_history(&self, _: ChannelId) -> Option<bool> {
        self.reads_history
    }
}

/// How the chat or the store answers requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answers {
    #[default]
    Up,
    Refused,
    Hanging,
}

#[derive(Debug)]
struct Remembered {
    account: Account,
    channel: ChannelId,
    nonce: Nonce,
    id: MessageId,
    at: Timestamp,
}

#[derive(Debug)]
pub(super) struct Chat {
    pub(super) said: Vec<ChatMessage>,
    pub(super) elsewhere: Vec<ChatMessage>,
    /// Messages that the gateway has not told yet.
    pub(super) events: VecDeque<ChatMessage>,
    pub(super) answers: Answers,
    /// Whether requests other than posts hang, whatever else works.
    pub(super) reads_hang: bool,
    pub(super) gateway: bool,
    /// Until when the present state lasts.
    pub(super) until: Timestamp,
    /// Posts that arrive long after their request was given up.
    pub(super) late: Vec<(Timestamp, Account, Post)>,
    nonces: Vec<Remembered>,
    nonce_kept: Duration,
    last: u64,
}

impl Chat {
    pub(super) fn new(nonce_kept: Duration) -> Self {
        Self {
            said: Vec::new(),
            elsewhere: Vec::new(),
            events: VecDeque::new(),
            answers: Answers::Up,
            reads_hang: false,
            gateway: true,
            until: Timestamp::from_millis(0),
            late: Vec::new(),
            nonces: Vec::new(),
            nonce_kept,
            last: 0,
        }
    }

    fn next_id(&mut self, now: Timestamp) -> MessageId {
        self.last = (self.last + 1).max(now.as_millis() << SEQUENCE_BITS);
        MessageId::new(self.last)
    }

    /// An account writes in the room's channel. `lost`: no event tells of it.
    pub(super) fn say(
        &mut self,
        now: Timestamp,
        (author, author_kind): (UserId, AuthorKind),
        content: String,
        lost: bool,
    ) -> MessageId {
        let id = self.next_id(now);
        let kind = ChatKind::Default;
        let message =
            ChatMessage { author_kind, kind, ..ChatMessage::new(id, ROOM, author, content) };
        self.tell(&message, lost);
        self.said.push(message);
        id
    }

    fn tell(&mut self, message: &ChatMessage, lost: bool) {
        if self.gateway && !lost {
            self.events.push_back(message.clone());
        }
    }

    /// A post arrives. Says whether it is a new message, and not one with a known nonce.
    pub(super) fn land(
        &mut self,
        now: Timestamp,
        account: Account,
        post: &Post,
    ) -> (MessageId, bool) {
        // None is dropped: a post may be late, and land at a time that has passed.
        let known = self.nonces.iter().find(|known| {
            now.since(known.at) < self.nonce_kept
                && known.account == account
                && known.channel == post.channel
                && known.nonce == post.nonce
        });
        if let Some(known) = known {
            return (known.id, false);
        }
        let id = self.next_id(now);
        let nonce = post.nonce;
        let message = ChatMessage {
            author_kind: AuthorKind::Bot,
            kind: if post.reply_to.is_some() { ChatKind::Reply } else { ChatKind::Default },
            reply_to: post.reply_to,
            embeds: u8::try_from(post.embeds.len()).unwrap_or(u8::MAX),
            attachments: post
                .files
                .iter()
                .map(|file| Attachment::new(file.name(), "https://files.example/1", 5))
                .collect(),
            nonce: Some(nonce),
            ..ChatMessage::new(id, post.channel, user(account), post.content.clone())
        };
        self.nonces.push(Remembered { account, channel: post.channel, nonce, id, at: now });
        if post.channel == ROOM {
            self.tell(&message, false);
            self.said.push(message);
        } else {
            self.elsewhere.push(message);
        }
        (id, true)
    }

    pub(super) fn page(
        &self,
        channel: ChannelId,
        after: Option<MessageId>,
        limit: u8,
    ) -> Vec<ChatMessage> {
        let said = if channel == ROOM { &self.said } else { &self.elsewhere };
        let limit = usize::from(limit);
        match after {
            Some(after) => {
                let from = said.partition_point(|message| message.id <= after);
                said.iter().skip(from).take(limit).cloned().collect()
            }
            None => said.iter().skip(said.len().saturating_sub(limit)).cloned().collect(),
        }
    }

    pub(super) fn delete(&mut self, message: MessageId) {
        if let Ok(at) = self.said.binary_search_by_key(&message, |known| known.id) {
            self.said.remove(at);
        }
    }

    /// The clock of the process was set back: everything here is as long ago as before.
    pub(super) fn set_back(&mut self, by: Duration) {
        self.late.iter_mut().for_each(|(at, ..)| *at = at.saturating_sub(by));
        self.nonces.iter_mut().for_each(|known| known.at = known.at.saturating_sub(by));
        self.until = self.until.saturating_sub(by);
    }
}
