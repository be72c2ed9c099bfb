//! A transport over [NATS](https://nats.io), which carries questions between processes on different machines.
//!
//! You run a NATS server, connect to it with [`async_nats`], and give the client to [`Nats`]. Your NATS configuration
//! decides about addresses, TLS and who may connect. This module only asks and answers.
//!
//! Each process listens on the subject `{cluster}.*.{process}`, for example `my-bot.*.bot-1`. A question is a request
//! to `my-bot.check-turn.bot-1` with the sealed bytes as its payload, and the answer is the reply. If no process
//! listens under the name, the server says so at once (*no responders*), and the question was surely not taken.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_nats::client::{PublishErrorKind, RequestErrorKind};
use async_nats::connection::State;
use async_nats::{Client, HeaderMap, Message, Request, Subscriber};
use async_trait::async_trait;
use bytes::Bytes;
use dirigent::ports::Timestamp;
use dirigent::{Clock, SystemClock};
use dirigent_relay::{CarryError, HostId, Rejection, Relay, Server};
use futures_util::future::{BoxFuture, Fuse, FusedFuture as _, FutureExt as _};
use futures_util::stream::{FuturesUnordered, StreamExt as _};

/// The header of a reply without an answer: it says why there is none.
const WHY: &str = "Dirigent-Not-Answered";
/// Its value if the process has too many questions under way.
const BUSY: &str = "busy";
/// Its value if the answer is larger than the server takes.
const TOO_LARGE: &str = "answer-too-large";

/// The rule by which a process asks itself, to check that questions reach it.
const LISTENING: &str = "listening";
/// The interval between these questions.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
/// The time limit for their answers.
const LOOK_MAX: Duration = Duration::from_secs(5);
/// The time that questions under way have to end when a process stops listening.
const GRACE: Duration = Duration::from_secs(5);

/// Carries questions over a NATS server that you run, and answers those that come over it. Clones share the connection.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use dirigent::SystemClock;
/// use dirigent_cluster::Nats;
/// use dirigent_relay::{Client, Keyring, Secret, Server};
///
/// # async fn example(secret: [u8; 32]) -> Result<(), Box<dyn std::error::Error>> {
/// let connection = async_nats::ConnectOptions::new()
///     .user_and_password("bot-1".to_owned(), std::env::var("NATS_PASSWORD")?)
///     .custom_inbox_prefix("my-bot-answers.bot-1")
///     .connect("tls://nats.internal")
///     .await?;
/// let nats = Nats::new(connection, &"my-bot".parse()?);
///
/// let keys = Keyring::of_cluster("bot-1".parse()?, &Secret::new(&secret)?);
/// let client = Client::new(keys.clone(), Arc::new(nats.clone()), Arc::new(SystemClock::new()));
/// let server = Arc::new(Server::new(keys)?);
/// tokio::spawn(nats.serve(server));
/// # let _ = client;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Nats {
    connection: Client,
    cluster: HostId,
    clock: Arc<dyn Clock>,
    questions_max: usize,
}

/// The reason why NATS carried no question, or why a process stopped listening. As the source of a [`CarryError`],
/// which says whether the question may have been carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// No process of this name listens.
    #[error(
        "{host} does not listen: it is not running, or its user may not subscribe to {subject}"
    )]
    NotListening {
        /// The process that was asked.
        host: HostId,
        /// The subject on which it would listen.
        subject: String,
    },
    /// This process is not connected to the NATS server. The client reconnects by itself.
    #[error("there is no connection to the NATS server")]
    NotConnected,
    /// A subject cannot hold the name of the rule.
    #[error("a rule's name has 1 to 128 of a-z, A-Z, 0-9, '-' and '_'")]
    BadRule,
    /// The question is larger than the NATS server takes.
    #[error(
        "the question has more bytes than the NATS server takes: raise its `max_payload` to 8MB"
    )]
    QuestionTooLarge,
    /// The question was answered, but the answer is larger than the NATS server takes.
    #[error("the answer has more bytes than the NATS server takes: raise its `max_payload` to 8MB")]
    AnswerTooLarge,
    /// The process already has as many questions under way as it takes.
    #[error("{host} has too many questions under way")]
    Busy {
        /// The process that was asked.
        host: HostId,
    },
    /// The NATS client failed.
    #[error("the NATS client: {0}")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The NATS client was drained or closed.
    #[error("the connection to the NATS server was closed by this process")]
    Closed,
}

impl NatsError {
    fn client(why: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Client(Box::new(why))
    }
}

impl Nats {
    /// The most questions that a process answers at once, unless [you choose another number](Self::questions_max).
    pub const QUESTIONS_MAX: usize = 1_024;

    /// Carries questions over this connection. `cluster` is the first word of all subjects, so that several bots can
    /// use one server. Its dots separate further words.
    ///
    /// The client's own limit for requests is not used, because [`Client`](dirigent_relay::Client) has one.
    pub fn new(connection: Client, cluster: &HostId) -> Self {
        let clock = Arc::new(SystemClock::new());
        let cluster = cluster.clone();
        Self { connection, cluster, clock, questions_max: Self::QUESTIONS_MAX }
    }

