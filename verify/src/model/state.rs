//! What a channel is made of, in the plainest form.

use std::collections::BTreeMap;
use std::time::Duration;

use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, MessageId, PhaseKind, RunId, Tail, Ticket, Timestamp};

use super::resting::{Waiting, WaitingFrom};

/// Where a channel is in its life.
#[expect(clippy::large_enum_variant, reason = "a model is one of a kind; plain beats small")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No agent has the floor.
    Dormant,
    /// Turns are not kept.
    Disabled,
    /// Mode report.
    Dead,
    /// Closed for good.
    Archived,
    /// No list was ever read (rule 72).
    Unknown {
        /// How often there was no answer.
        failures: u8,
        /// When it is asked for again; `None` while it is.
        ask: Option<Timestamp>,
    },
    /// The list is read before it goes on.
    Refreshing(Purpose),
    /// An agent has the floor.
    Turn(Turn),
}

impl Phase {
    /// The phase as the machine names it.
    pub(super) fn kind(&self) -> PhaseKind {
        match self {
            Self::Dormant => PhaseKind::Dormant,
            Self::Disabled => PhaseKind::Disabled,
            Self::Dead => PhaseKind::Dead,
            Self::Archived => PhaseKind::Archived,
            Self::Refreshing(_) => PhaseKind::Refreshing,
            Self::Unknown { .. } => PhaseKind::Unknown,
            Self::Turn(turn) => match turn.stage {
                TurnProgress::Granted { .. } => PhaseKind::Granted,
                TurnProgress::Running { .. } => PhaseKind::Running,
                TurnProgress::Delivering => PhaseKind::Delivering,
                TurnProgress::Confirming(_) => PhaseKind::Confirming,
                TurnProgress::Continuing { .. } => PhaseKind::Continuing,
                TurnProgress::Waiting(_) => PhaseKind::Waiting,
            },
        }
    }

    /// The turn, while an agent has the floor.
    pub(super) fn turn(&self) -> Option<&Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            Self::Dormant
            | Self::Disabled
            | Self::Dead
            | Self::Archived
            | Self::Unknown { .. }
            | Self::Refreshing(_) => None,
        }
    }

    /// The turn, to be changed.
    pub(super) fn turn_mut(&mut self) -> Option<&mut Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            Self::Dormant
            | Self::Disabled
            | Self::Dead
            | Self::Archived
            | Self::Unknown { .. }
            | Self::Refreshing(_) => None,
        }
    }

    /// Whether an idle channel may forget in this phase (rule 41).
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Dormant | Self::Disabled | Self::Dead | Self::Archived | Self::Unknown { .. } => {
                true
            }
            Self::Refreshing(_) | Self::Turn(_) => false,
        }
    }
}

/// What a refresh that holds up the channel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Rule 27: the channel wakes.
    Waking {
        /// The agent that is to speak first.
        first: First,
    },
    /// Rule 32: a cycle is over.
    Boundary,
}

/// Where a cycle starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// Rule 29: at the front of the list.
    Front,
    /// Rule 27: at this agent.
    At(AgentKey),
    /// Rule 58: after this agent.
    After(AgentKey),
    /// Rule 61: at this agent, whom an operator chose.
    Chosen(AgentKey),
}

/// Why an agent is away (rule 56).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// It crashed or disconnected.
    Offline,
    /// It is back, and has no turns.
    Unassigned,
}

