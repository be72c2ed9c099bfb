//! Connections to the server, and the notifications that arrive on them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dirigent::Clock;
use dirigent_store::{Action, StoreError};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address;
use super::options::PostgresOptions;
use super::refusal::{away, no_answer, refused};
use crate::lease::Terms;

/// The time limit for the network connection to a server.
const CONNECT: Duration = Duration::from_secs(5);
/// The least time that one of several hosts gets for a whole connection.
const HOST_MIN: Duration = Duration::from_secs(1);

/// The database's server, and the way to reach it.
pub(super) struct Server {
    /// One configuration for each host.
    hosts: Vec<Config>,
    /// The host that was reached last. It is tried first, because after a fail-over the first one may be gone for long.
    reached: AtomicUsize,
    tls: Option<MakeRustlsConnect>,
    pub(super) address: PathBuf,
    pub(super) cluster: String,
    /// The name by which other processes know this one; empty if they need none.
    pub(super) process: String,
    pub(super) shards: u16,
    pub(super) terms: Terms,
    pub(super) clock: Arc<dyn Clock>,
}

/// A connection. Poll `pump`, because it does all the work. It ends with the connection.
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) pump: BoxFuture<'static, ()>,
    pub(super) notes: mpsc::UnboundedReceiver<String>,
}

impl Server {
    pub(super) fn new(options: PostgresOptions) -> Result<Self, StoreError> {
        let PostgresOptions { address, tls, cluster, process, shards, terms, clock, .. } = options;
        let bad = |bad| StoreError::not_done(Action::Find, "postgresql".as_ref(), bad);
        let mut hosts = address::read(&address, tls.is_some()).map_err(bad)?;
        for config in &mut hosts {
            if config.get_connect_timeout().is_none() {
                config.connect_timeout(CONNECT);
            }
            if config.get_application_name().is_none() {
                config.application_name("dirigent");
            }
            config.tcp_user_timeout(terms.ttl);
        }
        let tls = tls.map(MakeRustlsConnect::new);
        let address = hosts.first().map(address::label).unwrap_or_default();
        let reached = AtomicUsize::new(0);
        Ok(Self { hosts, reached, tls, address, cluster, process, shards, terms, clock })
    }

    /// Connects to the host that was reached last, or else to the next one that takes writes.
    pub(super) async fn connect(&self) -> Result<Session, StoreError> {
        let first = self.reached.load(Ordering::Relaxed);
        // A server that stands still must not use up the time in which another could renew the leases.
        let limit = match self.hosts.len() {
            1 => 2 * CONNECT,
            _ => (self.terms.ttl / 4).clamp(HOST_MIN, CONNECT),
        };
        let mut last = None;
        let places = (0..self.hosts.len()).map(|place| (first + place) % self.hosts.len());
        for (place, config) in places.filter_map(|place| Some((place, self.hosts.get(place)?))) {
            match self.in_time(limit, self.connect_to(config)).await {
                Ok(session) => {
                    self.reached.store(place, Ordering::Relaxed);
                    return Ok(session);
                }
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| away(&self.address)))
    }

    async fn connect_to(&self, config: &Config) -> Result<Session, StoreError> {
        // Boxed, because the encryption makes this future large.
        let connected = Box::pin(async {
            match &self.tls {
                Some(tls) => config.connect(tls.clone()).await.map(session),
                None => config.connect(NoTls).await.map(session),
            }
        });
        connected.await.map_err(|error| refused(&self.address, Action::Find, &error))
    }

    /// Waits for the work, up to the limit.
    pub(super) async fn in_time<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let over = self.clock.sleep_until(self.clock.now() + limit);
        tokio::select! {
            biased;
            done = work => done,
            () = over => Err(no_answer(&self.address)),
        }
    }
}

fn session<T>((client, mut connection): (Client, Connection<Socket, T>)) -> Session
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (tell, notes) = mpsc::unbounded_channel();
    let pump = async move {
        let mut messages = stream::poll_fn(|context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(note) = message {
                // Only the listener reads them.
                let _ = tell.send(note.payload().to_owned());
            }
        }
    };
    Session { client, pump: Box::pin(pump), notes }
}
