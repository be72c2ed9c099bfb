//! The server, as a test uses it.

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

/// A scripted model that serves until you drop it.
#[derive(Debug)]
pub struct LoopbackLlm {
    address: SocketAddr,
    state: Arc<ServedScript>,
    serving: JoinHandle<()>,
}

/// A request that the server received.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Received {
    /// The path, with the query.
    pub path: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body, or null if it was not JSON.
    pub body: Value,
}

impl Received {
    /// Returns the contents of the request's messages of this role, in order. A content of null is
    /// an empty text.
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

/// The state that all connections share.
#[derive(Debug, Default)]
pub(crate) struct ServedScript {
    script: Mutex<Script>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Script {
    next: VecDeque<ScriptedAnswer>,
    /// Answers that repeat for ever once the script is used up.
    cycle: VecDeque<ScriptedAnswer>,
    received: Vec<Received>,
    /// Requests that the client gave up before their answer was sent.
    given_up: usize,
    connections: usize,
}

impl ServedScript {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request, and returns the answer for it.
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
    /// Returns an error if no port is free.
    pub async fn start() -> io::Result<Self> {
        Self::start_on(0).await
    }

    /// Starts on this port; 0 takes a free one.
    ///
    /// # Errors
    ///
    /// Returns an error if the port cannot be bound.
    pub async fn start_on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let (address, state) = (listener.local_addr()?, Arc::<ServedScript>::default());
        let serving = tokio::spawn(serve(listener, Arc::clone(&state)));
        Ok(Self { address, state, serving })
    }

    /// Returns the base address, `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds answers, one for each request. Once they are used up, requests are answered with 503.
    pub fn script(&self, answers: impl IntoIterator<Item = ScriptedAnswer>) {
        self.state.script().next.extend(answers);
    }

    /// Sets answers that repeat for ever once the script is used up.
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

    /// Waits until this many requests have come.
    pub async fn requested(&self, count: usize) {
        self.until(|script| script.received.len() >= count).await;
    }

    /// Waits until the client has given up this many requests before their answer was sent.
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
