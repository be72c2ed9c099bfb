//! A channel as plain data, to be stored and brought back.

mod phase;
mod steering;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use crate::audit::Breach;
pub use crate::state::delivery::Piece;
pub use crate::state::floor::TurnTerms;
pub use crate::state::hourly::SpokenTurn;
pub use crate::state::interruption::{Waiting, WaitingFrom};
pub use crate::state::outage::ChatOutage;
pub use crate::state::pending::{PendingEffect, StaleTrigger};
pub use crate::state::reminders::{InitiatorPermit, PermitRun};
pub use crate::state::roster::Refresh;
pub use crate::state::seen::RunFate;
pub use crate::state::speaker_list::Slot;
pub use crate::state::standing::Archived;
pub use phase::PhaseData;
pub use steering::Steering;

use crate::state::speaker_list::AGENTS_MAX;
use crate::state::standing::Pause;
use crate::state::{
    Cycle, Delivery, Floor, Limits, MESSAGES_MAX, PENDING_MAX, PIECES_MAX, POSTS_MAX, Pending,
    Phase, Quota, RUNS_MAX, Reminders, Rng, Roster, STALE_MAX, Seen, SpeakerList, Standing, State,
    Words,
};
use crate::turn_machine::TurnMachine;
use crate::{AgentKey, Config, MessageId, Mode, RunId, Tail, Timestamp, TurnId};

/// Everything a channel knows, as plain data. A store maps it to its own file format.
///
/// A restored channel reacts to everything as the original would have.
///
/// ```
/// use dirigent_core::{TurnMachine, Config, Snapshot};
///
/// let channel = TurnMachine::new(Config::default().into(), 7);
/// let mut snapshot = Snapshot::default();
/// channel.snapshot_into(&mut snapshot);
/// let twin = TurnMachine::restore(Config::default().into(), &snapshot)?;
/// assert_eq!(twin.revision(), channel.revision());
/// # Ok::<(), dirigent_core::snapshot::RestoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Snapshot {
    /// The version of this layout: [`Snapshot::VERSION`].
    pub version: u16,
    /// The time of the last input.
    pub now: Timestamp,
    /// What the channel is for.
    pub mode: Mode,
    /// Whether a mode was ever given.
    pub created: bool,
    /// How it was archived.
    pub archived: Option<Archived>,
    /// Who opened the discussion.
    pub initiator: Option<AgentKey>,
    /// Stopped or on hold.
    pub pause: Option<Pause>,
    /// A wake is pending: no agent has heard a qualifying message.
    pub wake_pending: bool,
    /// The channel woke for a word that no agent has heard yet.
    pub wake_unserved: bool,
    /// Another cycle was requested.
    pub cycle_requested: bool,
    /// Where the channel stands.
    pub phase: PhaseData,
    /// The newest turn.
    pub turn: TurnId,
    /// The speaker list in order.
    pub list: Vec<Slot>,
    /// When the list was read.
    pub list_at: Option<Timestamp>,
    /// Who completed a turn last in this cycle.
    pub last_completer: Option<AgentKey>,
    /// Who is muted, ascending.
    pub muted: Vec<AgentKey>,
    /// The list that is being read.
    pub refresh: Option<Refresh>,
    /// When the list was asked for last.
    pub asked_at: Option<Timestamp>,
    /// The initiator's one run.
    pub permit: Option<InitiatorPermit>,
    /// When the last reminder was sent, or the run that it led to ended in vain.
    pub reminded_at: Option<Timestamp>,
    /// When the next reminder is due.
    pub reminder_due: Option<Timestamp>,
    /// Turns since a human last spoke.
    pub turns: u32,
    /// Cycles since a human last spoke.
    pub cycles: u32,
    /// Whether a reached ceiling was announced.
    pub ceiling_announced: bool,
    /// Reminders sent since anything was said.
    pub reminders: u8,
    /// In a discussion: when it was created or a human last spoke.
    pub talk_since: Timestamp,
    /// Messages up to here count as seen, unless they were read late from the history.
    pub horizon: Option<MessageId>,
    /// The newest message.
    pub newest: Option<MessageId>,
    /// Messages remembered one by one, ascending; none when forgotten.
    pub messages: Vec<MessageId>,
    /// Runs that can no longer speak, oldest first.
    pub runs: Vec<(RunId, RunFate)>,
    /// When something last happened.
    pub last_activity_at: Timestamp,
    /// The reply under way.
    pub delivery: Option<Box<DeliveryData>>,
    /// What is pending, oldest first.
    pub pending: Vec<PendingEffect>,
    /// The next ticket.
    pub next_ticket: u64,
    /// Trigger messages to be removed.
    pub stale_triggers: Vec<StaleTrigger>,
    /// What the rules beyond the plain rotation need; nothing where none is used.
    pub steering: Option<Box<Steering>>,
    /// The state of chance.
    pub rng: u64,
    /// See [`TurnMachine::revision`].
    pub revision: u64,
}

