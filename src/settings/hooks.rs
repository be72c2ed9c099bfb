//! Calls of agents, and when an agent counts as away.

use std::time::Duration;

/// Settings for calls of agents, and for when an agent counts as away.
///
/// ```
/// let hooks = dirigent::settings::Hooks::default();
/// assert_eq!((hooks.no_reply_model.as_str(), hooks.heartbeat), ("dirigent/no-reply", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hooks {
    /// The model name for a denied run whose host cannot skip it. The default is `dirigent/no-reply`.
    pub no_reply_model: String,
    /// If `true`, a trigger message wakes an agent that neither the library nor a waker can call. The default is
    /// `true`. If you set it to `false`, the host of such an agent must ask by itself whether the turn has come.
    pub notify: bool,
    /// The time without a heartbeat after which an agent counts as offline. The default is `None`: agents go offline
    /// only if the host says so.
    pub heartbeat: Option<Heartbeat>,
    /// The number of failures or panics in a row after which a hosted agent counts as offline, whatever the channels. 0
    /// counts as 1. The agent comes back with [`Dirigent::agent_online`](crate::Dirigent::agent_online) or a
    /// [heartbeat](crate::Dirigent::heartbeat). The default is `None`: a failure ends only the turn.
    pub offline_after_failures: Option<u32>,
    /// The treatment of a hosted run that a crash cut off. The default is to skip it.
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

/// The treatment of a run that a crash cut off.
///
/// ```
/// use dirigent::settings::LostRuns;
/// assert_ne!(LostRuns::Skip, LostRuns::Rerun);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LostRuns {
    /// The turn is over. Its messages are for the next turn. That is the same agent's turn if no other agent takes one.
    Skip,
    /// The agent is asked once more. In a discussion whose initiator ran after the reminder, the reminder is posted
    /// again first. If the discussion stays silent, this happens three times in all, and then the run is over.
    Rerun,
    /// Hosted agents are treated as with [`LostRuns::Skip`]. Runs of agents that the host calls in other processes go
    /// on, with the rest of their time of [`Deadlines::run`](super::Deadlines::run). Set this deadline. Without it a
    /// run keeps the floor until the host reports its end, its agent goes offline, or a person or an operator stops the
    /// channel.
    Keep,
}

/// Says when an agent counts as offline: once `period` times `misses` have passed since its newest sign of life. The
/// default is 30 seconds and 3 misses.
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
    /// The number of missed heartbeats. 0 counts as 1.
    pub misses: u32,
}

impl Heartbeat {
    /// Returns how long an agent may be without a sign of life.
    pub(crate) fn limit(self) -> Duration {
        self.period.saturating_mul(self.misses.max(1))
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { period: Duration::from_secs(30), misses: 3 }
    }
}