    /// Sets the clock for all waits. Default: the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets how many questions this process answers at once. Default: 1,024. One more is refused at once as not taken,
    /// so it may be asked again.
    #[must_use]
    pub const fn questions_max(mut self, most: usize) -> Self {
        self.questions_max = most;
        self
    }

    /// Answers questions until you drop the future. Those under way then get no answer, and may have been carried out.
    ///
    /// # Errors
    ///
    /// [`NatsError::Closed`] if the connection was closed for good, [`NatsError::Client`] if it was closed before the
    /// start.
    pub async fn serve(self, server: Arc<Server>) -> Result<(), NatsError> {
        self.serve_until(server, std::future::pending()).await
    }

    /// Answers questions until `stop` is over. Then it takes no more, and those under way have 5 s to end.
    ///
    /// Every 10 s it asks itself a question over the server, and logs if that does not arrive. If the server knows no
    /// subscription of this process, it subscribes again. For example, a NATS user that lost its permissions and has
    /// them back is reached again without a restart.
    ///
    /// # Errors
    ///
    /// Those of [`serve`](Self::serve).
    pub async fn serve_until(
        self,
        server: Arc<Server>,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), NatsError> {
        let mut listening = Listening::begin(&self, server).await?;
        tokio::pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => return listening.end().await,
                goes_on = listening.step() => goes_on?,
            }
        }
    }

    fn subject(&self, rule: &str, host: &HostId) -> String {
        format!("{}.{rule}.{host}", self.cluster)
    }

    async fn request(
        &self,
        rule: &str,
        to: &HostId,
        question: Vec<u8>,
    ) -> Result<Message, CarryError> {
        // The client would keep the question until it is connected again, and carry it then.
        if self.connection.connection_state() != State::Connected {
            return Err(CarryError::unreachable(NatsError::NotConnected));
        }
        let subject = self.subject(rule, to);
        let request = Request::new().payload(question.into()).timeout(None);
        let sent = self.connection.send_request(subject.clone(), request).await;
        sent.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => {
                CarryError::unreachable(NatsError::NotListening { host: to.clone(), subject })
            }
            RequestErrorKind::MaxPayloadExceeded => {
                CarryError::unreachable(NatsError::QuestionTooLarge)
            }
            RequestErrorKind::InvalidSubject => CarryError::unreachable(NatsError::client(error)),
            RequestErrorKind::TimedOut | RequestErrorKind::Other => {
                CarryError::no_answer(NatsError::client(error))
            }
        })
    }
}

#[async_trait]
impl Relay for Nats {
    async fn carry(
        &self,
        to: &HostId,
        rule: &str,
        question: Vec<u8>,
    ) -> Result<Vec<u8>, CarryError> {
        let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !(1..=128).contains(&rule.len()) || !rule.bytes().all(may_stand) {
            return Err(CarryError::unreachable(NatsError::BadRule));
        }
        let answer = self.request(rule, to, question).await?;
        let why = answer.headers.as_ref().and_then(|headers| headers.get(WHY));
        match why.map(async_nats::HeaderValue::as_str) {
            None => Ok(answer.payload.into()),
            Some(BUSY) => Err(CarryError::unreachable(NatsError::Busy { host: to.clone() })),
            Some(TOO_LARGE) => Err(CarryError::no_answer(NatsError::AnswerTooLarge)),
            Some(code) => Err(match Rejection::named(code) {
                Some(rejection) => rejection.into(),
                None => CarryError::no_answer(
                    "it was not answered, for a reason that only a later version knows",
                ),
            }),
        }
    }
}

/// The result of a process's question to itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Reached,
    /// The server knows no process that listens under this name.
    NotListening,
    /// It did not arrive in time, for example because the machine is busy.
    NoAnswer,
}

/// A process that listens and answers.
struct Listening<'n> {
    nats: &'n Nats,
    server: Arc<Server>,
    heard: Subscriber,
    answering: FuturesUnordered<BoxFuture<'n, ()>>,
    look_at: Timestamp,
    /// The question to itself, while it is under way.
    looking: Fuse<BoxFuture<'n, Look>>,
    is_reached: bool,
}

impl<'n> Listening<'n> {
    async fn begin(nats: &'n Nats, server: Arc<Server>) -> Result<Self, NatsError> {
        let heard = subscribe(nats, server.me()).await?;
        let (answering, look_at) = (FuturesUnordered::new(), nats.clock.now());
        Ok(Self {
            nats,
            server,
            heard,
            answering,
            look_at,
            looking: Fuse::terminated(),
            is_reached: true,
        })
    }

    /// Waits for the next event and handles it.
    async fn step(&mut self) -> Result<(), NatsError> {
        let Self { nats, server, heard, answering, look_at, looking, .. } = self;
        let due = nats.clock.sleep_until(*look_at);
        tokio::select! {
            Some(()) = answering.next() => {}
            message = heard.next() => {
                let message = message.ok_or(NatsError::Closed)?;
                self.take(message);
            }
            look = &mut *looking => {
                *look_at = nats.clock.now() + LOOK_AGAIN;
                self.looked(look).await?;
            }
            () = due, if looking.is_terminated() => {
                *looking = look(nats, server.me().clone()).boxed().fuse();
            }
        }
        Ok(())
    }

