//! Agents that are offline, agents that came back and were not assigned (rule 56), and agents that may not write (rule
//! 81).

use alloc::vec::Vec;

use crate::state::speaker_list::AGENTS_MAX;
use crate::{AgentKey, Timestamp};

/// An agent that is away.
///
/// ```
/// use dirigent_core::view::Away;
/// use dirigent_core::AgentKey;
/// let back = Away { agent: AgentKey::new(1), offline: false };
/// assert!(!back.offline);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away {
    /// The agent that is away.
    pub agent: AgentKey,
    /// True if the agent is offline. Otherwise it came back and was not assigned yet.
    pub offline: bool,
}

/// An agent that may not write, because the chat surely refuses its messages in this channel.
///
/// ```
/// use dirigent_core::view::MayNotWrite;
/// use dirigent_core::AgentKey;
/// let for_good = MayNotWrite { agent: AgentKey::new(1), until: None };
/// assert_eq!(for_good.until, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests compare")]
pub struct MayNotWrite {
    /// The agent that may not write.
    pub agent: AgentKey,
    /// The moment at which it may write again by itself, if that is known.
    pub until: Option<Timestamp>,
}

/// The agents that are away, and those that may not write, each by ascending key.
///
/// ```
/// assert!(dirigent_core::snapshot::Attendance::default().away.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Attendance {
    /// The agents that are away; at most 64.
    pub away: Vec<Away>,
    /// The agents that may not write; at most 64.
    pub may_not_write: Vec<MayNotWrite>,
}

impl Attendance {
    fn place(&self, agent: AgentKey) -> Result<usize, usize> {
        self.away.binary_search_by_key(&agent, |away| away.agent)
    }

    /// Returns `None` if the agent is not away, and otherwise whether it is offline.
    pub(crate) fn away(&self, agent: AgentKey) -> Option<bool> {
        let at = self.place(agent).ok()?;
        self.away.get(at).map(|away| away.offline)
    }

    /// Marks an agent as away. Returns false if too many are.
    pub(crate) fn mark(&mut self, agent: AgentKey, offline: bool) -> bool {
        // The bound keeps a channel below 8 KB, whatever a host reports.
        match self.place(agent) {
            Ok(at) => self.away.iter_mut().skip(at).take(1).for_each(|it| it.offline = offline),
            Err(_) if self.away.len() >= AGENTS_MAX => return false,
            Err(at) => self.away.insert(at, Away { agent, offline }),
        }
        true
    }

    /// Removes the mark of an agent that has turns again.
    pub(crate) fn readmit(&mut self, agent: AgentKey) {
        self.away.retain(|away| away.agent != agent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_came_back_is_away_until_it_is_readmitted() {
        let [one, two] = [1, 2].map(AgentKey::new);
        let mut attendance = Attendance::default();
        assert!(attendance.mark(two, true) && attendance.mark(one, true));
        assert!(attendance.mark(two, false));
        assert_eq!([attendance.away(one), attendance.away(two)], [Some(true), Some(false)]);
        assert!(attendance.away.is_sorted_by_key(|away| away.agent));
        attendance.readmit(two);
        assert_eq!([attendance.away(one), attendance.away(two)], [Some(true), None]);
    }

    #[test]
    fn more_agents_than_a_channel_holds_are_not_marked_but_those_marked_change() {
        let mut attendance = Attendance::default();
        let marked = (0..70).filter(|agent| attendance.mark(AgentKey::new(*agent), true));
        assert_eq!(marked.count(), AGENTS_MAX);
        assert!(attendance.mark(AgentKey::new(3), false));
    }
}
