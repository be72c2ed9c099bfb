//! The state of a channel, with one type for each topic. A topic knows neither inputs nor effects: the machine changes
//! it, and decides what follows.
//!
//! For example, `standing` has mode, pause and archive, `floor` has phase and turn, and `roster` has the speaker list.
//! `cycle` has requests and choices, `words` has people's words that no turn has taken yet, and `pending` has the
//! effects that must be settled. A topic that most channels never use is `rare`: it costs one word until it is first
//! changed.
//!
//! Every field is public because the state is stored as it is: a [`Snapshot`] contains it, and a store writes it field
//! by field. You cannot change the state of a running machine, because it is lent for reading only.
#![expect(
    clippy::exhaustive_structs,
    clippy::exhaustive_enums,
    reason = "plain data of a snapshot"
)]

pub(crate) mod attendance;
pub(crate) mod budget;
pub(crate) mod ceiling_counts;
pub(crate) mod cycle;
pub(crate) mod delivery;
pub(crate) mod floor;
pub(crate) mod hourly;
pub(crate) mod in_place;
pub(crate) mod interruption;
pub(crate) mod outage;
pub(crate) mod pending;
pub(crate) mod phase;
pub(crate) mod quota;
pub(crate) mod rare;
pub(crate) mod reminders;
pub(crate) mod rng;
pub(crate) mod roster;
pub(crate) mod seen;
pub(crate) mod situation;
pub(crate) mod span;
pub(crate) mod speaker_list;
pub(crate) mod words;

use alloc::boxed::Box;

pub use attendance::{Attendance, Away, MayNotWrite};
pub use budget::Budget;
pub use ceiling_counts::CeilingCounts;
pub use cycle::{Cycle, Plans, Settling};
pub use delivery::{Delivery, Piece, Polls};
pub(crate) use delivery::{PIECES_MAX, POSTS_MAX};
pub use floor::{Floor, TurnTerms};
pub use hourly::{Hourly, SpokenTurn};
use in_place::clone_in_place;
pub(crate) use interruption::join;
pub use interruption::{Waiting, WaitingFrom};
pub use outage::ChatOutage;
pub(crate) use pending::{PENDING_MAX, STALE_MAX};
pub use pending::{Pending, PendingEffect, StaleTrigger};
pub use phase::{Grant, Phase, Purpose, Start, TurnRun};
pub use quota::Quota;
pub use rare::Rare;
pub(crate) use reminders::REMINDERS_MAX;
pub use reminders::{InitiatorPermit, PermitRun, Reminders};
pub use rng::Rng;
pub use roster::{Refresh, Roster};
pub(crate) use seen::{MESSAGES_MAX, RUNS_MAX};
pub use seen::{Recent, RunFate, Runs, Seen};
pub use situation::{Archived, Pause, Situation};
pub use span::Span;
pub(crate) use speaker_list::AGENTS_MAX;
pub use speaker_list::{SeatTurn, Slot, SpeakerList};
pub use words::Words;

use crate::Timestamp;

clone_in_place! {
    Snapshot { version, now, revision, state, pending }
    State { standing, floor, roster, cycle, words, quota, reminders, seen, delivery, rng }
    Situation { mode, created, pause, initiator, archived, outage }
    Floor { phase, turn, terms, waiting, last_activity_at }
    Roster { list, read_at, asked_at, refresh, muted, attendance }
    SpeakerList { slots }
    Cycle { last_completer, plans }
    Words { wake_pending, wake_unserved, cycle_requested, returned, awaits_human, queue }
    Quota { limits, budget, hourly }
    Seen { horizon, newest, recent }
    Recent { messages, runs }
    Delivery { fingerprint, pieces, last_seen, arrivals, polls }
    Pending { effects, next_ticket, stale }
}

