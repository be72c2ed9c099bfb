//! Sets up an account.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use dirigent::{Clock, UserId};

use crate::file_host::FileHost;
use crate::guild_cache::GuildCache;
use crate::persona::table::Personas;
use crate::traffic::Traffic;
use crate::transport::{Transport, origin};
use crate::unfinished::UnfinishedReads;
use crate::{AccountBuildError, BanGuard, DiscordAccount};

/// Sets up a [`DiscordAccount`]. `Debug` hides the token.
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

    /// Sends all requests to this address (`http://host:port` or `https://host:port`) instead of Discord. It receives
    /// the token, so choose one that you trust.
    pub fn proxy(mut self, address: impl Into<String>) -> Self {
        self.proxy = Some(address.into());
        self
    }

    /// Reads the files of messages from this address (`http://host:port` or `https://host:port`) instead of Discord's
    /// file host, so that you can test against a Discord of your own. It receives no token, and files are read from no
    /// other host.
    pub fn files(mut self, address: impl Into<String>) -> Self {
        self.files = Some(address.into());
        self
    }

    /// Sets the longest time of one attempt, from looking up the name to the last byte of the answer.
    ///
    /// The default is 9 seconds, a little less than the 10 seconds that the driver waits for an attempt. Name, TCP and
    /// TLS together may take at most 4 of them. If an attempt takes too long, later ones use new connections.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many requests may leave in any second. The default is 50, which is what Discord allows. Choose less if
    /// this token has another user, for example your bot's own client.
    pub const fn requests_per_second(mut self, requests: usize) -> Self {
        self.per_second = requests;
        self
    }

    /// Lists the ids of webhooks that people speak through, for example those of a bridge to another chat. Their posts
    /// count as people's words ([`AuthorKind::Bridged`](dirigent::ports::AuthorKind::Bridged)), so they wake and stop
    /// the channel and get answers. By default there are none, because a webhook's name proves nothing: everyone who
    /// has its address can post.
    pub fn people_behind(mut self, webhooks: impl IntoIterator<Item = UserId>) -> Self {
        self.bridges.extend(webhooks);
        self
    }

    /// Counts invalid requests with this guard instead of that of the process ([`BanGuard::of_process`]). Use it for an
    /// account with another address, for example behind a proxy.
    pub fn ban_guard(mut self, guard: &BanGuard) -> Self {
        self.guard = guard.clone();
        self
    }

    /// Builds the account. It sends no request and spawns no task.
    ///
    /// # Errors
    ///
    /// Returns an error if the token is malformed, if the address of the proxy or of the files is invalid, or if there
    /// is no TLS.
    pub fn build(self) -> Result<DiscordAccount, AccountBuildError> {
        let transport = Transport::new(&self.token, self.proxy.as_deref())?;
        let traffic = Traffic::new(self.per_second, self.guard);
        let file_host = match &self.files {
            Some(address) => FileHost::only(origin(address).ok_or(AccountBuildError::BadProxy)?),
            None => FileHost::discord(),
        };
        Ok(DiscordAccount {
            transport,
            file_host,
            bridges: self.bridges,
            traffic,
            clock: self.clock,
            timeout: self.timeout,
            me: OnceLock::new(),
            posted: Mutex::default(),
            unfinished: UnfinishedReads::default(),
            guild_cache: GuildCache::default(),
            personas: Personas::default(),
            application: OnceLock::new(),
        })
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
