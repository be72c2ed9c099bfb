//! From one turn to the next: granting, ending, the cycle's boundary, dormancy (rules 29 to 34)

use super::phase::{Grant, Phase, Purpose};
use super::step::Step;
use crate::{AgentKey, Cause, Effect, Mode, Notice, SeatTurn, Slot, TurnId};

/// What a cycle came to. Read off the list before it is rebuilt, so that what an agent said counts
/// even if it has left since (D74).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndedCycle {
    /// Somebody spoke, or a message asked for another cycle.
    goes_on: bool,
    /// Somebody completed a turn, if only with nothing to say.
    anybody_completed: bool,
    /// Its order was a random one.
    was_shuffled: bool,
}

impl Step<'_> {
    pub(super) fn ended_cycle(&self) -> EndedCycle {
        let list = &self.channel.list;
        EndedCycle {
            goes_on: self.channel.vetoed || list.anybody_spoke(),
            anybody_completed: list.anybody_completed(),
            was_shuffled: list.len() >= 3,
        }
    }

    /// The speaker's turn is over, and the next one follows.
    pub(super) fn complete(&mut self, agent: AgentKey, turn: SeatTurn, cause: Cause) {
        self.record(agent, turn, cause);
        self.advance_after(agent);
    }

    /// Writes down how the speaker's turn ended.
    pub(super) fn record(&mut self, agent: AgentKey, turn: SeatTurn, cause: Cause) {
        let now = self.channel.now;
        if let Some(slot) = self.channel.list.slot_mut(agent) {
            slot.turn = turn;
            if turn != SeatTurn::Passed {
                slot.grace_from = Some(now);
            }
        }
        if turn != SeatTurn::Skipped {
            self.channel.last_completer = Some(agent);
        }
        self.tell(Some(agent), cause);
    }

    /// Grants the next available agent after this one, or ends the cycle.
    pub(super) fn advance_after(&mut self, agent: AgentKey) {
        match self.channel.list.position(agent) {
            Some(at) => self.grant_from(at + 1, Cause::NextInList),
            None => self.begin_boundary(),
        }
    }

    /// Grants the first available agent from this slot on; skips those before it, having told why.
    fn grant_from(&mut self, from: usize, cause: Cause) {
        let (mut at, mut cause) = (from, cause);
        while let Some(slot) = self.channel.list.slots().get(at).copied() {
            if self.channel.is_available(slot.agent) {
                return self.grant(slot.agent, cause);
            }
            if cause != Cause::NextInList {
                self.tell(None, core::mem::replace(&mut cause, Cause::NextInList));
            }
            self.skip(at, slot.left);
            at += 1;
        }
        self.begin_boundary();
    }

    fn skip(&mut self, at: usize, left: bool) {
        let cause = if left { Cause::AgentLeft } else { Cause::AgentMuted };
        if let Some(slot) = self.channel.list.slots_mut().get_mut(at) {
            slot.turn = SeatTurn::Skipped;
            let agent = slot.agent;
            self.tell(Some(agent), cause);
        }
    }

    fn grant(&mut self, agent: AgentKey, cause: Cause) {
        if self.channel.turns_reached() {
            return self.stop_at_ceiling();
        }
        self.channel.limits.count_turn();
        self.channel.turn = TurnId::new(self.channel.turn.get() + 1);
        let grant = Grant { agent, until: None, attempt: 0 };
        self.shift(Phase::Granted(grant), Some(agent), cause);
        self.trigger();
    }

    /// Wakes the granted agent and gives it time to start; not while on hold.
    pub(super) fn trigger(&mut self) {
        let until = self.channel.config.start_deadline.map(|limit| self.channel.now + limit);
        let turn = self.channel.turn;
        let Phase::Granted(grant) = &mut self.channel.phase else {
            return;
        };
        grant.until = None;
        if self.channel.rest.is_some() {
            return;
        }
        grant.until = until;
        let Grant { agent, attempt, .. } = *grant;
        self.clean_up_before_trigger();
        self.owe(|ticket| Effect::Trigger { ticket, agent, turn, attempt });
    }

    /// A new cycle: from the first slot, or from this agent's if it is listed and available.
    pub(super) fn begin_cycle(&mut self, first: Option<AgentKey>, cause: Cause) {
        self.forget_cycle();
        if self.channel.limits.cycles_reached(&self.channel.config, self.channel.mode) {
            return self.stop_at_ceiling();
        }
        self.channel.limits.count_cycle();
        let from = first
            .filter(|agent| self.channel.is_available(*agent))
            .and_then(|agent| self.channel.list.position(agent))
            .unwrap_or(0);
        for slot in self.channel.list.slots_mut().iter_mut().take(from) {
            slot.turn = SeatTurn::Skipped;
        }
        self.channel.vetoed = from > 0;
        self.grant_from(from, cause);
    }

    /// Nobody took a turn, nothing wants another cycle.
    pub(super) fn forget_cycle(&mut self) {
        self.channel.list.begin_cycle();
        self.channel.last_completer = None;
        self.channel.vetoed = false;
    }

    /// The last slot is behind: the member list is read again, exactly once.
    fn begin_boundary(&mut self) {
        self.shift(Phase::Refreshing(Purpose::Boundary), None, Cause::CycleBoundary);
        self.fetch_members();
    }

    /// The member list is there, or will not come: another cycle, or dormancy.
    pub(super) fn end_boundary(&mut self, ended: EndedCycle, anybody_new: bool) {
        if !ended.goes_on && !anybody_new {
            let completed = ended.anybody_completed;
            let cause = if completed { Cause::AllPassed } else { Cause::NobodyAnswered };
            return self.become_dormant(cause);
        }
        self.reorder(ended.was_shuffled);
        self.begin_cycle(None, Cause::NextCycle);
    }

    /// Three or more speak in a new random order. Two keep theirs; but where they were more, nobody
    /// speaks twice in a row (D13, D31).
    fn reorder(&mut self, was_shuffled: bool) {
        let super::Channel { list, muted, rng, last_completer: last, .. } = &mut *self.channel;
        match list.len() {
            3.. => list.shuffle(rng, |order| does_not_repeat(order, muted, *last)),
            2 if was_shuffled && last.is_some() && list.first() == *last => list.swap_pair(),
            _ => return,
        }
        self.tell(None, Cause::Reshuffled);
    }

    /// The ceiling was reached: nobody speaks until a human does.
    fn stop_at_ceiling(&mut self) {
        self.become_dormant(Cause::CeilingReached);
        if !self.channel.limits.announced {
            self.channel.limits.announced = true;
            self.owe(|ticket| Effect::Notice { ticket, notice: Notice::Ceiling });
        }
    }

    pub(super) fn become_dormant(&mut self, cause: Cause) {
        self.forget_cycle();
        self.shift(Phase::Dormant, None, cause);
        if self.channel.mode == Mode::Discussion {
            self.schedule_reminder();
        }
    }
}

/// Whether the last to complete a turn is neither first in the order nor the first who can speak,
/// unless nobody else can.
fn does_not_repeat(order: &[Slot], muted: &[AgentKey], last: Option<AgentKey>) -> bool {
    let can_speak = |slot: &&Slot| !slot.left && muted.binary_search(&slot.agent).is_err();
    let mut speakers = order.iter().filter(can_speak).map(|slot| slot.agent);
    let (first, second) = (speakers.next(), speakers.next());
    let leads = order.first().map(|slot| slot.agent) == last;
    last.is_none() || (!leads && (first != last || second.is_none()))
}
