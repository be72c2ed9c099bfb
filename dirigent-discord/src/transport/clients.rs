//! The HTTP client in use, which is exchanged when its connections no longer answer.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connector::Connector;

/// How HTTP/2 connections are watched, idle ones too: one that is silently dropped would take every
/// request, and answer none, until TCP gives up after a quarter of an hour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pings {
    /// How often a ping is sent.
    pub(super) interval: Duration,
    /// How long its answer may take until the connection is closed.
    pub(super) timeout: Duration,
}

impl Default for Pings {
    fn default() -> Self {
        Self { interval: Duration::from_secs(15), timeout: Duration::from_secs(5) }
    }
}

/// A client with its connections, and how to make the next one.
pub(super) struct Clients {
    connector: Connector,
    pings: Pings,
    current: Mutex<Numbered>,
}

/// A client, told from the ones before it.
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

    /// The client for the next request.
    pub(super) fn current(&self) -> Numbered {
        self.lock().clone()
    }

    /// An answer over this client did not come in time: later requests use new connections. Requests that
    /// are under way keep theirs.
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
