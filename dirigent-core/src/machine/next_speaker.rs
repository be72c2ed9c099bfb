//! The next speaker: which agent may be granted at all, and where a cycle starts (rules 29, 32, 58, 59, 61 and 62)

use crate::state::speaker_list::Slot;
use crate::state::{Cycle, Quota, Roster, Start};
use crate::{AgentKey, Cause, Config, Timestamp};

/// Read-only access to the list, and to all that bars agents from their turns.
#[derive(Clone, Copy)]
pub(crate) struct NextSpeaker<'a> {
    pub(crate) roster: &'a Roster,
    pub(crate) cycle: &'a Cycle,
    pub(crate) quota: &'a Quota,
    pub(crate) config: &'a Config,
    pub(crate) now: Timestamp,
}

impl NextSpeaker<'_> {
    /// Returns why this agent cannot be granted when its turn comes, or `None` if it can.
    pub(crate) fn hindrance(&self, slot: &Slot) -> Option<Cause> {
        let agent = slot.agent;
        if slot.left {
            Some(Cause::AgentLeft)
        } else if self.roster.is_muted(agent) {
            Some(Cause::AgentMuted)
        } else if !self.roster.may_write(agent) {
            Some(Cause::AgentMayNotWrite)
        } else if self.roster.away(agent).is_some() {
            Some(Cause::AgentOffline)
        } else if self.cycle.chosen() == Some(agent) {
            // An operator's choice overrides all rules of order.
            None
        } else if slot.passed && self.config.order.skip_passed {
            Some(Cause::AgentPassed)
        } else if slot.nothing_new && self.config.order.skip_last_speaker {
            // Otherwise each conversation ends with a call in which an agent reads its own last words.
            Some(Cause::NothingNew)
        } else if self.cycle.leaves_out(agent) {
            Some(Cause::NotMentioned)
        } else {
            self.is_capped(agent).then_some(Cause::AgentCapped)
        }
    }

    fn is_capped(&self, agent: AgentKey) -> bool {
        self.quota.is_capped(agent, self.config, self.now)
    }

    /// Returns the chosen agent, if it can be granted.
    pub(crate) fn choice(&self) -> Option<AgentKey> {
        self.cycle.chosen().filter(|agent| self.roster.is_available(*agent))
    }

    /// Returns true if any other agent is available and not capped.
    pub(crate) fn is_anybody_free_but(&self, but: Option<AgentKey>) -> bool {
        let mut agents = self.roster.list.slots().iter().map(|slot| slot.agent);
        agents.any(|agent| Some(agent) != but && self.is_free(agent))
    }

    /// Returns true if an agent is available and not capped.
    pub(crate) fn is_free(&self, agent: AgentKey) -> bool {
        self.roster.is_available(agent) && !self.is_capped(agent)
    }

    /// Returns the place in the list where a cycle starts.
    pub(crate) fn place(&self, start: Start) -> usize {
        match start {
            Start::At(agent) if self.roster.is_available(agent) => {
                self.roster.list.position(agent).unwrap_or(0)
            }
            Start::First | Start::At(_) => 0,
            Start::After(sender) => self.place_after(sender).unwrap_or(0),
        }
    }

    /// Returns the next place, around the list, with an agent that can be granted.
    fn place_after(&self, sender: AgentKey) -> Option<usize> {
        let slots = self.roster.list.slots().iter().enumerate();
        let after = self.roster.list.position(sender)? + 1;
        let mut around = slots.clone().skip(after).chain(slots.take(after));
        around.find(|(_, slot)| self.hindrance(slot).is_none()).map(|(at, _)| at)
    }

    /// Returns true if the last agent to complete a turn is neither first in the order nor the first that can speak,
    /// unless no other agent can. Without the second condition it would speak twice in a row past muted agents.
    pub(crate) fn does_not_repeat(&self, order: &[Slot], last: Option<AgentKey>) -> bool {
        let can_speak = |slot: &&Slot| {
            let Slot { agent, left, .. } = **slot;
            !left
                && !self.roster.is_muted(agent)
                && self.roster.may_write(agent)
                && self.roster.away(agent).is_none()
                && !self.is_capped(agent)
        };
        let mut speakers = order.iter().filter(can_speak).map(|slot| slot.agent);
        let (first, second) = (speakers.next(), speakers.next());
        let leads = order.first().map(|slot| slot.agent) == last;
        last.is_none() || (!leads && (first != last || second.is_none()))
    }
}
