//! Posting, reading, changing and deleting messages.

use std::sync::Arc;

use dirigent::ports::{
    ApiError, AuthorKind, ChatKind, ErrorKind, Extras, HistoryRequest, Post, Posted, Quoted,
    ReplyFile,
};
use dirigent::{ChannelId, ChatMessage, MessageId, Reply, UserId};

use super::attachment::Attachment;
use super::details::Details;
use super::event::Event;
use super::faults::Fault;
use super::ledger::PostRecord;
use super::permissions::Permissions;
use super::world::World;

/// The most characters of a message (resources/message).
pub(crate) const CONTENT_CHARS_MAX: usize = 2_000;

/// The most messages on a page of history (resources/message).
pub(crate) const PAGE_MAX: u8 = 100;

impl World {
    /// Posts through the API, and logs the post if that is switched on.
    pub fn post(
        &mut self,
        me: UserId,
        post: Post,
        fault: Option<Fault>,
    ) -> Result<Posted, ApiError> {
        let record = self.ledger.keeps_posts().then(|| PostRecord {
            at: self.clock.now(),
            author: me,
            channel: post.channel,
            nonce: post.nonce,
            mentions: post.mentions.clone(),
            reply_to: post.reply_to,
            chars: post.content.chars().count(),
            embeds: post.embeds.len(),
            files: post.files.len(),
            message: None,
            deduplicated: false,
            fault,
        });
        let missed = fault.filter(|fault| !fault.is_applied()).and_then(Fault::error);
        let posted = missed.map_or_else(|| self.accept(me, post), Err);
        if let Some(mut record) = record {
            if let Ok(posted) = &posted {
                record.message = Some(posted.id);
                record.deduplicated = posted.deduplicated;
            }
            self.ledger.log(record);
        }
        posted
    }

