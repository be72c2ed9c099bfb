//! Several messages in a hostile world: models and agents that answer, fail, hang or come late, places that are full, cancellation at
//! any moment. After every step the promises are checked from outside.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent_testkit::Random;
use dirigent_testkit::worlds::{self, Worlds};
use serde_json::json;

use super::job::GRACE;
use super::{Action, JobId, Routing};
use crate::card::AgentCard;
use crate::config::OrchestratorConfig;
use crate::delegate::TaskOutcome;
use crate::limits::RouterLimits;
use crate::model::{ChatAnswer, ModelErrorKind, ModelMessage, ModelToolCall, Question};
use crate::plan::Plan;
use crate::pool::{Claim, Pool, Ticket};
use crate::request::UserRequest;
use crate::result::{AgentKind, DelegationStatus};

const CAP: usize = 2;
const QUEUE: usize = 3;
const REQUEST: Duration = Duration::from_secs(60);

/// What a world is like.
#[derive(Clone, Copy, Debug)]
struct Nature {
    is_parallel: bool,
    is_chained: bool,
    rounds: u32,
    has_embedded: bool,
}

/// A message and what is under way for it.
struct Talk {
    routing: Routing,
    /// Two sessions share the places.
    session: Arc<str>,
    began: Timestamp,
    asking: Option<u32>,
    claims: BTreeMap<JobId, Ticket>,
    running: BTreeMap<JobId, (Ticket, String)>,
    /// Successes that were handed over in time, which no failure may take away.
    succeeded: Vec<String>,
    calls: usize,
    is_cancelled: bool,
}

struct World {
    now: Timestamp,
    nature: Nature,
    pool: Pool,
    talks: Vec<Talk>,
    made: u32,
}

fn plan(nature: Nature) -> Plan {
    let config = OrchestratorConfig::new(|config| {
        config.enabled = true;
        config.parallel_execution = nature.is_parallel;
        config.fallbacks = vec!["b/two".to_owned()];
        config.agents.embedded.enabled = nature.has_embedded;
    });
    let limits = RouterLimits {
        request: REQUEST,
        model: Duration::from_secs(20),
        delegate: Duration::from_secs(25),
        rounds: nature.rounds,
        ..RouterLimits::default()
    };
    let cards = [AgentCard::research(), AgentCard::embedded("Moltbot")];
    Plan::new(Arc::new(config), limits, nature.is_chained, "Moltbot", &cards)
}

impl World {
    fn new(nature: Nature, messages: usize) -> Self {
        let now = Timestamp::from_millis(1_000);
        let plan = Arc::new(plan(nature));
        let talk = |at: usize| {
            let session = format!("session-{}", at % 2);
            let request = Arc::new(UserRequest::new(&*session, "Go"));
            Talk {
                session: session.into(),
                routing: Routing::new(Arc::clone(&plan), request, now),
                began: now,
                asking: None,
                claims: BTreeMap::new(),
                running: BTreeMap::new(),
                succeeded: Vec::new(),
                calls: 0,
                is_cancelled: false,
            }
        };
        let talks = (0..messages).map(talk).collect();
        let mut world = Self { now, nature, pool: Pool::new(CAP, QUEUE), talks, made: 0 };
        world.settle();
        world
    }

    /// Carries out all that is wanted, and checks.
    fn settle(&mut self) {
        // What one message gives up, another may have: all are looked at again.
        let mut is_quiet = false;
        while !is_quiet {
            is_quiet = true;
            for at in 0..self.talks.len() {
                while let Some(action) = self.talks[at].routing.next_action() {
                    self.perform(at, action);
                    is_quiet = false;
                }
            }
        }
        self.check();
    }

    fn perform(&mut self, at: usize, action: Action) {
        let (now, talk) = (self.now, &mut self.talks[at]);
        match action {
            Action::Ask { attempt, question, .. } => {
                check_question(&question);
                assert!(talk.asking.replace(attempt).is_none(), "one model at a time");
                assert!(talk.running.is_empty() && talk.claims.is_empty());
            }
            Action::StopAsking => talk.asking = None,
            Action::TellModelFailed { .. } | Action::TellEnded { .. } => {}
            Action::Claim { job } => {
                // The second agent does one thing at a time for a session.
                let single = talk.routing.agent(job).filter(|agent| *agent == 1);
                let (ticket, claim, displaced) = self.pool.claim(&talk.session, single);
                if claim != Claim::Full {
                    talk.claims.insert(job, ticket);
                }
                talk.routing.claimed(now, job, claim);
                if let Some(displaced) = displaced {
                    let (at, job) = self.holder(displaced);
                    self.talks[at].claims.remove(&job);
                    self.talks[at].routing.claimed(now, job, Claim::Full);
                }
            }
            Action::Start { job, parts, .. } => {
                let ticket = talk.claims.remove(&job).expect("a place comes first");
                assert!(self.pool.is_granted(ticket));
                assert!(parts.deadline <= talk.began + REQUEST && parts.deadline >= now);
                assert_eq!(parts.previous.is_empty(), !self.nature.is_chained || job.0 == 0);
                talk.running.insert(job, (ticket, parts.message));
            }
            Action::Stop { job } => {
                let ticket = talk.running.remove(&job).map(|(ticket, _)| ticket);
                let ticket = ticket.or_else(|| talk.claims.remove(&job));
                self.leave(ticket.expect("only what is under way is stopped"));
            }
        }
    }

