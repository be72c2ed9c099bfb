//! Processes that ask and answer over one server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::ConnectOptions;
use dirigent::{Clock as _, SystemClock, async_trait};
use dirigent_cluster::{Nats, NatsError};
use dirigent_relay::{
    Asker, CarryError, Client, HostId, Keyring, Refused, Relay, RelayError, RelayQuestion, Secret,
    Server, Service,
};
use dirigent_verify::nats::NatsServer;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

/// A server that takes what this library may send, from anybody.
pub(super) const OPEN: &str = "max_payload: 8MB";

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

/// Its name cannot stand in a subject.
#[derive(Serialize, Deserialize)]
pub(super) struct Unnamed;

impl RelayQuestion for Unnamed {
    const RULE: &'static str = "echo.bot-2";
    type Answer = ();
}

/// Answers, and counts.
pub(super) struct Answers {
    begun: AtomicUsize,
    /// As many questions that wait are answered.
    pub(super) release: Semaphore,
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
                self.release.acquire().await.unwrap().forget();
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

/// A connection to the server, as this process.
pub(super) async fn connected(server: &NatsServer, name: &str) -> Nats {
    let connection = ConnectOptions::new()
        .user_and_password(name.to_owned(), format!("password-of-{name}"))
        .custom_inbox_prefix(format!("my-bot-answers.{name}"))
        .connect(server.address())
        .await
        .unwrap();
    Nats::new(connection, &host("my-bot"))
}

/// A process that answers.
pub(super) struct Answering {
    pub(super) answers: Arc<Answers>,
    pub(super) server: Arc<Server>,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    pub(super) serving: JoinHandle<Result<(), NatsError>>,
}

impl Answering {
    /// `bot-1`, once it is heard.
    pub(super) async fn start(server: &NatsServer) -> Self {
        Self::over(connected(server, "bot-1").await).await
    }

    pub(super) async fn over(nats: Nats) -> Self {
        let answering = Self::begin(nats.clone());
        until("it listens", async || {
            let question = nats.carry(&host("bot-1"), "echo", b"no question".to_vec()).await;
            !matches!(question, Err(CarryError::Unreachable(_)))
        })
        .await;
        answering
    }

    pub(super) fn begin(nats: Nats) -> Self {
        let answers = Arc::new(Answers { begun: AtomicUsize::new(0), release: Semaphore::new(0) });
        let keys = Keyring::of_cluster(host("bot-1"), &cluster());
        let server = Server::with_start(keys, Secret::new(&[2; 32]).unwrap()).with(answers.clone());
        let server = Arc::new(server);
        let (stop, stopped) = oneshot::channel();
        let stopped = async { _ = stopped.await };
        let serving = tokio::spawn(nats.serve_until(server.clone(), stopped));
        Self { answers, server, stop: Mutex::new(Some(stop)), serving }
    }

    /// How many questions have begun.
    pub(super) fn begun(&self) -> usize {
        self.answers.begun.load(Ordering::SeqCst)
    }

    pub(super) fn stop(&self) {
        self.stop.lock().unwrap().take();
    }
}

/// A process that asks, and waits for as long as a busy machine may need.
pub(super) fn asking(nats: Nats, name: &str) -> Client {
    let keys = Keyring::of_cluster(host(name), &cluster());
    let clock = Arc::new(SystemClock::new());
    Client::with_time_limit(keys, Arc::new(nats), clock, Duration::from_secs(30))
}

/// `bot-2`.
pub(super) async fn asks(server: &NatsServer) -> Client {
    asking(connected(server, "bot-2").await, "bot-2")
}

pub(super) async fn echo(client: &Client, text: &str) -> Result<String, RelayError> {
    client.ask(&host("bot-1"), &Echo(text.to_owned())).await
}

/// Of a question that has no answer, this is known soon.
pub(super) async fn echo_within_a_second(
    client: &Client,
    text: &str,
) -> Result<String, RelayError> {
    client.ask_within(&host("bot-1"), &Echo(text.to_owned()), Duration::from_secs(1)).await
}

/// What the transport says.
pub(super) fn why(error: &RelayError) -> &NatsError {
    let RelayError::Carry { source, .. } = error else { panic!("{error}") };
    std::error::Error::source(source).and_then(|source| source.downcast_ref()).unwrap()
}

/// Whether the transport says that nobody listens.
pub(super) fn is_not_listening(error: &RelayError) -> bool {
    matches!(error, RelayError::Carry { .. })
        && matches!(why(error), NatsError::NotListening { .. })
}

/// Asks until something is so, for at most 2 minutes.
pub(super) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let clock = SystemClock::new();
    let late = clock.now() + Duration::from_secs(120);
    while !is_so().await {
        assert!(clock.now() < late, "{what}");
        clock.sleep_until(clock.now() + Duration::from_millis(5)).await;
    }
}
