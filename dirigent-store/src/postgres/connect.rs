//! A connection to the server: made with the options, and what is said on it beside the answers.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use tokio::sync::mpsc;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::options::PostgresOptions;
use super::refusal::{no_answer, refused};
use crate::error::{Action, StoreError};
use crate::lease::Terms;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// The server, and how it is reached.
pub(super) struct Server {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    pub(super) address: PathBuf,
    pub(super) cluster: String,
    pub(super) shards: u16,
    pub(super) terms: Terms,
    pub(super) clock: Arc<dyn Clock>,
}

/// A connection. `pump` must be polled for anything to happen on it, and ends with it.
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) pump: BoxFuture<'static, ()>,
    pub(super) notes: mpsc::UnboundedReceiver<String>,
}

impl Server {
    pub(super) fn new(options: PostgresOptions) -> Result<Self, StoreError> {
        let PostgresOptions { address, tls, cluster, shards, terms, clock, .. } = options;
        let bad = |_| {
            let bad = io::Error::new(io::ErrorKind::InvalidInput, "no address of a database");
            StoreError::not_done(Action::Find, "postgresql".as_ref(), bad)
        };
        let mut config: Config = address.parse().map_err(bad)?;
        config.connect_timeout(CONNECT);
        if config.get_application_name().is_none() {
            config.application_name("dirigent");
        }
        config.tcp_user_timeout(terms.ttl);
        if tls.is_none() && config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Disable);
        }
        let tls = tls.map(MakeRustlsConnect::new);
        let address = label(&config);
        Ok(Self { config, tls, address, cluster, shards, terms, clock })
    }

    /// Makes a connection.
    pub(super) async fn connect(&self) -> Result<Session, StoreError> {
        // Most of it is what encrypts.
        let connected = Box::pin(async {
            match &self.tls {
                Some(tls) => self.config.connect(tls.clone()).await.map(session),
                None => self.config.connect(NoTls).await.map(session),
            }
        });
        let connected =
            async { connected.await.map_err(|error| refused(&self.address, Action::Find, &error)) };
        self.in_time(2 * CONNECT, Action::Find, connected).await
    }

    /// Waits, but not longer than this.
    pub(super) async fn in_time<T>(
        &self,
        limit: Duration,
        action: Action,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let over = self.clock.sleep_until(self.clock.now() + limit);
        tokio::select! {
            biased;
            done = work => done,
            () = over => Err(no_answer(&self.address, action)),
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
                // Only the listener wants them.
                let _ = tell.send(note.payload().to_owned());
            }
        }
    };
    Session { client, pump: Box::pin(pump), notes }
}

/// Returns where the database is, without user and password.
fn label(config: &Config) -> PathBuf {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5_432);
    let database = config.get_dbname().or_else(|| config.get_user()).unwrap_or_default();
    PathBuf::from(format!("postgresql://{host}:{port}/{database}"))
}
