//! Processes on loopback.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{SystemClock, async_trait};
use dirigent_cluster::http::{
    AddressBook, HttpError, HttpRelay, HttpRelayBuilder, HttpServer, HttpServerBuilder, ServeError,
};
use dirigent_relay::{
    Asker, CarryError, Client, HostId, Keyring, Refused, Relay, RelayError, RelayQuestion, Secret,
    Server, Service,
};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use super::certificates::Authority;
use super::wire::Keeping;

/// Answered with the same text.
#[derive(Serialize, Deserialize)]
pub(super) struct Echo(pub String);

impl RelayQuestion for Echo {
    const RULE: &'static str = "echo";
    type Answer = String;
}

/// Answered when the test lets it be.
#[derive(Serialize, Deserialize)]
pub(super) struct Wait(pub u64);

impl RelayQuestion for Wait {
    const RULE: &'static str = "wait";
    type Answer = u64;
}

/// Answered with a text of this length.
#[derive(Serialize, Deserialize)]
pub(super) struct Long(pub usize);

impl RelayQuestion for Long {
    const RULE: &'static str = "long";
    type Answer = String;
}

/// Never answered: the service panics.
#[derive(Serialize, Deserialize)]
pub(super) struct Panic;

impl RelayQuestion for Panic {
    const RULE: &'static str = "panic";
    type Answer = ();
}

/// Answers, and counts.
pub(super) struct Answers {
    pub(super) begun: AtomicUsize,
    pub(super) dropped: Arc<AtomicUsize>,
    /// As many questions that wait are answered.
    pub(super) release: Semaphore,
}

struct CountDrop(Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Service for Answers {
    fn rules(&self) -> &'static [&'static str] {
        &["echo", "wait", "long", "panic"]
    }

    async fn serve(&self, _: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        match rule {
            "wait" => {
                let dropped = CountDrop(self.dropped.clone());
                self.release.acquire().await.unwrap().forget();
                std::mem::forget(dropped);
                Ok(question.to_vec())
            }
            "long" => {
                let Long(length) = serde_json::from_slice(question).unwrap();
                Ok(format!("\"{}\"", "x".repeat(length)).into_bytes())
            }
            "panic" => panic!("this service panics in a test"),
            _ => Ok(question.to_vec()),
        }
    }
}

pub(super) fn host(name: &str) -> HostId {
    name.parse().unwrap()
}

pub(super) fn cluster() -> Secret {
    Secret::new(&[1; 32]).unwrap()
}

/// The process that answers, `bot-1`, and where it does.
pub(super) struct Answering {
    pub(super) answers: Arc<Answers>,
    pub(super) server: Arc<Server>,
    pub(super) address: SocketAddr,
    pub(super) book: AddressBook,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl Answering {
    /// Without TLS.
    pub(super) async fn plain() -> Self {
        Self::new(HttpServer::plain_on_loopback).await
    }

    /// With a certificate for `localhost` of this authority.
    pub(super) async fn encrypted(authority: &Authority) -> Self {
        let tls = authority.certify("localhost").server();
        Self::new(|server| HttpServer::builder(server, tls)).await
    }

    pub(super) async fn new(build: impl FnOnce(Arc<Server>) -> HttpServerBuilder) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), build).await
    }

    /// At this address, which may be that of one that has stopped.
    pub(super) async fn at(
        address: SocketAddr,
        build: impl FnOnce(Arc<Server>) -> HttpServerBuilder,
    ) -> Self {
        let (begun, dropped) = (AtomicUsize::new(0), Arc::default());
        let answers = Arc::new(Answers { begun, dropped, release: Semaphore::new(0) });
        let keys = Keyring::of_cluster(host("bot-1"), &cluster());
        let start = Secret::new(&[9; 32]).unwrap();
        let server = Arc::new(Server::new(keys, start).with(answers.clone()));
        let listener = bind(address).await;
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let http = build(server.clone()).build();
        let serving = http.serve_until(listener, async move { drop(stopped.await) });
        let serving = tokio::spawn(serving);
        let book = AddressBook::new();
        let by_name = format!("localhost:{}", address.port());
        book.set(host("bot-1"), by_name.parse().unwrap());
        Self { answers, server, address, book, stop: Some(stop), serving }
    }

    pub(super) fn begun(&self) -> usize {
        self.answers.begun.load(Ordering::SeqCst)
    }

    pub(super) fn dropped(&self) -> usize {
        self.answers.dropped.load(Ordering::SeqCst)
    }

    /// Stops with grace; `ended` waits for it.
    pub(super) fn stop(&mut self) {
        drop(self.stop.take());
    }

    pub(super) async fn ended(&mut self) {
        (&mut self.serving).await.unwrap().unwrap();
    }

    /// Stops at once, as if killed.
    pub(super) async fn kill(self) {
        self.serving.abort();
        assert!(self.serving.await.unwrap_err().is_cancelled());
    }
}

