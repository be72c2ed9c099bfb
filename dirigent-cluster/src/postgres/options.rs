//! The options of the store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{Clock, SystemClock};

use crate::lease::Terms;

/// Options for opening a [`PostgresStore`](crate::PostgresStore). An address alone is enough.
///
/// ```
/// use std::time::Duration;
/// use dirigent_cluster::PostgresOptions;
///
/// let options = PostgresOptions::new("postgresql://bot:secret@db.internal/bot")
///     .cluster("round-table")
///     .ttl(Duration::from_secs(10));
/// // The address may hold a password.
/// assert!(!format!("{options:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct PostgresOptions {
    pub(super) address: String,
    pub(super) tls: Option<rustls::ClientConfig>,
    pub(super) cluster: String,
    pub(super) process: String,
    pub(super) shards: u16,
    pub(super) terms: Terms,
    pub(super) history_max: usize,
    pub(super) clock: Arc<dyn Clock>,
}

impl PostgresOptions {
    /// Creates options from an address in libpq's form (`postgresql://user:password@host:port/database` or `host=…
    /// user=…`). All others have their defaults.
    ///
    /// Of several hosts (`postgresql://bot@first,second/bot`) the store uses the one that takes writes at the time.
    /// Each gets a quarter of the TTL to answer, at least 1 s and at most 5 s.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            tls: None,
            cluster: "dirigent".to_owned(),
            process: String::new(),
            shards: 256,
            terms: Terms::default(),
            history_max: 100,
            clock: Arc::new(SystemClock::new()),
        }
    }

    /// Encrypts every connection, and says which certificates to trust. A server without encryption is then not used,
    /// even with `sslmode=prefer`, and an address with `sslmode=disable` is refused. Default: no connection is
    /// encrypted, and an address with `sslmode=require` is refused.
    #[must_use]
    pub fn tls(mut self, tls: rustls::ClientConfig) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Names the cluster, which is all processes on this database. Default: `dirigent`. Another bot needs a database of
    /// its own: under another name, this one is refused.
    #[must_use]
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = name.into();
        self
    }

    /// Names this process for the others. Default: no name. With a name it also knows theirs, so that it can ask a
    /// channel's owner ([`Ownership::owner`](dirigent::ports::Ownership::owner)).
    ///
    /// You need no new name after a restart, because a random number tells each start of a process from the others. If
    /// two processes of one name run at the same time, the later one acts for no channel until the other has ended:
    /// [`PostgresProblem::SameName`](crate::PostgresProblem::SameName).
    #[must_use]
    pub fn process(mut self, name: impl Into<String>) -> Self {
        self.process = name.into();
        self
    }

    /// Sets into how many shards the channels are divided: 1 to 1,024, by default 256. That is also the most processes
    /// that can share them. You cannot change it once the tables are made.
    #[must_use]
    pub fn shards(mut self, shards: u16) -> Self {
        self.shards = shards.clamp(1, 1_024);
        self
    }

    /// Sets how long a lease lasts: at least 500 ms, by default 10 s. All processes must use the same TTL. After a kill
    /// it takes up to 1.2 TTL until another process goes on. [`Terms::of`] derives the other times.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.terms = Terms::of(ttl.max(Duration::from_millis(500)));
        self
    }

    /// Sets how many transitions of each channel are stored. Default: 100; 0 stores none.
    #[must_use]
    pub fn history_max(mut self, transitions: usize) -> Self {
        self.history_max = transitions;
        self
    }

    /// Sets the clock for leases and waits. Default: [`SystemClock`]. It must not stand still while the process is
    /// paused, because it says how long a lease is trusted.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("cluster", &self.cluster)
            .field("shards", &self.shards)
            .field("terms", &self.terms)
            .field("history_max", &self.history_max)
            .finish_non_exhaustive()
    }
}

impl From<String> for PostgresOptions {
    fn from(address: String) -> Self {
        Self::new(address)
    }
}

impl From<&str> for PostgresOptions {
    fn from(address: &str) -> Self {
        Self::new(address)
    }
}