/// The reply under way as plain data. Holds ends of texts, at most 64 scalars each.
///
/// ```
/// assert!(dirigent_core::snapshot::DeliveryData::default().pieces.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct DeliveryData {
    /// What is waited for.
    pub fingerprint: Tail,
    /// What has arrived, by ascending id.
    pub pieces: Vec<Piece>,
    /// When the last piece was seen.
    pub last_seen: Timestamp,
    /// When the last new pieces were seen, oldest first; at most five.
    pub arrivals: Vec<Timestamp>,
}

impl Snapshot {
    /// The version that this library writes, and the only one it reads.
    pub const VERSION: u16 = 1;
}

impl Default for Snapshot {
    fn default() -> Self {
        let mut blank = Self::blank();
        TurnMachine::new(Arc::default(), 0).snapshot_into(&mut blank);
        blank
    }
}

/// Why a snapshot was not restored. Nothing was changed; keep the file and ask.
///
/// ```
/// use dirigent_core::snapshot::RestoreError;
/// use dirigent_core::{TurnMachine, Config, Snapshot};
/// let foreign = Snapshot { version: 99, ..Snapshot::default() };
/// let error = TurnMachine::restore(Config::default().into(), &foreign).unwrap_err();
/// assert_eq!(error, RestoreError::Version { found: 99 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// It was written by another version of the library.
    Version {
        /// The version that the snapshot names.
        found: u16,
    },
    /// A list is longer than the library ever writes it.
    TooLong {
        /// Which field.
        field: &'static str,
    },
    /// It contradicts itself.
    Broken(Breach),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => {
                write!(
                    f,
                    "the snapshot has version {found}, this library reads {}",
                    Snapshot::VERSION
                )
            }
            Self::TooLong { field } => write!(f, "the snapshot's list `{field}` is too long"),
            Self::Broken(breach) => write!(f, "the snapshot contradicts itself: {breach}"),
        }
    }
}

impl core::error::Error for RestoreError {}

impl TurnMachine {
    /// Writes everything into `out`, reusing its buffers.
    pub fn snapshot_into(&self, out: &mut Snapshot) {
        let State { standing, floor, roster, cycle, words, quota, seen, .. } = &self.state;
        let reminders = self.state.reminders.value();
        let delivery = self.state.delivery.as_deref();
        out.version = Snapshot::VERSION;
        out.now = self.now;
        out.mode = standing.mode;
        out.created = standing.created;
        out.archived = standing.archived.as_deref().copied();
        out.initiator = standing.initiator;
        out.pause = standing.pause;
        out.wake_pending = words.wake_pending;
        out.wake_unserved = words.wake_unserved;
        out.cycle_requested = cycle.requested;
        out.phase = PhaseData::of(&floor.phase, delivery);
        out.turn = floor.turn;
        refill(&mut out.list, roster.list.slots());
        out.list_at = roster.read_at;
        out.last_completer = cycle.last_completer;
        refill(&mut out.muted, roster.muted());
        out.refresh = roster.refresh;
        out.asked_at = roster.asked_at;
        out.permit = reminders.permit;
        out.reminded_at = reminders.last_at;
        out.reminder_due = reminders.due_at;
        out.turns = quota.limits.turns;
        out.cycles = quota.limits.cycles;
        out.ceiling_announced = quota.limits.announced;
        out.reminders = reminders.sent;
        out.talk_since = quota.limits.since;
        out.horizon = seen.horizon();
        out.newest = seen.newest();
        seen.write(&mut out.messages, &mut out.runs);
        out.last_activity_at = floor.last_activity_at;
        write_delivery(delivery, &mut out.delivery);
        refill(&mut out.pending, &self.pending.effects);
        out.next_ticket = self.pending.next_ticket;
        refill(&mut out.stale_triggers, self.pending.stale());
        out.steering = Steering::of(&self.state);
        out.rng = self.state.rng.0;
        out.revision = self.revision;
    }

