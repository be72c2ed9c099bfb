//! The actions of a room that have started and have not ended: requests to the chat or the store, and calls of agents,
//! a waker or the orchestrator.
//!
//! An action that needs a permission of the admission (`src/admission.rs`) keeps it here while it is in progress. The
//! end of the action returns the permission, so that the driver can report it to the admission.

use dirigent_core::Timestamp;

use super::action::{Account, Action, ActionId, Purpose, Started};
use super::context::Context;
use super::doorway::Doorway;
use crate::ChannelId;
use crate::admission::{Admitted, Claim, ClaimKind};

/// The actions in progress. Each has a number that no earlier action of the room had.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The actions, each with its purpose. The third value is the admission's permission. It is `None` if the action
    /// needs none, for example a commit.
    under_way: Vec<(ActionId, Purpose, Option<Admitted>)>,
    /// The number of the newest action.
    newest: u64,
}

impl Requests {
    /// Starts an action that the admission has permitted. It ends as unanswered after `time_limits.request`, unless it
    /// calls an agent or the orchestrator.
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
        // A call has no time limit here, because the deadline of its run or of its consultation ends it.
        let time_out = (!is_call).then(|| now + cx.settings.time_limits.request);
        self.begin(door, purpose, Some(admitted), action, time_out)
    }

    /// Starts an action that needs no permission of the admission, for example a commit. It ends as unanswered at
    /// `time_out`.
    pub(super) fn start_freely(
        &mut self,
        door: &mut Doorway<'_>,
        purpose: Purpose,
        action: Action,
        time_out: Timestamp,
    ) -> ActionId {
        self.begin(door, purpose, None, action, Some(time_out))
    }

    /// Starts a request of the moderator that posts no message: a read, or a deletion. `None` if the moderator does not
    /// reach the chat. The room then stands in the account's line, and asks again when its turn comes.
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

    /// Removes an action that has ended. Returns its purpose, and the permission of the admission if it had one. `None`
    /// if no such action is in progress, for example because its end came before.
    pub(super) fn end(&mut self, id: ActionId) -> Option<(Purpose, Option<Admitted>)> {
        let at = self.under_way.iter().position(|(known, ..)| *known == id)?;
        let (_, purpose, admitted) = self.under_way.swap_remove(at);
        Some((purpose, admitted))
    }

    /// Returns the actions in progress.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> &[(ActionId, Purpose, Option<Admitted>)] {
        &self.under_way
    }

    /// Returns whether no action is in progress.
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
        // A room rarely has more than two actions at a time. `push` alone would reserve room for four.
        self.under_way.reserve_exact(1);
        self.under_way.push((id, purpose, admitted));
        door.started.push(Started { id, action, time_out, not_after: None });
        id
    }
}
