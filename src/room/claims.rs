//! Where a room's requests wait to be admitted, and under which names.

use dirigent_core::Timestamp;

use super::Room;
use super::action::ActionId;
use crate::LetterKind;

/// A kind of request of which one at a time waits to be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Voice,
    Cleanup,
    Members,
    Poll,
    Gap,
    Backfill,
    Context,
    Pending,
    Probe,
    Call,
    Consult,
    Outbox(LetterKind),
}

/// The names under which lanes wait to be admitted.
#[derive(Debug, Default)]
pub(super) struct Claims {
    waiting: Vec<(Lane, ActionId)>,
    withdrawn: Vec<ActionId>,
    /// It is the turn of this lane: it asks now, or lets the next request pass.
    called: Option<Lane>,
}

impl Claims {
    /// The lane asks to be admitted. Returns its name, where it has waited.
    pub(super) fn ask(&mut self, lane: Lane) -> Option<ActionId> {
        self.called.take_if(|called| *called == lane);
        self.waiting.iter().find(|(known, _)| *known == lane).map(|(_, id)| *id)
    }

    /// The lane waits under this name.
    pub(super) fn wait(&mut self, lane: Lane, id: ActionId) {
        if self.waiting.iter().all(|(known, _)| *known != lane) {
            self.waiting.push((lane, id));
        }
    }

    /// The lane was admitted.
    pub(super) fn forget(&mut self, lane: Lane) {
        self.waiting.retain(|(known, _)| *known != lane);
    }

    /// What the lane waited with is not wanted any more.
    pub(super) fn withdraw(&mut self, lane: Lane) {
        if let Some(at) = self.waiting.iter().position(|(known, _)| *known == lane) {
            let (_, id) = self.waiting.swap_remove(at);
            self.withdrawn.push(id);
        }
    }

    /// The lane whose turn has come has not asked: it does not wait any more. Returns whether there is one.
    pub(super) fn pass_on(&mut self) -> bool {
        let called = self.called.take();
        if let Some(lane) = called {
            self.withdraw(lane);
        }
        called.is_some()
    }

    /// It is the turn of what waits under this name.
    fn call(&mut self, id: ActionId) -> Option<Lane> {
        self.called = self.waiting.iter().find(|(_, known)| *known == id).map(|(lane, _)| *lane);
        self.called
    }

    /// What is not wanted any more, each once.
    pub(super) fn withdrawn(&mut self) -> Vec<ActionId> {
        std::mem::take(&mut self.withdrawn)
    }

    pub(super) fn has_withdrawn(&self) -> bool {
        !self.withdrawn.is_empty()
    }
}

impl Room {
    /// It is the turn of what waits under this name. Its own wait between two attempts is over: how often
    /// a chat that is away is asked is decided for all rooms together.
    pub(crate) fn try_again(&mut self, now: Timestamp, id: ActionId) {
        let Some(active) = &mut self.active else {
            return;
        };
        let Some(lane) = active.claims.call(id) else {
            return;
        };
        match lane {
            Lane::Voice => {
                active.voice.attempts().hurry();
                if let Some(reply) = &mut active.reply {
                    reply.hurry();
                }
            }
            Lane::Cleanup => active.cleanup.hurry(),
            Lane::Members => active.members.hurry(),
            Lane::Poll => active.poll.hurry(),
            Lane::Gap => active.reads.gap.hurry(),
            Lane::Backfill => active.reads.backfill.hurry(),
            Lane::Context => active.reads.context.hurry(),
            Lane::Pending => active.reads.pending.hurry(),
            Lane::Probe => active.chat.probe_now(now),
            // These wait for a place, or once for all of their kind.
            Lane::Call | Lane::Consult => {}
            Lane::Outbox(_) => active.outbox.chat_back(),
        }
    }
}
