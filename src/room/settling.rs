//! The end of each event: everything is brought in line with what the machine says now.

use dirigent_core::{Input, PhaseKind, Settlement, WakeCause};

use super::action::Signal;
use super::active::Active;
use super::step::Step;
use super::voice::VoiceItem;
use crate::record::outbox::OutboxKind;

impl Step<'_> {
    /// Brings everything in line with what the machine says now. Called at the end of each event.
    pub(super) fn settle(&mut self) {
        self.sort();
        self.cancel_replaced();
        // Each round either starts, ends or withdraws something; the bound is never reached.
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

    /// The first thing that is out of line, in the order of importance. Returns whether there was one.
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

    /// An agent that the library calls may ask at the gate itself, under another name: that run takes the
    /// place of the call.
    fn cancel_replaced(&mut self) {
        let Some((agent, run)) = self.lanes.calls.current().map(|call| (call.agent, call.run))
        else {
            return;
        };
        if self.turns.view().run().is_some_and(|current| current != run) {
            self.cancel_call(agent, Some(run));
        }
    }

    /// Triggers the agent that is awaited once more, if it may not have heard its trigger: once the chat
    /// answers, what was said meanwhile was read, and no trigger is on its way.
    fn trigger_again(&mut self) -> bool {
        let is_wanted = self.lanes.summons.again && self.lanes.voice.is_empty();
        if !is_wanted || self.marks.is_holding(self.now) {
            return false;
        }
        let view = self.turns.view();
        if view.chat_away_since().is_some() {
            return false;
        }
        let is_hosted = view.speaker().is_some_and(|agent| self.cx.directory.is_hosted(agent));
        self.lanes.summons.again = false;
        !is_hosted && self.submit(&Input::TriggerAgain).is_ok()
    }

    /// A message of the discussion has arrived. The guide's arrival wakes the first speaker, in the same commit.
    fn take_arrived(&mut self) -> bool {
        let outbox = self.lanes.outbox.as_mut();
        let arrived = outbox.and_then(|outbox| outbox.take_arrived(&mut self.turns.commit));
        if arrived == Some(OutboxKind::Guide) {
            // Refused where the discussion is over already.
            let _ = self.submit(&Input::Wake { first: None, cause: WakeCause::Guide });
        }
        arrived.is_some()
    }

    /// A read that a newer one has replaced before it was made is owed no more.
    fn settle_replaced(&mut self) -> bool {
        let older = self.lanes.reads.replaced.pop();
        if let Some(ticket) = older {
            self.settled(ticket, Settlement::Dropped);
        }
        older.is_some()
    }

    /// The turn of an agent that was still to be called is over: its trigger is owed no more.
    fn settle_never_begun(&mut self) -> bool {
        let dropped = self.lanes.calls.take_never_begun();
        if let Some(ticket) = dropped {
            self.settled(ticket, Settlement::Dropped);
        }
        dropped.is_some()
    }

    /// The head of the voice lane leaves, begins, or lets others pass.
    fn settle_head(&mut self) -> bool {
        // A reply leaves by `withdraw_reply`, the orchestrator's answer by `withdraw_question`.
        let is_effect = matches!(self.lanes.voice.head(), Some(VoiceItem::Effect(..)));
        if is_effect && self.withdraw_head() {
            return true;
        }
        is_effect && (self.start_head() || self.step_aside())
    }

    /// A notice that cannot be posted holds no turn back.
    fn step_aside(&mut self) -> bool {
        self.lanes.voice.step_aside()
    }

    /// The channel went to sleep, and something that people said was in no turn that ended well, or did not fit into one: it
    /// wakes for that. Once, unless that brought it further.
    /// It is no human's word: it lifts no ceiling, or a channel could wake itself for ever.
    fn wake_for_pending(&mut self) -> bool {
        let view = self.turns.view();
        if view.phase() != PhaseKind::Dormant || !view.mode().keeps_turns() {
            return false;
        }
        // A wake would be refused, be nothing, or take its run from an initiator that has just been allowed to run.
        let waits = view.pause().is_some()
            || view.chat_away_since().is_some()
            || view.is_budget_spent()
            || view.run().is_some();
        let last = self.lanes.inbox.wakes_for(view.awaits_human());
        if waits || last <= self.lanes.woken_for {
            return false;
        }
        self.lanes.woken_for = last;
        let _ = self.submit(&Input::Wake { first: None, cause: WakeCause::Unheard });
        true
    }

    /// The turn of an agent that the host's waker was called for is over.
    fn close_woken(&mut self) {
        let Self { turns, lanes, .. } = self;
        let view = turns.view();
        if lanes.inbox.close_woken(view.speaker(), view.turn()) {
            lanes.woken_for = None;
            turns.commit.change();
        }
    }

    /// Lets expire what the machine does not know of.
    fn expire(&mut self) {
        self.marks.expire_hold(self.now);
        if !self.turns.keeps_turns() {
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