    /// Brings a channel back.
    ///
    /// # Errors
    ///
    /// When the snapshot is of another version, too long, or contradicts itself.
    pub fn restore(config: Arc<Config>, snapshot: &Snapshot) -> Result<Self, RestoreError> {
        check_size(snapshot)?;
        let mut state = restore_state(snapshot);
        distrust_unread_list(&mut state, snapshot.now);
        let pending = Pending {
            effects: snapshot.pending.clone(),
            next_ticket: snapshot.next_ticket,
            stale: snapshot.stale_triggers.clone().into(),
        };
        let channel = Self::of(config, snapshot.now, state, pending, snapshot.revision);
        channel.audit().map_err(RestoreError::Broken)?;
        Ok(channel)
    }
}

fn restore_state(snapshot: &Snapshot) -> State {
    let mut state = State {
        standing: Standing {
            mode: snapshot.mode,
            created: snapshot.created,
            pause: snapshot.pause,
            initiator: snapshot.initiator,
            archived: snapshot.archived.map(Box::new),
            outage: None,
        },
        floor: Floor {
            phase: snapshot.phase.into(),
            turn: snapshot.turn,
            last_activity_at: snapshot.last_activity_at,
            ..Floor::default()
        },
        roster: Roster {
            list: SpeakerList::from_slots(snapshot.list.clone()),
            read_at: snapshot.list_at,
            asked_at: snapshot.asked_at,
            refresh: snapshot.refresh,
            muted: snapshot.muted.clone().into(),
            ..Roster::default()
        },
        cycle: Cycle {
            requested: snapshot.cycle_requested,
            last_completer: snapshot.last_completer,
            ..Cycle::default()
        },
        words: Words {
            wake_pending: snapshot.wake_pending,
            wake_unserved: snapshot.wake_unserved,
            ..Words::default()
        },
        quota: Quota { limits: restore_limits(snapshot), ..Quota::default() },
        reminders: Reminders {
            permit: snapshot.permit,
            last_at: snapshot.reminded_at,
            due_at: snapshot.reminder_due,
            sent: snapshot.reminders,
        }
        .into(),
        seen: Seen::restore(snapshot.horizon, snapshot.newest, &snapshot.messages, &snapshot.runs),
        delivery: snapshot.delivery.as_deref().map(restore_delivery),
        rng: Rng(snapshot.rng),
    };
    if let Some(polls) = snapshot.phase.polls() {
        state.delivery.get_or_insert_default().polls = polls;
    }
    if let Some(steering) = &snapshot.steering {
        steering.put_into(&mut state);
    }
    state
}

const fn restore_limits(snapshot: &Snapshot) -> Limits {
    Limits {
        turns: snapshot.turns,
        cycles: snapshot.cycles,
        announced: snapshot.ceiling_announced,
        since: snapshot.talk_since,
    }
}

/// Turns a state of an older version into one that denies: it kept no turns for lack of agents, though
/// the list was never read, because the first list could not be read.
fn distrust_unread_list(state: &mut State, now: Timestamp) {
    let is_disabled = state.floor.phase == Phase::Disabled && state.standing.keeps_turns();
    if !is_disabled || state.roster.read_at.is_some() {
        return;
    }
    state.floor.phase = if state.standing.is_stopped() {
        Phase::Dormant
    } else {
        let ask_at = state.roster.refresh.is_none().then_some(now);
        Phase::Unknown { failures: 0, ask_at }
    };
}

