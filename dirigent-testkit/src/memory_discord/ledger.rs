//! What was asked of the chat: counts of every call, and on request every post.

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
    /// All of them.
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

/// How often each operation was asked for, failed attempts included.
///
/// ```
/// use dirigent_testkit::memory_discord::{Call, Calls};
/// assert_eq!(Calls::default().of(Call::Post), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// By the order of [`Call::ALL`].
    counts: [u64; Call::ALL.len()],
    /// Attempts before a rate limit was over.
    too_early: u64,
    /// Attempts with a token that had been revoked.
    unauthorized: u64,
}

impl Calls {
    /// How often this one was asked for.
    pub fn of(&self, call: Call) -> u64 {
        self.counts.get(call as usize).copied().unwrap_or(0)
    }

    /// How many requests there were in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many came while their account had been told to wait.
    pub const fn too_early(&self) -> u64 {
        self.too_early
    }

    /// How many came with a token that is not valid.
    pub const fn unauthorized(&self) -> u64 {
        self.unauthorized
    }

    /// What was added since an earlier reading.
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

/// One attempt to post, as the chat saw it. It holds no text.
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
    /// When the request arrived.
    pub at: Timestamp,
    /// With whose token.
    pub author: UserId,
    /// The channel to post in.
    pub channel: ChannelId,
    /// The nonce it brought.
    pub nonce: Nonce,
    /// Whom it might ping.
    pub mentions: Mentions,
    /// The message it answers.
    pub reply_to: Option<MessageId>,
    /// How many characters (Unicode scalars) it has.
    pub chars: usize,
    /// How many embeds it has. [`MemoryChannel::embeds`](super::MemoryChannel::embeds) shows those that were posted.
    pub embeds: usize,
    /// How many files it has. [`MemoryChannel::files`](super::MemoryChannel::files) has those that were posted.
    pub files: usize,
    /// The message that it made, or that an earlier one with its nonce had made.
    pub message: Option<MessageId>,
    /// Whether the nonce was known.
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
    /// How many of them are kept; 0 keeps none.
    posts_max: usize,
}

impl Ledger {
    /// The counts so far.
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

    /// Keeps this many posts from now on.
    pub(crate) fn keep_posts(&mut self, posts_max: usize) {
        self.posts_max = posts_max;
        while self.posts.len() > posts_max {
            self.posts.pop_front();
        }
    }

    /// Whether posts are kept at all.
    pub(crate) const fn keeps_posts(&self) -> bool {
        self.posts_max > 0
    }

    pub(crate) fn log(&mut self, record: PostRecord) {
        if self.posts.len() >= self.posts_max {
            self.posts.pop_front();
        }
        self.posts.push_back(record);
    }

    /// Hands over the kept posts and forgets them.
    pub(crate) fn take_posts(&mut self) -> Vec<PostRecord> {
        std::mem::take(&mut self.posts).into()
    }
}
