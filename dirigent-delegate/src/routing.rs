//! One message as a value. It decides which model or agent is asked, cancelled and answered. Time is an argument, and
//! it never awaits.
//!
//! ```text
//! Asking ──► answer without calls ─────────────────────────────► Over
//!   │  ▲                                                          ▲
//!   │  └── a failure: the next model; none left: embedded agent ──┤
//!   ▼                                                             │
//! Delegating ──► each call: Waiting ─► Running ─► Ended ──► all ended
//!   ▲                                                             │
//!   └──────────── Asking again, while there are rounds ◄──────────┘
//! ```

mod action;
mod calls;
mod job;
#[cfg(test)]
mod simulation;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;

pub(crate) use action::Action;
pub(crate) use job::JobId;

use crate::config::OrchestratorConfig;
use crate::delegate::TaskOutcome;
use crate::model::{ChatAnswer, ModelErrorKind, ModelMessage, Question};
use crate::plan::Plan;
use crate::pool::Claim;
use crate::request::UserRequest;
use crate::response::Response;
use crate::result::{AgentKind, AgentResult, DelegationStatus, TokenUsage};
use crate::terminal::plain;
use calls::Given;
use job::{Job, JobState};

/// A message on its way to an answer.
#[derive(Debug)]
pub(crate) struct Routing {
    plan: Arc<Plan>,
    request: Arc<UserRequest>,
    began: Timestamp,
    /// The deadline of the message.
    until: Timestamp,
    stage: RoutingPhase,
    /// The number of requests to models, so that a late answer is recognised.
    attempt: u32,
    /// The index of the model that is asked.
    model: usize,
    round: u32,
    conversation: Vec<ModelMessage<'static>>,
    /// All calls of all rounds, in order.
    jobs: Vec<Job>,
    /// The index of this round's first job.
    round_start: usize,
    /// The index of the first job that has not asked for a place, if jobs run one after the other.
    next: usize,
    /// The number of jobs that have not ended.
    open: usize,
    /// The deadlines of the running jobs.
    deadlines: BTreeSet<(Timestamp, JobId)>,
    given: Given,
    /// The index of the routing model that answered first.
    answered_by: Option<usize>,
    /// The failures of the models that were asked last.
    failures: Vec<String>,
    note: String,
    usage: Option<TokenUsage>,
    /// The routing model's own text, or its failure.
    own: Option<AgentResult>,
    is_cancelled: bool,
    ended: Option<Timestamp>,
    actions: VecDeque<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoutingPhase {
    /// A model is asked, until its deadline.
    Asking { since: Timestamp, until: Timestamp },
    /// Jobs wait or run.
    Delegating,
    /// The answer is complete.
    Over,
}

impl Routing {
    /// Begins a message. Its first action asks the first model.
    pub(crate) fn new(plan: Arc<Plan>, request: Arc<UserRequest>, now: Timestamp) -> Self {
        let mut routing = Self::idle(plan, request, now);
        let (text, images) = (routing.request.user_message.clone(), routing.request.images.clone());
        let message = ModelMessage::User { text: text.into(), images: images.into() };
        routing.conversation = vec![ModelMessage::system(routing.plan.system.clone()), message];
        routing.ask(now);
        routing
    }

    /// Begins a message that goes unchanged to the embedded agent, without asking a model. Returns `None` if there is
    /// no such agent.
    pub(crate) fn to_default(
        plan: Arc<Plan>,
        request: Arc<UserRequest>,
        now: Timestamp,
    ) -> Option<Self> {
        let (agent, _) = plan.embedded()?;
        let mut routing = Self::idle(plan, request, now);
        routing.hand_over(agent);
        Some(routing)
    }

    /// Returns a message that is answered with this error at once.
    pub(crate) fn refused(
        plan: Arc<Plan>,
        request: Arc<UserRequest>,
        now: Timestamp,
        problem: &str,
    ) -> Self {
        let mut routing = Self::idle(plan, request, now);
        routing.fail(now, DelegationStatus::Error, problem);
        routing
    }

