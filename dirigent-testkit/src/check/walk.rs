//! The machine on its way through the steps.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Answer, Author, Channel, Config, Effect, Input, MessageId, MessageKind, Refusal,
    RunId, Snapshot, Ticket, Timestamp, Verdict,
};

use super::Report;
use super::compare;
use super::step::{Act, Step, message};

/// When checks begin: far from both ends of time.
const START: Timestamp = Timestamp::from_millis(1_750_000_000_000);
/// Runs that no input names by itself begin here.
const FRESH_RUNS: u64 = 1_000_000;

/// A machine, the time, and the way so far.
pub(super) struct Walk {
    /// The rules the machine goes by now.
    config: Arc<Config>,
    /// The machine.
    pub(super) machine: Channel,
    /// The time.
    pub(super) now: Timestamp,
    /// The agent and run that were allowed last.
    allowed: Option<(AgentKey, Option<RunId>)>,
    /// Runs named so far by `GateAnew`.
    fresh_runs: u64,
    /// The way so far, one step a line.
    pub(super) trace: Vec<String>,
    /// What was seen so far.
    pub(super) report: Report,
}

impl Walk {
    pub(super) fn new(config: &Arc<Config>, seed: u64) -> Self {
        Self {
            config: Arc::clone(config),
            machine: Channel::new(Arc::clone(config), seed),
            now: START,
            allowed: None,
            fresh_runs: 0,
            trace: vec![format!("{config:?}")],
            report: Report::default(),
        }
    }

    /// Moves time and says what comes in; nothing does after a restart.
    pub(super) fn next_input(&mut self, step: &Step) -> Result<Option<Input>, String> {
        self.report.steps += 1;
        match step {
            Step::Restart => {
                self.trace.push("restart".to_owned());
                self.machine = self.copy()?;
                Ok(None)
            }
            Step::DeadlineTick => {
                let due = self.machine.next_deadline();
                self.now = due.map_or(self.now, |due| due.at.max(self.now));
                let reason = due.map(|due| due.reason);
                self.trace.push(format!("next deadline {reason:?}"));
                Ok(Some(Input::Tick))
            }
            Step::Input { after, input } => {
                self.pass(*after);
                self.trace.push(format!("{after:+}ms {input:?}"));
                Ok(Some((**input).clone()))
            }
            Step::Act { after, act } => {
                self.pass(*after);
                let input = self.input_of(act);
                self.trace.push(format!("{after:+}ms {input:?}"));
                Ok(Some(input))
            }
        }
    }

    /// Lets time pass, forwards or back.
    fn pass(&mut self, after: i64) {
        let by = Duration::from_millis(after.unsigned_abs());
        self.now = if after < 0 {
            self.now.saturating_sub(by)
        } else {
            self.now + by
        };
    }

    /// A restored copy of the machine.
    pub(super) fn copy(&self) -> Result<Channel, String> {
        let mut snapshot = Snapshot::default();
        self.machine.snapshot_into(&mut snapshot);
        Channel::restore(Arc::clone(&self.config), &snapshot)
            .map_err(|error| format!("its own snapshot is refused: {error}"))
    }

    /// Gives one input to the machine.
    pub(super) fn feed(&mut self, input: &Input) -> (Result<Answer, Refusal>, Vec<Effect>) {
        let mut effects = Vec::new();
        let answer = self.machine.handle(self.now, input, &mut effects);
        self.note(input, answer, &effects);
        (answer, effects)
    }

    /// Writes down what happened.
    fn note(&mut self, input: &Input, answer: Result<Answer, Refusal>, effects: &[Effect]) {
        if let Some(line) = self.trace.last_mut() {
            line.push_str(&compare::summary(answer, effects, &self.machine));
        }
        self.report.refused += u64::from(answer.is_err());
        for effect in effects {
            match effect {
                Effect::Transition(_) => {}
                _ => self.report.effects += 1,
            }
        }
        self.report.granted = self.machine.view().turn().get();
        self.report.ended += compare::ends(effects).count() as u64;
        match (input, answer) {
            (Input::Reconfigure(config), Ok(_)) => self.config = Arc::clone(config),
            (
                Input::Gate {
                    agent: Some(agent),
                    run,
                    ..
                },
                Ok(Answer::Verdict(Verdict::Allow { .. })),
            ) => self.allowed = Some((*agent, *run)),
            _ => {}
        }
    }

    /// The input that an act means now.
    fn input_of(&mut self, act: &Act) -> Input {
        let view = self.machine.view();
        let speaker = view.speaker().or(view.permit());
        let (agent, run) = self.allowed.unwrap_or((AgentKey::new(1), None));
        let author = Author::Agent(speaker.unwrap_or(agent));
        let newest = view.newest().map_or(0, MessageId::get);
        let talk = MessageKind::Conversation;
        match act {
            Act::Gate { run } => gate(speaker, *run),
            Act::GateAnew => {
                self.fresh_runs += 1;
                gate(speaker, Some(RunId::new(FRESH_RUNS + self.fresh_runs)))
            }
            Act::End { outcome } => Input::RunEnded {
                agent,
                run,
                outcome: outcome.outcome(),
            },
            Act::Receipt { count } => Input::Receipt {
                agent,
                run,
                messages: (1..=u64::from(*count)).map(|i| MessageId::new(newest + i)).collect(),
            },
            Act::SpeakerSays { tail } => message(newest + 1, author, talk, **tail),
            Act::Say { author, kind, tail } => message(newest + 1, *author, *kind, **tail),
            Act::Edit { back, tail } => Input::MessageEdited {
                id: MessageId::new(newest.saturating_sub(u64::from(*back))),
                author,
                tail: **tail,
            },
            Act::Members { agents } => Input::Members {
                ticket: self.owed(|effect| matches!(effect, Effect::FetchMembers { .. }), 0),
                agents: agents.clone(),
            },
            Act::Settle { nth, settlement } => Input::Settled {
                ticket: self.owed(|_| true, usize::from(*nth)),
                settlement: *settlement,
            },
        }
    }

    /// The ticket of a debt, counted back from the newest; one never owed, if there is none.
    fn owed(&self, fits: impl Fn(&Effect) -> bool, nth: usize) -> Ticket {
        let debts = self.machine.debts().iter().rev();
        let mut fitting = debts.filter(|debt| fits(&debt.effect));
        let debt = fitting.nth(nth).and_then(|debt| debt.effect.ticket());
        debt.unwrap_or(Ticket::new(u64::MAX))
    }
}

/// A gate call.
fn gate(agent: Option<AgentKey>, run: Option<RunId>) -> Input {
    Input::Gate {
        agent,
        run,
        latest: None,
    }
}
