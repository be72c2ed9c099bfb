//! What a recording tells of those who took part, apart from the rules under which it was made.

use dirigent::settings::Deadlines;
use dirigent_core::{AgentKey, Effect, Input, Outcome, RunId, Settlement};

/// An input and the time from what caused it, with its place in the recording.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) after: u64,
    pub(super) place: usize,
    pub(super) input: Input,
}

/// The occasion on which an agent was asked: which one of its turns after which word of a person, and which attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Occasion {
    pub(super) agent: AgentKey,
    /// Words of people before it.
    pub(super) word: usize,
    /// Times that the agent was asked since that word.
    pub(super) nth: usize,
    pub(super) attempt: u8,
}

/// One time that an agent was asked, and all that it did then.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) occasion: Occasion,
    /// When, in milliseconds.
    pub(super) at: u64,
    /// Who had spoken since the word.
    pub(super) said: u64,
    pub(super) lines: Vec<Line>,
    /// Its trigger's settlement, and how long that took.
    pub(super) settled: Option<(u64, usize, Settlement)>,
    /// The run was taken away in the recording, too.
    pub(super) was_cancelled: bool,
    /// Nothing cut it short: it ended, or ran out of time.
    pub(super) is_whole: bool,
    /// It ran out of time before it ended: of that to start, or of that to run.
    pub(super) ran_out: Option<RanOut>,
    /// After how long its turn was over.
    pub(super) over_after: u64,
}

/// The time that an agent ran out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RanOut {
    Start,
    Run,
}

impl RanOut {
    /// Whether an agent has more time under these deadlines than under those.
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
    /// Whether the agent began to run, or wrote.
    pub(super) fn is_answered(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The run that it began.
    pub(super) fn run(&self) -> Option<RunId> {
        self.lines.iter().find_map(|line| match line.input {
            Input::Gate { run, .. } => run,
            _ => None,
        })
    }

    /// The time that it ran out of, unless it did what it was to do all the same, only later.
    pub(super) fn ran_out(&self) -> Option<RanOut> {
        let has_ended = self.lines.iter().any(|line| matches!(line.input, Input::RunEnded { .. }));
        self.ran_out.filter(|it| match it {
            RanOut::Start => !self.is_answered(),
            RanOut::Run => !has_ended,
        })
    }

    /// Whether the agent said something.
    pub(super) fn has_reply(&self) -> bool {
        let is_said = |input: &Input| is_reply(input) || matches!(input, Input::Message(_));
        self.lines.iter().any(|line| is_said(&line.input))
    }
}

/// Whether a run ends with words.
pub(crate) const fn is_reply(input: &Input) -> bool {
    let Input::RunEnded { outcome, .. } = input else { return false };
    matches!(
        outcome,
        Outcome::Spoke { .. } | Outcome::Unfinished { .. } | Outcome::AwaitsHuman { .. }
    )
}

/// An effect that was settled, beside the triggers: how it went depends on the time, and not on who speaks.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub(super) at: u64,
    pub(super) after: u64,
    pub(super) place: usize,
    pub(super) input: Input,
}

/// The kinds of effects that are settled.
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

/// What was said since a person's last word, as one number: who spoke, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) words: usize,
    pub(super) hash: u64,
}

impl Said {
    /// Takes an accepted message in.
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

    /// Takes an agent's reply in, by the recorded turn from which it is; `None` if it is assumed.
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
