//! The machine on its way through the steps.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Answer, Author, Config, Effect, Input, Message, MessageId, Outcome, Refusal, RunId,
    Tail, Timestamp, TurnMachine, Verdict,
};

use super::Report;
use super::brief;
use super::compare;
use super::step::{Act, Step};
use super::trace::Trace;

/// When checks begin: far from both ends of time.
pub(super) const START: Timestamp = Timestamp::from_millis(1_750_000_000_000);

/// A machine, the time, and the way so far.
pub(super) struct Walk {
    /// The rules the machine goes by now.
    config: Arc<Config>,
    /// The machine.
    pub(super) machine: TurnMachine,
    /// The time.
    pub(super) now: Timestamp,
    /// The agent and run that were allowed last.
    pub(super) allowed: Option<(AgentKey, Option<RunId>)>,
    /// Runs named so far by `GateAnew`.
    pub(super) fresh_runs: u64,
    /// What the last run said that it would post.
    pub(super) promised: Tail,
    /// What the speaker wrote in its turn.
    pub(super) said: BTreeMap<MessageId, Tail>,
    /// The way so far, one step a line.
    pub(super) trace: Trace,
    /// What was seen so far.
    pub(super) report: Report,
}

impl Walk {
    pub(super) fn new(config: &Arc<Config>, seed: u64, mut trace: Trace) -> Self {
        trace.begin(|| format!("Settings: {}.", brief::settings(config)));
        Self {
            config: Arc::clone(config),
            machine: TurnMachine::new(Arc::clone(config), seed),
            now: START,
            allowed: None,
            fresh_runs: 0,
            promised: Tail::EMPTY,
            said: BTreeMap::new(),
            trace,
            report: Report::default(),
        }
    }

    /// Moves time and says what comes in; nothing does after a restart.
    pub(super) fn next_input(&mut self, step: &Step) -> Result<Option<Input>, String> {
        self.report.steps += 1;
        match step {
            Step::Restart => {
                self.trace.begin(|| "the machine is stored and restored".to_owned());
                self.machine = self.copy()?;
                Ok(None)
            }
            Step::DeadlineTick => {
                let due = self.machine.next_deadline();
                self.now = due.map_or(self.now, |due| due.at.max(self.now));
                let why = due.map_or("nothing is due", |due| brief::deadline(due.reason));
                self.trace
                    .begin(|| format!("{}: the clock ticks: {why}", brief::seconds(self.now)));
                Ok(Some(Input::Tick))
            }
            Step::Input { after, input } => {
                self.pass(*after);
                self.trace
                    .begin(|| format!("{}: {}", brief::seconds(self.now), brief::input(input)));
                Ok(Some((**input).clone()))
            }
            Step::Act { after, act } => {
                self.pass(*after);
                let input = self.input_of(act);
                self.trace
                    .begin(|| format!("{}: {}", brief::seconds(self.now), brief::input(&input)));
                Ok(Some(input))
            }
        }
    }

    /// Makes a step. Returns it with the input that it came to, which no longer depends on the steps before it. Only an answer
    /// still finds its question by itself, because that has another ticket when another question before it is left out.
    pub(super) fn write_out(&mut self, step: &Step) -> Result<Step, String> {
        let before = self.now;
        let Some(input) = self.next_input(step)? else { return Ok(step.clone()) };
        let _ = self.feed(&input);
        Ok(match (step, input) {
            (Step::Input { .. } | Step::Restart | Step::Act { act: Act::Settle { .. }, .. }, _) => {
                step.clone()
            }
            (Step::DeadlineTick, input) => {
                Step::input(i64::try_from(self.now.since(before).as_millis()).unwrap_or(0), input)
            }
            (Step::Act { after, .. }, Input::Members { agents, .. }) => {
                Step::act(*after, Act::Members { agents })
            }
            (Step::Act { after, .. }, Input::Settled { settlement, .. }) => {
                Step::act(*after, Act::Answer { settlement })
            }
            (Step::Act { after, .. }, input) => Step::input(*after, input),
        })
    }

    /// Lets time pass, forwards or back.
    fn pass(&mut self, after: i64) {
        let by = Duration::from_millis(after.unsigned_abs());
        self.now = if after < 0 { self.now.saturating_sub(by) } else { self.now + by };
    }

    /// A restored copy of the machine.
    pub(super) fn copy(&self) -> Result<TurnMachine, String> {
        TurnMachine::restore(Arc::clone(&self.config), self.machine.snapshot())
            .map_err(|error| format!("its own snapshot is refused: {error}"))
    }

    /// Gives one input to the machine.
    pub(super) fn feed(&mut self, input: &Input) -> (Result<Answer, Refusal>, Vec<Effect>) {
        let mut effects = Vec::new();
        let turn = self.machine.view().turn();
        let answer = self.machine.handle(self.now, input, &mut effects);
        if self.machine.view().turn() != turn {
            self.said.clear();
        }
        self.note(input, answer, &effects);
        (answer, effects)
    }

    /// Writes down what happened.
    fn note(&mut self, input: &Input, answer: Result<Answer, Refusal>, effects: &[Effect]) {
        self.trace.add(|| compare::summary(answer, effects, &self.machine));
        self.report.note(answer, effects, self.machine.view().phase());
        match (input, answer) {
            (Input::Reconfigure(config), Ok(_)) => self.config = Arc::clone(config),
            (
                Input::Gate { agent: Some(agent), run, .. },
                Ok(Answer::Verdict(Verdict::Allow { .. })),
            ) => self.allowed = Some((*agent, *run)),
            (
                Input::RunEnded {
                    outcome: Outcome::Spoke { tail } | Outcome::AwaitsHuman { tail },
                    ..
                },
                Ok(_),
            ) => {
                self.promised = *tail;
            }
            (Input::Message(Message { id, author: Author::Agent(agent), tail, .. }), Ok(_))
                if self.machine.view().speaker() == Some(*agent) =>
            {
                self.said.insert(*id, *tail);
            }
            _ => {}
        }
    }
}
