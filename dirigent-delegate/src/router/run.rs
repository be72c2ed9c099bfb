//! Performs what a message asks for. All decisions are the message's.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::ports::Timestamp;
use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable, BoxFuture, OptionFuture};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::broadcast;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::RouterParts;
use super::event::{RouterEvent, RouterEventKind};
use super::places::Place;
use crate::delegate::{Task, TaskOutcome, TaskParts};
use crate::model::{ChatAnswer, ModelErrorKind, Question};
use crate::pool::Claim;
use crate::response::Response;
use crate::result::AgentKind;
use crate::routing::{Action, JobId, Routing};
use crate::terminal::plain;

/// A message that is being answered. Dropping it drops every call.
pub(super) struct Run<'a> {
    shared: &'a RouterParts,
    routing: Routing,
    tell: Tell,
    asking: Option<BoxFuture<'a, (u32, Result<ChatAnswer, ModelErrorKind>)>>,
    jobs: FuturesUnordered<BoxFuture<'a, (JobId, Option<TaskOutcome>)>>,
    running: HashMap<JobId, Running>,
    waiting: HashMap<JobId, Place>,
    /// The channel through which places report the end of a wait.
    claimed: UnboundedReceiver<(JobId, Claim)>,
    tell_claimed: UnboundedSender<(JobId, Claim)>,
}

/// A running agent.
struct Running {
    abort: AbortHandle,
    so_far: Arc<Mutex<Option<String>>>,
}

impl Running {
    /// Returns the agent's newest report, if it was not read yet.
    fn so_far(&self) -> Option<String> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Reports the events of one message to listeners.
#[derive(Clone)]
struct Tell {
    events: broadcast::Sender<RouterEvent>,
    message: u64,
    session: Arc<str>,
}

impl Tell {
    fn tell(&self, kind: RouterEventKind) {
        // It is fine if there are no listeners.
        let _ = self.events.send(RouterEvent::new(self.message, Arc::clone(&self.session), kind));
    }
}

impl<'a> Run<'a> {
    pub(super) fn new(
        shared: &'a RouterParts,
        routing: Routing,
        message: u64,
        session: Arc<str>,
    ) -> Self {
        let (tell_claimed, claimed) = unbounded_channel();
        let tell = Tell { events: shared.events.clone(), message, session };
        Self {
            shared,
            routing,
            tell,
            asking: None,
            jobs: FuturesUnordered::new(),
            running: HashMap::new(),
            waiting: HashMap::new(),
            claimed,
            tell_claimed,
        }
    }

    /// Answers the message, or cancels it when `cancelled` ends.
    pub(super) async fn until(mut self, cancelled: impl Future<Output = ()> + Send) -> Response {
        let began = self.now();
        let mut cancelled = Box::pin(cancelled.fuse());
        loop {
            while let Some(action) = self.routing.next_action() {
                self.perform(action);
            }
            if let Some(response) = self.routing.response() {
                let took = self.now().since(began);
                self.tell.tell(RouterEventKind::Answered { took });
                return response;
            }
            let Some(deadline) = self.routing.next_deadline() else {
                continue;
            };
            if self.now() >= deadline {
                self.expire();
                continue;
            }
            let asking = OptionFuture::from(self.asking.as_mut());
            tokio::select! {
                biased;
                () = &mut cancelled => self.cancel(),
                Some((job, outcome)) = self.jobs.next() => self.finished(job, outcome),
                Some((attempt, answer)) = asking => {
                    self.asking = None;
                    self.routing.answered(self.shared.clock.now(), attempt, answer);
                }
                Some((job, claim)) = self.claimed.recv() => {
                    if claim == Claim::Full {
                        self.waiting.remove(&job);
                    }
                    self.routing.claimed(self.now(), job, claim);
                }
                () = self.shared.clock.sleep_until(deadline) => {}
            }
        }
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Ask { attempt, model, question } => self.ask(attempt, model, question),
            Action::StopAsking => self.asking = None,
            Action::TellModelFailed { model, kind } => {
                tracing::warn!(model, error = %kind, "a routing model gave no answer");
                self.tell.tell(RouterEventKind::ModelFailed { model: model.into(), error: kind });
            }
            Action::Claim { job } => self.claim(job),
            Action::Start { job, agent, kind, parts } => self.start(job, agent, kind, parts),
            Action::TellEnded { agent, status, took } => {
                self.tell.tell(RouterEventKind::Finished { agent, status, took });
            }
            Action::Stop { job } => {
                self.waiting.remove(&job);
                if let Some(running) = self.running.remove(&job) {
                    running.abort.abort();
                }
            }
        }
    }

