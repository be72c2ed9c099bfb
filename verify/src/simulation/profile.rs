//! How bad the world is: the rates of every fault, and how busy people are.

use crate::invariants::TwinSchedule;

/// How often what goes wrong, each in a million.
///
/// ```
/// use dirigent_verify::simulation::Faults;
/// assert_eq!(Faults::none().message_lost, 0);
/// assert_eq!(Faults::default().message_repeated, 20_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// A message is never pushed.
    pub message_lost: u32,
    /// A message is pushed twice.
    pub message_repeated: u32,
    /// A message is pushed up to a minute late, so that later ones overtake it.
    pub message_reordered: u32,
    /// The last messages are pushed all over again.
    pub replay: u32,
    /// The clock jumps, up to a day forth or back.
    pub clock_jump: u32,
    /// The process dies and starts again from what it stored last.
    pub crash: u32,
    /// Of those deaths: after the state was stored and before all effects were carried out.
    pub crash_amid_effects: u32,
    /// The members cannot be read.
    pub members_failed: u32,
    /// The answer to a reading of the members comes late.
    pub members_late: u32,
    /// No answer comes at all.
    pub answer_lost: u32,
    /// A post fails for certain.
    pub post_failed: u32,
    /// A post may or may not have been made.
    pub post_doubtful: u32,
    /// An event of a run reaches the channel twice or long after.
    pub run_event_repeated: u32,
    /// The end of a run is never told.
    pub run_end_lost: u32,
    /// The orchestrator fails.
    pub consult_failed: u32,
    /// The orchestrator is late.
    pub consult_late: u32,
    /// The orchestrator never answers.
    pub consult_lost: u32,
    /// A timer fires only when something else happens.
    pub timer_late: u32,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            message_lost: 10_000,
            message_repeated: 20_000,
            message_reordered: 50_000,
            replay: 300,
            clock_jump: 1_000,
            crash: 3_000,
            crash_amid_effects: 500_000,
            members_failed: 50_000,
            members_late: 30_000,
            answer_lost: 10_000,
            post_failed: 40_000,
            post_doubtful: 20_000,
            run_event_repeated: 30_000,
            run_end_lost: 10_000,
            consult_failed: 150_000,
            consult_late: 50_000,
            consult_lost: 50_000,
            timer_late: 50_000,
        }
    }
}

impl Faults {
    /// A perfect world.
    pub const fn none() -> Self {
        Self {
            message_lost: 0,
            message_repeated: 0,
            message_reordered: 0,
            replay: 0,
            clock_jump: 0,
            crash: 0,
            crash_amid_effects: 0,
            members_failed: 0,
            members_late: 0,
            answer_lost: 0,
            post_failed: 0,
            post_doubtful: 0,
            run_event_repeated: 0,
            run_end_lost: 0,
            consult_failed: 0,
            consult_late: 0,
            consult_lost: 0,
            timer_late: 0,
        }
    }
}

/// What a simulation is like.
///
/// ```
/// use dirigent_verify::simulation::{Faults, Profile};
///
/// let mut calm = Profile::default();
/// calm.faults = Faults::none();
/// assert_ne!(calm, Profile::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// What goes wrong.
    pub faults: Faults,
    /// How often, in a million steps, something happens outside the turns: a message, a join, a
    /// leave, a stop, a mute, a question out of turn.
    pub background_events: u32,
    /// The fewest agents that a channel is opened with.
    pub agents_min: u64,
    /// The most agents in a channel.
    pub agents_max: u64,
    /// How often snapshots are compared.
    pub diligence: TwinSchedule,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            faults: Faults::default(),
            background_events: 120_000,
            agents_min: 2,
            agents_max: 6,
            diligence: TwinSchedule::default(),
        }
    }
}
