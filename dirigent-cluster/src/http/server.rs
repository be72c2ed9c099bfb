//! Answers other processes over HTTP/2.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent::accept::{Shortage, connections_max};
use dirigent::{Clock, SystemClock};
use dirigent_relay::Server;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::connection::serve_connection;
use super::error::ServeError;
use super::limits::Limits;
use super::tls::ServerTls;

/// Answers questions that come over HTTP/2, and limits what clients may send, hold and delay:
///
/// | | by default |
/// | --- | --- |
/// | connections at once; one more is closed at once | 1,024, and at most half of the process's limit of file descriptors |
/// | questions at once; one more is answered with 503 | 1,024 |
/// | bytes of one question; more is answered with 413 | [`QUESTION_MAX`](dirigent_relay::QUESTION_MAX) |
/// | bytes of all questions at once; more is answered with 503 | 64 MiB |
/// | time for TLS and the beginning of HTTP/2 | 5 s |
/// | time for a question to arrive; later it is answered with 408 | 5 s |
/// | time for an answer to be taken | 5 s |
/// | bytes of a request's head | 8 KiB |
pub struct HttpServer {
    shared: Arc<HttpService>,
}

pub(super) struct HttpService {
    pub(super) server: Arc<Server>,
    /// `None`: not encrypted, and only for this machine.
    pub(super) tls: Option<Arc<rustls::ServerConfig>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    /// Questions that may still be taken.
    pub(super) places: Semaphore,
    /// Bytes of questions that may still be taken.
    pub(super) bytes: Semaphore,
}

/// What an [`HttpServer`] is made with.
pub struct HttpServerBuilder {
    server: Arc<Server>,
    tls: Option<ServerTls>,
    clock: Arc<dyn Clock>,
    limits: Limits,
}

impl HttpServer {
    /// Begins a server over TLS.
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// use dirigent_cluster::http::{HttpServer, ServerTls};
    /// use tokio::net::TcpListener;
    ///
    /// # async fn serve(server: Arc<dirigent_relay::Server>) -> Result<(), Box<dyn std::error::Error>> {
    /// let tls = ServerTls::new(&std::fs::read("bot-1.pem")?, &std::fs::read("bot-1.key")?)?
    ///     .with_client_authorities(&std::fs::read("authorities.pem")?)?;
    /// let listener = TcpListener::bind("0.0.0.0:7443").await?;
    /// HttpServer::builder(server, tls).build().serve(listener).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(server: Arc<Server>, tls: ServerTls) -> HttpServerBuilder {
        HttpServerBuilder::new(server, Some(tls))
    }

    /// Begins a server without TLS, which listens on this machine only: for tests and examples.
    pub fn plain_on_loopback(server: Arc<Server>) -> HttpServerBuilder {
        HttpServerBuilder::new(server, None)
    }

    /// Answers until the future is dropped, which closes all connections.
    ///
    /// # Errors
    ///
    /// Where the listener may not be used or fails.
    pub async fn serve(self, listener: TcpListener) -> Result<(), ServeError> {
        self.serve_until(listener, std::future::pending()).await
    }

    /// Answers until `stop` is over. Then no connection and no question is taken any more, and what is under way has 5 s (unless
    /// something else is chosen) to end: no question is lost.
    ///
    /// # Errors
    ///
    /// Where the listener may not be used or fails.
    pub async fn serve_until(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        let shared = self.shared;
        let address = listener.local_addr()?;
        if shared.tls.is_none() && !address.ip().is_loopback() {
            return Err(ServeError::PlainNotLoopback { address });
        }
        let (stopped, stopping) = watch::channel(false);
        let mut connections = JoinSet::new();
        let most = connections_max(shared.limits.connections);
        let mut shortage = Shortage::new("the relay");
        tokio::pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) if connections.len() < most => {
                        shortage.accepted();
                        connections.spawn(serve_connection(shared.clone(), stream, stopping.clone()));
                    }
                    Ok((stream, peer)) => refuse(stream, peer),
                    Err(error) => {
                        let wait = shortage.failed(error)?;
                        shared.clock.sleep_until(shared.clock.now() + wait).await;
                    }
                },
            }
        }
        drop(listener);
        stopped.send_replace(true);
        let late = shared.clock.sleep_until(shared.clock.now() + shared.limits.grace);
        tokio::select! {
            biased;
            () = async { while connections.join_next().await.is_some() {} } => {}
            () = late => {}
        }
        Ok(())
    }
}

fn refuse(stream: TcpStream, peer: std::net::SocketAddr) {
    tracing::debug!(%peer, "there are too many connections; one more was closed");
    drop(stream);
}

impl HttpServerBuilder {
    fn new(server: Arc<Server>, tls: Option<ServerTls>) -> Self {
        Self { server, tls, clock: Arc::new(SystemClock::new()), limits: Limits::default() }
    }

    /// By which clock it waits: by default the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// How many connections there may be at once, by default 1,024. There are never more than half of the file descriptors that the
    /// process may have open.
    #[must_use]
    pub const fn connections_max(mut self, most: usize) -> Self {
        self.limits.connections = most;
        self
    }

    /// How many questions there may be at once, by default 1,024.
    #[must_use]
    pub const fn questions_max(mut self, most: usize) -> Self {
        self.limits.questions = most;
        self
    }

    /// How many bytes all questions at once may have, by default 64 MiB.
    #[must_use]
    pub const fn bytes_max(mut self, most: usize) -> Self {
        self.limits.bytes = most;
        self
    }

    /// How long a connection has for TLS and the beginning of HTTP/2, by default 5 s.
    #[must_use]
    pub const fn handshake_limit(mut self, limit: Duration) -> Self {
        self.limits.handshake = limit;
        self
    }

    /// How long a question may take to arrive, by default 5 s.
    #[must_use]
    pub const fn question_limit(mut self, limit: Duration) -> Self {
        self.limits.question = limit;
        self
    }

    /// How long an answer may take to be taken, by default 5 s.
    #[must_use]
    pub const fn answer_limit(mut self, limit: Duration) -> Self {
        self.limits.answer = limit;
        self
    }

    /// How long what is under way may go on when the server stops, by default 5 s.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.limits.grace = grace;
        self
    }

    /// The server.
    pub fn build(self) -> HttpServer {
        let Self { server, tls, clock, limits } = self;
        let permits = |most: usize| Semaphore::new(most.min(Semaphore::MAX_PERMITS));
        let (places, bytes) = (permits(limits.questions), permits(limits.bytes));
        let tls = tls.map(ServerTls::config);
        HttpServer { shared: Arc::new(HttpService { server, tls, clock, limits, places, bytes }) }
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer").field("server", &self.shared.server).finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServerBuilder").field("server", &self.server).finish_non_exhaustive()
    }
}
