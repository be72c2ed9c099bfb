//! The turns of agents within the last hour (rule 64).

use alloc::vec::Vec;
use core::time::Duration;

use crate::{AgentKey, Timestamp};

const HOUR: Duration = Duration::from_secs(3_600);

/// A turn with a reply, which counts towards the cap of its agent.
///
/// ```
/// use dirigent_core::snapshot::SpokenTurn;
/// use dirigent_core::AgentKey;
/// let turn = SpokenTurn { agent: AgentKey::new(1), at: Default::default() };
/// assert_eq!(turn.agent.get(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpokenTurn {
    /// The agent that had the turn.
    pub agent: AgentKey,
    /// The moment when the turn ended.
    pub at: Timestamp,
}

/// The recent turns with a reply, oldest first. Each agent has at most as many as its cap.
///
/// ```
/// assert!(dirigent_core::snapshot::Hourly::default().spoken.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Hourly {
    /// The turns.
    pub spoken: Vec<SpokenTurn>,
}

impl Hourly {
    /// Returns when the oldest turn that fills the agent's hour is an hour old.
    pub(crate) fn cap_ends(&self, agent: AgentKey, most: u8) -> Option<Timestamp> {
        let before = usize::from(most).checked_sub(1)?;
        let newest = self.spoken.iter().rev().filter(|turn| turn.agent == agent);
        newest.map(|turn| turn.at + HOUR).nth(before)
    }

    /// Counts a turn. The agent's oldest one makes room if needed.
    pub(crate) fn add(&mut self, turn: SpokenTurn, most: u8) {
        self.spoken.push(turn);
        let mine = |other: &SpokenTurn| other.agent == turn.agent;
        // More than fill the hour never count, so a channel with 64 agents stays small.
        if self.spoken.iter().filter(|turn| mine(turn)).count() > usize::from(most) {
            if let Some(oldest) = self.spoken.iter().position(mine) {
                self.spoken.remove(oldest);
            }
        }
    }

    /// Keeps the newest turns of each listed agent, as many as fill its hour.
    pub(crate) fn keep(&mut self, is_listed: impl Fn(AgentKey) -> bool, most: Option<u8>) {
        self.spoken.retain(|turn| is_listed(turn.agent));
        let mut kept: Vec<(AgentKey, u8)> = Vec::new();
        // Newest first, so that the oldest ones are dropped.
        self.spoken.reverse();
        self.spoken.retain(|turn| {
            let Some((_, count)) = kept.iter_mut().find(|(agent, _)| *agent == turn.agent) else {
                kept.push((turn.agent, 1));
                return most.is_some();
            };
            let keep = most.is_some_and(|most| *count < most);
            *count = count.saturating_add(1);
            keep
        });
        self.spoken.reverse();
    }

    /// Forgets turns that no longer count.
    pub(crate) fn forget(&mut self, now: Timestamp) {
        self.spoken.retain(|turn| turn.at + HOUR > now);
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        self.spoken.iter_mut().map(|turn| &mut turn.at).for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(agent: u32, millis: u64) -> SpokenTurn {
        SpokenTurn { agent: AgentKey::new(agent), at: Timestamp::from_millis(millis) }
    }

    fn after(turns: &[(u32, u64)], most: u8) -> Hourly {
        let mut hourly = Hourly::default();
        for (agent, at) in turns {
            hourly.add(turn(*agent, *at), most);
        }
        hourly
    }

    #[test]
    fn an_hour_is_full_until_the_oldest_turn_in_it_is_an_hour_old() {
        let hourly = after(&[(1, 10), (2, 20), (1, 30), (1, 40)], 2);
        let end = Timestamp::from_millis(30) + HOUR;
        assert_eq!(hourly.cap_ends(AgentKey::new(1), 2), Some(end), "the first made room");
        assert_eq!(hourly.cap_ends(AgentKey::new(2), 2), None);
        assert_eq!(hourly.cap_ends(AgentKey::new(1), 0), None, "no turn fills no hour");
    }

    #[test]
    fn turns_are_kept_of_the_listed_and_no_more_than_the_new_cap() {
        let mut hourly = after(&[(1, 1), (2, 2), (1, 3), (1, 4)], 3);
        hourly.keep(|agent| agent.get() == 1, Some(2));
        assert_eq!(hourly.spoken, [turn(1, 3), turn(1, 4)]);
        hourly.keep(|_| true, None);
        assert!(hourly.spoken.is_empty(), "without a cap none is counted");
    }

    #[test]
    fn a_turn_is_forgotten_when_it_is_an_hour_old() {
        let mut hourly = after(&[(1, 1), (1, 2)], 3);
        hourly.forget(Timestamp::from_millis(1) + HOUR);
        assert_eq!(hourly.spoken, [turn(1, 2)]);
    }
}
