//! Agents that crashed or disconnected, and those that came back (rule 56)

use super::step::Step;
use super::{AGENTS_MAX, Channel};
use crate::steering::{Away, Steering};
use crate::{AgentKey, Cause, Effect, Notice, Refusal, SeatTurn};

impl Steering {
    fn away_place(&self, agent: AgentKey) -> Result<usize, usize> {
        self.away.binary_search_by_key(&agent, |away| away.agent)
    }

    /// Whether the agent is away, and if so whether it is offline.
    pub(crate) fn is_away(&self, agent: AgentKey) -> Option<bool> {
        let at = self.away_place(agent).ok()?;
        self.away.get(at).map(|away| away.offline)
    }
}

impl Channel {
    /// Whether the agent is away, and if so whether it is offline.
    pub(crate) fn away(&self, agent: AgentKey) -> Option<bool> {
        self.steering.as_ref().and_then(|steering| steering.is_away(agent))
    }
}

impl Step<'_> {
    pub(super) fn on_offline(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        if self.channel.away(agent) == Some(true) {
            return Ok(());
        }
        self.mark_away(agent, true)?;
        let permit = self.channel.permit.filter(|permit| permit.agent == agent);
        if permit.is_some_and(|permit| !permit.is_delivering()) {
            self.take_permit_from(agent);
        }
        // A reply that is made still goes out.
        let speaks = self.channel.speaker() == Some(agent) && !self.channel.has_replied();
        if speaks {
            self.cancel_turn_run();
            self.record(agent, SeatTurn::Skipped, Cause::AgentOffline);
        } else {
            self.tell(Some(agent), Cause::AgentOffline);
        }
        if self.announces_absence(agent) {
            let notice = Notice::Disconnected { agent };
            self.owe(|ticket| Effect::Notice { ticket, notice });
        }
        if speaks {
            self.advance_after(agent);
        }
        Ok(())
    }

    fn mark_away(&mut self, agent: AgentKey, offline: bool) -> Result<(), Refusal> {
        let steering = self.channel.steering_mut();
        match steering.away_place(agent) {
            Ok(at) => steering.away.iter_mut().skip(at).take(1).for_each(|it| it.offline = offline),
            Err(_) if steering.away.len() >= AGENTS_MAX => return Err(Refusal::TooManyAgents),
            Err(at) => steering.away.insert(at, Away { agent, offline }),
        }
        Ok(())
    }

    fn announces_absence(&self, agent: AgentKey) -> bool {
        self.channel.config.announce_offline
            && self.channel.mode.keeps_turns()
            && self.channel.archived.is_none()
            && self.channel.list.slot(agent).is_some_and(|slot| !slot.left)
    }

    pub(super) fn on_online(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        if self.channel.away(agent) != Some(true) {
            return Ok(());
        }
        if self.channel.config.auto_requeue {
            self.assign(agent);
            return Ok(());
        }
        self.mark_away(agent, false)?;
        self.tell(Some(agent), Cause::AgentOnline);
        Ok(())
    }

    pub(super) fn on_assign(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        match self.channel.away(agent) {
            Some(true) => return Err(Refusal::AgentOffline),
            Some(false) => self.assign(agent),
            None => {}
        }
        Ok(())
    }

    /// The agent has turns again: after all others, unless it has had one in this cycle.
    fn assign(&mut self, agent: AgentKey) {
        self.channel.steering_mut().away.retain(|away| away.agent != agent);
        let turn = self.channel.list.slot(agent).map(|slot| slot.turn);
        let has_floor = self.channel.speaker() == Some(agent);
        if !has_floor && matches!(turn, Some(SeatTurn::Ahead | SeatTurn::Skipped)) {
            self.channel.list.move_to(agent, usize::MAX);
        }
        self.tell(Some(agent), Cause::AgentAssigned);
        self.wake_for_missed();
    }
}
