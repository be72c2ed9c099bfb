//! The suite's chat, and helpers of its checks.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::{HistoryRequest, Nonce, Post, Posted, Timestamp};
use dirigent::{ChannelId, ChatMessage, Clock as _, DiscordApi, MessageId, SystemClock, UserId};

use crate::contract::report::works;
use crate::memory_discord::Fault;

/// A chat for the suite to run in.
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
    /// Returns a bot's account.
    fn account(&self) -> Arc<dyn DiscordApi>;

    /// Returns another bot's account in the same channels, without special permissions.
    fn colleague(&self) -> Arc<dyn DiscordApi>;

    /// Returns a person in the same channels.
    fn person(&self) -> UserId;

    /// Returns a bot's account that sees none of the channels. Without one some checks are left out.
    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        None
    }

    /// Creates a private channel without messages. The account, the colleague and the person see it, and otherwise only
    /// accounts that see everything.
    async fn fresh_channel(&self) -> ChannelId;

    /// Posts a message of the person.
    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId;

    /// Returns the time by the chat's clock. By default it is that of this machine.
    fn now(&self) -> Timestamp {
        SystemClock::new().now()
    }

    /// Lets time pass, for an account that does not know the result of a post yet. By default it really waits.
    async fn pass(&self, time: Duration) {
        let clock = SystemClock::new();
        clock.sleep_until(clock.now() + time).await;
    }

    /// Returns true if the chat shows which message a post answers. Otherwise an answer looks like any other message.
    fn marks_replies(&self) -> bool {
        true
    }

    /// Returns true if [`break_next_post`](Self::break_next_post) works. Otherwise some checks are left out.
    fn can_break_posts(&self) -> bool {
        false
    }

    /// Breaks the next post in this way.
    fn break_next_post(&self, fault: Fault) {
        let _ = fault;
    }
}

/// Returns a post with the channel's nonce of this number.
pub(super) fn post(channel: ChannelId, content: &str, number: u64) -> Post {
    Post::new(channel, content, Nonce::from_parts(channel.get(), 0, number))
}

/// Posts a message that must be accepted.
pub(super) async fn posted(account: &dyn DiscordApi, post: Post) -> Result<Posted, String> {
    works("a post", account.post(post).await)
}

/// Returns the newest messages, oldest first.
pub(super) async fn newest(
    account: &dyn DiscordApi,
    channel: ChannelId,
) -> Result<Vec<ChatMessage>, String> {
    page(account, HistoryRequest { channel, after: None, limit: 100 }).await
}

/// Returns a page of messages, oldest first.
pub(super) async fn page(
    account: &dyn DiscordApi,
    request: HistoryRequest,
) -> Result<Vec<ChatMessage>, String> {
    let mut messages = works("reading the history", account.history(request).await)?;
    messages.sort_by_key(|message| message.id);
    Ok(messages)
}

/// Returns the ids of messages.
pub(super) fn ids(messages: &[ChatMessage]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}
