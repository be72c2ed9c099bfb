//! A look at a channel from outside.

use crate::channel::Channel;
use crate::{AgentKey, Deadline, MessageId, Mode, PhaseKind, RunId, Timestamp, TurnId, TurnState};

/// What a channel looks like now: phase, speaker, list, counters (F11). Borrowed, costs nothing.
///
/// ```
/// use dirigent_core::{Channel, Config, PhaseKind};
///
/// let channel = Channel::new(Config::default().into(), 1);
/// assert_eq!(channel.view().phase(), PhaseKind::Disabled);
/// assert_eq!(channel.view().speaker(), None);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    channel: &'a Channel,
}

impl<'a> View<'a> {
    pub(crate) const fn new(channel: &'a Channel) -> Self {
        Self { channel }
    }

    /// What the channel is for.
    pub const fn mode(&self) -> Mode {
        self.channel.mode
    }

    /// How turns are kept.
    pub fn turn_state(&self) -> TurnState {
        self.channel.turn_state()
    }

    /// The phase.
    pub fn phase(&self) -> PhaseKind {
        self.channel.phase_kind()
    }

    /// Who has the floor.
    pub fn speaker(&self) -> Option<AgentKey> {
        self.channel.speaker()
    }

    /// Who may run once to conclude an idle discussion.
    pub fn permit(&self) -> Option<AgentKey> {
        self.channel.permit.map(|permit| permit.agent)
    }

    /// The run of the speaker, or else the permitted one; none where nobody runs, or where the host
    /// gave it no name.
    pub fn run(&self) -> Option<RunId> {
        match self.channel.phase.run() {
            Some(run) => run.id,
            None => self.channel.permit.and_then(|permit| permit.run_id()),
        }
    }

    /// Whether the channel is stopped or on hold.
    pub const fn rest(&self) -> Option<Rest> {
        self.channel.rest
    }

    /// The newest turn's number.
    pub const fn turn(&self) -> TurnId {
        self.channel.turn
    }

    /// The running turn's anchor.
    pub fn anchor(&self) -> Option<MessageId> {
        self.channel.anchor()
    }

    /// The newest message seen.
    pub fn newest(&self) -> Option<MessageId> {
        self.channel.seen.newest()
    }

    /// The list in speaking order.
    pub fn list(&self) -> impl ExactSizeIterator<Item = Seat> + use<'a> {
        let channel = self.channel;
        channel.list.slots().iter().map(move |slot| Seat {
            agent: slot.agent,
            turn: slot.turn,
            left: slot.left,
            muted: channel.is_muted(slot.agent),
        })
    }

    /// Turns since a human last spoke.
    pub const fn turns_since_human(&self) -> u32 {
        self.channel.limits.turns
    }

    /// Cycles since a human last spoke.
    pub const fn cycles_since_human(&self) -> u32 {
        self.channel.limits.cycles
    }

    /// When the discussion's time is up, where it has a limit (F28).
    pub fn time_up(&self) -> Option<Timestamp> {
        self.channel.limits.time_up(&self.channel.config, self.channel.mode)
    }

    /// When something is due next, and why.
    pub fn deadline(&self) -> Option<Deadline> {
        self.channel.next_deadline()
    }

    /// Whether it is a discussion that its initiator concluded.
    pub fn is_concluded(&self) -> bool {
        self.channel.archived.as_ref().is_some_and(|archived| archived.concluded)
    }

    /// Who opened the discussion.
    pub const fn initiator(&self) -> Option<AgentKey> {
        self.channel.initiator
    }
}

/// One place in the speaker list.
///
/// ```
/// use dirigent_core::{AgentKey, Seat, SeatTurn};
///
/// let seat = Seat { agent: AgentKey::new(1), turn: SeatTurn::Ahead, left: false, muted: false };
/// assert!(seat.is_available());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests compare")]
pub struct Seat {
    /// Who sits there.
    pub agent: AgentKey,
    /// What became of its turn in this cycle.
    pub turn: SeatTurn,
    /// It has left the channel and is gone from the next list.
    pub left: bool,
    /// It is muted.
    pub muted: bool,
}

impl Seat {
    /// Whether the agent can be given the floor.
    pub const fn is_available(&self) -> bool {
        !self.left && !self.muted
    }
}

/// What became of an agent's turn in this cycle.
///
/// ```
/// use dirigent_core::SeatTurn;
/// assert_eq!(SeatTurn::default(), SeatTurn::Ahead);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SeatTurn {
    /// It is still to come, or under way.
    #[default]
    Ahead,
    /// Completed with nothing to say.
    Passed,
    /// Completed with a reply.
    Spoke,
    /// Not completed: the agent left, is muted, or did not answer in time.
    Skipped,
}

/// Why a channel rests although it could go on.
///
/// ```
/// use dirigent_core::Rest;
/// assert_ne!(Rest::Held, Rest::Stopped);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rest {
    /// On hold: the order is kept.
    Held,
    /// Stopped: the round is over.
    Stopped,
    /// Finished: the work is done.
    Finished,
}
