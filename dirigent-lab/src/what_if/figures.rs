//! Counts an evening.

use std::collections::BTreeMap;

use dirigent_core::{
    AgentKey, Answer, Author, Cause, Effect, Input, MessageId, MessageKind, Outcome, PhaseKind,
    Refusal, RunId, Timestamp,
};

use super::script::is_reply;

/// The figures of an evening, counted from the answers of the turn machine.
///
/// ```
/// let nothing = dirigent_lab::EveningFigures::default();
/// assert_eq!((nothing.calls, nothing.unanswered), (0, 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EveningFigures {
    /// The number of messages of people.
    pub words: usize,
    /// The number of runs that were allowed to begin. Each of them calls a model at least once.
    pub calls: usize,
    /// The number of turns with words.
    pub spoke: usize,
    /// The number of turns that ended with a pass.
    pub passed: usize,
    /// The number of turns that broke off or ran out of time.
    pub failed: usize,
    /// The number of people's words without an answer. Such a word came, and then the channel became dormant or the evening ended before
    /// any agent said something.
    pub unanswered: usize,
    /// The answers to people's words.
    pub answered: Answered,
    /// The figures of each agent.
    pub agents: BTreeMap<AgentKey, AgentFigures>,
    /// The reason why the channel is at rest at the end. `None` if it is still awake.
    pub rests: Option<Cause>,
    pending: Vec<Word>,
    /// Each agent's newest run, with its number among all calls.
    runs: BTreeMap<AgentKey, (Option<RunId>, usize)>,
}

/// A person's word without an answer so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    id: MessageId,
    at: Timestamp,
    /// The number of calls before it.
    calls: usize,
    /// The agent that got it in the middle of its turn.
    handed: Option<AgentKey>,
}

/// The answers to people's words, and the waits for them.
///
/// ```
/// assert_eq!(dirigent_lab::Answered::default().mean_calls(), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answered {
    /// The number of answered words.
    pub words: usize,
    /// The total number of calls from a word to its first answer. The call of the answer counts, too.
    pub calls: usize,
    /// The most calls from one word to its answer.
    pub calls_max: usize,
    /// The total time from a word to its first answer, in milliseconds.
    pub millis: u64,
}

impl Answered {
    /// Returns the mean number of calls to an answer. `None` if no word was answered.
    #[expect(clippy::cast_precision_loss, reason = "a mean for people, of small numbers")]
    pub fn mean_calls(&self) -> Option<f64> {
        (self.words > 0).then(|| self.calls as f64 / self.words as f64)
    }

    /// Returns the mean time to an answer in milliseconds. `None` if no word was answered.
    pub const fn mean_millis(&self) -> Option<u64> {
        self.millis.checked_div(self.words as u64)
    }
}

/// The figures of one agent.
///
/// ```
/// assert_eq!(dirigent_lab::AgentFigures::default().spoke, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentFigures {
    /// The number of runs that it was allowed to begin.
    pub calls: usize,
    /// The number of its turns with words.
    pub spoke: usize,
    /// The number of its turns that ended with a pass.
    pub passed: usize,
}

impl EveningFigures {
    /// Counts one input with its answer and effects.
    pub(super) fn count(
        &mut self,
        at: Timestamp,
        input: &Input,
        answer: Result<Answer, Refusal>,
        effects: &[Effect],
    ) {
        if let Ok(answer) = answer {
            self.count_accepted(at, input, answer);
        }
        for effect in effects {
            let (to, first, last) = match *effect {
                Effect::Inject { agent, message, .. } => (agent, message, message),
                Effect::Deliver { agent, first, last, .. } => (agent, first, last),
                _ => continue,
            };
            for word in self.pending.iter_mut().filter(|word| (first..=last).contains(&word.id)) {
                word.handed = Some(to);
            }
        }
        for change in effects.iter().filter_map(Effect::transition) {
            match change.cause {
                Cause::RunFailed | Cause::StartTimedOut | Cause::RunTimedOut => self.failed += 1,
                _ => {}
            }
            if is_rest(change.to) && !is_rest(change.from) {
                self.rests = Some(change.cause);
                self.unanswered += self.pending.len();
                self.pending.clear();
            } else if !is_rest(change.to) {
                self.rests = None;
            }
        }
    }

    fn count_accepted(&mut self, at: Timestamp, input: &Input, answer: Answer) {
        match input {
            Input::Gate { agent: Some(agent), run, .. } => {
                let is_allowed = answer.verdict().is_some_and(|verdict| verdict.is_allowed());
                let is_new = self.runs.get(agent).is_none_or(|(known, _)| known != run);
                if is_allowed && is_new {
                    self.calls += 1;
                    self.runs.insert(*agent, (*run, self.calls));
                    self.agents.entry(*agent).or_default().calls += 1;
                }
            }
            Input::RunEnded { agent, outcome, .. } => {
                if is_reply(input) {
                    self.speaks(at, *agent);
                } else if matches!(outcome, Outcome::Pass | Outcome::Repeated) {
                    self.passed += 1;
                    self.agents.entry(*agent).or_default().passed += 1;
                }
            }
            Input::Message(message) | Input::Addressed { message, .. } => match message.author {
                Author::Human if message.kind == MessageKind::Conversation => {
                    self.words += 1;
                    let (id, calls) = (message.id, self.calls);
                    self.pending.push(Word { id, at, calls, handed: None });
                }
                Author::Agent(agent)
                    if matches!(message.kind, MessageKind::Unasked | MessageKind::OutOfTurn) =>
                {
                    self.speaks(at, agent);
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn speaks(&mut self, at: Timestamp, agent: AgentKey) {
        self.spoke += 1;
        self.agents.entry(agent).or_default().spoke += 1;
        // A run that began before the word only knows it if the agent got the word during its turn.
        let run = self.runs.get(&agent).map_or(usize::MAX, |(_, call)| *call);
        let (all, answered) = (self.calls, &mut self.answered);
        self.pending.retain(|word| {
            let knows_it = run > word.calls || word.handed == Some(agent);
            if knows_it {
                let calls = all.saturating_sub(word.calls);
                answered.words += 1;
                answered.calls += calls;
                answered.calls_max = answered.calls_max.max(calls);
                let millis = at.as_millis().saturating_sub(word.at.as_millis());
                answered.millis = answered.millis.saturating_add(millis);
            }
            !knows_it
        });
    }

    /// Counts the words that are still without an answer at the end.
    pub(super) fn end(&mut self) {
        self.unanswered += self.pending.len();
        self.pending.clear();
    }
}

/// Returns true if no agent has or gets the floor in this phase.
pub(crate) const fn is_rest(phase: PhaseKind) -> bool {
    matches!(
        phase,
        PhaseKind::Dormant | PhaseKind::Archived | PhaseKind::Dead | PhaseKind::Disabled
    )
}
