//! The requests of a room that wait to be admitted or are under way.

use dirigent_core::{AgentKey, Timestamp};

use super::action::{Account, Action, ActionId, Purpose, Started};
use super::claims::{Claims, Lane};
use super::context::Context;
use super::doorway::Doorway;
use crate::ChannelId;
use crate::admission::{Claim, ClaimKind, Verdict};

/// A request that wants to start.
pub(super) struct Ask {
    pub(super) lane: Lane,
    pub(super) target: ChannelId,
    pub(super) account: Account,
    pub(super) agent: Option<AgentKey>,
    pub(super) kind: ClaimKind,
}

/// What waits to be admitted, and what is under way for what.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) claims: Claims,
    /// With what each was admitted for, where it had to be.
    under_way: Vec<(ActionId, Purpose, Option<Claim>)>,
    newest: u64,
}

impl Requests {
    /// Whether the request may start now, and under which name.
    pub(super) fn admit(
        &mut self,
        room: ChannelId,
        now: Timestamp,
        door: &mut Doorway<'_>,
        ask: &Ask,
    ) -> Result<Claim, Option<Timestamp>> {
        let id = match self.claims.ask(ask.lane, ask.account, ask.target) {
            Some(id) => id,
            None => self.next_id(),
        };
        let Ask { lane, target, account, agent, kind } = *ask;
        let claim = Claim { room, id, target, account, agent, kind };
        match door.admission.admit(now, &claim) {
            Verdict::Go => {
                self.claims.forget(lane);
                Ok(claim)
            }
            Verdict::Wait { until } => {
                self.claims.wait(lane, account, target, id);
                Err(until)
            }
        }
    }

    /// Starts what was admitted.
    pub(super) fn start(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
        claim: Claim,
        purpose: Purpose,
        action: Action,
    ) -> ActionId {
        let (id, is_call) = (claim.id, claim.kind.is_call());
        self.begin(id, purpose, Some(claim));
        let time_out = (!is_call).then(|| now + cx.settings.time_limits.request);
        door.started.push(Started { id, action, time_out, not_after: None });
        id
    }

    /// Starts what needs no admission.
    pub(super) fn start_freely(
        &mut self,
        door: &mut Doorway<'_>,
        purpose: Purpose,
        action: Action,
        time_out: Timestamp,
    ) -> ActionId {
        let id = self.next_id();
        self.begin(id, purpose, None);
        let time_out = Some(time_out);
        door.started.push(Started { id, action, time_out, not_after: None });
        id
    }

    /// Starts a read by the moderator, if it is admitted.
    pub(super) fn read(
        &mut self,
        cx: &Context<'_>,
        (room, now): (ChannelId, Timestamp),
        door: &mut Doorway<'_>,
        (lane, purpose): (Lane, Purpose),
        action: Action,
    ) -> Option<ActionId> {
        let (account, kind) = (Account::Moderator, ClaimKind::Read);
        let ask = Ask { lane, target: room, account, agent: None, kind };
        let claim = self.admit(room, now, door, &ask).ok()?;
        Some(self.start(cx, now, door, claim, purpose, action))
    }

    /// The action ended. Returns what it was for, and what it was admitted for, if it was under way.
    pub(super) fn end(&mut self, id: ActionId) -> Option<(Purpose, Option<Claim>)> {
        let at = self.under_way.iter().position(|(known, ..)| *known == id)?;
        let (_, purpose, claim) = self.under_way.swap_remove(at);
        Some((purpose, claim))
    }

    /// What the lane waited with is not wanted any more.
    pub(super) fn withdraw(&mut self, lane: Lane) {
        self.claims.withdraw(lane);
    }

    /// What is under way, for what.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> &[(ActionId, Purpose, Option<Claim>)] {
        &self.under_way
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Whether a lane's turn has come, or what is not wanted any more is still to be told.
    pub(super) fn may_act(&self) -> bool {
        self.claims.is_called() || self.claims.has_withdrawn()
    }

    fn next_id(&mut self) -> ActionId {
        self.newest += 1;
        ActionId(self.newest)
    }

    fn begin(&mut self, id: ActionId, purpose: Purpose, claim: Option<Claim>) {
        // Hardly ever more than two at a time.
        self.under_way.reserve_exact(1);
        self.under_way.push((id, purpose, claim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_asked_when_the_turn_of_a_lane_has_come_that_wants_nothing_any_more() {
        let (mut requests, id) = (Requests::default(), ActionId(1));
        requests.claims.wait(Lane::Cleanup, Account::Moderator, ChannelId::new(1), id);
        assert!(!requests.may_act(), "it waits");
        requests.claims.call(id);
        assert!(requests.may_act(), "else its place would be kept for ten seconds");
        requests.claims.pass_on();
        assert_eq!((requests.may_act(), requests.claims.withdrawn().as_slice()), (true, &[id][..]));
        assert!(!requests.may_act(), "the admission was told");
    }
}
