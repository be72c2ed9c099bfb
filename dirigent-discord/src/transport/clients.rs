//! The current HTTP client, which is replaced if its connections no longer answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connector::Connector;

/// Pings of HTTP/2 connections, including idle ones. A silently dropped connection would take every
/// request and answer none, until TCP gives up after a quarter of an hour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pings {
    pub(super) interval: Duration,
    /// The longest wait for an answer before the connection is closed.
    pub(super) timeout: Duration,
}

impl Default for Pings {
    fn default() -> Self {
        Self { interval: Duration::from_secs(15), timeout: Duration::from_secs(5) }
    }
}

type HttpClient = Client<Connector, Full<Bytes>>;

/// A client with its connections, and the settings of the next one.
pub(super) struct Clients {
    connector: Connector,
    pings: Pings,
    current: Mutex<Arc<HttpClient>>,
}

impl Clients {
    pub(super) fn new(connector: Connector, pings: Pings) -> Self {
        let current = Mutex::new(Arc::new(client(connector.clone(), pings)));
        Self { connector, pings, current }
    }

    /// Returns the client for the next request.
    pub(super) fn current(&self) -> Arc<HttpClient> {
        Arc::clone(&self.lock())
    }

    /// Replaces a client, because an answer did not come in time. Requests in flight keep their
    /// connections.
    pub(super) fn replace(&self, used: &Arc<HttpClient>) {
        let mut current = self.lock();
        if Arc::ptr_eq(&current, used) {
            *current = Arc::new(client(self.connector.clone(), self.pings));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Arc<HttpClient>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn client(connector: Connector, pings: Pings) -> HttpClient {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(pings.interval)
        .http2_keep_alive_timeout(pings.timeout)
        .http2_keep_alive_while_idle(true)
        .build(connector)
}
