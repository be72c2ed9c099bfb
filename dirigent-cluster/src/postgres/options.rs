//! What a host may choose.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{Clock, SystemClock};

use crate::lease::Terms;

/// How a [`PostgresStore`](crate::PostgresStore) is opened. An address alone is enough.
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
    /// The address, as libpq has it (`postgresql://user:password@host:port/database` or `host=… user=…`); all else as by default.
    ///
    /// With several hosts (`postgresql://bot@first,second/bot`) the one that takes writes is used, whichever it is at the time; each
    /// is given a quarter of the TTL to answer.
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

    /// How connections are encrypted, and which certificates are trusted. With it every connection is encrypted: a server that
    /// does not encrypt is not used, also with `sslmode=prefer`, and an address with `sslmode=disable` is refused. Without it none is,
    /// and an address with `sslmode=require` is refused.
    #[must_use]
    pub fn tls(mut self, tls: rustls::ClientConfig) -> Self {
        self.tls = Some(tls);
        self
    }

    /// The name of what all processes on this database are together, by default `dirigent`. Another bot needs a
    /// database of its own; opened with another name, this one is refused.
    #[must_use]
    pub fn cluster(mut self, name: impl Into<String>) -> Self {
        self.cluster = name.into();
        self
    }

    /// How the other processes call this one, by default nothing. With a name it knows theirs as well: which of them acts for a
    /// channel ([`Ownership::owner`](dirigent::ports::Ownership::owner)), so that it can be asked. A random number distinguishes a
    /// process from others, and from its earlier starts. Of two processes with one name that run at the same time, the one that
    /// began later acts for no channel until the other has ended:
    /// [`PostgresProblem::Namesake`](crate::PostgresProblem::Namesake).
    #[must_use]
    pub fn process(mut self, name: impl Into<String>) -> Self {
        self.process = name.into();
        self
    }

    /// Into how many shards the channels are divided, by default 256, at least 1 and at most 1,024: no more processes can share them. It
    /// stays what it was when the tables were made.
    #[must_use]
    pub fn shards(mut self, shards: u16) -> Self {
        self.shards = shards.clamp(1, 1_024);
        self
    }

    /// How long a lease lasts, by default 10 s, at least 500 ms: after a kill it takes up to that and a fifth until
    /// another process goes on. All processes must have the same. [`Terms::of`] says what else follows from it.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.terms = Terms::of(ttl.max(Duration::from_millis(500)));
        self
    }

    /// How many transitions of each channel are kept, by default 100; 0 keeps none.
    #[must_use]
    pub fn history_max(mut self, transitions: usize) -> Self {
        self.history_max = transitions;
        self
    }

    /// Where time comes from, by default the [`SystemClock`]: leases are trusted on it, and waits are waited with it. It must
    /// not stand still while the process is paused.
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