    fn idle(plan: Arc<Plan>, request: Arc<UserRequest>, now: Timestamp) -> Self {
        let until = now + request.timeout.unwrap_or(plan.limits.request);
        Self {
            plan,
            request,
            began: now,
            until,
            stage: RoutingPhase::Delegating,
            attempt: 0,
            model: 0,
            round: 0,
            conversation: Vec::new(),
            jobs: Vec::new(),
            round_start: 0,
            next: 0,
            open: 0,
            deadlines: BTreeSet::new(),
            given: Given::default(),
            answered_by: None,
            failures: Vec::new(),
            note: String::new(),
            usage: None,
            own: None,
            is_cancelled: false,
            ended: None,
            actions: VecDeque::new(),
        }
    }

    /// Returns the next action, in order.
    pub(crate) fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Returns the time at which [`expire`](Self::expire) is needed, or `None` if the message is over.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        match self.stage {
            RoutingPhase::Over => None,
            RoutingPhase::Asking { until, .. } => Some(until.min(self.until)),
            RoutingPhase::Delegating => {
                let running = self.deadlines.first().map(|(deadline, _)| *deadline);
                let waiting = (self.open > self.deadlines.len()).then_some(self.until);
                running.into_iter().chain(waiting).min()
            }
        }
    }

    /// Returns the answer once the message is over.
    pub(crate) fn response(&self) -> Option<Response> {
        let ended = self.ended?;
        let of_jobs = self.jobs.iter().filter_map(Job::result).cloned();
        let results = of_jobs.chain(self.own.clone()).collect();
        let mut response =
            Response::aggregate(results, self.plan.schedule()).with_wall(ended.since(self.began));
        let model = self.answered_by.and_then(|at| self.plan.models.get(at));
        response.meta.orchestrator_model = model.cloned().unwrap_or_default();
        response.meta.note = Some(self.note.clone()).filter(|note| !note.is_empty());
        Some(response)
    }

    fn ask(&mut self, now: Timestamp) {
        let Some(model) = self.plan.models.get(self.model).cloned() else {
            self.all_models_failed(now);
            return;
        };
        self.attempt += 1;
        let until = (now + self.plan.limits.model).min(self.until);
        self.stage = RoutingPhase::Asking { since: now, until };
        let question = Question::new(self.conversation.clone())
            .tools(Arc::clone(&self.plan.tools))
            .thinking(self.request.thinking);
        self.actions.push_back(Action::Ask { attempt: self.attempt, model, question });
    }

    /// Takes the answer or the failure of the model that was asked in this attempt.
    pub(crate) fn answered(
        &mut self,
        now: Timestamp,
        attempt: u32,
        answer: Result<ChatAnswer, ModelErrorKind>,
    ) {
        let RoutingPhase::Asking { since, .. } = self.stage else {
            return;
        };
        if attempt != self.attempt {
            return;
        }
        match answer {
            Ok(answer) if answer.is_empty() => self.model_failed(now, ModelErrorKind::Empty),
            Ok(answer) => {
                self.answered_by.get_or_insert(self.model);
                self.add_usage(answer.usage.as_ref().map(TokenUsage::from));
                if answer.calls.is_empty() {
                    let own = self.of_orchestrator(DelegationStatus::Success);
                    let own = own.with_output(plain(&answer.text));
                    self.own = Some(own.with_duration(now.since(since)));
                    self.end(now);
                } else {
                    self.take_calls(now, answer);
                }
            }
            Err(kind) => self.model_failed(now, kind),
        }
    }

    fn model_failed(&mut self, now: Timestamp, kind: ModelErrorKind) {
        let model = self.plan.models.get(self.model).cloned().unwrap_or_default();
        self.failures.push(format!("{model}: {kind}"));
        self.actions.push_back(Action::TellModelFailed { model, kind });
        self.model += 1;
        self.ask(now);
    }

