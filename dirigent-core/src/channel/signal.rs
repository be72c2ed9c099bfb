//! Turns that end with a signal, or at their own time (rules 49 to 52)

use super::Channel;
use super::phase::{Grant, Phase};
use super::step::Step;
use crate::steering::TurnTerms;
use crate::{AgentKey, Cause, SeatTurn, Timestamp};

impl Channel {
    /// When the turn must have ended, while it has such an end.
    pub(super) fn turn_end(&self) -> Option<Timestamp> {
        self.steering.as_ref().and_then(|steering| steering.terms.until)
    }

    /// What the turn under way has been through, to be changed.
    pub(super) fn terms_mut(&mut self) -> Option<&mut TurnTerms> {
        self.steering.as_mut().map(|steering| &mut steering.terms)
    }
}

impl Step<'_> {
    /// The run ended without finishing its turn: the agent keeps the floor, and is asked to go on.
    pub(super) fn continue_turn(&mut self, agent: AgentKey) {
        if self.channel.away(agent).is_some() {
            // Its reply went out, but it cannot be asked to go on.
            return self.complete(agent, SeatTurn::Spoke, Cause::AgentOffline);
        }
        let delivered = matches!(self.channel.phase, Phase::Delivering { .. });
        if let Some(delivery) = &mut self.channel.delivery {
            delivery.clear();
        }
        let most = self.channel.config.continuations;
        let asks = self.channel.rest.is_none() && self.channel.terms().continued < most;
        let terms = &mut self.channel.steering_mut().terms;
        terms.spoken = true;
        terms.continued += u8::from(asks);
        if delivered {
            self.set_turn_end();
        }
        self.shift(Phase::Continuing { agent, until: None }, Some(agent), Cause::Unfinished);
        if asks {
            self.trigger(None);
        } else {
            self.set_start_deadline();
        }
    }

    /// Sets until when the agent that has the floor must have started. On hold the turn has neither
    /// that deadline nor an end; while the chat is away its end stands still.
    pub(super) fn set_start_deadline(&mut self) {
        let held = self.channel.rest.is_some();
        let stands_still = held || self.channel.is_chat_away();
        let start = self.channel.config.start_deadline.filter(|_| !stands_still);
        let at = start.map(|limit| self.channel.now + limit);
        match &mut self.channel.phase {
            Phase::Granted(Grant { until, .. }) | Phase::Continuing { until, .. } => *until = at,
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Waiting(_) => return,
        }
        if let Some(terms) = self.channel.terms_mut().filter(|_| held) {
            terms.until = None;
        }
    }

    /// The turn has all its time before it.
    pub(super) fn set_turn_end(&mut self) {
        if let Some(limit) = self.channel.config.turn_deadline {
            let until = self.channel.chat_now() + limit;
            self.channel.steering_mut().terms.until = Some(until);
        } else if let Some(terms) = self.channel.terms_mut() {
            terms.until = None;
        }
    }

    /// A run began: it is slow after a while.
    pub(super) fn watch_run(&mut self) {
        if let Some(limit) = self.channel.config.slow_after {
            self.channel.steering_mut().terms.slow_at = Some(self.channel.now + limit);
        }
    }

    /// The run is over.
    pub(super) fn unwatch_run(&mut self) {
        if let Some(terms) = self.channel.terms_mut() {
            terms.slow_at = None;
        }
    }

    /// The run takes long; that is told, and no more.
    pub(super) fn on_slow(&mut self) {
        self.unwatch_run();
        self.tell(self.channel.speaker(), Cause::RunSlow);
    }

    /// The agent that should go on did not.
    pub(super) fn on_signal_missing(&mut self, agent: AgentKey) {
        self.complete(agent, SeatTurn::Spoke, Cause::SignalMissing);
    }
}
