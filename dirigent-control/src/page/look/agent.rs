//! One agent in all channels.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::channel::{AgentLook, ChangeLook, in_path};
use super::row::Row;

/// An agent in one channel, with its known turns there.
///
/// ```
/// fn turns(there: &dirigent_control::AgentChannel) -> u64 {
///     there.days.values().map(|day| day.turns()).sum()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentChannel {
    /// The id of the channel.
    pub channel: Row,
    /// The state of the agent there.
    pub agent: AgentLook,
    /// The agent's turns by day in UTC, for example `2026-11-29`. They go back as far as the recording or the stored
    /// history of the channel.
    pub days: BTreeMap<String, AgentDay>,
    /// The agent's newest failures there, at most 10, the newest one first.
    pub failures: Vec<ChangeLook>,
}

impl AgentChannel {
    pub(crate) const fn new(
        channel: Row,
        agent: AgentLook,
        days: BTreeMap<String, AgentDay>,
        failures: Vec<ChangeLook>,
    ) -> Self {
        Self { channel, agent, days, failures }
    }

    /// Returns the number of the agent's known turns there.
    pub(crate) fn turns(&self) -> u64 {
        self.days.values().map(AgentDay::turns).sum()
    }
}

/// The turns of an agent on one day.
///
/// ```
/// assert_eq!(dirigent_control::AgentDay::default().turns(), 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentDay {
    /// The turns in which the agent spoke.
    pub spoke: u64,
    /// The turns in which the agent passed or repeated itself.
    pub silent: u64,
    /// The turns that failed or took too long.
    pub failed: u64,
    /// The turns that were cut short.
    pub interrupted: u64,
    /// The cost that was reported while the agent had the floor, in your program's unit. `None` if the channel is not
    /// recorded.
    pub cost: Option<u64>,
}

impl AgentDay {
    /// Returns the number of turns that ended.
    pub const fn turns(&self) -> u64 {
        self.spoke + self.silent + self.failed + self.interrupted
    }

    /// Adds a turn with this end.
    pub(crate) fn ended(&mut self, end: &str) {
        match end {
            "spoke" => self.spoke += 1,
            "failed" | "timed-out" => self.failed += 1,
            "interrupted" => self.interrupted += 1,
            _ => self.silent += 1,
        }
    }

    pub(crate) fn spent(&mut self, cost: u64) {
        *self.cost.get_or_insert_default() += cost;
    }

    fn add(&mut self, other: &Self) {
        self.spoke += other.spoke;
        self.silent += other.silent;
        self.failed += other.failed;
        self.interrupted += other.interrupted;
        if let Some(cost) = other.cost {
            self.spent(cost);
        }
    }
}

/// An agent in all channels.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentReport {
    /// The id of the agent.
    pub(crate) agent_id: String,
    /// The agent's name for people.
    pub(crate) name: String,
    /// The agent's account, or `None` if the agent is not in the registry.
    pub(crate) account: Option<String>,
    /// The agent's channels. The one that changed last comes first.
    pub(crate) channels: Vec<AgentChannel>,
    /// The number of further channels.
    pub(crate) more: usize,
    /// The agent's turns in these channels by day.
    pub(crate) days: BTreeMap<String, AgentDay>,
    /// The other processes that did not answer.
    pub(crate) silent: Vec<String>,
}

impl AgentReport {
    pub(crate) fn count(&mut self) {
        for (day, counted) in self.channels.iter().flat_map(|there| &there.days) {
            self.days.entry(day.clone()).or_default().add(counted);
        }
    }

    /// Returns the agent as a part of an address's path.
    pub(crate) fn key(&self) -> String {
        in_path(&self.agent_id)
    }

    /// Returns the newest failure of the agent's calls, if they failed.
    pub(crate) fn failing(&self) -> Option<&str> {
        self.channels.iter().find_map(|there| there.agent.failing.as_deref())
    }

    /// Returns the agent's newest failures, each with its channel.
    pub(crate) fn failures(&self) -> Vec<(&Row, &ChangeLook)> {
        let all = self.channels.iter();
        let all =
            all.flat_map(|there| there.failures.iter().map(|failed| (&there.channel, failed)));
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(_, failed)| std::cmp::Reverse(failed.at));
        all.truncate(20);
        all
    }
}
