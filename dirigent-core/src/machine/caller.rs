//! Triggering the agent that has the floor (rules 30, 40, 42, 49, 54 and 75)

use crate::machine::ending::TurnEnd;
use crate::machine::out::Out;
use crate::state::span::Span;
use crate::state::speaker_list::SeatTurn;
use crate::state::{Floor, Grant, Phase, Situation, StaleTrigger, Words};
use crate::values::config::TriggerCleanup;
use crate::{Cause, Effect, MessageId};

/// Triggers the agent that has the floor, and hands it what people said.
pub(crate) struct Caller<'a, 'o> {
    pub(crate) standing: &'a Situation,
    pub(crate) floor: &'a mut Floor,
    pub(crate) words: &'a mut Words,
    pub(crate) out: &'a mut Out<'o>,
}

impl Caller<'_, '_> {
    /// Triggers the agent of a new turn, or of one that goes on after a hold. The agent has all its time, and gets what
    /// people said.
    #[inline]
    pub(crate) fn trigger_anew(&mut self) {
        if self.standing.is_paused() {
            // On hold the agent is not triggered, so its turn has no end yet, and the queue waits with it.
            return self.trigger(None);
        }
        let chat_now = self.standing.chat_now(self.out.now);
        self.floor.set_turn_end(chat_now, self.out.config);
        let queued = self.words.take_queued();
        self.trigger(queued);
    }

    /// Triggers the agent that has the floor, gives it time to start, and hands it these messages. On hold it does none
    /// of that.
    #[inline]
    pub(crate) fn trigger(&mut self, handed: Option<Span>) {
        let (agent, attempt) = if let Phase::Granted(grant) = &self.floor.phase {
            (grant.agent, grant.attempt)
        } else if let Phase::Continuing { agent, .. } = self.floor.phase {
            (agent, 0)
        } else {
            return;
        };
        let turn = self.floor.turn;
        self.set_start_deadline();
        if self.standing.is_paused() {
            // The agent is triggered when the hold ends. The messages that it should get wait for that.
            return self.keep(handed);
        }
        // This trigger takes the place of the old ones that waited for it, so they are removed.
        self.out.remove_stale(|trigger| trigger.due.is_none());
        if let Some(Span { first, last }) = handed {
            // The agent may fail with these words, so they are unserved until a turn takes them.
            self.words.wake_unserved = true;
            self.out.emit(Effect::Deliver { agent, turn, first, last });
        }
        self.out.request(|ticket| Effect::Trigger { ticket, agent, turn, attempt });
    }

    #[inline]
    pub(crate) fn set_start_deadline(&mut self) {
        self.floor.set_start_deadline(self.standing, self.out.now, self.out.config);
    }

    /// Queues these messages for the next grant.
    pub(crate) fn keep(&mut self, span: Option<Span>) {
        let is_change = self.words.enqueue(span);
        self.out.changed_if(is_change);
    }

    /// Triggers the agent again that should have started, because it may not have heard its trigger. For example, the
    /// gateway was lost while the trigger was posted.
    pub(crate) fn trigger_again(&mut self) {
        let waits = !self.standing.is_paused() && !self.standing.is_chat_away();
        if self.floor.phase.awaits_start() && waits {
            self.out.tell(self.floor, self.floor.speaker(), Cause::Retriggered);
            self.trigger(None);
        }
    }

    /// Handles a granted agent that did not start. It is triggered once more, unless its turn is over, and then
    /// skipped. An agent that has already spoken is not waited for any longer.
    pub(crate) fn on_start_late(&mut self) -> Option<TurnEnd> {
        let end = self.floor.end();
        if let Phase::Continuing { agent, .. } = self.floor.phase {
            return Some(TurnEnd { agent, turn: SeatTurn::Spoke, cause: Cause::SignalMissing });
        }
        let Phase::Granted(Grant { agent, attempt, until }) = &mut self.floor.phase else {
            return None;
        };
        let agent = *agent;
        // The deadline that came first is the one that passed. If it is the turn's own end, there is no time left for
        // another trigger.
        let is_over = end.is_some_and(|end| until.is_none_or(|until| end <= until));
        if *attempt >= self.out.config.deadlines.retriggers || is_over {
            return Some(TurnEnd { agent, turn: SeatTurn::Skipped, cause: Cause::StartTimedOut });
        }
        *attempt += 1;
        self.out.tell(self.floor, Some(agent), Cause::Retriggered);
        self.trigger(None);
        None
    }

    /// Removes a posted trigger message, now or later, as the policy says.
    pub(crate) fn dispose(&mut self, message: MessageId) {
        let due = match self.out.config.trigger_cleanup {
            TriggerCleanup::Never => return,
            TriggerCleanup::Immediate => {
                self.out.request(|ticket| Effect::Delete { ticket, message });
                return;
            }
            TriggerCleanup::OnNext => None,
            TriggerCleanup::After(wait) => Some(self.out.now + wait),
        };
        self.out.pending.add_stale(StaleTrigger { message, due });
    }
}