    fn ask(&mut self, attempt: u32, model: String, question: Question<'static>) {
        self.tell.tell(RouterEventKind::Asked { model: model.as_str().into() });
        let asked = &self.shared.model;
        let asking = async move {
            let answer = AssertUnwindSafe(asked.ask(&model, &question)).catch_unwind().await;
            let answer = answer.map_err(|_| ModelErrorKind::Panic);
            (attempt, answer.and_then(|answer| answer.map_err(|error| error.kind())))
        };
        self.asking = Some(Box::pin(asking));
    }

    fn claim(&mut self, job: JobId) {
        let single = self.routing.agent(job).filter(|agent| {
            let delegate = self.shared.delegates.get(*agent);
            delegate.is_some_and(|delegate| delegate.is_single(self.routing.config()))
        });
        let (session, told) = (&self.tell.session, &self.tell_claimed);
        let (place, claim) = self.shared.places.claim(session, single, job, told);
        if claim != Claim::Full {
            self.waiting.insert(job, place);
        }
        if let (Claim::Waiting, Some(agent)) = (claim, self.routing.kind(job)) {
            self.tell.tell(RouterEventKind::Waiting { agent });
        }
        self.routing.claimed(self.now(), job, claim);
    }

    fn start(&mut self, job: JobId, agent: usize, kind: AgentKind, parts: TaskParts) {
        self.tell.tell(RouterEventKind::Started { agent: kind.clone() });
        let (so_far, tell) = (Arc::new(Mutex::new(None)), self.tell.clone());
        let told = Arc::clone(&so_far);
        let progress = move |text: &str| {
            let text = &*plain(text);
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
            tell.tell(RouterEventKind::Progress { agent: kind.clone(), so_far: text.into() });
        };
        let task = Task::linked(parts, Arc::new(progress));
        let (abort, registration) = AbortHandle::new_pair();
        // The place is held until the agent's future is gone.
        let place = self.waiting.remove(&job);
        let delegate = self.shared.delegates.get(agent);
        let run = async move {
            let _place = place;
            match delegate {
                Some(delegate) => AssertUnwindSafe(delegate.run(task))
                    .catch_unwind()
                    .await
                    .unwrap_or_else(|_| TaskOutcome::error("The agent panicked.")),
                None => TaskOutcome::error("The agent is gone."),
            }
        };
        let run = Abortable::new(run, registration);
        self.jobs.push(Box::pin(async move { (job, run.await.ok()) }));
        self.running.insert(job, Running { abort, so_far });
    }

    fn finished(&mut self, job: JobId, outcome: Option<TaskOutcome>) {
        let running = self.running.remove(&job);
        if let Some(outcome) = outcome {
            if let Some(so_far) = running.and_then(|running| running.so_far()) {
                self.routing.progressed(job, so_far);
            }
            self.routing.finished(self.now(), job, outcome);
        }
    }

    fn expire(&mut self) {
        self.tell_routing();
        self.routing.expire(self.now());
    }

    fn cancel(&mut self) {
        self.tell_routing();
        self.routing.cancel(self.now());
    }

    /// Passes the reports of running agents to the message.
    fn tell_routing(&mut self) {
        for (job, running) in &self.running {
            if let Some(so_far) = running.so_far() {
                self.routing.progressed(*job, so_far);
            }
        }
    }
}
