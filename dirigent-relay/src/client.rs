//! Asks questions of other processes.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dirigent::Clock;

use crate::counts::{AskCount, AskCounts};
use crate::rule::{read, write};
use crate::seal::{Header, SessionId, Status, open_answer};
use crate::{
    ANSWER_MAX, CarryError, HostId, Keyring, QUESTION_MAX, Relay, RelayError, RelayQuestion,
};

/// The number of times that a question is sent. A process that has just been started answers the first one only with
/// its new session.
const ATTEMPTS: usize = 3;

/// The part of a question's time limit that is left for the way there and back, if the asked process itself has to wait
/// for something.
pub const WAY: Duration = Duration::from_millis(300);

/// Asks questions of other processes, over a [`Relay`]. Clones share the sessions.
///
/// Each question is sealed, and waits for its answer for at most the [time limit](Self::TIME_LIMIT).
#[derive(Clone)]
pub struct Client {
    shared: Arc<SealedLine>,
}

struct SealedLine {
    keys: Keyring,
    relay: Arc<dyn Relay>,
    clock: Arc<dyn Clock>,
    time_limit: Duration,
    numbers: AtomicU64,
    sessions: Mutex<HashMap<HostId, SessionId>>,
    counts: AskCounts,
}

impl Client {
    /// The longest time to wait for an answer, unless you choose another: 2 s.
    pub const TIME_LIMIT: Duration = Duration::from_secs(2);

    /// Creates a client that asks as the keyring's own process.
    pub fn new(keys: Keyring, relay: Arc<dyn Relay>, clock: Arc<dyn Clock>) -> Self {
        Self::with_time_limit(keys, relay, clock, Self::TIME_LIMIT)
    }

    /// Creates a client with another time limit for each question, for example because your network is slow.
    pub fn with_time_limit(
        keys: Keyring,
        relay: Arc<dyn Relay>,
        clock: Arc<dyn Clock>,
        time_limit: Duration,
    ) -> Self {
        let (numbers, sessions) = (AtomicU64::new(0), Mutex::default());
        let counts = AskCounts::default();
        let shared = SealedLine { keys, relay, clock, time_limit, numbers, sessions, counts };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the name of this process.
    pub fn me(&self) -> &HostId {
        self.shared.keys.me()
    }

    /// Returns the clock that limits the wait for an answer.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }

    /// Returns the longest time to wait for an answer.
    pub fn time_limit(&self) -> Duration {
        self.shared.time_limit
    }

    /// Asks a question and waits for its answer.
    ///
    /// # Errors
    ///
    /// Returns why there is no answer. If you must know whether the request may have been carried out, call
    /// [`RelayError::is_certain`]: it returns true if surely no change was made.
    ///
    /// # Cancellation
    ///
    /// Dropping the future does not take the question back, so it may still be carried out.
    pub async fn ask<Q: RelayQuestion>(
        &self,
        host: &HostId,
        question: &Q,
    ) -> Result<Q::Answer, RelayError> {
        let limit = self.shared.time_limit;
        self.ask_within(host, question, limit).await
    }

    /// Asks a question with a time limit of its own. Use it for a question that takes longer than others, for example
    /// one that creates a channel.
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`ask`](Self::ask).
    pub async fn ask_within<Q: RelayQuestion>(
        &self,
        host: &HostId,
        question: &Q,
        limit: Duration,
    ) -> Result<Q::Answer, RelayError> {
        let body = write(question);
        let clock = &self.shared.clock;
        let late = clock.sleep_until(clock.now() + limit);
        let answer = tokio::select! {
            biased;
            answer = self.shared.ask(host, Q::RULE, &body) => {
                let bad = |_| RelayError::BadAnswer { host: host.clone() };
                answer.and_then(|answer| read(&answer).map_err(bad))
            }
            () = late => {
                let within_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
                Err(RelayError::NoAnswer { host: host.clone(), within_ms })
            }
        };
        self.shared.counts.count(Q::RULE, &answer);
        answer
    }

    /// Returns how many questions this process has asked since its start, by rule and outcome. A question with a
    /// dropped future is not counted.
    pub fn counts(&self) -> Vec<AskCount> {
        self.shared.counts.all()
    }
}

impl SealedLine {
    async fn ask(&self, host: &HostId, rule: &str, body: &[u8]) -> Result<Vec<u8>, RelayError> {
        for _ in 0..ATTEMPTS {
            let session = self.session(host);
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
            let (from, to) = (self.keys.me().clone(), host.clone());
            let header = Header { from, to, session, number };
            let (question, seal) = header.seal(self.keys.mine(), rule, body);
            if question.len() > QUESTION_MAX {
                return Err(RelayError::TooLarge);
            }
            let carried = self.relay.carry(host, rule, question).await;
            let answer = carried
                .map_err(|source: CarryError| RelayError::Carry { host: host.clone(), source })?;
            let bad = || RelayError::BadAnswer { host: host.clone() };
            if answer.len() > ANSWER_MAX {
                return Err(bad());
            }
            match open_answer(self.keys.mine(), &seal, &answer).ok_or_else(bad)? {
                (Status::Done, body) => return Ok(body.to_vec()),
                (Status::Refused, body) => {
                    let source = read(body).map_err(|_| bad())?;
                    return Err(RelayError::Refused { host: host.clone(), source });
                }
                (Status::NewSession, body) => {
                    self.renew(host, session, SessionId::from_bytes(body).ok_or_else(bad)?);
                }
            }
        }
        // The asked process issues one session per start to this one. If it started three times within the time limit,
        // there is no answer.
        Err(RelayError::BadAnswer { host: host.clone() })
    }

    fn session(&self, host: &HostId) -> SessionId {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(host).copied().unwrap_or(SessionId::NONE)
    }

    /// Replaces a session that the asked process does not accept. Of several questions at once, the first replaces it
    /// for all.
    fn renew(&self, host: &HostId, known: SessionId, new: SessionId) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.entry(host.clone()).or_insert(SessionId::NONE);
        if *session == known {
            *session = new;
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("keys", &self.shared.keys).finish_non_exhaustive()
    }
}
