//! The actions of people, who use a client instead of a token.

use std::sync::Arc;

use dirigent::ports::{ApiError, Attachment, ChatKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

use super::MemoryDiscord;
use super::event::Event;

impl MemoryDiscord {
    /// Lets an account post a message: a person, a webhook, or a bot that is not a registered agent.
    ///
    /// # Panics
    ///
    /// Panics if it cannot, because that is a mistake of your test. The channel may not exist, the account may not
    /// post there, or the text may be empty or too long. If that may happen in your test, use
    /// [`try_say`](Self::try_say).
    #[track_caller]
    pub fn say(&self, channel: ChannelId, user: UserId, text: impl Into<String>) -> MessageId {
        speak(self, channel, user, ChatKind::Default, text.into().into())
    }

    /// Posts a message like [`say`](Self::say), for tests that also delete channels.
    ///
    /// # Errors
    ///
    /// Returns `Gone`, `Forbidden` or `Invalid`, as for a post.
    pub fn try_say(
        &self,
        channel: ChannelId,
        user: UserId,
        text: impl Into<String>,
    ) -> Result<MessageId, ApiError> {
        self.world().say(channel, user, ChatKind::Default, text.into().into())
    }

    /// Lets an account post a reply. Only the kind of the new message shows that.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`say`](Self::say).
    #[track_caller]
    pub fn reply(&self, channel: ChannelId, user: UserId, text: impl Into<String>) -> MessageId {
        speak(self, channel, user, ChatKind::Reply, text.into().into())
    }

    /// Lets an account answer this message. The answer quotes it as long as it exists.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`say`](Self::say).
    #[track_caller]
    pub fn answer(
        &self,
        channel: ChannelId,
        user: UserId,
        answered: MessageId,
        text: impl Into<String>,
    ) -> MessageId {
        self.say_with(channel, user, text, |message| ChatMessage {
            kind: ChatKind::Reply,
            reply_to: Some(answered),
            ..message
        })
    }

    /// Lets an account post a message that has more than words. In `change` you add files, shown content or a quote.
    /// The text may be empty.
    ///
    /// # Panics
    ///
    /// Panics if the account may not post there.
    #[track_caller]
    pub fn say_with(
        &self,
        channel: ChannelId,
        user: UserId,
        text: impl Into<String>,
        change: impl FnOnce(ChatMessage) -> ChatMessage,
    ) -> MessageId {
        match self.world().say_with(channel, user, text.into().into(), change) {
            Ok(id) => id,
            Err(error) => panic!("{user} cannot speak in {channel}: {error}"),
        }
    }

    /// Lets an account begin to type, as its client shows it.
    pub fn begin_typing(&self, channel: ChannelId, user: UserId) {
        self.world().publish(Event::TypingStarted { channel, user });
    }

    /// Creates a file that you can add to a message. It can be read from then on.
    pub fn add_file(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Attachment {
        let bytes = bytes.into();
        let mut world = self.world();
        let url = format!("https://files.memory.example/{}/{name}", world.files.len());
        let file =
            Attachment::new(name, url.as_str(), u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        world.files.insert(url, bytes);
        file
    }

    /// Adds a message of Discord's own, for example because an account joined, pinned a message or started a thread.
    /// Its text may be empty.
    ///
    /// # Panics
    ///
    /// Panics if the channel does not exist.
    #[track_caller]
    pub fn system_message(
        &self,
        channel: ChannelId,
        user: UserId,
        text: impl Into<String>,
    ) -> MessageId {
        speak(self, channel, user, ChatKind::System, text.into().into())
    }

    /// Changes the text of a message of any author. Returns true if it existed.
    pub fn edit(&self, channel: ChannelId, message: MessageId, text: impl Into<String>) -> bool {
        let text = text.into().into();
        self.world().edit(channel, message, |edited, _| edited.content = text)
    }

    /// Deletes a message of any author. Returns true if it existed.
    pub fn delete_message(&self, channel: ChannelId, message: MessageId) -> bool {
        self.world().erase(channel, message)
    }

    /// Lets an account see a channel. Returns true if it did not before.
    pub fn join(&self, channel: ChannelId, user: UserId) -> bool {
        self.world().join(channel, user)
    }

    /// Hides a channel from an account. Returns true if the account no longer sees it. The owner and administrators
    /// still do.
    pub fn leave(&self, channel: ChannelId, user: UserId) -> bool {
        self.world().leave(channel, user)
    }

    /// Returns the stored messages of a channel with their texts, oldest first. It does not count as a request.
    pub fn messages(&self, channel: ChannelId) -> Vec<ChatMessage> {
        let world = self.world();
        let room = world.places.rooms.get(&channel);
        room.map(|room| room.messages.iter().cloned().collect()).unwrap_or_default()
    }

    /// Returns one message. It does not count as a request.
    pub fn message(&self, channel: ChannelId, message: MessageId) -> Option<ChatMessage> {
        self.world().places.rooms.get(&channel)?.messages.find(message).cloned()
    }
}

#[track_caller]
fn speak(
    discord: &MemoryDiscord,
    channel: ChannelId,
    user: UserId,
    kind: ChatKind,
    text: Arc<str>,
) -> MessageId {
    // The lock is released before the panic.
    let said = discord.world().say(channel, user, kind, text);
    match said {
        Ok(id) => id,
        Err(error) => panic!("{user} cannot speak in channel {channel}: {error}"),
    }
}
