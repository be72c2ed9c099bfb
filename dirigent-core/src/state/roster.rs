//! The agents in the channel, and which of them may speak at all.

use alloc::vec::Vec;

use crate::state::attendance::{Attendance, Away, MayNotWrite};
use crate::state::rare::Rare;
use crate::state::speaker_list::AGENTS_MAX;
use crate::state::speaker_list::SpeakerList;
use crate::{AgentKey, Ticket, Timestamp};

/// A member list that is being read.
///
/// ```
/// use dirigent_core::snapshot::Refresh;
/// use dirigent_core::Ticket;
/// let refresh = Refresh { ticket: Ticket::new(1), until: Default::default() };
/// assert_eq!(refresh.ticket.get(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// The pending effect that the answer settles.
    pub ticket: Ticket,
    /// The moment until which the answer may come.
    pub until: Timestamp,
}

/// The agents of a channel.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Roster::default().read_at, None);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Roster {
    /// The agents in speaking order.
    pub list: SpeakerList,
    /// The moment when the list was read.
    pub read_at: Option<Timestamp>,
    /// The moment when the member list was last requested.
    pub asked_at: Option<Timestamp>,
    /// The member list that is being read.
    pub refresh: Option<Refresh>,
    /// The agents that are muted, ascending.
    pub muted: Rare<Vec<AgentKey>>,
    /// The agents that are away, and those that may not write.
    pub attendance: Rare<Attendance>,
}

/// The effect of the news that an agent may not write.
pub(crate) enum Forbidden {
    /// It could write before.
    New,
    /// It could not write before either, but until another moment.
    Moved,
    /// The channel knew that already.
    Known,
}

