//! The chat as the process sees it: every request is a crash point before and after it is carried
//! out, and nothing may be done that is not written down (I2).

use std::fmt;

use async_trait::async_trait;
use dirigent::ports::{ApiError, Attachment, HistoryRequest, Nonce, Post, Posted, WriteBar};
use dirigent::{ChannelId, ChatMessage, DiscordApi, MessageId, UserId};
use dirigent_core::Effect;
use dirigent_core::snapshot::PendingEffect;
use dirigent_testkit::{MemoryAccount, MemoryDiscord};

use super::points::Points;
use super::store::StageStore;

/// A [`MemoryAccount`] that is watched.
#[derive(Clone)]
pub(crate) struct StageAccount {
    account: MemoryAccount,
    /// The chat behind it, to look what a message is.
    discord: MemoryDiscord,
    store: StageStore,
    points: Points,
    /// What it says of its permission to read a history.
    reads_history: Option<bool>,
}

impl StageAccount {
    pub(crate) fn new(
        (account, discord): (MemoryAccount, MemoryDiscord),
        store: StageStore,
        points: Points,
        reads_history: Option<bool>,
    ) -> Self {
        Self { account, discord, store, points, reads_history }
    }

    /// Whether something like this is pending in any stored channel.
    fn is_pending(&self, is_it: impl Fn(ChannelId, &PendingEffect) -> bool) -> bool {
        self.store.known().into_iter().any(|channel| {
            let stored = self.store.stored(channel);
            stored.is_some_and(|s| {
                s.record.snapshot.pending.effects.iter().any(|d| is_it(channel, d))
            })
        })
    }

    /// Whether this post is a part of an outbox message that is stored and not posted yet.
    fn is_in_a_letter(&self, post: &Post) -> bool {
        self.store.known().into_iter().filter_map(|channel| self.store.stored(channel)).any(
            |stored| {
                let messages =
                    stored.record.outbox.iter().filter(|message| message.to == post.channel);
                messages.flat_map(|message| &message.parts).any(|part| {
                    part.nonce == post.nonce
                        && part.posted.is_none()
                        && part.content == post.content
                })
            },
        )
    }

    /// Whether the message is a trigger that is pending in no stored channel any more: it was withdrawn while it was
    /// in doubt, and did arrive. Or it is gone, and the deletion is one whose answer was lost.
    fn is_withdrawn(&self, channel: ChannelId, message: MessageId) -> bool {
        let Some(message) = self.discord.message(channel, message) else {
            return true;
        };
        let has_its_nonce = |of: ChannelId, effect: &PendingEffect| {
            let ticket = effect.effect.ticket().map_or(0, dirigent_core::Ticket::get);
            let nonce = Nonce::from_parts(of.get(), effect.since.as_millis(), ticket);
            message.nonce == Some(nonce)
        };
        message.author == self.account.user()
            && message.nonce.is_some()
            && !self.is_pending(has_its_nonce)
    }

    fn check_post(&self, post: &Post) {
        let pending = self.is_pending(|channel, effect| {
            let ticket = effect.effect.ticket().map_or(0, dirigent_core::Ticket::get);
            // An answer may have several parts.
            let parts = if matches!(effect.effect, Effect::Consult { .. }) { 0..64 } else { 0..1 };
            parts.map(|part: u64| ticket | part << 24).any(|number| {
                Nonce::from_parts(channel.get(), effect.since.as_millis(), number) == post.nonce
            })
        });
        let part = || {
            let stored = self.store.stored(post.channel);
            let outgoing = stored.and_then(|stored| stored.record.outgoing.clone());
            outgoing.is_some_and(|outgoing| {
                outgoing.parts.iter().any(|part| part.nonce == post.nonce && part.posted.is_none())
            })
        };
        if !pending && !part() && !self.is_in_a_letter(post) {
            let pending: Vec<_> = self
                .store
                .known()
                .into_iter()
                .filter_map(|channel| self.store.stored(channel))
                .flat_map(|stored| stored.record.snapshot.pending.effects)
                .collect();
            let nonce = post.nonce.as_str();
            self.breach(&format!("the post {nonce} (pending: {pending:?})"), post.channel);
        }
        if post.content.chars().count() > 2_000 || post.nonce.as_str().is_empty() {
            self.breach("a post that is too long or without nonce", post.channel);
        }
    }

    fn breach(&self, what: &str, channel: ChannelId) {
        self.points.breach(format!(
            "I2: {what} in channel {channel} is asked for before the state that holds it is stored"
        ));
    }
}

#[async_trait]
impl DiscordApi for StageAccount {
    fn sent_at(&self, message: MessageId) -> dirigent::ports::Timestamp {
        self.account.sent_at(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        self.points.pass("before asking who we are").await;
        self.account.me().await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        self.check_post(&post);
        self.points.pass("before a post").await;
        let posted = self.account.post(post).await;
        self.points.pass("after a post").await;
        posted
    }

    fn sends_files(&self) -> bool {
        self.account.sends_files()
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        let is_it = |_, effect: &PendingEffect| matches!(effect.effect, Effect::Delete { message: m, .. } if m == message);
        if !self.is_pending(is_it) && !self.is_withdrawn(channel, message) {
            self.breach("a deletion", channel);
        }
        self.points.pass("before a deletion").await;
        let deleted = self.account.delete(channel, message).await;
        self.points.pass("after a deletion").await;
        deleted
    }

    async fn delete_of_other(
        &self,
        channel: ChannelId,
        message: MessageId,
    ) -> Result<(), ApiError> {
        self.points.pass("before a deletion").await;
        let deleted = self.account.delete_of_other(channel, message).await;
        self.points.pass("after a deletion").await;
        deleted
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.points.pass("before reading messages").await;
        let read = self.account.history(request).await;
        self.points.pass("after reading messages").await;
        read
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        let is_it = |of, effect: &PendingEffect| {
            of == channel && matches!(effect.effect, Effect::FetchMembers { .. })
        };
        if !self.is_pending(is_it) {
            self.breach("a member list", channel);
        }
        self.points.pass("before reading members").await;
        let members = self.account.members(channel, among).await;
        self.points.pass("after reading members").await;
        members
    }

    fn reads_history(&self, _channel: ChannelId) -> Option<bool> {
        self.reads_history
    }

    fn write_bars(&self, channel: ChannelId, among: &[UserId]) -> Vec<(UserId, WriteBar)> {
        self.account.write_bars(channel, among)
    }

    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        self.account.file(file, max).await
    }

    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        self.account.typing(channel).await
    }
}

impl fmt::Debug for StageAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageAccount").field("user", &self.account.user()).finish_non_exhaustive()
    }
}