    /// Gives a place up; the next one learns of it, as in the shell.
    fn leave(&mut self, ticket: Ticket) {
        for granted in self.pool.leave(ticket) {
            let (at, job) = self.holder(granted);
            self.talks[at].routing.claimed(self.now, job, Claim::Granted);
        }
    }

    /// The message and the job that have a ticket.
    fn holder(&self, ticket: Ticket) -> (usize, JobId) {
        let mut held = self.talks.iter().enumerate().flat_map(|(at, talk)| {
            talk.claims.iter().map(move |(job, other)| ((at, *job), *other))
        });
        held.find(|(_, other)| *other == ticket).expect("a ticket has its message").0
    }

    fn check(&self) {
        let running: usize = self.talks.iter().map(|talk| talk.running.len()).sum();
        assert!(running <= CAP, "{running} run");
        for talk in &self.talks {
            let is_sequential = !self.nature.is_parallel || self.nature.is_chained;
            assert!(!is_sequential || talk.running.len() + talk.claims.len() <= 1);
            let is_over = talk.routing.response().is_some();
            let is_busy =
                talk.asking.is_some() || !talk.running.is_empty() || !talk.claims.is_empty();
            assert_eq!(is_over, !is_busy, "a message waits for something, or is over");
            assert_eq!(is_over, talk.routing.next_deadline().is_none());
            if is_over {
                check_response(talk);
            } else {
                assert!(self.now < talk.began + REQUEST + GRACE, "it lasts too long");
            }
        }
    }

    /// One step, chosen by a number.
    fn step(&mut self, choice: u16) {
        let (what, which) = (choice % 16, usize::from(choice / 16));
        let at = which % self.talks.len();
        match what {
            0..=5 => self.answer(at, which / self.talks.len()),
            6..=11 => self.finish(at, which / self.talks.len()),
            12 => {
                self.talks[at].is_cancelled |= self.talks[at].routing.response().is_none();
                self.talks[at].routing.cancel(self.now);
            }
            _ => self.pass(which),
        }
        self.settle();
    }

    fn answer(&mut self, at: usize, how: usize) {
        self.made += 1;
        let (made, now) = (self.made, self.now);
        let Some(attempt) = self.talks[at].asking else {
            // Late answers change nothing.
            self.talks[at].routing.answered(now, made, Ok(ChatAnswer::text("late")));
            return;
        };
        // Nor does one to the question before.
        let talk = &mut self.talks[at];
        talk.routing.answered(now, attempt.wrapping_sub(1), Ok(ChatAnswer::text("late")));
        assert!(talk.routing.next_action().is_none() && talk.routing.response().is_none());
        let call = |id: usize, tool: &str, arguments| {
            ModelToolCall::new(format!("{made}.{id}"), tool, arguments)
        };
        let message = |id: usize| Some(json!({ "message": format!("{made}.{id}") }));
        let answer = match how % 8 {
            0 => Err(ModelErrorKind::Unavailable),
            1 => Ok(ChatAnswer::text("Hello!")),
            2 => Ok(ChatAnswer::default()),
            3 => Ok(ChatAnswer::calls([call(0, "delegate_to_nothing", message(0))])),
            4 => Ok(ChatAnswer::calls([
                call(0, "delegate_to_research", None),
                call(1, "delegate_to_moltbot", message(1)),
            ])),
            more => Ok(ChatAnswer::calls(
                (0..more * 2 - 8).map(|id| call(id, "delegate_to_research", message(id))),
            )),
        };
        let talk = &mut self.talks[at];
        talk.asking = None;
        talk.calls += answer.as_ref().map_or(0, |answer| answer.calls.len());
        talk.routing.answered(now, attempt, answer);
    }

    fn finish(&mut self, at: usize, how: usize) {
        let now = self.now;
        let running: Vec<JobId> = self.talks[at].running.keys().copied().collect();
        if running.is_empty() {
            self.talks[at].routing.finished(now, JobId(how % 5), TaskOutcome::success("late"));
            return;
        }
        let job = running[how % running.len()];
        let (ticket, message) = self.talks[at].running.remove(&job).unwrap();
        let outcome = match how % 4 {
            0 => TaskOutcome::error("no disk"),
            1 => TaskOutcome::partial("half", "the rest"),
            _ => TaskOutcome::success(format!("done {message}")),
        };
        if outcome.status == DelegationStatus::Success {
            self.talks[at].succeeded.push(outcome.output.clone());
        }
        self.talks[at].routing.finished(now, job, outcome);
        self.leave(ticket);
    }

