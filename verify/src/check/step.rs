//! What a check does next.

use dirigent_core::{
    AgentKey, Author, Input, Message, MessageId, MessageKind, Outcome, RunId, Settlement, Tail,
};

/// One step of a check.
///
/// ```
/// use dirigent_core::Input;
/// use dirigent_verify::check::Step;
/// assert_ne!(Step::input(5, Input::Tick), Step::DeadlineTick);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// An input, this many milliseconds after the step before; before it, when negative.
    Input {
        /// Milliseconds.
        after: i64,
        /// The input.
        input: Box<Input>,
    },
    /// Something that fits what is going on, as the machine sees it.
    Act {
        /// Milliseconds after the step before.
        after: i64,
        /// What.
        act: Act,
    },
    /// Time jumps to the next deadline, and the clock ticks.
    DeadlineTick,
    /// The machine is stored and restored; the model goes on.
    Restart,
}

impl Step {
    /// An input, this many milliseconds later.
    pub fn input(after: i64, input: Input) -> Self {
        Self::Input { after, input: Box::new(input) }
    }

    /// Something fitting, this many milliseconds later.
    pub const fn act(after: i64, act: Act) -> Self {
        Self::Act { after, act }
    }
}

/// An input that is completed with what is going on when its turn comes.
///
/// ```
/// use dirigent_core::RunId;
/// use dirigent_verify::check::{Act, Step};
/// let step = Step::act(20, Act::Gate { run: Some(RunId::new(1)) });
/// assert!(matches!(step, Step::Act { after: 20, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Act {
    /// Whatever leads on: who is granted asks to run, who runs ends, a refresh is answered, a
    /// silent channel is written to.
    Proceed {
        /// Which of several ways.
        choice: u8,
        /// How far the id of what the speaker says is above the newest.
        ahead: i8,
        /// What is said, if something else than what was promised.
        tail: Box<Tail>,
        /// Who is present, if that is asked.
        agents: Vec<AgentKey>,
    },
    /// Who has the floor or the permit asks to run.
    Gate {
        /// Its run; `None` without a name.
        run: Option<RunId>,
    },
    /// Who has the floor or the permit asks to run, with a run never used before.
    GateAnew,
    /// Who was allowed last asks again with the same run.
    GateAgain,
    /// The run that was allowed last ends.
    End {
        /// How.
        outcome: EndOutcome,
    },
    /// The run that was allowed last made its reply, which is delivered from now on.
    Reply {
        /// To whom its agent hands over.
        next: Option<AgentKey>,
    },
    /// The delivery of that reply is given up.
    GiveUp {
        /// Whether a part of it was posted.
        posted: bool,
    },
    /// A message is read late from the history.
    SayLate {
        /// How far its id is below the newest.
        back: u8,
        /// Who wrote it.
        author: Author,
        /// The end of its text.
        tail: Box<Tail>,
    },
    /// A receipt of the run that was allowed last, for new messages.
    Receipt {
        /// How many.
        count: u8,
    },
    /// Who has the floor or the permit writes something.
    SpeakerSays {
        /// How far its id is above the newest; not above it: a late one.
        ahead: i8,
        /// The end of the text.
        tail: Box<Tail>,
    },
    /// A new message is written.
    Say {
        /// Who.
        author: Author,
        /// What kind of message.
        kind: MessageKind,
        /// The end of the text.
        tail: Box<Tail>,
    },
    /// A message is deleted.
    Delete {
        /// How many messages before the newest.
        back: u8,
    },
    /// The newest message is edited by who has the floor.
    Edit {
        /// How many messages back.
        back: u8,
        /// The end of the new text.
        tail: Box<Tail>,
    },
    /// The outstanding refresh is answered.
    Members {
        /// Who is present.
        agents: Vec<AgentKey>,
    },
    /// A human writes something new that addresses agents.
    Address {
        /// Whom.
        agents: Vec<AgentKey>,
    },
    /// An operator chooses the agent at this place of the list, or the first behind it that has not
    /// the floor.
    Choose {
        /// Which place.
        place: u8,
    },
    /// Who has the floor, or the agent at this place of the list, goes offline.
    Crash {
        /// Which place; `None`: who has the floor.
        place: Option<u8>,
    },
    /// Who has the floor, or the agent at this place of the list, may not write.
    Forbid {
        /// Which place; `None`: who has the floor.
        place: Option<u8>,
        /// For how long; `None`: until it may.
        millis: Option<u16>,
    },
    /// An agent that is offline comes back, or one that is back is assigned.
    Return {
        /// Whether it is assigned.
        assigned: bool,
        /// Who, if it is away.
        agent: AgentKey,
    },
    /// The outstanding consultation is settled.
    Answer {
        /// What became of it.
        settlement: Settlement,
    },
    /// A pending effect is settled.
    Settle {
        /// Which, counted back from the newest.
        nth: u8,
        /// What became of it.
        settlement: Settlement,
    },
}

/// How a run ends in an [`Act`].
///
/// ```
/// use dirigent_core::Tail;
/// use dirigent_verify::check::{Act, EndOutcome};
/// let act = Act::End { outcome: EndOutcome::Spoke(Box::new(Tail::of("well"))) };
/// assert_ne!(act, Act::End { outcome: EndOutcome::Pass });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the core's outcomes, kept small")]
pub enum EndOutcome {
    /// Nothing to say.
    Pass,
    /// A reply is on its way.
    Spoke(Box<Tail>),
    /// It said what was said before.
    Repeated,
    /// It broke off.
    Failed,
    /// It spoke, and has not finished its turn.
    Unfinished(Box<Tail>),
    /// It spoke, and a person is to answer.
    AwaitsHuman(Box<Tail>),
}

impl EndOutcome {
    /// The core's word for it.
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Pass => Outcome::Pass,
            Self::Spoke(tail) => Outcome::Spoke { tail: **tail },
            Self::Repeated => Outcome::Repeated,
            Self::Failed => Outcome::Failed,
            Self::Unfinished(tail) => Outcome::Unfinished { tail: **tail },
            Self::AwaitsHuman(tail) => Outcome::AwaitsHuman { tail: **tail },
        }
    }
}

/// A message that is read late, in one line.
pub(super) fn late_message(id: u64, author: Author, kind: MessageKind, tail: &Tail) -> Input {
    Input::Message(Message { id: MessageId::new(id), author, kind, tail: *tail, backfilled: true })
}

/// A message in one line.
pub(super) fn message(id: u64, author: Author, kind: MessageKind, tail: &Tail) -> Input {
    Input::Message(Message { id: MessageId::new(id), author, kind, tail: *tail, backfilled: false })
}
