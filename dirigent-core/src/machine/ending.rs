//! The end of a turn: what is recorded of it, and what is forgotten (rules 20, 23, 31 and 49)

use crate::machine::out::Out;
use crate::state::speaker_list::SeatTurn;
use crate::state::{Cycle, Delivery, Floor, Phase, Quota, SpeakerList, TurnTerms, Words};
use crate::{AgentKey, Cause};

/// The end of the turn of the agent that has the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnEnd {
    pub(crate) agent: AgentKey,
    /// The result of the turn. An agent that has said something has spoken in any case.
    pub(crate) turn: SeatTurn,
    pub(crate) cause: Cause,
}

impl TurnEnd {
    /// Ends a turn with a reply that has arrived, or is assumed to have arrived.
    pub(crate) const fn spoke(agent: AgentKey, cause: Cause) -> Self {
        Self { agent, turn: SeatTurn::Spoke, cause }
    }

    pub(crate) const fn passed(agent: AgentKey, cause: Cause) -> Self {
        Self { agent, turn: SeatTurn::Passed, cause }
    }

    /// Ends a turn because the speaker loses the floor.
    pub(crate) const fn skipped(agent: AgentKey, cause: Cause) -> Self {
        Self { agent, turn: SeatTurn::Skipped, cause }
    }

    /// Returns true if the turn took too long.
    pub(crate) const fn is_timeout(self) -> bool {
        matches!(self.cause, Cause::StartTimedOut | Cause::RunTimedOut | Cause::SignalMissing)
    }
}

/// Ends the turn under way.
pub(crate) struct Ending<'a, 'o> {
    pub(crate) floor: &'a mut Floor,
    pub(crate) list: &'a mut SpeakerList,
    pub(crate) cycle: &'a mut Cycle,
    pub(crate) words: &'a mut Words,
    pub(crate) quota: &'a mut Quota,
    pub(crate) delivery: Option<&'a Delivery>,
    pub(crate) out: &'a mut Out<'o>,
}

impl Ending<'_, '_> {
    /// Records how the speaker's turn ended.
    #[inline]
    pub(crate) fn record(&mut self, TurnEnd { agent, turn, cause }: TurnEnd) {
        // An agent that passed has taken its words: it had nothing to say to them. One that failed has not taken what
        // it got since the last part of its reply. That counted as taken once, and the channel slept over the word.
        let is_taken =
            turn != SeatTurn::Skipped && !matches!(cause, Cause::RunFailed | Cause::SignalMissing);
        // The words of a run that was cut off are for its agent, once it is back, if no other agent takes them. When a
        // process was cut off from the others, all its agents went offline one after the other, and the word was given
        // to none of them again.
        let is_cut_off =
            matches!(cause, Cause::RunLost | Cause::AgentOffline | Cause::AgentMayNotWrite)
                && matches!(self.floor.phase, Phase::Running { receipt: false, .. })
                && !self.floor.has_spoken();
        self.words.wake_unserved = !is_taken && (self.words.wake_unserved || is_cut_off);
        let turn = if self.floor.has_spoken() { SeatTurn::Spoke } else { turn };
        // A turn that passed has no messages on their way, unless its host recognised a repetition. A turn with a whole
        // reply has no further ones.
        let is_over = turn == SeatTurn::Passed && cause != Cause::Repeated;
        if !is_over && !self.has_whole_reply(cause) {
            self.list.expect_late_pieces(agent, self.out.now);
        }
        let passed = self.out.config.order.skip_passed && turn == SeatTurn::Passed;
        self.list.end_turn(agent, turn, passed, self.is_delivered(cause));
        if turn == SeatTurn::Spoke {
            self.quota.count_spoken(agent, self.out.config, self.out.now);
        }
        // An agent that was skipped has not completed its turn, so it may be first in the next cycle.
        if turn != SeatTurn::Skipped {
            self.cycle.last_completer = Some(agent);
        }
        self.leave();
        self.out.tell(self.floor, Some(agent), cause);
    }

    /// Ends the turn under way, if there is one, without an outcome. A turn in which the speaker has spoken counts
    /// towards its cap, and late messages of the speaker are pieces of it.
    pub(crate) fn break_off(&mut self) {
        let Some(agent) = self.floor.speaker() else {
            return;
        };
        self.list.expect_late_pieces(agent, self.out.now);
        if let Some(slot) = self.list.slot_mut(agent) {
            // It did not finish, so it is asked again, even if it spoke last. A stop and its resume would otherwise
            // pass over the agent that they cut off.
            slot.nothing_new = false;
        }
        if self.floor.has_spoken() {
            self.list.forget_silent();
            self.quota.count_spoken(agent, self.out.config, self.out.now);
        }
        self.leave();
    }

    /// Forgets the history of the turn that is over. An open question to the orchestrator needs no answer now.
    #[inline]
    fn leave(&mut self) {
        if let Some(terms) = self.floor.terms.existing() {
            *terms = TurnTerms::default();
        }
        if let Some(waiting) = self.floor.waiting.take() {
            self.out.pending.settle(waiting.consult);
            for span in waiting.everything_open() {
                // No agent answered it, so the next one gets it.
                let is_change = self.words.enqueue(span);
                self.out.changed_if(is_change);
            }
        }
    }

    /// Returns true if the reply asks for a person, and no person has written already.
    pub(crate) fn asks_for_human(&self) -> bool {
        let asks = self.floor.terms.get().is_some_and(|terms| terms.awaits_human);
        let has_word = || {
            self.words.has_queued()
                || self.cycle.chosen().is_some()
                || self.cycle.is_round_planned()
        };
        asks && !has_word()
    }

    /// Returns true if the library delivered the reply of the turn that ends with this cause. An agent of another
    /// gateway may have read by itself what came during its run, so its reply is not a last word.
    const fn is_delivered(&self, cause: Cause) -> bool {
        matches!((cause, &self.floor.phase), (Cause::ReceiptGiven, Phase::Delivering { .. }))
    }

    /// Returns true if the turn that ends with this cause has no late pieces, because its whole reply is known to have
    /// arrived.
    fn has_whole_reply(&self, cause: Cause) -> bool {
        // A short end may match an earlier piece with the same words, so the length has to fit, too.
        let is_as_long = || self.delivery.is_some_and(Delivery::is_as_long);
        cause == Cause::ReceiptGiven || (cause == Cause::TailMatched && is_as_long())
    }
}
