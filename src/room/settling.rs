//! The end of each event, which brings all lanes in line with the machine's state.

use dirigent_core::{Input, PhaseKind, Settlement, WakeCause};

use super::action::Signal;
use super::active::Active;
use super::step::Step;
use super::voice::PostItem;
use crate::record::outbox::OutboxKind;

impl Step<'_> {
    pub(super) fn settle(&mut self) {
        self.sort();
        self.cancel_replaced();
        // Each round starts, ends or withdraws something. The bound is for a mistake, which must not spin.
        let mut goes_on = true;
        for _ in 0..64 {
            goes_on = self.settle_one();
            self.sort();
            if !goes_on {
                break;
            }
        }
        let now = self.now;
        debug_assert!(!goes_on, "what is to be settled at {now:?} has no end: {:?}", self.lanes);
        if !self.lanes.chat.is_well() && self.look_while_deaf() {
            self.tell_chat();
        }
        self.close_woken();
        if self.marks.take_long_unread() {
            self.read_again_early();
        }
        if self.lanes.calls.inject.is_some() {
            self.inject_pending();
        }
        self.lanes.overruns.tell(self.turns, self.now, &mut self.lanes.signals);
        self.expire();
    }

    /// Fixes the first lane that is out of line, in the order of importance. Returns whether there was one.
    fn settle_one(&mut self) -> bool {
        (!self.lanes.chat.is_well() && self.tell_chat())
            || self.trigger_again()
            || self.take_arrived()
            || self.withdraw_reply()
            || self.settle_replaced()
            || self.settle_never_begun()
            || self.drop_unwanted_reads()
            || self.settle_head()
            || (self.lanes.calls.kept.is_some() && self.end_kept_run())
            || (self.cx.directory.has_observed() && self.end_observed_turn())
            || self.wake_for_pending()
    }

    /// Cancels a call that another run replaced. A hosted agent may ask at the gate itself, under another name.
    fn cancel_replaced(&mut self) {
        let Some((agent, run)) = self.lanes.calls.current().map(|call| (call.agent, call.run))
        else {
            return;
        };
        // A run that ended by itself is no replacement, and its call ends with its own outcome.
        if self.turns.view().run().is_some_and(|current| current != run) {
            self.cancel_call(agent, Some(run));
        }
    }

    /// Triggers the awaited agent once more, if it may not have heard its trigger. This happens once the chat answers,
    /// missed messages were read, and no trigger is on its way.
    fn trigger_again(&mut self) -> bool {
        let is_wanted = self.lanes.summons.again && self.lanes.voice.is_empty();
        // A read that is still to come may show that the agent has answered.
        if !is_wanted || self.marks.is_holding(self.now) {
            return false;
        }
        let view = self.turns.view();
        if view.chat_away_since().is_some() {
            return false;
        }
        let is_hosted = view.speaker().is_some_and(|agent| self.cx.directory.is_hosted(agent));
        self.lanes.summons.again = false;
        // A hosted agent needs no message to hear its turn.
        !is_hosted && self.submit(&Input::TriggerAgain).is_ok()
    }

    /// Handles the arrival of a discussion's message. The guide's arrival wakes the first speaker, in the same commit.
    fn take_arrived(&mut self) -> bool {
        let outbox = self.lanes.outbox.as_mut();
        let arrived = outbox.and_then(|outbox| outbox.take_arrived(&mut self.turns.commit));
        if arrived == Some(OutboxKind::Guide) {
            // It is refused if the discussion is already over.
            let _ = self.submit(&Input::Wake { first: None, cause: WakeCause::Guide });
        }
        arrived.is_some()
    }

    /// Settles a read that a newer one has replaced before it was made.
    fn settle_replaced(&mut self) -> bool {
        let older = self.lanes.reads.replaced.pop();
        if let Some(ticket) = older {
            self.settled(ticket, Settlement::Dropped);
        }
        older.is_some()
    }

    /// Settles the trigger of an agent that was not called before its turn was over.
    fn settle_never_begun(&mut self) -> bool {
        let dropped = self.lanes.calls.take_never_begun();
        if let Some(ticket) = dropped {
            self.settled(ticket, Settlement::Dropped);
        }
        dropped.is_some()
    }

    /// Handles the head of the voice lane, which leaves, begins, or lets others pass.
    fn settle_head(&mut self) -> bool {
        // A reply leaves by `withdraw_reply`, and the orchestrator's answer by `withdraw_question`.
        let is_effect = matches!(self.lanes.voice.head(), Some(PostItem::Effect(..)));
        if is_effect && self.withdraw_head() {
            return true;
        }
        // Others pass a notice that cannot be posted. A failing one once delayed a turn for two minutes.
        is_effect && (self.start_head() || self.lanes.voice.step_aside())
    }

    /// Wakes a dormant channel for messages of people that were in no turn that ended well, or that did not fit into
    /// one. It wakes once, unless that made progress.
    fn wake_for_pending(&mut self) -> bool {
        let view = self.turns.view();
        if view.phase() != PhaseKind::Dormant || !view.mode().keeps_turns() {
            return false;
        }
        // A wake would be refused, have no effect, or take the run from an initiator that has just been allowed to run.
        let waits = view.pause().is_some()
            || view.chat_away_since().is_some()
            || view.is_budget_spent()
            || view.run().is_some();
        let last = self.lanes.inbox.wakes_for(view.awaits_human());
        if waits || last <= self.lanes.woken_for {
            return false;
        }
        self.lanes.woken_for = last;
        // This cause is no word of a person, so it resets no ceiling. As an operator's wake it once made a channel wake
        // itself for ever.
        let _ = self.submit(&Input::Wake { first: None, cause: WakeCause::Unheard });
        true
    }

    /// Closes the turn of an agent that the host's waker was called for.
    fn close_woken(&mut self) {
        let Self { turns, lanes, .. } = self;
        let view = turns.view();
        if lanes.inbox.close_woken(view.speaker(), view.turn()) {
            // What it did not take is a reason to wake once more.
            lanes.woken_for = None;
            turns.commit.change();
        }
    }

    /// Fires the deadlines that the machine does not know.
    fn expire(&mut self) {
        self.marks.expire_hold(self.now);
        if !self.turns.keeps_turns() {
            // What was said while no turns are kept is nothing that was missed.
            self.marks.drop_gap();
        }
        let Active { deferrals, calls, signals, .. } = &mut *self.lanes;
        if let Some(deferrals) = deferrals {
            let is_idle = self.turns.view().speaker().is_none();
            let forget_after = self.turns.machine.config().members.forget_after;
            let expired = deferrals.expire(self.now, is_idle, forget_after);
            if !expired.is_empty() {
                signals.push_back(Signal::DropDeferrals(expired));
            }
        }
        while let Some(id) = calls.next_overdue(self.now) {
            signals.push_back(Signal::Drop(id));
        }
    }
}
