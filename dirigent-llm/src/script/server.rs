//! The server, as a test has it in hand.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::script::answer::ScriptedAnswer;
use crate::script::serve::serve;

/// A scripted model that serves until it is dropped.
#[derive(Debug)]
pub struct LoopbackLlm {
    address: SocketAddr,
    state: Arc<ServedScript>,
    serving: JoinHandle<()>,
}

/// A request that came.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Received {
    /// Its path, with the query.
    pub path: String,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Its body; null where that was no JSON.
    pub body: Value,
}

impl Received {
    /// Returns the contents of its messages of this role, in order; null is an empty one.
    ///
    /// ```
    /// # fn of(request: &dirigent_llm::script::Received) {
    /// let said: Vec<String> = request.said_by("user");
    /// # }
    /// ```
    pub fn said_by(&self, role: &str) -> Vec<String> {
        let messages = self.body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let text = |message: &Value, field: &str| {
            message.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let by_role = messages.filter(|message| text(message, "role") == role);
        by_role.map(|message| text(message, "content")).collect()
    }
}

/// What connections share.
#[derive(Debug, Default)]
pub(crate) struct ServedScript {
    script: Mutex<Script>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Script {
    next: VecDeque<ScriptedAnswer>,
    /// Answers that follow one another for ever, once the others are used up.
    cycle: VecDeque<ScriptedAnswer>,
    received: Vec<Received>,
    /// Requests that were given up before their answer was sent.
    given_up: usize,
    connections: usize,
}

impl ServedScript {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request, and says what is answered.
    pub(crate) fn answer(&self, received: Received) -> ScriptedAnswer {
        let mut script = self.script();
        script.received.push(received);
        let next = script.next.pop_front().or_else(|| {
            let answer = script.cycle.pop_front()?;
            script.cycle.push_back(answer.clone());
            Some(answer)
        });
        drop(script);
        self.changed.notify_waiters();
        next.unwrap_or_else(|| ScriptedAnswer::refusal(503))
    }

    pub(crate) fn connect(&self) {
        self.script().connections += 1;
    }

    pub(crate) fn give_up(&self) {
        self.script().given_up += 1;
        self.changed.notify_waiters();
    }
}

impl LoopbackLlm {
    /// Starts on a free port.
    ///
    /// # Errors
    ///
    /// When none can be had.
    pub async fn start() -> io::Result<Self> {
        Self::start_on(0).await
    }

    /// Starts on this port; 0 takes a free one.
    ///
    /// # Errors
    ///
    /// When it cannot be had.
    pub async fn start_on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let (address, state) = (listener.local_addr()?, Arc::<ServedScript>::default());
        let serving = tokio::spawn(serve(listener, Arc::clone(&state)));
        Ok(Self { address, state, serving })
    }

    /// Returns the base address: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds answers, each for one request. A request without one is answered with 503.
    pub fn script(&self, answers: impl IntoIterator<Item = ScriptedAnswer>) {
        self.state.script().next.extend(answers);
    }

    /// Sets the answers that follow one another for ever, once the script is used up.
    pub fn cycle(&self, answers: impl IntoIterator<Item = ScriptedAnswer>) {
        self.state.script().cycle = answers.into_iter().collect();
    }

    /// Returns the requests that came, in order.
    pub fn requests(&self) -> Vec<Received> {
        self.state.script().received.clone()
    }

    /// Returns how many connections were made.
    pub fn connections(&self) -> usize {
        self.state.script().connections
    }

    /// Waits until this number of requests has come.
    pub async fn requested(&self, count: usize) {
        self.until(|script| script.received.len() >= count).await;
    }

    /// Waits until this number of requests was given up by the client before the answer was sent.
    pub async fn given_up(&self, count: usize) {
        self.until(|script| script.given_up >= count).await;
    }

    async fn until(&self, is_so: impl Fn(&Script) -> bool) {
        loop {
            let changed = self.state.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_so(&self.state.script()) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for LoopbackLlm {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
