//! The state of a channel, a type for each topic with its own tests. A topic knows no input and no effect: the
//! machine changes it and says what follows.
//!
//! For example, `standing` has mode, pause and archive, `floor` phase and turn, `roster` the speaker list, `cycle`
//! requests and choices, `words` what no agent has heard yet, and `pending` the effects that must be settled. A
//! topic that most channels never use is `rare`: it costs one word until it is first changed.

pub(crate) mod attendance;
pub(crate) mod budget;
pub(crate) mod cycle;
pub(crate) mod delivery;
pub(crate) mod floor;
pub(crate) mod hourly;
pub(crate) mod interruption;
pub(crate) mod limits;
pub(crate) mod outage;
pub(crate) mod pending;
pub(crate) mod phase;
pub(crate) mod queue;
pub(crate) mod quota;
pub(crate) mod rare;
pub(crate) mod reminders;
pub(crate) mod rng;
pub(crate) mod roster;
pub(crate) mod seen;
pub(crate) mod speaker_list;
pub(crate) mod standing;
pub(crate) mod words;

use alloc::boxed::Box;

pub(crate) use attendance::Attendance;
pub(crate) use cycle::{Cycle, Plans};
pub(crate) use delivery::{Delivery, PIECES_MAX, POSTS_MAX, Polls};
pub(crate) use floor::{Floor, TurnTerms};
pub(crate) use hourly::Hourly;
pub(crate) use interruption::{Waiting, WaitingFrom, join};
pub(crate) use limits::Limits;
pub(crate) use outage::ChatOutage;
pub(crate) use pending::{PENDING_MAX, Pending, STALE_MAX, StaleTrigger};
pub(crate) use phase::{Grant, Phase, Purpose, Start, TurnRun};
pub(crate) use queue::Queue;
pub(crate) use quota::Quota;
pub(crate) use rare::Rare;
pub(crate) use reminders::{InitiatorPermit, PermitRun, REMINDERS_MAX, Reminders};
pub(crate) use rng::Rng;
pub(crate) use roster::{Refresh, Roster};
pub(crate) use seen::{MESSAGES_MAX, RUNS_MAX, RunFate, Seen};
pub(crate) use speaker_list::SpeakerList;
pub(crate) use standing::{Archived, Standing};
pub(crate) use words::Words;

use crate::Timestamp;

/// All topics of a channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// What the channel is for, and what keeps it from going on.
    pub(crate) standing: Standing,
    /// Who has the floor.
    pub(crate) floor: Floor,
    /// Who is in the channel.
    pub(crate) roster: Roster,
    /// The cycle under way.
    pub(crate) cycle: Cycle,
    /// What was said that no agent has heard yet.
    pub(crate) words: Words,
    /// How much agents may still say.
    pub(crate) quota: Quota,
    /// The reminders of an idle discussion.
    pub(crate) reminders: Rare<Reminders>,
    /// What was seen before.
    pub(crate) seen: Seen,
    /// What is waited for and what has arrived of a reply; kept between turns so that only the first
    /// such reply allocates. None where every reply is confirmed by a receipt.
    pub(crate) delivery: Option<Box<Delivery>>,
    /// The generator for shuffles, seeded by the host.
    pub(crate) rng: Rng,
}

impl State {
    /// Every moment in the state that is waited for or from.
    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        self.standing.for_each_moment(visit);
        self.floor.for_each_moment(visit);
        self.roster.for_each_moment(visit);
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

    /// An idle channel gives its memory back.
    pub(crate) fn forget(&mut self, now: Timestamp) {
        self.seen.forget();
        self.delivery = None;
        self.roster.list.forget_silent();
        self.roster.shrink();
        if let Some(hourly) = self.quota.hourly.existing() {
            hourly.forget(now);
        }
    }
}
