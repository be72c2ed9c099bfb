//! Turns a model's calls into jobs.

use std::collections::HashMap;

use dirigent::ports::Timestamp;
use serde_json::{Map, Value};

use super::job::{Job, JobId, JobState};
use super::{Action, Routing, RoutingPhase};
use crate::delegate::TaskParts;
use crate::model::{ChatAnswer, ModelMessage, ModelToolCall};
use crate::plan::Plan;
use crate::response::Schedule;
use crate::result::AgentKind;

/// The most letters of an unknown tool's name that are shown.
const NAME_MAX: usize = 64;

/// The delegations of a message so far.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// How often each agent got each text.
    identical: HashMap<(usize, String), u32>,
    all: u32,
}

impl Given {
    /// Turns a call into a job.
    fn job_of(&mut self, plan: &Plan, call: &ModelToolCall) -> Job {
        let id = call.id.clone();
        let Some((at, agent)) = plan.find(&call.name) else {
            let name: String = call.name.chars().take(NAME_MAX).collect();
            let problem = "There is no agent with this tool.";
            return Job::refused(id, &name, AgentKind::Orchestrator, problem);
        };
        let refused = |problem: &str| {
            let card = &agent.card;
            Job::refused(id.clone(), card.name(), card.kind().clone(), problem)
        };
        if !agent.is_enabled {
            return refused("This agent is switched off.");
        }
        let Some(Value::Object(arguments)) = &call.arguments else {
            return refused("The arguments of the call are no JSON object.");
        };
        let Some(message) = message_of(arguments) else {
            return refused("The call has no message for the agent.");
        };
        if self.all >= plan.limits.calls {
            return refused(&format!("The message has {} delegations, the most it may.", self.all));
        }
        let given = self.identical.entry((at, message.trim().to_owned())).or_default();
        if *given >= plan.limits.identical {
            return refused("The same message was delegated to this agent before.");
        }
        *given += 1;
        self.all += 1;
        Job::waiting(id, at, message.to_owned(), Value::Object(arguments.clone()))
    }
}

impl Routing {
    /// Makes a job from each call. Text beside calls is not posted.
    pub(super) fn take_calls(&mut self, now: Timestamp, answer: ChatAnswer) {
        self.stage = RoutingPhase::Delegating;
        let ChatAnswer { text, calls, .. } = answer;
        if !text.trim().is_empty() {
            self.note.clone_from(&text);
        }
        for call in &calls {
            let job = self.given.job_of(&self.plan, call);
            self.open += usize::from(job.state == JobState::Waiting);
            self.jobs.push(job);
            self.tell_ended(JobId(self.jobs.len() - 1));
        }
        self.conversation.push(ModelMessage::Assistant { text: text.into(), calls: calls.into() });
        if self.open == 0 {
            self.round_over(now);
        } else {
            self.claim_places();
        }
    }

    /// Gives the person's own message to an agent.
    pub(super) fn hand_over(&mut self, agent: usize) {
        self.stage = RoutingPhase::Delegating;
        let message = self.request.user_message.clone();
        self.jobs.push(Job::waiting(String::new(), agent, message, Value::Null));
        self.open += 1;
        self.claim_places();
    }

    /// Asks for places: for all jobs that have none, or for the next job if none runs.
    pub(super) fn claim_places(&mut self) {
        if self.plan.schedule() == Schedule::Sequential {
            // All jobs before the last one that asked have ended.
            let last = self.next.checked_sub(1).and_then(|at| self.jobs.get(at));
            if last.is_some_and(|job| job.result().is_none()) {
                return;
            }
        }
        while let Some(job) = self.jobs.get(self.next) {
            let is_waiting = job.state == JobState::Waiting;
            if is_waiting {
                self.actions.push_back(Action::Claim { job: JobId(self.next) });
            }
            self.next += 1;
            if is_waiting && self.plan.schedule() == Schedule::Sequential {
                return;
            }
        }
    }

    /// Returns the parts of a job's task.
    pub(super) fn parts(&self, id: JobId, deadline: Timestamp) -> Option<TaskParts> {
        let job = self.jobs.get(id.0)?;
        let before = self.jobs.iter().take(id.0).filter_map(Job::result);
        let previous = if self.plan.is_chained { before.cloned().collect() } else { Vec::new() };
        Some(TaskParts {
            message: job.message.clone(),
            arguments: job.arguments.clone(),
            model: self.plan.agents.get(job.agent).and_then(|agent| agent.model.clone()),
            deadline,
            request: self.request.clone(),
            config: self.plan.config.clone(),
            previous,
        })
    }
}

/// Returns the message among the arguments. It is the argument of that name, or the only text, because small models
/// choose names of their own.
fn message_of(arguments: &Map<String, Value>) -> Option<&str> {
    let is_said = |text: &&str| !text.trim().is_empty();
    let named = arguments.get("message").and_then(Value::as_str).filter(is_said);
    named.or_else(|| {
        let mut texts = arguments.values().filter_map(Value::as_str).filter(is_said);
        texts.next().filter(|_| texts.next().is_none())
    })
}
