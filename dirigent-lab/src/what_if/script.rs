//! The acts of people and agents in a recording, without the rules of that evening.

use dirigent::settings::Deadlines;
use dirigent_core::{AgentKey, Effect, Input, Outcome, RunId, Settlement};

/// An input with its delay after its cause, and its place in the recording.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) after: u64,
    pub(super) place: usize,
    pub(super) input: Input,
}

/// The occasion of a turn, for example the second turn of an agent after the third word of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Occasion {
    pub(super) agent: AgentKey,
    /// The number of people's words before it.
    pub(super) word: usize,
    /// The number of times that the agent was asked since that word.
    pub(super) nth: usize,
    pub(super) attempt: u8,
}

/// A turn of an agent in the recording, with all its acts.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) occasion: Occasion,
    /// The time of the trigger, in milliseconds.
    pub(super) at: u64,
    /// A hash of the speakers since the word.
    pub(super) said: u64,
    pub(super) lines: Vec<Line>,
    /// The delay, the place and the settlement of its trigger.
    pub(super) settled: Option<(u64, usize, Settlement)>,
    /// True if its run was cancelled in the recording.
    pub(super) was_cancelled: bool,
    /// True if it ended by itself or ran out of time.
    pub(super) is_whole: bool,
    /// The deadline that it missed before it ended.
    pub(super) ran_out: Option<RanOut>,
    /// The time until its turn was over, in milliseconds.
    pub(super) over_after: u64,
}

/// The deadline that an agent missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RanOut {
    Start,
    Run,
}

impl RanOut {
    /// Returns true if an agent has more time under the deadlines `now` than under `then`.
    pub(super) fn has_more(self, now: &Deadlines, then: &Deadlines) -> bool {
        let of = |deadlines: &Deadlines| {
            let own = match self {
                Self::Start => deadlines.start,
                Self::Run => deadlines.run,
            };
            own.into_iter().chain(deadlines.turn).min()
        };
        let (now, then) = (of(now), of(then));
        then.is_some_and(|then| now.is_none_or(|now| now > then))
    }
}

impl Ask {
    /// Returns true if the agent began to run or wrote.
    pub(super) fn is_answered(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Returns the run that it began.
    pub(super) fn run(&self) -> Option<RunId> {
        self.lines.iter().find_map(|line| match line.input {
            Input::Gate { run, .. } => run,
            _ => None,
        })
    }

    /// Returns the deadline that it missed. `None` if it began or ended after that nevertheless.
    pub(super) fn ran_out(&self) -> Option<RanOut> {
        let has_ended = self.lines.iter().any(|line| matches!(line.input, Input::RunEnded { .. }));
        self.ran_out.filter(|it| match it {
            RanOut::Start => !self.is_answered(),
            RanOut::Run => !has_ended,
        })
    }

    /// Returns true if the agent said something.
    pub(super) fn has_reply(&self) -> bool {
        let is_said = |input: &Input| is_reply(input) || matches!(input, Input::Message(_));
        self.lines.iter().any(|line| is_said(&line.input))
    }
}

/// Returns true for the end of a run with words.
pub(crate) const fn is_reply(input: &Input) -> bool {
    let Input::RunEnded { outcome, .. } = input else { return false };
    matches!(
        outcome,
        Outcome::Spoke { .. } | Outcome::Unfinished { .. } | Outcome::AwaitsHuman { .. }
    )
}

/// A settled effect that is no trigger. Its result depends on the time, and not on the speaker.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) at: u64,
    pub(super) after: u64,
    pub(super) place: usize,
    pub(super) input: Input,
}

/// The kinds of effects that need a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ErrandKind {
    Members,
    Trigger,
    Delete,
    Poll,
    Notice,
    Consult,
    Reminder,
}

impl ErrandKind {
    pub(super) const fn of(effect: &Effect) -> Option<Self> {
        Some(match effect {
            Effect::FetchMembers { .. } => Self::Members,
            Effect::Trigger { .. } => Self::Trigger,
            Effect::Delete { .. } => Self::Delete,
            Effect::Poll { .. } => Self::Poll,
            Effect::Notice { .. } => Self::Notice,
            Effect::Consult { .. } => Self::Consult,
            Effect::Reminder { .. } => Self::Reminder,
            Effect::Inject { .. }
            | Effect::Deliver { .. }
            | Effect::CancelRun { .. }
            | Effect::Transition(_) => return None,
        })
    }
}

/// The conversation since the newest word of a person, as a hash of the speakers in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) words: usize,
    pub(super) hash: u64,
}

impl Said {
    /// Adds an accepted message.
    pub(super) fn hear(&mut self, input: &Input) {
        use dirigent_core::{Author, MessageKind};
        let (Input::Message(message) | Input::Addressed { message, .. }) = input else { return };
        match message.author {
            _ if message.kind == MessageKind::System => {}
            Author::Human => {
                self.words += 1;
                self.hash = 0;
            }
            Author::Agent(agent) => self.mix(u64::from(agent.get()) + 1, message.tail.as_str()),
            Author::Bot => self.mix(0, message.tail.as_str()),
            _ => {}
        }
    }

    /// Adds an agent's reply. `ask` is the recorded turn that it comes from, or `None` if it is assumed.
    pub(super) fn speak(&mut self, ask: Option<usize>) {
        self.mix(ask.map_or(0, |ask| ask as u64 + 1), "");
    }

    fn mix(&mut self, author: u64, tail: &str) {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        (self.hash, author, tail).hash(&mut hasher);
        self.hash = hasher.finish();
    }
}
