//! Where a room's requests wait to be admitted, and under which names.

use super::action::{Account, ActionId};
use super::reads::ReadKind;
use crate::ChannelId;
use crate::record::outbox::OutboxKind;

/// A kind of request of which one at a time waits to be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Voice,
    Cleanup,
    Read(ReadKind),
    Probe,
    Call,
    Consult,
    Outbox(OutboxKind),
}

/// That a lane waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    lane: Lane,
    /// In whose line: under the same name it would stand in two.
    account: Account,
    target: ChannelId,
    id: ActionId,
}

/// The names under which lanes wait to be admitted.
#[derive(Debug, Default)]
pub(super) struct Claims {
    waiting: Vec<Waiting>,
    withdrawn: Vec<ActionId>,
    /// It is the turn of this lane: it asks now, or lets the next request pass.
    called: Option<Lane>,
}

impl Claims {
    /// The lane asks to be admitted with a request of this account to this channel. Returns its name, where
    /// it has waited with such a request. What it waited with otherwise is withdrawn.
    pub(super) fn ask(
        &mut self,
        lane: Lane,
        account: Account,
        target: ChannelId,
    ) -> Option<ActionId> {
        let known = *self.waiting.iter().find(|known| known.lane == lane)?;
        if (known.account, known.target) == (account, target) {
            self.called.take_if(|called| *called == lane);
            return Some(known.id);
        }
        self.withdraw(lane);
        None
    }

    /// The lane waits under this name.
    pub(super) fn wait(&mut self, lane: Lane, account: Account, target: ChannelId, id: ActionId) {
        if !self.waits(lane) {
            self.waiting.push(Waiting { lane, account, target, id });
        }
    }

    pub(super) fn waits(&self, lane: Lane) -> bool {
        self.waiting.iter().any(|known| known.lane == lane)
    }

    /// The lane was admitted.
    pub(super) fn forget(&mut self, lane: Lane) {
        self.waiting.retain(|known| known.lane != lane);
    }

    /// What the lane waited with is not wanted any more.
    pub(super) fn withdraw(&mut self, lane: Lane) {
        if let Some(at) = self.waiting.iter().position(|known| known.lane == lane) {
            self.withdrawn.push(self.waiting.swap_remove(at).id);
            self.called.take_if(|called| *called == lane);
        }
    }

    /// Nothing is wanted any more.
    pub(super) fn withdraw_all(&mut self) {
        self.withdrawn.extend(self.waiting.drain(..).map(|known| known.id));
        self.called = None;
    }

    /// A lane whose turn has come, and that has not asked, does not wait any more.
    pub(super) fn pass_on(&mut self) {
        if let Some(lane) = self.called.take() {
            self.withdraw(lane);
        }
    }

    /// It is the turn of what waits under this name.
    pub(super) fn call(&mut self, id: ActionId) -> Option<Lane> {
        self.called = self.waiting.iter().find(|known| known.id == id).map(|known| known.lane);
        self.called
    }

    /// What is not wanted any more, each once.
    pub(super) fn withdrawn(&mut self) -> Vec<ActionId> {
        std::mem::take(&mut self.withdrawn)
    }

    /// Whether it is the turn of a lane that has not asked yet.
    pub(super) const fn is_called(&self) -> bool {
        self.called.is_some()
    }

    pub(super) fn has_withdrawn(&self) -> bool {
        !self.withdrawn.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODERATOR: Account = Account::Moderator;
    const ROOM: ChannelId = ChannelId::new(1);

    #[test]
    fn what_is_not_wanted_any_more_leaves_no_name_in_a_line() {
        let mut claims = Claims::default();
        claims.wait(Lane::Voice, MODERATOR, ROOM, ActionId(1));
        claims.wait(Lane::Cleanup, MODERATOR, ROOM, ActionId(2));
        claims.withdraw_all();
        assert!(!claims.waits(Lane::Voice) && !claims.waits(Lane::Cleanup));
        assert_eq!(claims.withdrawn(), [ActionId(1), ActionId(2)]);
        assert_eq!(claims.withdrawn(), []);
    }

    #[test]
    fn a_lane_keeps_its_place_with_the_same_request_and_leaves_it_with_another() {
        let mut claims = Claims::default();
        claims.wait(Lane::Voice, MODERATOR, ROOM, ActionId(1));
        assert_eq!(claims.ask(Lane::Voice, MODERATOR, ROOM), Some(ActionId(1)));
        assert_eq!(claims.ask(Lane::Voice, MODERATOR, ChannelId::new(2)), None);
        assert_eq!(claims.withdrawn(), [ActionId(1)]);
    }
}
