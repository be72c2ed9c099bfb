//! Asks other processes over HTTP/2.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use dirigent::{Clock, SystemClock};
use dirigent_relay::{CarryError, HostId, Relay};
use tokio::sync::{mpsc, watch};

use super::address::{Addresses, HostAddress};
use super::connector::Connector;
use super::error::HttpError;
use super::exchange::{Line, Unanswered, head};
use super::link::HttpLink;
use super::pool::{Order, Phase, Pool};
use super::tls::ClientTls;

/// How often a question is tried where the connection turns out to have ended before it was sent, or looked at.
const ATTEMPTS: usize = 2;

/// Carries questions over HTTP/2, one connection to each process. Clones share them. The work is done by an [`HttpLink`].
#[derive(Clone)]
pub struct HttpRelay {
    shared: Arc<HttpConnections>,
}

struct HttpConnections {
    addresses: Box<dyn Addresses>,
    is_encrypted: bool,
    clock: Arc<dyn Clock>,
    pool: Pool,
    orders: mpsc::UnboundedSender<Order>,
}

/// What an [`HttpRelay`] is made with.
pub struct HttpRelayBuilder {
    addresses: Box<dyn Addresses>,
    tls: Option<ClientTls>,
    clock: Arc<dyn Clock>,
    connect_limit: Duration,
}

impl HttpRelay {
    /// Begins a relay over TLS.
    ///
    /// ```no_run
    /// use dirigent_relay::HostId;
    /// use dirigent_cluster::http::{ClientTls, HttpRelay};
    ///
    /// let tls = ClientTls::trusting(&std::fs::read("authorities.pem")?)?;
    /// let addresses = |host: &HostId| format!("{host}.internal:7443").parse().ok();
    /// let (relay, link) = HttpRelay::builder(addresses, tls).build();
    /// # let _ = (relay, link);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(addresses: impl Addresses, tls: ClientTls) -> HttpRelayBuilder {
        HttpRelayBuilder::new(Box::new(addresses), Some(tls))
    }

    /// Begins a relay without TLS, which reaches processes of this machine only: for tests and examples.
    pub fn plain_on_loopback(addresses: impl Addresses) -> HttpRelayBuilder {
        HttpRelayBuilder::new(Box::new(addresses), None)
    }
}

impl HttpRelayBuilder {
    fn new(addresses: Box<dyn Addresses>, tls: Option<ClientTls>) -> Self {
        let clock = Arc::new(SystemClock::new());
        Self { addresses, tls, clock, connect_limit: Duration::from_secs(5) }
    }

    /// By which clock it waits: by default the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// How long a connection may take to be made, by default 5 s.
    #[must_use]
    pub const fn connect_limit(mut self, limit: Duration) -> Self {
        self.connect_limit = limit;
        self
    }

    /// The relay, and the future that does its work.
    pub fn build(self) -> (HttpRelay, HttpLink) {
        let Self { addresses, tls, clock, connect_limit } = self;
        let (orders, ordered) = mpsc::unbounded_channel();
        let tls = tls.map(ClientTls::config);
        let is_encrypted = tls.is_some();
        let connector = Connector { tls, clock: clock.clone(), limit: connect_limit };
        let pool = Pool::default();
        let shared = HttpConnections { addresses, is_encrypted, clock, pool, orders };
        (HttpRelay { shared: Arc::new(shared) }, HttpLink::new(ordered, connector))
    }
}

impl HttpConnections {
    fn address(&self, host: &HostId) -> Result<HostAddress, HttpError> {
        self.addresses.address(host).ok_or_else(|| {
            self.pool.remove(host);
            HttpError::NoAddress { host: host.clone() }
        })
    }

    /// The connection to the process, made if it has to be; `None` where it ended meanwhile.
    async fn line(&self, phase: &mut watch::Receiver<Phase>) -> Result<Option<Line>, HttpError> {
        let is_decided = |phase: &Phase| !matches!(phase, Phase::Connecting);
        match &*phase.wait_for(is_decided).await.map_err(|_| HttpError::LinkEnded)? {
            Phase::Ready(line) => Ok(Some(line.clone())),
            Phase::Failed { why, .. } => Err(why.clone()),
            Phase::Connecting | Phase::Lost => Ok(None),
        }
    }
}

#[async_trait]
impl Relay for HttpRelay {
    async fn carry(
        &self,
        to: &HostId,
        rule: &str,
        question: Vec<u8>,
    ) -> Result<Vec<u8>, CarryError> {
        let shared = &*self.shared;
        let question = Bytes::from(question);
        let mut why = HttpError::LinkEnded;
        for _ in 0..ATTEMPTS {
            let address = shared.address(to).map_err(HttpError::unreachable)?;
            let head = head(&address, shared.is_encrypted, rule, question.len());
            let head = head.map_err(HttpError::unreachable)?;
            // Where no link is there any more the order is dropped, which the receiver notices.
            let order = |order| drop(shared.orders.send(order));
            let mut phase = shared.pool.connection(to, &address, shared.clock.now(), order);
            let line = shared.line(&mut phase).await;
            let line = line.inspect_err(|error| {
                if matches!(error, HttpError::LinkEnded) {
                    shared.pool.forget(to, &phase);
                }
            });
            let Some(line) = line.map_err(HttpError::unreachable)? else { continue };
            why = match line.begin(head, question.clone()).await {
                Ok(exchange) => match exchange.finish().await {
                    Ok(answer) => return Ok(answer),
                    Err(Unanswered::Failed(error)) => return Err(error),
                    Err(Unanswered::NotLookedAt(why)) => why,
                },
                // Found closed: surely not sent.
                Err(why) => why,
            };
            shared.pool.forget(to, &phase);
        }
        Err(why.unreachable())
    }
}

impl fmt::Debug for HttpRelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRelay").finish_non_exhaustive()
    }
}

impl fmt::Debug for HttpRelayBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRelayBuilder").finish_non_exhaustive()
    }
}
