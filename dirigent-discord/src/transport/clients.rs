//! The current HTTP client, which is replaced if its connections no longer answer.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};
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
    /// The time between two pings.
    pub(super) interval: Duration,
    /// The longest wait for an answer before the connection is closed.
    pub(super) timeout: Duration,
}

impl Default for Pings {
    fn default() -> Self {
        Self { interval: Duration::from_secs(15), timeout: Duration::from_secs(5) }
    }
}

/// A client with its connections, and the settings of the next one.
pub(super) struct Clients {
    connector: Connector,
    pings: Pings,
    current: Mutex<Numbered>,
}

/// A client with a number that differs from earlier ones.
#[derive(Clone)]
pub(super) struct Numbered {
    number: u64,
    client: Client<Connector, Full<Bytes>>,
}

impl Deref for Numbered {
    type Target = Client<Connector, Full<Bytes>>;

    fn deref(&self) -> &Self::Target {
        &self.client
    }
}

impl Clients {
    pub(super) fn new(connector: Connector, pings: Pings) -> Self {
        let client = client(connector.clone(), pings);
        Self { connector, pings, current: Mutex::new(Numbered { number: 0, client }) }
    }

    /// Returns the client for the next request.
    pub(super) fn current(&self) -> Numbered {
        self.lock().clone()
    }

    /// Replaces a client, because an answer did not come in time. Requests in flight keep their
    /// connections.
    pub(super) fn replace(&self, used: &Numbered) {
        let mut current = self.lock();
        if current.number == used.number {
            let client = client(self.connector.clone(), self.pings);
            *current = Numbered { number: used.number.wrapping_add(1), client };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Numbered> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn client(connector: Connector, pings: Pings) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(pings.interval)
        .http2_keep_alive_timeout(pings.timeout)
        .http2_keep_alive_while_idle(true)
        .build(connector)
}
