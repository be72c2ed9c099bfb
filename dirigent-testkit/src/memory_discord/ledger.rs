//! The record of requests to the chat: counts of every call and, if you ask for it, every post.

use std::collections::VecDeque;

use dirigent::ports::Timestamp;
use dirigent::ports::{Mentions, Nonce};
use dirigent::{ChannelId, MessageId, UserId};

use super::faults::Fault;

/// An operation of `DiscordApi` or `GuildApi`.
///
/// ```
/// use dirigent_testkit::memory_discord::Call;
/// assert_eq!(Call::ALL.len(), 16);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Call {
    /// `me`.
    Me,
    /// `post`.
    Post,
    /// `delete`.
    Delete,
    /// `history`.
    History,
    /// `members`.
    Members,
    /// `typing`.
    Typing,
    /// `guilds`.
    Guilds,
    /// `channel`.
    Channel,
    /// `channels`.
    Channels,
    /// `create_channel`.
    CreateChannel,
    /// `delete_channel`.
    DeleteChannel,
    /// `set_access`.
    SetAccess,
    /// `is_administrator`.
    IsAdministrator,
    /// `is_bot`.
    IsBot,
    /// `can_see`.
    CanSee,
    /// `file`.
    File,
}

impl Call {
    /// All operations.
    pub const ALL: [Self; 16] = [
        Self::Me,
        Self::Post,
        Self::Delete,
        Self::History,
        Self::Members,
        Self::Typing,
        Self::Guilds,
        Self::Channel,
        Self::Channels,
        Self::CreateChannel,
        Self::DeleteChannel,
        Self::SetAccess,
        Self::IsAdministrator,
        Self::IsBot,
        Self::CanSee,
        Self::File,
    ];
}

/// How often each operation was requested, including failed attempts.
///
/// ```
/// use dirigent_testkit::memory_discord::{Call, Calls};
/// assert_eq!(Calls::default().of(Call::Post), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The counts in the order of [`Call::ALL`].
    counts: [u64; Call::ALL.len()],
    /// Attempts before a rate limit was over.
    too_early: u64,
    /// Attempts with a revoked token.
    unauthorized: u64,
}

impl Calls {
    /// Returns how often this operation was requested.
    pub fn of(&self, call: Call) -> u64 {
        self.counts.get(call as usize).copied().unwrap_or(0)
    }

    /// Returns how many requests there were in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns how many requests came before the end of a wait that their account was given.
    pub const fn too_early(&self) -> u64 {
        self.too_early
    }

    /// Returns how many requests came with an invalid token.
    pub const fn unauthorized(&self) -> u64 {
        self.unauthorized
    }

    /// Returns the difference to earlier counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut added = *self;
        for (count, before) in added.counts.iter_mut().zip(earlier.counts) {
            *count = count.saturating_sub(before);
        }
        added.too_early = added.too_early.saturating_sub(earlier.too_early);
        added.unauthorized = added.unauthorized.saturating_sub(earlier.unauthorized);
        added
    }
}

/// One attempt to post, as the chat saw it. It contains no text.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new())).with_post_log(100);
/// assert!(discord.take_posts().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostRecord {
    /// The time at which the request arrived.
    pub at: Timestamp,
    /// The account of the token.
    pub author: UserId,
    /// The channel to post in.
    pub channel: ChannelId,
    /// The nonce of the post.
    pub nonce: Nonce,
    /// The accounts that it may ping.
    pub mentions: Mentions,
    /// The message that it answers.
    pub reply_to: Option<MessageId>,
    /// The number of its characters (Unicode scalars).
    pub chars: usize,
    /// The number of its embeds. [`MemoryChannel::embeds`](super::MemoryChannel::embeds) returns those that were
    /// posted.
    pub embeds: usize,
    /// The number of its files. [`MemoryChannel::files`](super::MemoryChannel::files) returns those that were
    /// posted.
    pub files: usize,
    /// The message that it created, or that an earlier post with its nonce had created.
    pub message: Option<MessageId>,
    /// True if the nonce was known.
    pub deduplicated: bool,
    /// The fault that hit it.
    pub fault: Option<Fault>,
}

/// The counts and the log of one chat.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The counts.
    calls: Calls,
    /// The newest attempts to post, oldest first.
    posts: VecDeque<PostRecord>,
    /// The most attempts to store; 0 stores none.
    posts_max: usize,
}

impl Ledger {
    /// Returns the counts so far.
    pub(crate) const fn calls(&self) -> Calls {
        self.calls
    }

    pub(crate) fn count(&mut self, call: Call) {
        if let Some(count) = self.calls.counts.get_mut(call as usize) {
            *count += 1;
        }
    }

    pub(crate) const fn count_too_early(&mut self) {
        self.calls.too_early += 1;
    }

    pub(crate) const fn count_unauthorized(&mut self) {
        self.calls.unauthorized += 1;
    }

    /// Stores this many posts from now on.
    pub(crate) fn keep_posts(&mut self, posts_max: usize) {
        self.posts_max = posts_max;
        while self.posts.len() > posts_max {
            self.posts.pop_front();
        }
    }

    /// Returns true if posts are stored.
    pub(crate) const fn keeps_posts(&self) -> bool {
        self.posts_max > 0
    }

    pub(crate) fn log(&mut self, record: PostRecord) {
        if self.posts.len() >= self.posts_max {
            self.posts.pop_front();
        }
        self.posts.push_back(record);
    }

    /// Returns the stored posts, and forgets them.
    pub(crate) fn take_posts(&mut self) -> Vec<PostRecord> {
        std::mem::take(&mut self.posts).into()
    }
}