impl Roster {
    pub(crate) fn muted(&self) -> &[AgentKey] {
        self.muted.get().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_muted(&self, agent: AgentKey) -> bool {
        self.muted().binary_search(&agent).is_ok()
    }

    /// Mutes an agent. Returns true if it was not muted before, or `None` if too many are muted.
    pub(crate) fn mute(&mut self, agent: AgentKey) -> Option<bool> {
        let Err(at) = self.muted().binary_search(&agent) else {
            return Some(false);
        };
        if self.muted().len() >= AGENTS_MAX {
            return None;
        }
        self.muted.edit().insert(at, agent);
        Some(true)
    }

    /// Unmutes an agent. Returns false if it was not muted.
    pub(crate) fn unmute(&mut self, agent: AgentKey) -> bool {
        let Ok(at) = self.muted().binary_search(&agent) else {
            return false;
        };
        self.muted.edit().remove(at);
        true
    }

    pub(crate) fn may_not_write(&self) -> &[MayNotWrite] {
        self.attendance.get().map_or(&[], |attendance| &attendance.may_not_write)
    }

    fn place_of_forbidden(&self, agent: AgentKey) -> Result<usize, usize> {
        self.may_not_write().binary_search_by_key(&agent, |it| it.agent)
    }

    pub(crate) fn may_write(&self, agent: AgentKey) -> bool {
        // Most channels have no such agent, and this is asked for each agent of the list.
        self.attendance.get().is_none() || self.place_of_forbidden(agent).is_err()
    }

    /// Notes that the agent may not write until then. Returns the change, or `None` if too many agents may not write.
    pub(crate) fn forbid(
        &mut self,
        agent: AgentKey,
        until: Option<Timestamp>,
    ) -> Option<Forbidden> {
        match self.place_of_forbidden(agent) {
            Ok(at) => {
                let known = self.attendance.edit().may_not_write.get_mut(at)?;
                let was = core::mem::replace(&mut known.until, until);
                // A moved end changes a deadline, but gives no agent its turn back.
                Some(if was == until { Forbidden::Known } else { Forbidden::Moved })
            }
            Err(_) if self.may_not_write().len() >= AGENTS_MAX => None,
            Err(at) => {
                self.attendance.edit().may_not_write.insert(at, MayNotWrite { agent, until });
                Some(Forbidden::New)
            }
        }
    }

    /// Notes that the agent may write. Returns false if it could before.
    pub(crate) fn allow(&mut self, agent: AgentKey) -> bool {
        let Ok(at) = self.place_of_forbidden(agent) else {
            return false;
        };
        self.attendance.edit().may_not_write.remove(at);
        true
    }

    /// Returns when the next agent may write again by itself.
    pub(crate) fn next_allowed_at(&self) -> Option<Timestamp> {
        self.attendance.get()?.may_not_write.iter().filter_map(|it| it.until).min()
    }

    /// Returns an agent that may write by now.
    pub(crate) fn allowed_by(&self, now: Timestamp) -> Option<AgentKey> {
        let mut over = self.may_not_write().iter();
        over.find(|it| it.until.is_some_and(|until| until <= now)).map(|it| it.agent)
    }

    /// Returns the agents that are away, ascending.
    pub(crate) fn all_away(&self) -> &[Away] {
        self.attendance.get().map_or(&[], |attendance| &attendance.away)
    }

    /// Returns `None` if the agent is not away, and otherwise whether it is offline.
    pub(crate) fn away(&self, agent: AgentKey) -> Option<bool> {
        self.attendance.get().and_then(|attendance| attendance.away(agent))
    }

    /// Returns true if the agent is listed and has not left.
    pub(crate) fn is_present(&self, agent: AgentKey) -> bool {
        self.list.slot(agent).is_some_and(|slot| !slot.left)
    }

    pub(crate) fn is_available(&self, agent: AgentKey) -> bool {
        self.is_present(agent)
            && !self.is_muted(agent)
            && self.may_write(agent)
            && self.away(agent).is_none()
    }

    pub(crate) fn shrink(&mut self) {
        self.list.shrink();
        if let Some(muted) = self.muted.existing() {
            muted.shrink_to_fit();
        }
        if let Some(attendance) = self.attendance.existing() {
            attendance.away.shrink_to_fit();
            attendance.may_not_write.shrink_to_fit();
        }
        self.muted.release();
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        let slots = self.list.slots_mut().iter_mut();
        slots.filter_map(|slot| slot.grace_from.as_mut()).for_each(&mut *visit);
        [&mut self.read_at, &mut self.asked_at].into_iter().flatten().for_each(&mut *visit);
        self.refresh.iter_mut().for_each(|refresh| visit(&mut refresh.until));
        let attendance = self.attendance.existing().into_iter();
        let forbidden = attendance.flat_map(|attendance| &mut attendance.may_not_write);
        forbidden.filter_map(|it| it.until.as_mut()).for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roster(agents: &[u32]) -> Roster {
        let mut roster = Roster::default();
        let agents: Vec<AgentKey> = agents.iter().copied().map(AgentKey::new).collect();
        roster.list.rebuild(&agents);
        roster
    }

    #[test]
    fn only_an_agent_that_is_listed_present_unmuted_and_attending_is_available() {
        let mut roster = roster(&[1, 2, 3, 4]);
        let [left, muted, away, free] = [1, 2, 3, 4].map(AgentKey::new);
        roster.list.slot_mut(left).unwrap().left = true;
        assert_eq!(roster.mute(muted), Some(true));
        assert!(roster.attendance.edit().mark(away, true));
        assert!(roster.is_available(free) && !roster.is_available(AgentKey::new(9)));
        assert!([left, muted, away].iter().all(|agent| !roster.is_available(*agent)));
    }

    #[test]
    fn muting_and_unmuting_twice_changes_nothing() {
        let mut roster = roster(&[1]);
        let agent = AgentKey::new(1);
        assert_eq!([roster.mute(agent), roster.mute(agent)], [Some(true), Some(false)]);
        assert_eq!([roster.unmute(agent), roster.unmute(agent)], [true, false]);
        roster.shrink();
        assert_eq!(roster.muted, Rare::default(), "the memory is given back");
    }
}
