//! Outages of the chat (rules 70 and 71)

use alloc::boxed::Box;

use crate::machine::out::Out;
use crate::state::{ChatOutage, Delivery, Floor, Phase, Roster, Situation};
use crate::{Cause, Timestamp};

/// Stops the waits that depend on the chat while it is away, so that no agent is late because of an outage.
pub(crate) struct Outages<'a, 'o> {
    pub(crate) standing: &'a mut Situation,
    pub(crate) floor: &'a mut Floor,
    pub(crate) roster: &'a mut Roster,
    pub(crate) delivery: Option<&'a mut Delivery>,
    pub(crate) out: &'a mut Out<'o>,
}

impl Outages<'_, '_> {
    pub(crate) fn begin(&mut self) {
        let since = self.out.now;
        self.standing.outage = Some(Box::new(ChatOutage { since, counted_from: since }));
        // The agent cannot hear its trigger now, so it has no start deadline during the outage.
        self.floor.set_start_deadline(self.standing, self.out.now, self.out.config);
        self.out.tell(self.floor, None, Cause::ChatAway);
    }

    pub(crate) fn end(&mut self, outage: ChatOutage) {
        self.put_off(outage.since);
        self.standing.outage = None;
        // An agent that could not start during the outage has all its time to start.
        self.floor.set_start_deadline(self.standing, self.out.now, self.out.config);
        self.out.tell(self.floor, None, Cause::ChatBack);
    }

    /// Gives every wait as much time as it had when the chat went away.
    fn put_off(&mut self, since: Timestamp) {
        let away = self.out.now.since(since);
        if let Phase::Confirming { since, .. } = &mut self.floor.phase {
            *since = *since + away;
        }
        if let Some(refresh) = &mut self.roster.refresh {
            refresh.until = refresh.until + away;
        }
        if let Some(delivery) = &mut self.delivery {
            delivery.last_seen = delivery.last_seen + away;
        }
        // The end of a turn that waits is delayed by the whole wait when the turn goes on. Here only the time before
        // that wait is added, so that no time counts twice.
        let waited = self.floor.waiting.as_ref().map(|waiting| waiting.since);
        let by = waited.map_or(away, |waited| waited.since(since));
        if let Some(until) = self.floor.terms.existing().and_then(|terms| terms.until.as_mut()) {
            *until = *until + by;
        }
    }
}
