//! Answers questions, after it has checked who asks and that the question is new.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use crate::seal::{Sealed, Sessions, Status, Taken, seal_answer};
use crate::{HostId, Keyring, NoRandomness, ProcessRole, QUESTION_MAX, Refused, Rejection, Secret};

/// The process that asks, as its seal proves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asker {
    /// The name of the process.
    pub host: HostId,
    /// The rights of the process here.
    pub role: ProcessRole,
}

/// Answers the questions of some rules.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Returns the rules that this service answers.
    fn rules(&self) -> &'static [&'static str];

    /// Answers a question of one of these rules. Both question and answer are JSON. Return within a bounded time, and
    /// be ready to be dropped when the asker stops waiting.
    ///
    /// # Errors
    ///
    /// Returns why you refuse. The asker receives this as its answer.
    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused>;
}

/// Answers all questions that reach a process. A transport passes everything that arrives to it.
pub struct Server {
    keys: Keyring,
    sessions: Sessions,
    services: Vec<Arc<dyn Service>>,
    counts: Arc<ServerCounts>,
}

/// The numbers of accepted and of rejected questions.
#[derive(Debug, Default)]
pub struct ServerCounts {
    taken: AtomicU64,
    rejected: AtomicU64,
}

impl ServerCounts {
    /// Returns the number of accepted questions, then of rejected ones.
    pub fn get(&self) -> (u64, u64) {
        (self.taken.load(Ordering::Relaxed), self.rejected.load(Ordering::Relaxed))
    }
}

impl Server {
    /// Creates a server that answers no rule yet. It draws a secret of its own, so that it accepts no question again
    /// from an earlier start.
    ///
    /// # Errors
    ///
    /// Returns [`NoRandomness`] if the system gives no random bytes.
    pub fn new(keys: Keyring) -> Result<Self, NoRandomness> {
        Secret::random().map(|start| Self::with_start(keys, start))
    }

    /// Creates a server with this secret of its start, so that a test can repeat a run exactly. Elsewhere the secret
    /// must be random and new at each start. With an old one, recorded questions would be carried out again.
    pub fn with_start(keys: Keyring, start: Secret) -> Self {
        let sessions = Sessions::new(start);
        Self { keys, sessions, services: Vec::new(), counts: Arc::default() }
    }

    /// Adds a service that answers its rules. If two services have one rule, the first one answers.
    #[must_use]
    pub fn with(mut self, service: Arc<dyn Service>) -> Self {
        self.services.push(service);
        self
    }

    /// Returns the name of this process.
    pub const fn me(&self) -> &HostId {
        self.keys.me()
    }

    /// Returns how many questions were accepted, and how many were rejected, since the start.
    pub fn counts(&self) -> (u64, u64) {
        self.counts.get()
    }

    /// Returns the counts, to be read while the server answers.
    #[doc(hidden)]
    pub fn shared_counts(&self) -> Arc<ServerCounts> {
        Arc::clone(&self.counts)
    }

    /// Answers a question as it arrived. You may pass any bytes.
    ///
    /// # Errors
    ///
    /// Returns why the question was rejected. In that case no part of it was carried out. A transport carries the
    /// [code](Rejection::code) back.
    ///
    /// # Cancellation
    ///
    /// Dropping the future stops the work, although a part of it may have been done.
    pub async fn answer(&self, rule: &str, question: &[u8]) -> Result<Vec<u8>, Rejection> {
        let answer = self.checked(rule, question).await;
        match &answer {
            Ok(_) => self.counts.taken.fetch_add(1, Ordering::Relaxed),
            Err(rejection) => {
                let claims = Sealed::read(question).map(|sealed| sealed.header.from.to_string());
                let from = claims.unwrap_or_default();
                tracing::warn!(%rejection, from, "a question was rejected of a process that calls itself so");
                self.counts.rejected.fetch_add(1, Ordering::Relaxed)
            }
        };
        answer
    }

    async fn checked(&self, rule: &str, question: &[u8]) -> Result<Vec<u8>, Rejection> {
        if question.len() > QUESTION_MAX {
            return Err(Rejection::TooLarge);
        }
        let sealed = Sealed::read(question)?;
        let header = &sealed.header;
        if header.to != *self.keys.me() {
            return Err(Rejection::Misdirected);
        }
        let (secrets, may) = self.keys.of(&header.from).ok_or(Rejection::UnknownHost)?;
        let of_it = secrets.into_iter().find(|secret| sealed.is_sealed(secret, rule));
        // The answer is sealed with the secret that the asker used, because it may not know the other one yet.
        let secret = of_it.ok_or(Rejection::Forged)?;
        let (status, body) = match self.sessions.take(&header.from, header.session, header.number) {
            Taken::Again => return Err(Rejection::Replayed),
            Taken::OtherSession(session) => (Status::NewSession, session.to_bytes().to_vec()),
            Taken::New => {
                let asker = Asker { host: header.from.clone(), role: may };
                match self.serve(&asker, rule, sealed.body).await {
                    Ok(body) => (Status::Done, body),
                    Err(refused) => (Status::Refused, crate::rule::write(&refused)),
                }
            }
        };
        Ok(seal_answer(&secret, sealed.seal, status, &body))
    }

    async fn serve(&self, asker: &Asker, rule: &str, body: &[u8]) -> Result<Vec<u8>, Refused> {
        let service = self.services.iter().find(|service| service.rules().contains(&rule));
        let answer = service.ok_or(Refused::UnknownRule)?.serve(asker, rule, body).await?;
        if answer.len() > crate::ANSWER_MAX - 64 {
            let why = "it was done, but the answer is too large to be sent".to_owned();
            return Err(Refused::Failed { why, may_be_done: true });
        }
        Ok(answer)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("keys", &self.keys).finish_non_exhaustive()
    }
}
