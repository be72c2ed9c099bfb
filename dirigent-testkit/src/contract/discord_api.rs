//! What every [`DiscordApi`] must do.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::{
    ChannelId, ChatMessage, DiscordApi, HistoryRequest, Mentions, MessageId, Nonce, Post, Posted,
    UserId,
};

use super::report::{Failures, Report, works};
use super::{checks, left_out};
use crate::memory_discord::Fault;

mod access;
mod doubt;
mod posting;
mod reading;

use access::{
    a_channel_that_is_not_there_is_gone, a_stranger_to_the_channel_is_forbidden,
    many_accounts_may_be_asked_about, the_account_knows_itself,
    those_who_see_the_channel_are_its_members, typing_in_an_own_channel_works,
};
use doubt::{
    a_lost_answer_leaves_doubt_and_the_nonce_ends_it, a_post_that_never_arrived_leaves_doubt_too,
    a_rate_limit_says_how_long_to_wait, a_server_error_leaves_doubt,
};
use posting::{
    a_deleted_message_is_gone, a_known_nonce_makes_no_second_message,
    a_longest_content_is_taken_and_a_longer_one_refused, a_message_of_another_stays,
    a_posted_message_is_read_back, a_reply_is_marked_and_survives_a_lost_original,
    an_empty_content_is_refused, an_error_shows_no_text, another_nonce_makes_another_message,
    ids_rise_over_all_accounts, nonces_of_different_accounts_do_not_meet,
    posts_at_the_same_time_all_arrive,
};
use reading::{
    a_page_has_one_to_a_hundred_messages, a_persons_message_is_a_persons,
    a_quiet_channel_has_an_empty_history, nothing_comes_after_the_newest,
    pages_after_a_message_follow_on_each_other, without_a_start_the_newest_come,
};

/// A chat in which the suite may play.
///
/// ```
/// use std::sync::Arc;
/// use async_trait::async_trait;
/// use dirigent::{ChannelId, DiscordApi, MessageId, UserId};
/// use dirigent_testkit::{ManualClock, MemoryDiscord, contract};
///
/// struct InMemory { discord: MemoryDiscord, person: UserId, bots: [UserId; 2] }
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
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), contract::Failures> {
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let (person, bots) = (discord.add_human(), [discord.add_bot(), discord.add_bot()]);
/// contract::discord_api(&InMemory { discord, person, bots }).await?;
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

/// Runs all checks of the contract.
///
/// # Errors
///
/// The checks that failed.
pub async fn discord_api(harness: &dyn DiscordHarness) -> Result<Report, Failures> {
    let mut report = Report::new("discord_api");
    checks!(report, harness;
        the_account_knows_itself,
        a_posted_message_is_read_back,
        ids_rise_over_all_accounts,
        a_known_nonce_makes_no_second_message,
        another_nonce_makes_another_message,
        nonces_of_different_accounts_do_not_meet,
        an_empty_content_is_refused,
        a_longest_content_is_taken_and_a_longer_one_refused,
        a_reply_is_marked_and_survives_a_lost_original,
        posts_at_the_same_time_all_arrive,
        a_deleted_message_is_gone,
        a_message_of_another_stays,
        an_error_shows_no_text,
        a_quiet_channel_has_an_empty_history,
        without_a_start_the_newest_come,
        pages_after_a_message_follow_on_each_other,
        nothing_comes_after_the_newest,
        a_page_has_one_to_a_hundred_messages,
        a_persons_message_is_a_persons,
        those_who_see_the_channel_are_its_members,
        many_accounts_may_be_asked_about,
        typing_in_an_own_channel_works,
        a_channel_that_is_not_there_is_gone,
    );
    if harness.stranger().is_some() {
        checks!(report, harness; a_stranger_to_the_channel_is_forbidden);
    } else {
        left_out!(report; a_stranger_to_the_channel_is_forbidden);
    }
    if harness.can_break_posts() {
        checks!(report, harness;
            a_lost_answer_leaves_doubt_and_the_nonce_ends_it,
            a_post_that_never_arrived_leaves_doubt_too,
            a_server_error_leaves_doubt,
            a_rate_limit_says_how_long_to_wait,
        );
    } else {
        left_out!(report;
            a_lost_answer_leaves_doubt_and_the_nonce_ends_it,
            a_post_that_never_arrived_leaves_doubt_too,
            a_server_error_leaves_doubt,
            a_rate_limit_says_how_long_to_wait,
        );
    }
    report.finish()
}

/// A post with the channel's nonce of this number.
fn post(channel: ChannelId, content: &str, number: u64) -> Post {
    Post {
        channel,
        content: content.into(),
        nonce: Nonce::from_parts(channel.get(), 0, number),
        mentions: Mentions::Nobody,
        reply_to: None,
    }
}

/// Posts what must be accepted.
async fn posted(account: &dyn DiscordApi, post: Post) -> Result<Posted, String> {
    works("a post", account.post(post).await)
}

/// The newest messages, oldest first.
async fn newest(account: &dyn DiscordApi, channel: ChannelId) -> Result<Vec<ChatMessage>, String> {
    page(account, HistoryRequest { channel, after: None, limit: 100 }).await
}

/// A page of messages, oldest first.
async fn page(
    account: &dyn DiscordApi,
    request: HistoryRequest,
) -> Result<Vec<ChatMessage>, String> {
    let mut messages = works("reading the history", account.history(request).await)?;
    messages.sort_by_key(|message| message.id);
    Ok(messages)
}

/// The ids of messages.
fn ids(messages: &[ChatMessage]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id).collect()
}
