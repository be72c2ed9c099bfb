//! A routing model by script, agents whose time is moved by hand, and a router of them.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use dirigent_delegate::config::OrchestratorConfig;
use dirigent_delegate::model::{
    ChatAnswer, ModelError, ModelErrorKind, ModelToolCall, Question, RoutingModel,
};
use dirigent_delegate::{
    Delegate, Response, Router, RouterBuilder, Task, TaskOutcome, UserRequest, delegate_fn,
};
use dirigent_testkit::ManualClock;
use serde_json::json;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// What the model does when it is asked.
pub(crate) enum Line {
    Answer(ChatAnswer),
    Fail(ModelErrorKind),
    /// Never answers.
    Hang,
    Panic,
}

/// A routing model by script. Without a line it fails.
#[derive(Clone, Default)]
pub(crate) struct Script {
    lines: Arc<Mutex<VecDeque<Line>>>,
    pub(crate) asked: Arc<Mutex<Vec<(String, Question<'static>)>>>,
}

impl Script {
    pub(crate) fn new(lines: impl IntoIterator<Item = Line>) -> Self {
        let script = Self::default();
        script.add(lines);
        script
    }

    pub(crate) fn add(&self, lines: impl IntoIterator<Item = Line>) {
        self.lines.lock().unwrap().extend(lines);
    }

    pub(crate) fn questions(&self) -> Vec<(String, Question<'static>)> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn models(&self) -> Vec<String> {
        self.questions().into_iter().map(|(model, _)| model).collect()
    }
}

#[dirigent::async_trait]
impl RoutingModel for Script {
    async fn ask(
        &self,
        model: &str,
        question: &Question<'static>,
    ) -> Result<ChatAnswer, ModelError> {
        self.asked.lock().unwrap().push((model.to_owned(), question.clone()));
        let line = self.lines.lock().unwrap().pop_front();
        match line {
            Some(Line::Answer(answer)) => Ok(answer),
            Some(Line::Fail(kind)) => Err(kind.into()),
            Some(Line::Hang) => std::future::pending().await,
            Some(Line::Panic) => panic!("by script"),
            None => Err(ModelErrorKind::Other.into()),
        }
    }
}

pub(crate) fn says(text: &str) -> Line {
    Line::Answer(ChatAnswer::text(text))
}

/// Calls of these tools, each with its message.
pub(crate) fn calls(calls: &[(&str, &str)]) -> Line {
    let calls = calls.iter().enumerate().map(|(at, (tool, message))| {
        ModelToolCall::new(format!("c{at}"), *tool, Some(json!({ "message": message })))
    });
    Line::Answer(ChatAnswer::calls(calls))
}

pub(crate) const OPENCODE: &str = "delegate_to_opencode";
pub(crate) const RESEARCH: &str = "delegate_to_research";
pub(crate) const MOLTBOT: &str = "delegate_to_moltbot";

/// An agent that answers at once with its name and its message.
pub(crate) fn instant(name: &'static str) -> impl Delegate {
    delegate_fn(move |task: Task| async move {
        TaskOutcome::success(format!("{name}: {}", task.message()))
    })
}

/// The three agents that the configuration knows, all instant.
pub(crate) fn standard(builder: RouterBuilder) -> RouterBuilder {
    builder.open_code(instant("code")).research(instant("found")).embedded(instant("own"))
}

pub(crate) fn enabled(change: impl FnOnce(&mut OrchestratorConfig)) -> OrchestratorConfig {
    OrchestratorConfig::new(|config| {
        (config.enabled, config.model) = (true, "fast/one".to_owned());
        change(config);
    })
}

/// A router with the standard agents.
pub(crate) fn router(script: &Script) -> Router {
    let builder = Router::builder(script.clone()).config(enabled(|_| ()));
    standard(builder).build().unwrap()
}

pub(crate) async fn ask(router: &Router, message: &str) -> Response {
    router.answer(UserRequest::new("session", message)).await.unwrap()
}

pub(crate) fn texts(response: &Response) -> Vec<&str> {
    response.payloads.iter().map(|payload| payload.text.as_str()).collect()
}

/// Counts agents that run at the same time, and when each began.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    pub(crate) running: Arc<AtomicUsize>,
    pub(crate) most: Arc<AtomicUsize>,
    pub(crate) begun: Arc<Mutex<Vec<String>>>,
}

impl Watch {
    /// An agent that takes as many seconds as its message says.
    pub(crate) fn agent(&self, clock: &ManualClock) -> impl Delegate + use<> {
        let (watch, clock) = (self.clone(), clock.clone());
        delegate_fn(move |task: Task| {
            let (watch, clock) = (watch.clone(), clock.clone());
            async move {
                let _running = watch.enter(task.message());
                let seconds: u64 =
                    task.message().trim_end_matches(char::is_alphabetic).parse().unwrap();
                clock.sleep_until(clock.now() + SECOND * u32::try_from(seconds).unwrap()).await;
                TaskOutcome::success(format!("{} s", task.message()))
            }
        })
    }

    fn enter(&self, message: &str) -> Running {
        self.begun.lock().unwrap().push(message.to_owned());
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        Running(Arc::clone(&self.running))
    }

    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Does this while the clock is moved to each next moment that is waited for.
pub(crate) async fn in_time<T>(clock: &ManualClock, doing: impl Future<Output = T>) -> T {
    let passing = async {
        loop {
            settle().await;
            clock.advance_to_next_wake();
        }
    };
    tokio::select! {
        biased;
        done = doing => done,
        () = passing => unreachable!("time passes for ever"),
    }
}

/// Lets everything happen that needs no time.
pub(crate) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

pub(crate) fn seconds_since(clock: &ManualClock, began: Timestamp) -> u64 {
    clock.now().since(began).as_secs()
}