    /// Ends the message when no model is left. The results of earlier rounds are the answer. If there are none, the
    /// embedded agent is asked instead.
    fn all_models_failed(&mut self, now: Timestamp) {
        if !self.jobs.is_empty() {
            self.end(now);
            return;
        }
        if let Some((agent, _)) = self.plan.embedded().filter(|(_, agent)| agent.is_enabled) {
            return self.hand_over(agent);
        }
        let failures = self.failures.join("; ");
        let message = format!("No routing model gave an answer ({failures}).");
        self.fail(now, DelegationStatus::Error, &message);
    }

    /// Ends the message with this failure of the orchestrator as its only result.
    fn fail(&mut self, now: Timestamp, status: DelegationStatus, message: &str) {
        let own = self.of_orchestrator(status).with_error(message);
        self.own = Some(own.with_duration(now.since(self.began)));
        self.end(now);
    }

    fn of_orchestrator(&self, status: DelegationStatus) -> AgentResult {
        let model = self.answered_by.and_then(|at| self.plan.models.get(at)).cloned();
        let result = AgentResult::new("Orchestrator", AgentKind::Orchestrator, status);
        AgentResult { model, token_usage: self.usage, ..result }
    }

    fn add_usage(&mut self, usage: Option<TokenUsage>) {
        if let Some(usage) = usage {
            let sum = self.usage.get_or_insert_default();
            sum.input = sum.input.saturating_add(usage.input);
            sum.output = sum.output.saturating_add(usage.output);
        }
    }

    /// Takes the answer to a request for a place, at once or after a wait.
    pub(crate) fn claimed(&mut self, now: Timestamp, id: JobId, claim: Claim) {
        let Some(job) = self.jobs.get_mut(id.0).filter(|job| job.state == JobState::Waiting) else {
            return;
        };
        match claim {
            Claim::Waiting => {}
            Claim::Full => {
                let message = "Too many delegations wait already.";
                self.end_job(now, id, TaskOutcome::error(message));
            }
            Claim::Granted => {
                let timeout = self.plan.agents.get(job.agent).map(|agent| agent.timeout);
                let until = (now + timeout.unwrap_or_default()).min(self.until);
                job.state = JobState::Running { since: now, until };
                self.deadlines.extend(job.deadline(self.until).map(|deadline| (deadline, id)));
                let agent = job.agent;
                if let (Some(kind), Some(parts)) = (self.kind(id), self.parts(id, until)) {
                    self.actions.push_back(Action::Start { job: id, agent, kind, parts });
                }
            }
        }
    }

    /// Takes an agent's report of its progress.
    pub(crate) fn progressed(&mut self, id: JobId, so_far: String) {
        if let Some(job) = self.jobs.get_mut(id.0) {
            job.so_far = so_far;
        }
    }

    /// Takes the outcome of an agent.
    pub(crate) fn finished(&mut self, now: Timestamp, id: JobId, outcome: TaskOutcome) {
        let is_running = |job: &&Job| matches!(job.state, JobState::Running { .. });
        if self.jobs.get(id.0).as_ref().is_some_and(is_running) {
            self.end_job(now, id, outcome);
        }
    }

    /// Cancels everything that has not ended. The rest is the answer.
    pub(crate) fn cancel(&mut self, now: Timestamp) {
        if self.stage == RoutingPhase::Over {
            return;
        }
        self.is_cancelled = true;
        if matches!(self.stage, RoutingPhase::Asking { .. }) {
            self.actions.push_back(Action::StopAsking);
            if self.jobs.is_empty() {
                self.fail(now, DelegationStatus::Error, "The message was cancelled.");
                return;
            }
        }
        self.give_up(now, |_| Some(TaskOutcome::error("It was cancelled.")));
        self.end(now);
    }

