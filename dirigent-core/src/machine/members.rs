//! The agents in the channel: reading the list, counting, asking again (rules 26, 28, 37 and 72)

use core::time::Duration;

use crate::machine::out::Out;
use crate::state::speaker_list::AGENTS_MAX;
use crate::state::{Floor, Phase, Refresh, Rng, Roster, Situation};
use crate::{AgentKey, Cause, Effect, Refusal, Ticket};

/// Requests the member list and applies it.
pub(crate) struct Members<'a, 'o> {
    pub(crate) standing: &'a Situation,
    pub(crate) floor: &'a mut Floor,
    pub(crate) roster: &'a mut Roster,
    pub(crate) rng: &'a mut Rng,
    pub(crate) out: &'a mut Out<'o>,
}

/// Returns the wait before a list that was never read is requested again, after this many failures in a row.
const fn wait(failures: u8) -> Duration {
    match failures {
        0 | 1 => Duration::from_secs(1),
        2 => Duration::from_secs(2),
        3 => Duration::from_secs(5),
        4 => Duration::from_secs(10),
        _ => Duration::from_secs(30),
    }
}

impl Members<'_, '_> {
    /// Requests the list, and waits for the answer for a bounded time.
    pub(crate) fn fetch(&mut self) {
        let ticket = self.out.request(|ticket| Effect::FetchMembers { ticket });
        let until = self.standing.chat_now(self.out.now) + self.out.config.members.refresh_deadline;
        self.roster.refresh = Some(Refresh { ticket, until });
        self.roster.asked_at = Some(self.out.now);
    }

    /// Stops waiting for the list that is being read.
    pub(crate) fn stop_reading(&mut self) {
        if let Some(refresh) = self.roster.refresh.take() {
            self.out.pending.settle(refresh.ticket);
        }
    }

    /// Counts the agents of a channel with too few again, but not more often than the rules say.
    pub(crate) fn recount(&mut self) {
        let interval = self.out.config.members.recount_interval;
        let due = self.roster.asked_at.is_none_or(|at| self.out.now >= at + interval);
        if self.counts_agents() && due && self.roster.refresh.is_none() {
            self.fetch();
        }
    }

    /// Returns true if the channel would keep turns with enough agents.
    fn counts_agents(&self) -> bool {
        self.floor.phase == Phase::Disabled && self.standing.mode.keeps_turns()
    }

    /// Refuses an answer that was not requested, or is too long.
    pub(crate) fn check(&self, ticket: Ticket, agents: &[AgentKey]) -> Result<(), Refusal> {
        if self.roster.refresh.is_none_or(|refresh| refresh.ticket != ticket) {
            return Err(Refusal::UnknownTicket);
        }
        if agents.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        Ok(())
    }

    /// Applies a list. Returns true if it has new agents.
    pub(crate) fn read(&mut self, agents: &[AgentKey]) -> bool {
        let is_first = self.roster.read_at.is_none();
        let anybody_new = self.roster.list.rebuild(agents);
        self.roster.read_at = Some(self.out.now);
        // The very first order is random only if the host wants it so.
        if is_first && self.out.config.order.shuffle_first && self.roster.list.len() >= 3 {
            self.roster.list.shuffle(self.rng, |_| true);
            self.out.tell(self.floor, None, Cause::Reshuffled);
        }
        anybody_new
    }

    /// Returns the phase of a channel with a first list that could not be read. The attempts to read it grow rarer.
    pub(crate) fn unknown(&self) -> Phase {
        let before =
            if let Phase::Unknown { failures, .. } = self.floor.phase { failures } else { 0 };
        let failures = before.saturating_add(1);
        Phase::Unknown { failures, ask_at: Some(self.out.now + wait(failures)) }
    }

    /// Requests the list again that was never read.
    pub(crate) fn ask_again(&mut self) {
        if let Phase::Unknown { ask_at, .. } = &mut self.floor.phase {
            *ask_at = None;
            self.fetch();
        }
    }

    /// Notes that the agent came in. Returns true if it had only left since the list was read.
    pub(crate) fn on_joined(&mut self, agent: AgentKey) -> bool {
        let slot = self.roster.list.slot_mut(agent);
        let is_back = slot.is_some_and(|slot| core::mem::take(&mut slot.left));
        self.out.changed_if(is_back);
        if self.roster.refresh.is_none() {
            if self.counts_agents() {
                self.fetch();
            }
            self.ask_again();
        }
        is_back
    }

    /// Marks the agent as left. It has no turns, and the next list drops it.
    pub(crate) fn on_left(&mut self, agent: AgentKey) {
        let slot = self.roster.list.slot_mut(agent);
        let is_change = slot.is_some_and(|slot| !core::mem::replace(&mut slot.left, true));
        self.out.changed_if(is_change);
    }
}
