//! The requests of a room that are in progress.

use dirigent_core::Timestamp;

use super::action::{Account, Action, ActionId, Purpose, Started};
use super::context::Context;
use super::doorway::Doorway;
use crate::ChannelId;
use crate::admission::{Admitted, Claim, ClaimKind};

#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The actions, each with what it was admitted for, if it needed that.
    under_way: Vec<(ActionId, Purpose, Option<Admitted>)>,
    newest: u64,
}

impl Requests {
    pub(super) fn start(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
        admitted: Admitted,
        purpose: Purpose,
        action: Action,
    ) -> ActionId {
        let is_call = admitted.claim.kind.is_call();
        // An agent may work for as long as its run's deadline allows.
        let time_out = (!is_call).then(|| now + cx.settings.time_limits.request);
        self.begin(door, purpose, Some(admitted), action, time_out)
    }

    pub(super) fn start_freely(
        &mut self,
        door: &mut Doorway<'_>,
        purpose: Purpose,
        action: Action,
        time_out: Timestamp,
    ) -> ActionId {
        self.begin(door, purpose, None, action, Some(time_out))
    }

    /// Starts a read by the moderator, if it is admitted.
    pub(super) fn read(
        &mut self,
        cx: &Context<'_>,
        (room, now): (ChannelId, Timestamp),
        door: &mut Doorway<'_>,
        purpose: Purpose,
        action: Action,
    ) -> Option<ActionId> {
        let claim = Claim::new(room, Account::Moderator, ClaimKind::Read);
        let admitted = door.admission.admit(now, claim).ok()?;
        Some(self.start(cx, now, door, admitted, purpose, action))
    }

    /// Records the end of an action. Returns its purpose, and what it was admitted for, if it was in progress.
    pub(super) fn end(&mut self, id: ActionId) -> Option<(Purpose, Option<Admitted>)> {
        let at = self.under_way.iter().position(|(known, ..)| *known == id)?;
        let (_, purpose, admitted) = self.under_way.swap_remove(at);
        Some((purpose, admitted))
    }

    #[cfg(test)]
    pub(super) fn under_way(&self) -> &[(ActionId, Purpose, Option<Admitted>)] {
        &self.under_way
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    fn begin(
        &mut self,
        door: &mut Doorway<'_>,
        purpose: Purpose,
        admitted: Option<Admitted>,
        action: Action,
        time_out: Option<Timestamp>,
    ) -> ActionId {
        self.newest += 1;
        let id = ActionId(self.newest);
        // There are rarely more than two at a time.
        self.under_way.reserve_exact(1);
        self.under_way.push((id, purpose, admitted));
        door.started.push(Started { id, action, time_out, not_after: None });
        id
    }
}