impl Snapshot {
    /// A snapshot with nothing in it, to be written over by [`TurnMachine::snapshot_into`].
    pub const fn blank() -> Self {
        Self {
            version: Self::VERSION,
            now: Timestamp::from_millis(0),
            mode: Mode::None,
            created: false,
            archived: None,
            initiator: None,
            pause: None,
            wake_pending: false,
            wake_unserved: false,
            cycle_requested: false,
            phase: PhaseData::Disabled,
            turn: TurnId::new(0),
            list: Vec::new(),
            list_at: None,
            last_completer: None,
            muted: Vec::new(),
            refresh: None,
            asked_at: None,
            permit: None,
            reminded_at: None,
            reminder_due: None,
            turns: 0,
            cycles: 0,
            ceiling_announced: false,
            reminders: 0,
            talk_since: Timestamp::from_millis(0),
            horizon: None,
            newest: None,
            messages: Vec::new(),
            runs: Vec::new(),
            last_activity_at: Timestamp::from_millis(0),
            delivery: None,
            pending: Vec::new(),
            next_ticket: 0,
            stale_triggers: Vec::new(),
            steering: None,
            rng: 0,
            revision: 0,
        }
    }
}

fn refill<T: Copy>(buffer: &mut Vec<T>, items: &[T]) {
    buffer.clear();
    // Most are empty most of the time, and to copy nothing is a call all the same.
    if !items.is_empty() {
        // A store may keep many records, most of them with a few items: the first have no room for more.
        if buffer.capacity() == 0 {
            buffer.reserve_exact(items.len());
        }
        buffer.extend_from_slice(items);
    }
}

fn write_delivery(delivery: Option<&Delivery>, out: &mut Option<Box<DeliveryData>>) {
    let Some(delivery) = delivery else {
        *out = None;
        return;
    };
    let data = out.get_or_insert_default();
    data.fingerprint = delivery.fingerprint;
    data.last_seen = delivery.last_seen;
    refill(&mut data.pieces, delivery.as_slice());
    refill(&mut data.arrivals, delivery.arrivals());
}

fn restore_delivery(data: &DeliveryData) -> Box<Delivery> {
    let mut delivery = Box::<Delivery>::default();
    for piece in &data.pieces {
        delivery.put(data.last_seen, piece.id, &piece.tail);
    }
    delivery.set_arrivals(&data.arrivals);
    delivery.fingerprint = data.fingerprint;
    delivery.last_seen = data.last_seen;
    delivery
}

fn check_size(snapshot: &Snapshot) -> Result<(), RestoreError> {
    if snapshot.version != Snapshot::VERSION {
        return Err(RestoreError::Version { found: snapshot.version });
    }
    let delivery = snapshot.delivery.as_deref();
    let pieces = delivery.map_or(0, |delivery| delivery.pieces.len());
    let arrivals = delivery.map_or(0, |delivery| delivery.arrivals.len());
    let steering = snapshot.steering.as_deref();
    let size = |of: fn(&Steering) -> usize| steering.map_or(0, of);
    let sizes = [
        ("away", size(|s| s.away.len()), AGENTS_MAX),
        ("round", size(|s| s.round.len()), AGENTS_MAX),
        ("nextRound", size(|s| s.next_round.len()), AGENTS_MAX),
        ("spoken", size(|s| s.spoken.len()), AGENTS_MAX * usize::from(u8::MAX)),
        ("list", snapshot.list.len(), AGENTS_MAX),
        ("muted", snapshot.muted.len(), AGENTS_MAX),
        ("messages", snapshot.messages.len(), MESSAGES_MAX),
        ("runs", snapshot.runs.len(), RUNS_MAX),
        ("pending", snapshot.pending.len(), PENDING_MAX),
        ("pieces", pieces, PIECES_MAX),
        ("arrivals", arrivals, POSTS_MAX),
        ("staleTriggers", snapshot.stale_triggers.len(), STALE_MAX),
    ];
    match sizes.into_iter().find(|(_, len, max)| len > max) {
        Some((field, _, _)) => Err(RestoreError::TooLong { field }),
        None => Ok(()),
    }
}