    /// Lets time pass, sometimes to the next deadline.
    fn pass(&mut self, how: usize) {
        let next = self.talks.iter().filter_map(|talk| talk.routing.next_deadline()).min();
        self.now = match next {
            Some(next) if how % 3 == 0 => next.max(self.now),
            next => (self.now + Duration::from_secs(how as u64 % 7)).min(next.unwrap_or(self.now)),
        };
        for talk in &mut self.talks {
            talk.routing.expire(self.now);
        }
    }

    /// Lets only time pass, until all is over.
    fn run_out(&mut self) {
        for _ in 0..1_000 {
            let Some(next) =
                self.talks.iter().filter_map(|talk| talk.routing.next_deadline()).min()
            else {
                return;
            };
            self.now = next.max(self.now);
            for talk in &mut self.talks {
                talk.routing.expire(self.now);
            }
            self.settle();
        }
        panic!("a message never ends");
    }
}

/// Every call was answered exactly once before the model is asked again, in order.
fn check_question(question: &Question<'static>) {
    let (mut called, mut answered) = (Vec::new(), Vec::new());
    for message in &question.messages {
        match message {
            ModelMessage::Assistant { calls, .. } => {
                called.extend(calls.iter().map(|call| &*call.id));
            }
            ModelMessage::Tool { call, .. } => answered.push(&**call),
            ModelMessage::System(_) | ModelMessage::User { .. } => {}
        }
    }
    assert_eq!(called, answered);
}

fn check_response(talk: &Talk) {
    let response = talk.routing.response().unwrap();
    assert!(
        !response.payloads.is_empty() && response.payloads.len() == response.agent_results.len()
    );
    let mut outputs: HashMap<&str, usize> = HashMap::new();
    for result in &response.agent_results {
        *outputs.entry(&result.output).or_default() += 1;
    }
    for said in &talk.succeeded {
        assert_eq!(outputs.get(said.as_str()), Some(&1), "what succeeded is kept");
    }
    let of_calls = response.agent_results.len().saturating_sub(talk.calls);
    assert!(
        of_calls <= 1,
        "one result a call, and one of the orchestrator's or of the embedded agent"
    );
    let own = response.agent_results.iter().rposition(|result| result.agent_name == "Orchestrator");
    assert!(own.is_none_or(|at| at + 1 == response.agent_results.len()), "its own stands last");
    let delegated = &response.meta.delegated_agents;
    assert!(!delegated.contains(&AgentKind::Orchestrator));
}

/// A world of a number, with the steps that it still has.
struct Drawn {
    dice: Random,
    world: World,
    left: u64,
    story: Vec<String>,
}

impl Drawn {
    fn new(number: u64) -> Self {
        let mut dice = Random::new(number);
        let nature = Nature {
            is_parallel: dice.one_in(2),
            is_chained: dice.one_in(2),
            rounds: dice.pick(&[1, 2, 3]).unwrap(),
            has_embedded: dice.one_in(2),
        };
        let messages = 1 + dice.place(3);
        let left = dice.below(60);
        let story = vec![format!("{messages} messages, {nature:?}")];
        Self { dice, world: World::new(nature, messages), left, story }
    }
}

impl worlds::World for Drawn {
    fn step(&mut self) -> Result<(), String> {
        self.left -= 1;
        let choice = u16::try_from(self.dice.below(1 << 16)).unwrap();
        self.story.push(format!("{:?}: {} {}", self.world.now, choice % 16, choice / 16));
        self.world.step(choice);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }

    fn end(&mut self) -> Result<(), String> {
        let world = &mut self.world;
        world.run_out();
        assert!(world.talks.iter().all(|talk| talk.routing.response().is_some()));
        // Every place was given back.
        let claims: Vec<Claim> =
            (0..=CAP + QUEUE).map(|_| world.pool.claim(&"session-0".into(), None).1).collect();
        assert_eq!(claims.iter().filter(|claim| **claim == Claim::Granted).count(), CAP);
        assert_eq!(claims.last(), Some(&Claim::Full));
        Ok(())
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(&mut self.dice)
    }

    fn story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.story)
    }
}

#[test]
fn whatever_happens_messages_end_in_time_with_all_that_succeeded() {
    let test = "-p dirigent-delegate --lib routing::simulation";
    let worlds = Worlds::new(test, 500, 60);
    assert_eq!(worlds.live(|number, _| Drawn::new(number), |_| 1), worlds.count());
}
