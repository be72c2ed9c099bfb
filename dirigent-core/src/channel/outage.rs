//! A chat that does not answer (rules 70 and 71)

use core::mem;

use super::Channel;
use super::phase::{Grant, Phase};
use super::step::Step;
use crate::steering::Outage;
use crate::{Cause, Timestamp};

impl Channel {
    pub(crate) fn outage(&self) -> Option<Outage> {
        self.steering.as_ref().and_then(|steering| steering.outage)
    }

    /// Whether the chat does not answer.
    pub(crate) fn is_chat_away(&self) -> bool {
        self.outage().is_some()
    }

    /// A clock that stands still while the chat is away. What waits for the chat is measured by it;
    /// when the chat is back, those moments move by the time that it was away.
    pub(super) fn chat_now(&self) -> Timestamp {
        self.outage().map_or(self.now, |outage| outage.since)
    }

    /// When the channel no longer waits for the chat, in a phase that does.
    pub(super) fn outage_ends_at(&self) -> Option<Timestamp> {
        let waits = match self.phase {
            Phase::Granted(_)
            | Phase::Continuing { .. }
            | Phase::Confirming { .. }
            | Phase::Refreshing(_) => true,
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Waiting(_) => false,
        };
        self.patience_ends_at().filter(|_| waits)
    }

    /// Whether the chat has been away for so long that no agent is granted any more.
    pub(super) fn has_lost_patience(&self) -> bool {
        self.patience_ends_at().is_some_and(|at| at <= self.now)
    }

    /// On hold the channel waits for a person anyway.
    fn patience_ends_at(&self) -> Option<Timestamp> {
        let outage = self.outage().filter(|_| self.rest.is_none())?;
        Some(outage.counted_from + self.config.outage_max)
    }
}

impl Step<'_> {
    pub(super) fn on_chat(&mut self, away: bool) {
        match (away, self.channel.outage()) {
            (true, None) => {
                let since = self.channel.now;
                let outage = Outage { since, counted_from: since };
                self.channel.steering_mut().outage = Some(outage);
                self.set_start_deadline();
                self.tell(None, Cause::ChatAway);
            }
            (false, Some(outage)) => self.on_chat_back(outage),
            (true, Some(_)) | (false, None) => {}
        }
    }

    fn on_chat_back(&mut self, outage: Outage) {
        self.put_off(outage.since);
        self.channel.steering_mut().outage = None;
        self.set_start_deadline();
        self.tell(None, Cause::ChatBack);
        self.wake_for_missed();
    }

    /// The agent that is awaited may not have heard its trigger.
    pub(super) fn on_trigger_again(&mut self) {
        let agent = match self.channel.phase {
            Phase::Granted(Grant { agent, .. }) | Phase::Continuing { agent, .. } => agent,
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
        };
        if self.channel.rest.is_none() && !self.channel.is_chat_away() {
            self.tell(Some(agent), Cause::Retriggered);
            self.trigger(None);
        }
    }

    /// What stood still while the chat was away has as much time left as it had then.
    fn put_off(&mut self, since: Timestamp) {
        let channel = &mut *self.channel;
        let away = channel.now.since(since);
        if let Phase::Confirming { since, .. } = &mut channel.phase {
            *since = *since + away;
        }
        if let Some(refresh) = &mut channel.refresh {
            refresh.until = refresh.until + away;
        }
        if let Some(delivery) = &mut channel.delivery {
            delivery.last_seen = delivery.last_seen + away;
        }
        if let Some(steering) = &mut channel.steering {
            // Of a turn that rests, the end is put off by the whole rest when it goes on.
            let rested = steering.waiting.as_ref().map(|waiting| waiting.since);
            let by = rested.map_or(away, |rested| rested.since(since));
            if let Some(until) = &mut steering.terms.until {
                *until = *until + by;
            }
        }
    }

    /// A hold was ended: the chat is waited for anew.
    pub(super) fn restart_patience(&mut self) {
        let now = self.channel.now;
        if let Some(outage) = self.channel.steering.as_mut().and_then(|it| it.outage.as_mut()) {
            outage.counted_from = now;
        }
    }

    /// The chat has been away for too long: no agent is waited for until it is back.
    pub(super) fn on_outage(&mut self) {
        self.break_off_turn();
        self.forget_refresh();
        self.become_dormant(Cause::ChatAway);
    }

    /// Whether a wake has to wait for the chat. It is kept in mind, and so are no plans.
    pub(super) fn waits_for_chat(&mut self) -> bool {
        let waits = self.channel.phase == Phase::Dormant && self.channel.is_chat_away();
        if waits {
            self.channel.forget_plans();
            if !mem::replace(&mut self.channel.missed, true) {
                self.changed();
            }
        }
        waits
    }
}
