//! Who is in the channel: reading the list, counting, asking again (rules 26, 28, 37 and 72)

use core::time::Duration;

use crate::machine::out::Out;
use crate::state::speaker_list::AGENTS_MAX;
use crate::state::{Floor, Phase, Refresh, Rng, Roster, Situation};
use crate::{AgentKey, Cause, Effect, Refusal, Ticket};

/// Has the member list read.
pub(crate) struct Members<'a, 'o> {
    pub(crate) standing: &'a Situation,
    pub(crate) floor: &'a mut Floor,
    pub(crate) roster: &'a mut Roster,
    pub(crate) rng: &'a mut Rng,
    pub(crate) out: &'a mut Out<'o>,
}

/// How long to wait, after this many failures in a row, before a list that was never read is asked for
/// again.
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
    /// Asks who is there, and waits for the answer for a bounded time.
    pub(crate) fn fetch(&mut self) {
        let ticket = self.out.request(|ticket| Effect::FetchMembers { ticket });
        let until = self.standing.chat_now(self.out.now) + self.out.config.members.refresh_deadline;
        self.roster.refresh = Some(Refresh { ticket, until });
        self.roster.asked_at = Some(self.out.now);
    }

    /// Waits no longer for the list that is being read.
    pub(crate) fn stop_reading(&mut self) {
        if let Some(refresh) = self.roster.refresh.take() {
            self.out.pending.settle(refresh.ticket);
        }
    }

    /// Counts the agents of a channel that has too few again, now and then.
    pub(crate) fn recount(&mut self) {
        let interval = self.out.config.members.recount_interval;
        let due = self.roster.asked_at.is_none_or(|at| self.out.now >= at + interval);
        if self.counts_agents() && due && self.roster.refresh.is_none() {
            self.fetch();
        }
    }

    /// Whether turns would be kept if there were enough agents.
    fn counts_agents(&self) -> bool {
        self.floor.phase == Phase::Disabled && self.standing.mode.keeps_turns()
    }

    /// Refuses an answer that was not asked for, or is too long.
    pub(crate) fn check(&self, ticket: Ticket, agents: &[AgentKey]) -> Result<(), Refusal> {
        if self.roster.refresh.is_none_or(|refresh| refresh.ticket != ticket) {
            return Err(Refusal::UnknownTicket);
        }
        if agents.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        Ok(())
    }

    /// Takes a list in; gives whether anybody is new.
    pub(crate) fn read(&mut self, agents: &[AgentKey]) -> bool {
        let is_first = self.roster.read_at.is_none();
        let anybody_new = self.roster.list.rebuild(agents);
        self.roster.read_at = Some(self.out.now);
        // The very first order is random only where the host wants it so.
        if is_first && self.out.config.order.shuffle_first && self.roster.list.len() >= 3 {
            self.roster.list.shuffle(self.rng, |_| true);
            self.out.tell(self.floor, None, Cause::Reshuffled);
        }
        anybody_new
    }

    /// Where a channel stands whose first list could not be read: it is asked for later and later.
    pub(crate) fn unknown(&self) -> Phase {
        let before =
            if let Phase::Unknown { failures, .. } = self.floor.phase { failures } else { 0 };
        let failures = before.saturating_add(1);
        Phase::Unknown { failures, ask_at: Some(self.out.now + wait(failures)) }
    }

    /// Asks for the list again that was never read.
    pub(crate) fn ask_again(&mut self) {
        if let Phase::Unknown { ask_at, .. } = &mut self.floor.phase {
            *ask_at = None;
            self.fetch();
        }
    }

    /// The agent came in; gives whether it had left only since the list was read.
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

    /// The agent is gone from the next list, and has no turns until then.
    pub(crate) fn on_left(&mut self, agent: AgentKey) {
        let slot = self.roster.list.slot_mut(agent);
        let is_change = slot.is_some_and(|slot| !core::mem::replace(&mut slot.left, true));
        self.out.changed_if(is_change);
    }
}
