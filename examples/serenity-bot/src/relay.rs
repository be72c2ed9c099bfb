//! What serenity's gateway connection pushes, told to the library.

use dirigent::ports::AuthorKind;
use dirigent::{CallError, ChannelId, ChatMessage, Dirigent, MessageId, UserId};
use serenity::all as discord;
use serenity::client::{Context, EventHandler};

use crate::chat_message;
use crate::message::{attachment, chat_kind};

/// Tells the library what happens, beside whatever other handlers the bot has.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a bot builds it")]
pub struct Relay(pub Dirigent);

#[dirigent::async_trait]
impl EventHandler for Relay {
    async fn message(&self, _: Context, message: discord::Message) {
        told(self.0.message_created(chat_message(&message)).await);
    }

    async fn message_update(
        &self,
        _: Context,
        _: Option<discord::Message>,
        _: Option<discord::Message>,
        event: discord::MessageUpdateEvent,
    ) {
        if let Some(message) = edited(event) {
            told(self.0.message_updated(message).await);
        }
    }

    async fn message_delete(
        &self,
        _: Context,
        channel: discord::ChannelId,
        message: discord::MessageId,
        _: Option<discord::GuildId>,
    ) {
        let (channel, message) = (ChannelId::new(channel.get()), MessageId::new(message.get()));
        told(self.0.message_deleted(channel, message).await);
    }

    async fn thread_members_update(&self, _: Context, update: discord::ThreadMembersUpdateEvent) {
        let thread = ChannelId::new(update.id.get());
        for added in update.added_members {
            told(self.0.member_joined(thread, UserId::new(added.user_id.get())).await);
        }
        for gone in update.removed_member_ids {
            told(self.0.member_left(thread, UserId::new(gone.get())).await);
        }
    }

    async fn channel_delete(
        &self,
        _: Context,
        channel: discord::GuildChannel,
        _: Option<Vec<discord::Message>>,
    ) {
        told(self.0.channel_deleted(ChannelId::new(channel.id.get())).await);
    }

    /// A new session knows nothing of what happened since the last. After a resume, Discord repeats
    /// what was missed by itself.
    async fn ready(&self, _: Context, _: discord::Ready) {
        told(self.0.reconnected().await);
    }

    async fn resume(&self, cx: Context, _: discord::ResumedEvent) {
        self.0.resumed(cx.shard_id.0);
    }

    /// Without a connection nothing is heard. This bot has one shard; one that has several says which
    /// channels are the shard's.
    async fn shard_stage_update(&self, _: Context, update: discord::ShardStageUpdateEvent) {
        if update.old == discord::ConnectionStage::Connected {
            self.0.disconnected(update.shard_id.0, |_| true);
        }
    }
}

/// An edit, if it says who wrote what: others (an embed that came later) change nothing for us.
fn edited(event: discord::MessageUpdateEvent) -> Option<ChatMessage> {
    let author = event.author?;
    let author_kind = if author.bot { AuthorKind::Bot } else { AuthorKind::Human };
    Some(ChatMessage {
        author_kind,
        kind: chat_kind(event.kind?),
        author_name: Some(author.display_name().into()),
        attachments: event.attachments.unwrap_or_default().iter().map(attachment).collect(),
        ..ChatMessage::new(
            MessageId::new(event.id.get()),
            ChannelId::new(event.channel_id.get()),
            UserId::new(author.id.get()),
            event.content?,
        )
    })
}

/// The library is shutting down, or a channel's record cannot be read: nothing that a handler could do.
fn told(told: Result<(), CallError>) {
    if let Err(error) = told {
        tracing::warn!(%error, "an event could not be told");
    }
}
