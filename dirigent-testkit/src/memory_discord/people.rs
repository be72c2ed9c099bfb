//! What people do, with a client instead of a token.

use std::sync::Arc;

use dirigent::ports::{ApiError, Attachment, ChatKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

use super::MemoryDiscord;
use super::event::Event;

impl MemoryDiscord {
    /// Lets an account say something: a person, a webhook, or a bot that is not a registered agent.
    ///
    /// # Panics
    ///
    /// When it cannot, which is the test's own mistake: no such channel, no right to post there, an
    /// empty or too long text. [`try_say`](Self::try_say) says so instead.
    #[track_caller]
    pub fn say(&self, channel: ChannelId, user: UserId, text: impl Into<String>) -> MessageId {
        speak(self, channel, user, ChatKind::Default, text.into().into())
    }

    /// As [`say`](Self::say), for a world in which channels come and go.
    ///
    /// # Errors
    ///
    /// `Gone`, `Forbidden` or `Invalid`, as for a post.
    pub fn try_say(
        &self,
        channel: ChannelId,
        user: UserId,
        text: impl Into<String>,
    ) -> Result<MessageId, ApiError> {
        self.world().say(channel, user, ChatKind::Default, text.into().into())
    }

    /// Lets an account answer a message, which only shows in the new message's kind.
    ///
    /// # Panics
    ///
    /// As [`say`](Self::say).
    #[track_caller]
    pub fn reply(&self, channel: ChannelId, user: UserId, text: impl Into<String>) -> MessageId {
        speak(self, channel, user, ChatKind::Reply, text.into().into())
    }

    /// Lets an account answer this message, which it quotes as long as it is there.
    ///
    /// # Panics
    ///
    /// As [`say`](Self::say).
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

    /// Lets an account say something that has more than words: `change` adds files, what is shown or what it repeats. The text may be
    /// empty.
    ///
    /// # Panics
    ///
    /// When the account may not post there.
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

    /// A file that a message may have, and that can be read from then on.
    pub fn add_file(&self, name: &str, bytes: impl Into<Vec<u8>>) -> Attachment {
        let bytes = bytes.into();
        let mut world = self.world();
        let url = format!("https://files.memory.example/{}/{name}", world.files.len());
        let file =
            Attachment::new(name, url.as_str(), u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        world.files.insert(url, bytes);
        file
    }

    /// Adds a message of Discord's own: an account joined, pinned something, started a thread. Its text
    /// may be empty.
    ///
    /// # Panics
    ///
    /// When there is no such channel.
    #[track_caller]
    pub fn system_message(
        &self,
        channel: ChannelId,
        user: UserId,
        text: impl Into<String>,
    ) -> MessageId {
        speak(self, channel, user, ChatKind::System, text.into().into())
    }

    /// Changes the text of a message of any author; returns whether it was there.
    pub fn edit(&self, channel: ChannelId, message: MessageId, text: impl Into<String>) -> bool {
        let text = text.into().into();
        self.world().edit(channel, message, |edited, _| edited.content = text)
    }

    /// Deletes a message of any author; returns whether it was there.
    pub fn delete_message(&self, channel: ChannelId, message: MessageId) -> bool {
        self.world().erase(channel, message)
    }

    /// Gives an account sight of a channel; says whether it had none before.
    pub fn join(&self, channel: ChannelId, user: UserId) -> bool {
        self.world().join(channel, user)
    }

    /// Takes an account's sight of a channel; says whether it sees it no more. Owner and
    /// administrators see it all the same.
    pub fn leave(&self, channel: ChannelId, user: UserId) -> bool {
        self.world().leave(channel, user)
    }

    /// What is kept of a channel's messages, oldest first, with all text and no request counted.
    pub fn messages(&self, channel: ChannelId) -> Vec<ChatMessage> {
        let world = self.world();
        let room = world.places.rooms.get(&channel);
        room.map(|room| room.messages.iter().cloned().collect()).unwrap_or_default()
    }

    /// One message, with no request counted.
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
