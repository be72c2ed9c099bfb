//! How agents are called, and when one counts as away.

use std::time::Duration;

/// How agents are called, and when one counts as away.
///
/// ```
/// let hooks = dirigent::settings::Hooks::default();
/// assert_eq!((hooks.no_reply_model.as_str(), hooks.heartbeat), ("dirigent/no-reply", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hooks {
    /// The model that a denied run may be sent to where the host cannot skip it. Default
    /// `dirigent/no-reply`.
    pub no_reply_model: String,
    /// Whether an agent that neither the library nor a waker can call is woken by a trigger message.
    /// Default true. Without, its host must ask by itself whether the turn has come.
    pub notify: bool,
    /// When an agent whose heartbeats stay away counts as offline. Default: never; the host says so.
    pub heartbeat: Option<Heartbeat>,
    /// After how many calls in a row that failed or panicked, in whatever channels, a hosted agent counts as
    /// offline; 0 is taken for 1. It comes back with [`Dirigent::agent_online`](crate::Dirigent::agent_online) or
    /// a [heartbeat](crate::Dirigent::heartbeat). Default: never; its turn is over each time.
    pub offline_after_failures: Option<u32>,
    /// What becomes of a hosted run that a crash cut off. Default: it is skipped.
    pub lost_runs: LostRuns,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            no_reply_model: "dirigent/no-reply".to_owned(),
            notify: true,
            heartbeat: None,
            offline_after_failures: None,
            lost_runs: LostRuns::Skip,
        }
    }
}

/// What becomes of a run that a crash cut off.
///
/// ```
/// use dirigent::settings::LostRuns;
/// assert_ne!(LostRuns::Skip, LostRuns::Rerun);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LostRuns {
    /// Its turn is over. What it was given is for the next turn, which is the same agent's where no other takes
    /// one.
    Skip,
    /// Its agent is asked once more. In a discussion whose initiator was reminded and ran, the reminder is posted
    /// again first, three times in all while nothing is said; then the run is over.
    Rerun,
    /// As [`LostRuns::Skip`] for agents that the library calls. Runs of agents that the host calls in other
    /// processes go on, and keep what remains of [`Deadlines::run`](super::Deadlines::run). Without such a
    /// deadline a run keeps the floor until the host says that it ended, its agent goes offline, or a
    /// person or an operator stops the channel: set one.
    Keep,
}

/// After how many missed heartbeats an agent counts as offline: once `period` times `misses` have passed
/// since the newest sign of life of this agent. The default is 30 seconds and 3 misses.
///
/// ```
/// let usual = dirigent::settings::Heartbeat::default();
/// assert_eq!((usual.period.as_secs(), usual.misses), (30, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that hosts write down")]
pub struct Heartbeat {
    /// The time between two heartbeats of one agent.
    pub period: Duration,
    /// The number of heartbeats that may be missing; 0 is taken for 1.
    pub misses: u32,
}

impl Heartbeat {
    /// How long an agent may stay silent.
    pub(crate) fn limit(self) -> Duration {
        self.period.saturating_mul(self.misses.max(1))
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { period: Duration::from_secs(30), misses: 3 }
    }
}