    fn take(&self, message: Message) {
        let nats = self.nats;
        let Some(reply) = message.reply.clone() else { return };
        let rule = rule_of(&nats.cluster, &message.subject).to_owned();
        if rule == LISTENING {
            self.answering.push(nats.reply(reply, Ok(Vec::new())).boxed());
        } else if self.answering.len() >= nats.questions_max {
            self.answering.push(nats.reply(reply, Err(BUSY)).boxed());
        } else {
            let server = Arc::clone(&self.server);
            self.answering.push(Box::pin(async move {
                let answer = AssertUnwindSafe(server.answer(&rule, &message.payload));
                // If a service panics, its question gets no answer, and all others go on.
                if let Ok(answer) = answer.catch_unwind().await {
                    nats.reply(reply, answer.map_err(Rejection::code)).await;
                }
            }));
        }
    }

    /// Takes the result of the question to itself.
    async fn looked(&mut self, look: Look) -> Result<(), NatsError> {
        let is_reached = look == Look::Reached;
        let was = std::mem::replace(&mut self.is_reached, is_reached);
        let (me, cluster) = (self.server.me(), &self.nats.cluster);
        if is_reached && !was {
            tracing::info!(process = %me, "questions of other processes arrive again");
        }
        if was && look == Look::NoAnswer {
            tracing::warn!(
                process = %me,
                "a question of this process to itself had no answer over NATS within 5 s: this machine or the server is busy, or its \
                 user may not publish to {cluster}.>"
            );
        }
        if was && look == Look::NotListening {
            tracing::warn!(
                process = %me,
                "no question of another process arrives over NATS: its user must be allowed to subscribe to {cluster}.*.{me}, and to publish to {cluster}.>"
            );
        }
        // Only then: on a busy machine the look was only late, and a question to the old subscription was lost.
        if look == Look::NotListening {
            self.heard.unsubscribe().await.map_err(NatsError::client)?;
            self.heard = subscribe(self.nats, me).await?;
        }
        Ok(())
    }

    /// Takes no more questions, and lets those end that were taken.
    async fn end(mut self) -> Result<(), NatsError> {
        let late = self.nats.clock.sleep_until(self.nats.clock.now() + GRACE);
        self.heard.drain().await.map_err(NatsError::client)?;
        let all = async {
            while let Some(message) = self.heard.next().await {
                self.take(message);
            }
            while self.answering.next().await.is_some() {}
        };
        tokio::select! {
            biased;
            () = all => {}
            () = late => {}
        }
        // Send the answers before this process ends.
        let _ = self.nats.connection.flush().await;
        Ok(())
    }
}

/// Subscribes under this process's name. If two processes have the name, each question reaches only one of them.
async fn subscribe(nats: &Nats, me: &HostId) -> Result<Subscriber, NatsError> {
    let subject = nats.subject("*", me);
    let heard = nats.connection.queue_subscribe(subject, me.to_string()).await;
    heard.map_err(NatsError::client)
}

/// Asks itself. While there is no connection it counts as reached, because only the server could tell.
async fn look(nats: &Nats, me: HostId) -> Look {
    let late = nats.clock.sleep_until(nats.clock.now() + LOOK_MAX);
    let look = tokio::select! {
        biased;
        answer = nats.request(LISTENING, &me, Vec::new()) => match answer {
            Ok(_) => Look::Reached,
            Err(error) if is_not_listening(&error) => Look::NotListening,
            Err(_) => Look::NoAnswer,
        },
        () = late => Look::NoAnswer,
    };
    if nats.connection.connection_state() == State::Connected { look } else { Look::Reached }
}

fn is_not_listening(error: &CarryError) -> bool {
    let why = std::error::Error::source(error).and_then(|why| why.downcast_ref());
    matches!(why, Some(NatsError::NotListening { .. }))
}

/// Returns the rule in a subject: the word after those of the cluster.
fn rule_of<'s>(cluster: &HostId, subject: &'s str) -> &'s str {
    let rest = subject.strip_prefix(cluster.as_str()).and_then(|rest| rest.strip_prefix('.'));
    rest.and_then(|rest| rest.split('.').next()).unwrap_or_default()
}

impl Nats {
    /// Replies with the answer, or with the reason why there is none.
    async fn reply(&self, to: async_nats::Subject, answer: Result<Vec<u8>, &'static str>) {
        let no_answer = |why: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(WHY, why);
            self.connection.publish_with_headers(to.clone(), headers, Bytes::new())
        };
        let sent = match answer {
            Ok(answer) => match self.connection.publish(to.clone(), answer.into()).await {
                Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                    no_answer(TOO_LARGE).await
                }
                sent => sent,
            },
            Err(why) => no_answer(why).await,
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "an answer could not be sent; who asked is in doubt");
        }
    }
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nats").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}