/// One agent's hold of the floor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Turn {
    /// Who has the floor.
    pub(super) agent: AgentKey,
    /// How far its turn is.
    pub(super) stage: TurnProgress,
    /// The run, where the host named one.
    pub(super) run: Option<RunId>,
    /// Only later messages belong to the reply.
    pub(super) anchor: Option<MessageId>,
    /// What has arrived of the reply (rule 16).
    pub(super) pieces: BTreeMap<MessageId, Tail>,
    /// When the last piece was seen.
    pub(super) last_piece: Option<Timestamp>,
    /// When each new piece was seen, in that order (rule 17).
    pub(super) arrivals: Vec<Timestamp>,
    /// Whether a receipt is kept until the run ends (rule 13).
    pub(super) receipt: bool,
    /// Rule 49: it has spoken without finishing.
    pub(super) spoken: bool,
    /// Rule 49: how often it was asked to go on.
    pub(super) asked: u8,
    /// Rule 50: the turn's end.
    pub(super) end: Option<Timestamp>,
    /// Rule 52: when its run is slow.
    pub(super) slow: Option<Timestamp>,
    /// Rule 63: a person is to answer it.
    pub(super) awaits_human: bool,
    /// Rule 23: its whole reply is known to have arrived, so that no late piece of it can come.
    pub(super) whole: bool,
    /// Rule 76: something was new since it was granted.
    pub(super) news: bool,
    /// Rule 80: a trigger of it is settled as done.
    pub(super) told: bool,
}

impl Turn {
    /// The wait for the reply, once the run ended.
    pub(super) fn confirming(&self) -> Option<&Confirming> {
        match &self.stage {
            TurnProgress::Confirming(confirming) => Some(confirming),
            TurnProgress::Granted { .. }
            | TurnProgress::Running { .. }
            | TurnProgress::Delivering
            | TurnProgress::Continuing { .. }
            | TurnProgress::Waiting(_) => None,
        }
    }

    /// The wait for the reply, to be changed.
    pub(super) fn confirming_mut(&mut self) -> Option<&mut Confirming> {
        match &mut self.stage {
            TurnProgress::Confirming(confirming) => Some(confirming),
            TurnProgress::Granted { .. }
            | TurnProgress::Running { .. }
            | TurnProgress::Delivering
            | TurnProgress::Continuing { .. }
            | TurnProgress::Waiting(_) => None,
        }
    }

    /// Whether its run was allowed, has not ended and made no reply, whether the turn rests or not.
    pub(super) fn is_running(&self) -> bool {
        match &self.stage {
            TurnProgress::Running { .. } => true,
            TurnProgress::Waiting(waiting) => {
                waiting.waits_running() && waiting.kept.is_none() && !waiting.replied
            }
            TurnProgress::Granted { .. }
            | TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. } => false,
        }
    }

    /// Rules 67 and 68: whether its run made its reply, whether the turn rests or not.
    pub(super) fn has_replied(&self) -> bool {
        match &self.stage {
            TurnProgress::Delivering => true,
            TurnProgress::Waiting(waiting) => waiting.replied,
            TurnProgress::Granted { .. }
            | TurnProgress::Running { .. }
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. } => false,
        }
    }

    /// Whether a run is under way that a cancellation concerns.
    pub(super) fn has_run(&self) -> bool {
        let ended = matches!(&self.stage, TurnProgress::Waiting(waiting) if waiting.kept.is_some());
        self.is_running() || (self.has_replied() && !ended)
    }

    /// Whether its words may still be on the way when the channel is archived (rule 39).
    pub(super) fn is_under_way(&self) -> bool {
        match &self.stage {
            TurnProgress::Granted { .. } => false,
            TurnProgress::Running { .. }
            | TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. } => true,
            TurnProgress::Waiting(waiting) => !matches!(waiting.from, WaitingFrom::Granted { .. }),
        }
    }

    /// Whether it rests or runs as Running, even if an end is kept (rule 55).
    pub(super) fn listens(&self) -> bool {
        match &self.stage {
            TurnProgress::Running { .. } | TurnProgress::Delivering => true,
            TurnProgress::Waiting(waiting) => waiting.waits_running(),
            TurnProgress::Granted { .. }
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. } => false,
        }
    }
}

/// How far a turn is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TurnProgress {
    /// Not started.
    Granted {
        /// Re-triggers made.
        attempt: u8,
        /// The start deadline, unless there is none or the channel is held.
        due: Option<Timestamp>,
    },
    /// Its run was allowed.
    Running {
        /// The run deadline.
        due: Option<Timestamp>,
    },
    /// Rule 67: its reply is made, and the library delivers it.
    Delivering,
    /// Its run ended and the reply is awaited.
    Confirming(Confirming),
    /// Rule 49: it spoke, and keeps the floor.
    Continuing {
        /// The start deadline.
        due: Option<Timestamp>,
    },
    /// Rule 55: it rests until a human was answered.
    Waiting(Waiting),
}