/// The whole state of a channel, with a version and a time. A [`TurnMachine`](crate::TurnMachine) holds exactly this,
/// and lends it to you with [`TurnMachine::snapshot`](crate::TurnMachine::snapshot). A store maps it to its own file
/// format.
///
/// A restored channel reacts to every input as the original would have. If you copy a snapshot often, use `clone_from`,
/// because it reuses the memory of the older copy.
///
/// ```
/// use dirigent_core::{TurnMachine, Config};
///
/// let channel = TurnMachine::new(Config::default().into(), 7);
/// let stored = channel.snapshot().clone();
/// let twin = TurnMachine::restore(Config::default().into(), &stored)?;
/// assert_eq!(twin.snapshot(), channel.snapshot());
/// # Ok::<(), dirigent_core::snapshot::RestoreError>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The version of this layout: [`Snapshot::VERSION`].
    pub version: u16,
    /// The time of the last input.
    pub now: Timestamp,
    /// The number of changes that a restart must not lose: see [`TurnMachine::revision`](crate::TurnMachine::revision).
    pub revision: u64,
    /// The topics of the channel.
    pub state: State,
    /// The effects that were requested and are not settled.
    pub pending: Pending,
}

impl Snapshot {
    /// The version that this library writes, and the only one that it reads.
    pub const VERSION: u16 = 2;
}

impl Default for Snapshot {
    /// Creates the snapshot of a channel that was never seen before.
    fn default() -> Self {
        let (state, pending) = (State::default(), Pending::default());
        Self { version: Self::VERSION, now: Timestamp::default(), revision: 0, state, pending }
    }
}

/// All topics of a channel, except what is [`Pending`].
///
/// ```
/// assert!(dirigent_core::snapshot::State::default().roster.list.slots.is_empty());
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct State {
    /// The mode, and all that can stop the channel from going on.
    pub standing: Situation,
    /// The agent that has the floor, and its turn.
    pub floor: Floor,
    /// The agents in the channel.
    pub roster: Roster,
    /// The cycle under way.
    pub cycle: Cycle,
    /// People's words that no turn has taken yet.
    pub words: Words,
    /// The counters of ceilings, budgets and caps.
    pub quota: Quota,
    /// The reminders of an idle discussion.
    pub reminders: Rare<Reminders>,
    /// The messages and runs that were seen before.
    pub seen: Seen,
    /// The pieces of a reply that have arrived, and the reply that they should become. It stays allocated between
    /// turns, so that only the first such reply allocates. It is `None` if a receipt confirms every reply.
    pub delivery: Option<Box<Delivery>>,
    /// The generator for shuffles, which you seed.
    pub rng: Rng,
}

impl State {
    /// Visits every moment in the state that something waits for or is counted from, so that all of them can move when
    /// the clock goes back.
    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        self.standing.for_each_moment(visit);
        self.floor.for_each_moment(visit);
        self.roster.for_each_moment(visit);
        self.cycle.for_each_moment(visit);
        self.reminders.for_each_moment(visit);
        if let Some(delivery) = &mut self.delivery {
            delivery.for_each_moment(visit);
        }
        if let Some(hourly) = self.quota.hourly.existing() {
            hourly.for_each_moment(visit);
        }
        visit(&mut self.quota.limits.since);
    }

    /// Frees the topics that an idle channel does not use, because a host may have a million channels of which ten
    /// talk.
    #[inline]
    pub(crate) fn release_unused(&mut self) {
        if self.floor.phase.is_idle() {
            self.floor.terms.release();
            self.roster.attendance.release();
            self.cycle.plans.release();
            self.words.queue.release();
            self.quota.budget.release();
            self.quota.hourly.release();
            self.reminders.release();
        }
    }

    /// Frees the memory of an idle channel, as of this moment.
    pub(crate) fn forget(&mut self, at: Timestamp) {
        self.seen.forget();
        self.delivery = None;
        self.roster.list.forget_passed();
        self.roster.shrink();
        if let Some(hourly) = self.quota.hourly.existing() {
            hourly.forget(at);
            hourly.spoken.shrink_to_fit();
        }
    }
}