    /// Cancels everything that is late.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        match self.stage {
            RoutingPhase::Over => {}
            RoutingPhase::Asking { until, .. } if now < until => {}
            RoutingPhase::Asking { .. } => {
                self.actions.push_back(Action::StopAsking);
                if now < self.until {
                    self.model_failed(now, ModelErrorKind::TimedOut);
                } else if self.jobs.is_empty() {
                    self.fail(now, DelegationStatus::Timeout, "No routing model answered in time.");
                } else {
                    self.end(now);
                }
            }
            RoutingPhase::Delegating => {
                let until = self.until;
                self.give_up(now, |job| {
                    let is_late = job.deadline(until).is_some_and(|deadline| now >= deadline);
                    is_late.then(|| TaskOutcome::timeout("", job.late()))
                });
            }
        }
    }

    /// Ends the jobs that get an outcome here. The calls of running agents are dropped, and waits for places end.
    fn give_up(&mut self, now: Timestamp, outcome: impl Fn(&Job) -> Option<TaskOutcome>) {
        let late: Vec<(JobId, TaskOutcome)> = (0..)
            .map(JobId)
            .zip(&self.jobs)
            .filter(|(_, job)| !matches!(job.state, JobState::Ended(_)))
            .filter_map(|(id, job)| Some((id, outcome(job)?)))
            .collect();
        if late.is_empty() {
            return;
        }
        for (id, outcome) in late {
            // A job that has not asked for a place needs no stop.
            if id.0 < self.next {
                self.actions.push_back(Action::Stop { job: id });
            }
            self.close_job(now, id, outcome);
        }
        self.go_on(now);
    }

    /// Returns the kind of a job's agent.
    pub(crate) fn kind(&self, id: JobId) -> Option<AgentKind> {
        self.plan.agents.get(self.agent(id)?).map(|agent| agent.card.kind().clone())
    }

    /// Returns the index of a job's agent in the registry.
    pub(crate) fn agent(&self, id: JobId) -> Option<usize> {
        self.jobs.get(id.0).map(|job| job.agent)
    }

    pub(crate) fn config(&self) -> &OrchestratorConfig {
        &self.plan.config
    }

    fn tell_ended(&mut self, id: JobId) {
        if let Some(result) = self.jobs.get(id.0).and_then(Job::result) {
            let (agent, status) = (result.agent_type.clone(), result.status);
            let took = Duration::from_millis(result.duration_ms);
            self.actions.push_back(Action::TellEnded { agent, status, took });
        }
    }

    fn end_job(&mut self, now: Timestamp, id: JobId, outcome: TaskOutcome) {
        self.close_job(now, id, outcome);
        self.go_on(now);
    }

    fn close_job(&mut self, now: Timestamp, id: JobId, outcome: TaskOutcome) {
        let Some(job) = self.jobs.get_mut(id.0) else {
            return;
        };
        if let Some(agent) = self.plan.agents.get(job.agent) {
            if let Some(deadline) = job.deadline(self.until) {
                self.deadlines.remove(&(deadline, id));
            }
            job.end(now, agent, outcome);
            self.open -= 1;
            self.tell_ended(id);
        }
    }

    /// Goes on after jobs have ended.
    fn go_on(&mut self, now: Timestamp) {
        if self.open > 0 {
            self.claim_places();
        } else {
            self.round_over(now);
        }
    }

    /// Ends a round once every call has its result. If the model is asked again, it reads all of them.
    fn round_over(&mut self, now: Timestamp) {
        self.round += 1;
        let is_last = self.round >= self.plan.limits.rounds || self.answered_by.is_none();
        if is_last || self.is_cancelled || now >= self.until {
            self.end(now);
            return;
        }
        let answers: Vec<ModelMessage> =
            self.jobs.iter().skip(self.round_start).map(Job::answer).collect();
        self.conversation.extend(answers);
        self.round_start = self.jobs.len();
        self.ask(now);
    }

    fn end(&mut self, now: Timestamp) {
        self.stage = RoutingPhase::Over;
        self.ended.get_or_insert(now);
    }
}