/// The wait for a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Confirming {
    /// When the run ended.
    pub(super) ended: Timestamp,
    /// What the joined tail must end with; empty: any message, then quiet.
    pub(super) fingerprint: Tail,
    /// The polls.
    pub(super) poll: Poll,
    /// The interval after the next settlement.
    pub(super) interval: Duration,
}

/// Whether a poll is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Poll {
    /// The next one is due then.
    Next(Timestamp),
    /// It is not settled yet.
    InFlight(Ticket),
}

/// One place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Who sits there.
    pub(super) agent: AgentKey,
    /// What became of its turn in this cycle.
    pub(super) turn: SeatTurn,
    /// It has left.
    pub(super) left: bool,
    /// When its last turn ended, unless it passed (rule 23).
    pub(super) grace_since: Option<Timestamp>,
    /// Rule 59: it passed, and is not asked again.
    pub(super) passed_over: bool,
    /// Rule 64: when its turns became Spoke, oldest first.
    pub(super) spoke_at: Vec<Timestamp>,
}

impl Slot {
    /// A newcomer's place.
    pub(super) fn new(agent: AgentKey) -> Self {
        Self {
            agent,
            turn: SeatTurn::Ahead,
            left: false,
            grace_since: None,
            passed_over: false,
            spoke_at: Vec::new(),
        }
    }
}

/// What became of the cycle so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Cycle {
    /// Whether the boundary may not end in dormancy (D66).
    pub(super) vetoed: bool,
    /// Whether an agent came back whom it had skipped (rule 54).
    pub(super) returned: bool,
    /// Who completed a turn last (D30).
    pub(super) last_completer: Option<AgentKey>,
}

/// The initiator's leave to run once (rule 36).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permit {
    /// Whose.
    pub(super) agent: AgentKey,
    /// Its run, once it was allowed.
    pub(super) running: Option<PermitRun>,
}

/// A permit's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PermitRun {
    /// The run, where the host named one.
    pub(super) run: Option<RunId>,
    /// The run deadline.
    pub(super) due: Option<Timestamp>,
    /// Whether a message or a receipt was seen while it ran.
    pub(super) spoken: bool,
    /// Rule 68: whether its reply is delivered.
    pub(super) replied: bool,
}

/// A chat that does not answer (rule 70).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChatAway {
    /// Since when.
    pub(super) since: Timestamp,
    /// From when the channel's patience counts (rule 71).
    pub(super) patience_from: Timestamp,
}

/// The outstanding refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refresh {
    /// Its ticket.
    pub(super) ticket: Ticket,
    /// When the old list is used instead.
    pub(super) due: Timestamp,
}

/// What archiving left behind (rule 39).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closing {
    /// When.
    pub(super) at: Timestamp,
    /// By the initiator of a discussion, not by an operator.
    pub(super) concluded: bool,
    /// Whose last words draw no notice for a while.
    pub(super) farewell: Vec<AgentKey>,
    /// When an agent or a bot last drew a notice.
    pub(super) bot_notice: Option<Timestamp>,
}

/// What a ticket was given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The list of members.
    Fetch,
    /// The trigger of a turn.
    Trigger {
        /// Its number.
        turn: u64,
    },
    /// A trigger's removal.
    Delete,
    /// A poll.
    Poll,
    /// A notice.
    Notice,
    /// A reminder.
    Reminder,
    /// A consultation.
    Consult,
}

/// An effect that was not settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// Its number.
    pub(super) ticket: u64,
    /// What for.
    pub(super) what: Request,
    /// When it was made; part of its name, so that it stays when time goes back (rule 2).
    pub(super) since: Timestamp,
}

/// A trigger message that is still to be removed (rule 42).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StaleTrigger {
    /// The message.
    pub(super) message: MessageId,
    /// When it is removed; `None`: with the next trigger.
    pub(super) due: Option<Timestamp>,
}

/// What a remembered run met with (rule 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was denied.
    Denied,
    /// It ended, was replaced or was cancelled.
    Ended,
}
