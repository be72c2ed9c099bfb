//! The chat in which the suite plays, and what its checks have in common.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::{HistoryRequest, Nonce, Post, Posted, Timestamp};
use dirigent::{ChannelId, ChatMessage, Clock as _, DiscordApi, MessageId, SystemClock, UserId};

use crate::contract::report::works;
use crate::memory_discord::Fault;

/// A chat in which the suite may play.
///
/// ```
/// use std::sync::Arc;
/// use async_trait::async_trait;
/// use dirigent::ports::Timestamp;
/// use dirigent::{ChannelId, Clock, DiscordApi, MessageId, UserId};
/// use dirigent_testkit::{ManualClock, MemoryDiscord, contract};
///
/// struct InMemory { discord: MemoryDiscord, clock: ManualClock, person: UserId, bots: [UserId; 2] }
///
/// #[async_trait]
/// impl contract::DiscordHarness for InMemory {
///     fn account(&self) -> Arc<dyn DiscordApi> {
///         Arc::new(self.discord.account(self.bots[0]))
///     }
///     fn colleague(&self) -> Arc<dyn DiscordApi> {
///         Arc::new(self.discord.account(self.bots[1]))
///     }
///     fn person(&self) -> UserId {
///         self.person
///     }
///     async fn fresh_channel(&self) -> ChannelId {
///         let guild = self.discord.add_guild(self.person);
///         self.discord.add_channel(guild, "suite", &self.bots)
///     }
///     async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
///         self.discord.say(channel, self.person, text)
///     }
///     fn now(&self) -> Timestamp {
///         self.clock.now()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), contract::Failures> {
/// let clock = ManualClock::new();
/// let discord = MemoryDiscord::new(Arc::new(clock.clone()));
/// let (person, bots) = (discord.add_human(), [discord.add_bot(), discord.add_bot()]);
/// contract::discord_api(&InMemory { discord, clock, person, bots }).await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait DiscordHarness: Send + Sync {
    /// A bot's account.
    fn account(&self) -> Arc<dyn DiscordApi>;

    /// Another bot's account, in the same channels, without special rights.
    fn colleague(&self) -> Arc<dyn DiscordApi>;

    /// A person, in the same channels.
    fn person(&self) -> UserId;

    /// A bot's account that sees none of the channels; without one some checks are left out.
    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        None
    }

    /// A new private channel without messages, seen by the account, the colleague, the person, and
    /// otherwise only by who sees everything.
    async fn fresh_channel(&self) -> ChannelId;

    /// Lets the person say something.
    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId;

    /// The time by the chat's clock. The default is that of this machine.
    fn now(&self) -> Timestamp {
        SystemClock::new().now()
    }

    /// Lets time pass, for an account that is not sure yet what became of a post. The default waits.
    async fn pass(&self, time: Duration) {
        let clock = SystemClock::new();
        clock.sleep_until(clock.now() + time).await;
    }

    /// Whether the chat shows which message a post answers; without it a post that answers one is a message as any other.
    fn marks_replies(&self) -> bool {
        true
    }

    /// Whether [`break_next_post`](Self::break_next_post) works; without it some checks are left
    /// out.
    fn can_break_posts(&self) -> bool {
        false
    }

    /// Lets this happen to the next post.
    fn break_next_post(&self, fault: Fault) {
        let _ = fault;
    }
}

/// A post with the channel's nonce of this number.
pub(super) fn post(channel: ChannelId, content: &str, number: u64) -> Post {
    Post::new(channel, content, Nonce::from_parts(channel.get(), 0, number))
}

/// Posts what must be accepted.
pub(super) async fn posted(account: &dyn DiscordApi, post: Post) -> Result<Posted, String> {
    works("a post", account.post(post).await)
}

/// The newest messages, oldest first.
pub(super) async fn newest(
    account: &dyn DiscordApi,
    channel: ChannelId,
) -> Result<Vec<ChatMessage>, String> {
    page(account, HistoryRequest { channel, after: None, limit: 100 }).await
}

/// A page of messages, oldest first.
pub(super) async fn page(
    account: &dyn DiscordApi,
    request: HistoryRequest,
) -> Result<Vec<ChatMessage>, String> {
    let mut messages = works("reading the history", account.history(request).await)?;
    messages.sort_by_key(|message| message.id);
    Ok(messages)
}

/// The ids of messages.
pub(super) fn ids(messages: &[ChatMessage]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}
