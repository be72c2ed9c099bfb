//! Plays a scene in a channel.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::host::{IntoShared, split_reply};
use dirigent::ports::{HistoryRequest, Nonce, Post, Timestamp};
use dirigent::{ChannelId, Clock, DiscordApi, SystemClock};

use crate::judge::SpokenLine;
use crate::outlet::{Outlet, ShowError};

/// Posts speeches into a channel, with an account for each character. The scene alone decides whose turn it is, so the
/// channel must not be one in which Dirigent keeps turns (its mode is `none`). Messages of people there are not routed.
///
/// Speech is split into messages like a reply. It pings no account, keeps a pace, and counts as said once the chat has
/// confirmed its last message.
///
/// If a character has no account, a person plays it with their own account, and their words are already in the channel.
///
/// ```
/// # fn with(maria: std::sync::Arc<dyn dirigent::DiscordApi>, sam: std::sync::Arc<dyn dirigent::DiscordApi>) {
/// use dirigent::ChannelId;
/// use dirigent_scene::ChannelOutlet;
///
/// let channel = ChannelOutlet::new(ChannelId::new(1)).account("maria", maria).account("sam", sam);
/// # let _ = channel;
/// # }
/// ```
pub struct ChannelOutlet {
    channel: ChannelId,
    accounts: BTreeMap<String, Arc<dyn DiscordApi>>,
    clock: Arc<dyn Clock>,
    pace: Duration,
    attempts: u32,
    /// No message is posted before this time.
    next_at: Timestamp,
}

/// The wait after a failure if the chat does not name one. It doubles each time.
const RETRY_WAIT: Duration = Duration::from_secs(1);
/// The longest of those waits. If the chat names a wait, it is used unchanged.
const RETRY_WAIT_MAX: Duration = Duration::from_secs(60);
/// The number of newest messages that are searched for a part that may have been posted.
const LOOK_BACK: u8 = 100;

impl ChannelOutlet {
    /// Shows a scene in this channel.
    pub fn new(channel: ChannelId) -> Self {
        Self {
            channel,
            accounts: BTreeMap::new(),
            clock: Arc::new(SystemClock::new()),
            pace: Duration::from_secs(1),
            attempts: 5,
            next_at: Timestamp::default(),
        }
    }

    /// Sets the account that posts the speeches of the character with this slug.
    #[must_use]
    pub fn account(
        mut self,
        slug: impl Into<String>,
        account: impl IntoShared<dyn DiscordApi>,
    ) -> Self {
        self.accounts.insert(slug.into(), account.into_shared());
        self
    }

    /// Sets the shortest time between two messages. Default one second, which is Discord's pace for a channel.
    #[must_use]
    pub const fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Sets how often a message is tried before the scene is aborted. Default 5.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the clock. By default it is the [`SystemClock`]; set another one in tests.
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Posts one message. All attempts use one nonce, so that the message appears only once.
    async fn post(&mut self, account: &dyn DiscordApi, post: &Post) -> Result<(), ShowError> {
        let mut attempt = 0;
        loop {
            self.clock.sleep_until(self.next_at).await;
            let outcome = account.post(post.clone()).await;
            self.next_at = self.clock.now() + self.pace;
            let Err(error) = outcome else {
                return Ok(());
            };
            attempt += 1;
            if !error.kind().is_retryable() || attempt >= self.attempts {
                return Err(ShowError::new(error));
            }
            tracing::warn!(channel = %self.channel, attempt, %error, "a speech is posted again");
            let own = RETRY_WAIT.saturating_mul(2_u32.saturating_pow(attempt - 1));
            let wait = error.retry_after().unwrap_or(own.min(RETRY_WAIT_MAX));
            self.clock.sleep_until(self.clock.now() + wait).await;
        }
    }

    /// Returns how many of these parts are in the channel already, from the first on.
    async fn posted(&self, account: &dyn DiscordApi, parts: &[String]) -> Result<usize, ShowError> {
        let me = account.me().await.map_err(ShowError::new)?;
        let request = HistoryRequest { channel: self.channel, after: None, limit: LOOK_BACK };
        let mut messages = account.history(request).await.map_err(ShowError::new)?;
        if messages.is_empty() && account.reads_history(self.channel) != Some(true) {
            // Some chats show an empty history if the account may not read it.
            return Err(ShowError::new(
                "it may stand in the channel already, and whether the account may read the channel is not known",
            ));
        }
        messages.sort_by_key(|message| message.id);
        let own = messages.iter().filter(|message| message.author == me);
        let own: Vec<&str> = own.map(|message| &*message.content).collect();
        // Look for the longest run of this account's newest messages that begins the speech.
        let most = parts.len().min(own.len());
        let stands = (1..=most).rev().find(|count| {
            let newest = own.get(own.len() - count..).unwrap_or_default();
            newest.iter().zip(parts).all(|(posted, part)| posted.trim() == part.trim())
        });
        Ok(stands.unwrap_or(0))
    }
}

#[async_trait]
impl Outlet for ChannelOutlet {
    async fn show(&mut self, line: &SpokenLine, is_repeat: bool) -> Result<(), ShowError> {
        let account = self.accounts.get(line.speaker.slug().as_str()).cloned();
        let Some(account) = account else {
            return Ok(());
        };
        let parts = split_reply(line.speech.as_str());
        let stands = if is_repeat { self.posted(&*account, &parts).await? } else { 0 };
        let decided = self.clock.now().as_millis();
        for (part, number) in parts.iter().zip(0_u64..).skip(stands) {
            let number = u64::from(line.number) << 8 | number;
            let nonce = Nonce::from_parts(self.channel.get(), decided, number);
            let post = Post::new(self.channel, part.as_str(), nonce);
            self.post(&*account, &post).await?;
        }
        Ok(())
    }
}

impl fmt::Debug for ChannelOutlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelOutlet")
            .field("channel", &self.channel)
            .field("accounts", &self.accounts.keys())
            .finish_non_exhaustive()
    }
}
