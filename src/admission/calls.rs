//! Calls of agents: how many at once, in all and of each agent.

use dirigent_core::{AgentKey, Timestamp};
use rustc_hash::FxHashMap;

use super::claim::{AccountKey, Claim, Waiter, Wakeup};
use super::pool::Pool;

/// The places of calls.
#[derive(Debug)]
pub(super) struct Calls {
    all: Pool,
    /// Most calls of one agent; `None` where that is not limited.
    each_max: Option<usize>,
    /// Of agents that are called, or wait to be.
    of_agents: FxHashMap<AgentKey, Pool>,
}

impl Calls {
    pub(super) fn new(max: usize, each_max: Option<usize>) -> Self {
        Self { all: Pool::new(max), each_max, of_agents: FxHashMap::default() }
    }

    /// Takes a place of the agent's, then one of all, or joins the first line in which it must wait. What has the former and
    /// waits for the latter keeps it: all calls take both in this order, so none waits for another in a circle.
    pub(super) fn admit(&mut self, claim: &Claim) -> bool {
        let waiter = claim.waiter();
        if let (Some(max), AccountKey::Agent(agent)) = (self.each_max, claim.account) {
            let own = self.of_agents.entry(agent).or_insert_with(|| Pool::new(max));
            if !own.admit(waiter) {
                return false;
            }
        }
        self.all.admit(waiter)
    }

    /// Frees the places of a call that is over.
    pub(super) fn release(&mut self, now: Timestamp, waiter: Waiter, calls: &mut Vec<Wakeup>) {
        self.all.release(now, waiter, calls);
        self.of_agents.retain(|_, own| {
            own.release(now, waiter, calls);
            !own.is_unused()
        });
    }

    /// A call that waits is not wanted any more.
    pub(super) fn withdraw(&mut self, now: Timestamp, waiter: Waiter, calls: &mut Vec<Wakeup>) {
        self.all.withdraw(now, waiter, calls);
        let Self { all, of_agents, .. } = self;
        of_agents.retain(|_, own| {
            own.withdraw(now, waiter, calls);
            own.release_if(now, |running| running == waiter && !all.runs(waiter), calls);
            !own.is_unused()
        });
    }

    /// When a place that is kept for a call goes to the next.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let pools = self.of_agents.values().chain([&self.all]);
        pools.filter_map(Pool::deadline).min()
    }

    /// Gives places that were kept in vain to the next.
    pub(super) fn expire(&mut self, now: Timestamp, calls: &mut Vec<Wakeup>) {
        self.all.expire(now, calls);
        let Self { all, of_agents, .. } = self;
        // A room that went away without a word keeps no place.
        of_agents.retain(|_, own| {
            own.expire(now, calls);
            own.release_if(now, |waiter| !all.knows(waiter), calls);
            !own.is_unused()
        });
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len() + self.of_agents.values().map(Pool::len).sum::<usize>()
    }
}