    pub fn accept(&mut self, me: UserId, post: Post) -> Result<Posted, ApiError> {
        let (room, rights) = self.places.seen(post.channel, me)?;
        if !rights.write {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        let answers = post.reply_to.is_some_and(|answered| room.messages.find(answered).is_some());
        let content = if post.embeds.is_empty() && post.files.is_empty() {
            acceptable(post.content)?
        } else {
            self.beside(me, &post)?
        };
        let answered = post.reply_to.filter(|_| answers);
        let mut details = Details::of_post(post.mentions, answered, &post.embeds);
        let (now, nonce) = (self.clock.now(), post.nonce.as_str());
        if let Some(id) = self.nonces.find(now, me, nonce) {
            return Ok(Posted { id, deduplicated: true });
        }
        let id = MessageId::new(self.ids.next(now));
        self.nonces.remember(now, me, nonce, id);
        if !post.files.is_empty() {
            self.attach(&mut details, &post.files);
        }
        let message = ChatMessage {
            author_kind: self.accounts.kind_of(me),
            kind: if answers { ChatKind::Reply } else { ChatKind::Default },
            nonce: Some(post.nonce),
            ..ChatMessage::new(id, post.channel, me, content)
        };
        self.append(message, details);
        Ok(Posted { id, deduplicated: false })
    }

    /// Returns the content of a post with embeds or files, if the account may post them and they are
    /// valid.
    fn beside(&self, me: UserId, post: &Post) -> Result<Arc<str>, ApiError> {
        let allowed = self.places.permissions(post.channel, me);
        let needs = [
            (post.embeds.is_empty(), Permissions::EMBED_LINKS),
            (post.files.is_empty(), Permissions::ATTACH_FILES),
        ];
        if needs.into_iter().any(|(has_none, right)| !has_none && !allowed.contains(right)) {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        let (embeds, files) = (post.embeds.to_vec(), post.files.to_vec());
        let extras = Extras { embeds, files, ..Extras::default() };
        let shown = Reply::Rich(String::new(), Box::new(extras));
        shown.check().map_err(|_| ApiError::new(ErrorKind::Invalid))?;
        let content = Arc::clone(&post.content);
        if content.trim().is_empty() { Ok(Arc::default()) } else { acceptable(content) }
    }

    /// Stores the files of a post. Every account can read them.
    fn attach(&mut self, details: &mut Details, files: &[ReplyFile]) {
        for file in files {
            let id = self.next_id();
            let kept = Attachment::of_post(id, file);
            self.files.insert(kept.told().url.as_ref().to_owned(), file.bytes().to_vec());
            details.rare_mut().media.attachments.push(kept);
        }
    }

    /// Posts a message without the API, like a person with a client or a webhook.
    pub fn say(
        &mut self,
        channel: ChannelId,
        author: UserId,
        kind: ChatKind,
        content: Arc<str>,
    ) -> Result<MessageId, ApiError> {
        let author_kind = self.accounts.kind_of(author);
        let is_free = author_kind == AuthorKind::Webhook || kind == ChatKind::System;
        if !self.places.rooms.contains_key(&channel) {
            return Err(ApiError::new(ErrorKind::Gone));
        }
        if !is_free && !self.places.seen(channel, author)?.1.write {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        let content = if kind == ChatKind::System { content } else { acceptable(content)? };
        let id = MessageId::new(self.next_id());
        let nonce = None;
        let message = ChatMessage {
            author_kind,
            kind,
            nonce,
            ..ChatMessage::new(id, channel, author, content)
        };
        self.append(message, Details::plain());
        Ok(id)
    }

    /// Posts a message that has more than words.
    pub fn say_with(
        &mut self,
        channel: ChannelId,
        author: UserId,
        content: Arc<str>,
        change: impl FnOnce(ChatMessage) -> ChatMessage,
    ) -> Result<MessageId, ApiError> {
        let author_kind = self.accounts.kind_of(author);
        if author_kind != AuthorKind::Webhook && !self.places.seen(channel, author)?.1.write {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        let id = MessageId::new(self.next_id());
        let said = ChatMessage::new(id, channel, author, content);
        self.append(change(ChatMessage { author_kind, ..said }), Details::plain());
        Ok(id)
    }

    /// Returns the message that is answered, as the answer shows it.
    fn quoted(&self, channel: ChannelId, answered: MessageId) -> Option<Box<Quoted>> {
        let answered = self.places.rooms.get(&channel)?.messages.find(answered)?;
        let name = answered.author_name.clone();
        let quoted = Quoted::answered(answered.author, name, &answered.content);
        Some(Box::new(quoted.by(answered.author_kind)))
    }

    /// Stores a new message and pushes it.
    pub fn append(&mut self, mut message: ChatMessage, details: Details) {
        if message.author_name.is_none() {
            let author = self.accounts.get(message.author);
            message.author_name = author.map(|account| Arc::clone(&account.name));
        }
        if message.author_kind != AuthorKind::Bot {
            // This is needed for people's messages.
            message.mentioned_bots = self.accounts.bots_in(&message.content);
        }
        details.tell(&mut message);
        if let (None, Some(answered)) = (&message.quoted, message.reply_to) {
            message.quoted = self.quoted(message.channel, answered);
        }
        let history_max = self.history_max;
        let pushed = self.outlets.is_heard(&*self.clock).then(|| message.clone());
        if let Some(room) = self.places.rooms.get_mut(&message.channel) {
            room.messages.keep(message, details, history_max);
        }
        if let Some(message) = pushed {
            self.publish(Event::MessageCreated(message));
        }
    }

    /// Changes a message. Returns true if it existed.
    pub fn edit(
        &mut self,
        channel: ChannelId,
        id: MessageId,
        change: impl FnOnce(&mut ChatMessage, &mut Details),
    ) -> bool {
        let now = self.clock.now();
        let room = self.places.rooms.get_mut(&channel);
        let Some((message, details)) = room.and_then(|room| room.messages.whole_mut(id)) else {
            return false;
        };
        change(message, details);
        message.mentioned_bots = self.accounts.bots_in(&message.content);
        details.rare_mut().edited_at = Some(now);
        details.tell(message);
        let edited = message.clone();
        self.publish(Event::MessageEdited(edited));
        true
    }

    /// Deletes through the API: an account's own message, or with permission any message.
    pub fn delete(
        &mut self,
        me: UserId,
        channel: ChannelId,
        id: MessageId,
    ) -> Result<(), ApiError> {
        let (room, _) = self.places.seen(channel, me)?;
        let message = room.messages.find(id).ok_or(ApiError::new(ErrorKind::Gone))?;
        let allowed = self.places.permissions(channel, me);
        if message.author != me && !allowed.contains(Permissions::MANAGE_MESSAGES) {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        self.erase(channel, id);
        Ok(())
    }

    /// Deletes a message without checking permissions. Returns true if it existed.
    pub fn erase(&mut self, channel: ChannelId, id: MessageId) -> bool {
        let room = self.places.rooms.get_mut(&channel);
        let erased = room.is_some_and(|room| room.erase(id));
        if erased {
            self.publish(Event::MessageDeleted { channel, message: id });
        }
        erased
    }

    /// Deletes several messages at once. Messages that are already deleted are ignored.
    pub fn erase_several(&mut self, channel: ChannelId, mut messages: Vec<MessageId>) {
        let Some(room) = self.places.rooms.get_mut(&channel) else { return };
        messages.retain(|id| room.erase(*id));
        for message in &messages {
            self.publish_to_chat(Event::MessageDeleted { channel, message: *message });
        }
        if !messages.is_empty() {
            self.publish(Event::MessagesDeleted { channel, messages });
        }
    }

    /// Reads through the API, newest first.
    pub fn history(
        &self,
        me: UserId,
        request: HistoryRequest,
    ) -> Result<Vec<ChatMessage>, ApiError> {
        if !(1..=PAGE_MAX).contains(&request.limit) {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let (room, rights) = self.places.seen(request.channel, me)?;
        if !rights.read_history {
            return Ok(Vec::new());
        }
        let page = room.messages.page(request.after, usize::from(request.limit));
        Ok(page.into_iter().map(|message| self.accounts.as_shown_to(me, message)).collect())
    }
}

/// Returns the content as it is stored, which is trimmed. It is refused if it is empty or too long.
#[inline]
pub(crate) fn acceptable(content: Arc<str>) -> Result<Arc<str>, ApiError> {
    let trimmed = content.trim();
    let is_long = trimmed.len() > CONTENT_CHARS_MAX && trimmed.chars().count() > CONTENT_CHARS_MAX;
    if trimmed.is_empty() || is_long {
        return Err(ApiError::new(ErrorKind::Invalid));
    }
    Ok(if trimmed.len() == content.len() { content } else { trimmed.into() })
}
