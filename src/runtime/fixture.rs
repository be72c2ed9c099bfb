//! What the tests of the runtime share: a chat without people, and the library over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use dirigent_core::{Config, MessageId};

use super::driver::Driver;
use crate::memory::MemoryChannels;
use crate::ports::discord::{HistoryRequest, Post, Posted};
use crate::ports::identity::Identity;
use crate::settings::Pacing;
use crate::values::error::ApiError;
use crate::{ChannelId, ChatMessage, Dirigent, DiscordApi, MemoryIdentities, Settings, UserId};

/// A chat in which the agents "a" and "b" see every channel, and no person writes.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    posts: AtomicU64,
    /// How often the history was read.
    pub(crate) reads: AtomicU64,
}

#[async_trait]
impl DiscordApi for Quiet {
    fn sent_at(&self, message: MessageId) -> dirigent_core::Timestamp {
        crate::values::message::snowflake_time(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        Ok(UserId::new(1))
    }

    async fn post(&self, _: Post) -> Result<Posted, ApiError> {
        let number = self.posts.fetch_add(1, Ordering::SeqCst);
        Ok(Posted { id: MessageId::new(1_000 + number), deduplicated: false })
    }

    async fn delete(&self, _: ChannelId, _: MessageId) -> Result<(), ApiError> {
        Ok(())
    }

    async fn history(&self, _: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        Ok(Vec::new())
    }

    fn reads_history(&self, _: ChannelId) -> Option<bool> {
        Some(true)
    }

    async fn members(&self, _: ChannelId, _: Vec<UserId>) -> Result<Vec<UserId>, ApiError> {
        Ok(vec![UserId::new(1), UserId::new(2), UserId::new(3)])
    }
}

/// The library over this chat and this store, with the agents "a" and "b".
pub(crate) fn built(discord: Arc<Quiet>, store: &MemoryChannels) -> (Dirigent, Driver) {
    let identity = |name: &str, user| Identity {
        discord_user_id: UserId::new(user),
        agent_id: name.into(),
        agent_name: name.to_owned(),
    };
    let identities = MemoryIdentities::with([identity("a", 2), identity("b", 3)]).unwrap();
    let mut config = Config::default();
    (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
    let settings = Settings::default().with(|settings| {
        (settings.limits.pacing, settings.time_limits.backfill) = (Pacing::off(), None);
    });
    Dirigent::builder(discord)
        .identities(identities)
        .channels(store.clone())
        .config(config)
        .settings(settings)
        .build()
        .unwrap()
}

/// Threads for the driver, beside the test's.
pub(crate) fn executor(workers: usize) -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(workers).enable_time().build().unwrap()
}