/// The process that asks, `bot-2`.
pub(super) struct Asking {
    pub(super) relay: HttpRelay,
    pub(super) client: Client,
    pub(super) link: JoinHandle<()>,
}

impl Asking {
    pub(super) fn plain(answering: &Answering) -> Self {
        Self::new(HttpRelay::plain_on_loopback(answering.book.clone()))
    }

    pub(super) fn encrypted(answering: &Answering, authority: &Authority) -> Self {
        Self::new(HttpRelay::builder(answering.book.clone(), authority.trusting()))
    }

    pub(super) fn new(builder: HttpRelayBuilder) -> Self {
        let (relay, link) = builder.build();
        let link = tokio::spawn(link.run());
        let client = client(Arc::new(relay.clone()));
        Self { relay, client, link }
    }

    pub(super) async fn echo(&self, text: &str) -> Result<String, RelayError> {
        self.client.ask(&host("bot-1"), &Echo(text.to_owned())).await
    }
}

/// Listens there, as soon as what listened there before has stopped.
async fn bind(address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                tokio::task::yield_now().await;
            }
            bound => return bound.unwrap(),
        }
    }
}

/// The patience of a test: its questions have as long as they need.
pub(super) const LONG: Duration = Duration::from_secs(60);

pub(super) fn client(relay: Arc<dyn Relay>) -> Client {
    let keys = Keyring::of_cluster(host("bot-2"), &cluster());
    Client::with_time_limit(keys, relay, Arc::new(SystemClock::new()), LONG)
}

/// A question as it would be sent next.
pub(super) async fn sealed<Q: RelayQuestion>(answering: &Answering, question: &Q) -> Vec<u8> {
    let relay = Asking::plain(answering).relay;
    let keeping = Keeping { relay, keep: AtomicBool::new(false), kept: Mutex::default() };
    let keeping = Arc::new(keeping);
    let client = client(keeping.clone());
    client.ask(&host("bot-1"), &Echo("for a session".to_owned())).await.unwrap();
    keeping.keep.store(true, Ordering::SeqCst);
    assert!(client.ask(&host("bot-1"), question).await.is_err());
    std::mem::take(&mut keeping.kept.lock().unwrap())
}

/// What the transport says, and whether the question was surely not sent.
pub(super) fn http_error(error: &RelayError) -> (&HttpError, bool) {
    let RelayError::Carry { source, .. } = error else { panic!("another error: {error}") };
    match source {
        CarryError::Unreachable(error) => (error.downcast_ref().unwrap(), true),
        CarryError::NoAnswer(error) => (error.downcast_ref().unwrap(), false),
        other @ (CarryError::Rejected(_) | _) => panic!("another error: {other}"),
    }
}

/// Waits until this holds, while other tasks and sockets go on.
pub(super) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(LONG, waiting).await.is_ok(), "in vain: {what}");
}
