//! The state of a channel, a type for each topic with its own tests. A topic knows no input and no effect: the
//! machine changes it and says what follows.
//!
//! For example, `standing` has mode, pause and archive, `floor` phase and turn, `roster` the speaker list, `cycle`
//! requests and choices, `words` what no turn has taken yet, and `pending` the effects that must be settled. A
//! topic that most channels never use is `rare`: it costs one word until it is first changed.
//!
//! Every field is public, because the state is what is stored: a [`Snapshot`] contains it as it is, and
//! a store writes it field by field. Nobody can reach into the state of a running machine, because that is lent for
//! reading only.
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

/// Everything a channel knows: its state, with a version and a time. A [`TurnMachine`](crate::TurnMachine) keeps exactly this and lends it with
/// [`TurnMachine::snapshot`](crate::TurnMachine::snapshot). A store maps it to its own file format.
///
/// A restored channel reacts to everything as the original would have. `clone_from` reuses the memory of the older copy.
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
    /// Rises with every change that a restart must not lose: see [`TurnMachine::revision`](crate::TurnMachine::revision).
    pub revision: u64,
    /// What the channel knows.
    pub state: State,
    /// What was asked for and not settled.
    pub pending: Pending,
}

impl Snapshot {
    /// The version that this library writes, and the only one it reads.
    pub const VERSION: u16 = 2;
}

impl Default for Snapshot {
    /// A channel never seen before.
    fn default() -> Self {
        let (state, pending) = (State::default(), Pending::default());
        Self { version: Self::VERSION, now: Timestamp::default(), revision: 0, state, pending }
    }
}

/// All topics of a channel, but for what is [`Pending`].
///
/// ```
/// assert!(dirigent_core::snapshot::State::default().roster.list.slots.is_empty());
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct State {
    /// What the channel is for, and what keeps it from going on.
    pub standing: Situation,
    /// Who has the floor.
    pub floor: Floor,
    /// Who is in the channel.
    pub roster: Roster,
    /// The cycle under way.
    pub cycle: Cycle,
    /// What was said that no turn has taken yet.
    pub words: Words,
    /// How much agents may still say.
    pub quota: Quota,
    /// The reminders of an idle discussion.
    pub reminders: Rare<Reminders>,
    /// What was seen before.
    pub seen: Seen,
    /// What is waited for and what has arrived of a reply; kept between turns so that only the first
    /// such reply allocates. None where every reply is confirmed by a receipt.
    pub delivery: Option<Box<Delivery>>,
    /// The generator for shuffles, seeded by the host.
    pub rng: Rng,
}

impl State {
    /// Every moment in the state that is waited for or from.
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

    /// An idle channel keeps no room for what it does not use.
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

    /// An idle channel gives its memory back, as at this moment.
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
