//! How an account is set up.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{Clock, UserId};

use crate::file_host::FileHost;
use crate::traffic::Traffic;
use crate::transport::{Transport, origin};
use crate::{AccountBuildError, BanGuard, DiscordAccount};

/// Sets up a [`DiscordAccount`]. `Debug` shows no token.
///
/// ```
/// use std::time::Duration;
/// use dirigent::SystemClock;
/// use dirigent_discord::{BanGuard, DiscordAccount};
///
/// # fn main() -> Result<(), dirigent_discord::AccountBuildError> {
/// let guard = BanGuard::new(200);
/// let account = DiscordAccount::builder("a.bot.token", SystemClock::new())
///     .proxy("http://127.0.0.1:8080")
///     .timeout(Duration::from_secs(5))
///     .ban_guard(&guard)
///     .build()?;
/// assert!(!format!("{account:?}").contains("token"));
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is set up until it is built"]
pub struct AccountBuilder {
    token: String,
    clock: Arc<dyn Clock>,
    proxy: Option<String>,
    files: Option<String>,
    timeout: Duration,
    per_second: usize,
    guard: BanGuard,
    bridges: Vec<UserId>,
}

impl AccountBuilder {
    pub(crate) fn new(token: String, clock: Arc<dyn Clock>) -> Self {
        Self {
            token,
            clock,
            proxy: None,
            files: None,
            timeout: Duration::from_secs(9),
            per_second: 50,
            guard: BanGuard::of_process(),
            bridges: Vec::new(),
        }
    }

    /// Sends everything to this address (`http://host:port` or `https://host:port`) and not to Discord.
    /// It is given the token.
    pub fn proxy(mut self, address: impl Into<String>) -> Self {
        self.proxy = Some(address.into());
        self
    }

    /// Reads the files of messages from this address (`http://host:port` or `https://host:port`) and not from Discord's file host:
    /// for a test against a Discord of one's own. It is given no token, and no other host is asked for a file.
    pub fn files(mut self, address: impl Into<String>) -> Self {
        self.files = Some(address.into());
        self
    }

    /// Sets how long one attempt may take in all, from looking up the name to the last byte of the answer.
    ///
    /// The default is 9 seconds, a little less than the 10 seconds that the driver waits for an attempt.
    /// Name, TCP and TLS together may take at most 4 of them. After an attempt that took too long, later ones
    /// use new connections.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many requests may leave in any second; 50, if nothing is said, which is what Discord allows.
    /// Less is wise where another process uses the same token.
    pub const fn requests_per_second(mut self, requests: usize) -> Self {
        self.per_second = requests;
        self
    }

    /// The webhooks, by id, behind which people speak, for example a bridge to another chat: what they post counts as people's words
    /// ([`AuthorKind::Bridged`](dirigent::ports::AuthorKind::Bridged)), so it wakes, stops and is answered. None, if nothing is said:
    /// a webhook's name proves nothing, and everyone who has its address can post.
    pub fn people_behind(mut self, webhooks: impl IntoIterator<Item = UserId>) -> Self {
        self.bridges.extend(webhooks);
        self
    }

    /// Counts invalid requests with this guard and not with that of the process ([`BanGuard::of_process`]), for
    /// an account whose requests leave from another address.
    pub fn ban_guard(mut self, guard: &BanGuard) -> Self {
        self.guard = guard.clone();
        self
    }

    /// Builds the account. Nothing is sent and nothing is spawned.
    ///
    /// # Errors
    ///
    /// When the token cannot be one, the address of the proxy or of the files is not understood, or TLS is not to be had.
    pub fn build(self) -> Result<DiscordAccount, AccountBuildError> {
        let transport = Transport::new(&self.token, self.proxy.as_deref())?;
        let traffic = Traffic::new(self.per_second, self.guard);
        let file_host = match &self.files {
            Some(address) => FileHost::only(origin(address).ok_or(AccountBuildError::BadProxy)?),
            None => FileHost::discord(),
        };
        let mut account =
            DiscordAccount::new(transport, file_host, traffic, self.clock, self.timeout);
        account.bridges = self.bridges;
        Ok(account)
    }
}

impl fmt::Debug for AccountBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountBuilder")
            .field("timeout", &self.timeout)
            .field("per_second", &self.per_second)
            .finish_non_exhaustive()
    }
}
