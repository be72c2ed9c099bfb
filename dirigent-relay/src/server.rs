//! Answers questions: checks who asks, and that nothing is taken twice.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use crate::seal::{Sealed, Sessions, Status, Taken, seal_answer};
use crate::{HostId, Keyring, NoRandomness, ProcessRole, QUESTION_MAX, Refused, Rejection, Secret};

/// Who asks, proven.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asker {
    /// Its name.
    pub host: HostId,
    /// What it may do here.
    pub role: ProcessRole,
}

/// Answers the questions of some rules.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// The rules that it answers.
    fn rules(&self) -> &'static [&'static str];

    /// Answers a question of one of these rules; both are JSON. It must return within a bounded time, and be ready to be dropped
    /// where the asker waits no longer.
    ///
    /// # Errors
    ///
    /// Why it will not; this is the answer.
    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused>;
}

/// What a process answers with. A transport gives it all that arrives.
pub struct Server {
    keys: Keyring,
    sessions: Sessions,
    services: Vec<Arc<dyn Service>>,
    counts: Arc<ServerCounts>,
}

/// How many questions were taken and rejected.
#[derive(Debug, Default)]
pub struct ServerCounts {
    taken: AtomicU64,
    rejected: AtomicU64,
}

impl ServerCounts {
    /// Those that were taken, and those that were rejected.
    pub fn get(&self) -> (u64, u64) {
        (self.taken.load(Ordering::Relaxed), self.rejected.load(Ordering::Relaxed))
    }
}

impl Server {
    /// A server that answers nothing yet. It draws a secret of its own, so that no question of an earlier start is taken again.
    ///
    /// # Errors
    ///
    /// [`NoRandomness`] where the system gives no random bytes.
    pub fn new(keys: Keyring) -> Result<Self, NoRandomness> {
        Secret::random().map(|start| Self::with_start(keys, start))
    }

    /// The same, with this secret of the start, for a test that is to run the same again. Elsewhere it must be random and new at each
    /// start: with an old one, recorded questions are carried out again.
    pub fn with_start(keys: Keyring, start: Secret) -> Self {
        let sessions = Sessions::new(start);
        Self { keys, sessions, services: Vec::new(), counts: Arc::default() }
    }

    /// Answers the rules of this service, too. Where two have one rule, the first answers.
    #[must_use]
    pub fn with(mut self, service: Arc<dyn Service>) -> Self {
        self.services.push(service);
        self
    }

    /// Which process this is.
    pub const fn me(&self) -> &HostId {
        self.keys.me()
    }

    /// How many questions were taken, and how many were rejected, since the start.
    pub fn counts(&self) -> (u64, u64) {
        self.counts.get()
    }

    /// The counts, for what is read while the server answers.
    #[doc(hidden)]
    pub fn shared_counts(&self) -> Arc<ServerCounts> {
        Arc::clone(&self.counts)
    }

    /// Answers a question as it arrived. Any bytes may be given.
    ///
    /// # Errors
    ///
    /// Why it was not taken: nothing was done. A transport carries the [code](Rejection::code).
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the work, which may have been done.
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
        // It is answered with the secret that it knows.
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
