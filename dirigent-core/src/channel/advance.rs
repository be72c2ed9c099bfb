//! From one turn to the next: granting, ending, the cycle's boundary, dormancy (rules 29 to 34)

use super::Channel;
use super::phase::{Grant, Phase, Purpose, Start};
use super::step::Step;
use crate::steering::Span;
use crate::{AgentKey, Cause, Effect, Mode, Notice, SeatTurn, Slot, TurnId};

/// What a cycle came to. Read off the list before it is rebuilt, so that what an agent said counts
/// even if it has left since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndedCycle {
    /// Something asked for another cycle.
    vetoed: bool,
    /// The first two who spoke.
    speakers: [Option<AgentKey>; 2],
    /// It was for the addressed only.
    was_round: bool,
    /// An agent completed a turn, if only with nothing to say.
    anybody_completed: bool,
    /// How many were listed.
    agents: usize,
}

impl Step<'_> {
    pub(super) fn ended_cycle(&self) -> EndedCycle {
        let list = &self.channel.list;
        let mut speakers = list.speakers();
        EndedCycle {
            vetoed: self.channel.vetoed,
            speakers: [speakers.next(), speakers.next()],
            was_round: self.channel.is_round(),
            anybody_completed: list.anybody_completed(),
            agents: list.len(),
        }
    }

    /// The speaker's turn is over, and the next one follows.
    pub(super) fn complete(&mut self, agent: AgentKey, turn: SeatTurn, cause: Cause) {
        let awaits = turn == SeatTurn::Spoke && self.channel.asks_for_human();
        self.record(agent, turn, cause);
        if self.channel.config.announce_timeouts && is_timeout(cause) {
            let notice = Notice::TimedOut { agent };
            self.owe(|ticket| Effect::Notice { ticket, notice });
        }
        if awaits { self.await_human() } else { self.advance_after(agent) }
    }

    /// Writes down how the speaker's turn ended. One that has said something has spoken.
    pub(super) fn record(&mut self, agent: AgentKey, turn: SeatTurn, cause: Cause) {
        let turn = if self.channel.terms().spoken { SeatTurn::Spoke } else { turn };
        if turn != SeatTurn::Passed && !self.channel.has_whole_reply(cause) {
            self.expect_late_pieces(agent);
        }
        let skips = self.channel.config.skip_passed;
        if let Some(slot) = self.channel.list.slot_mut(agent) {
            slot.turn = turn;
            slot.passed = skips && turn == SeatTurn::Passed;
        }
        if turn == SeatTurn::Spoke {
            self.note_spoken(agent);
        }
        if turn != SeatTurn::Skipped {
            self.channel.last_completer = Some(agent);
            self.channel.unheard = false;
        }
        self.leave_turn();
        self.tell(Some(agent), cause);
    }

    /// From now on, messages of this agent are late pieces of the turn that ends, for a while.
    pub(super) fn expect_late_pieces(&mut self, agent: AgentKey) {
        let now = self.channel.now;
        if let Some(slot) = self.channel.list.slot_mut(agent) {
            slot.grace_from = Some(now);
        }
    }

    /// Grants the agent that was chosen, or the next that can be granted, or ends the cycle.
    pub(super) fn advance_after(&mut self, agent: AgentKey) {
        if self.channel.has_lost_patience() {
            return self.become_dormant(Cause::ChatAway);
        }
        if let Some(chosen) = self.channel.choice() {
            return self.grant_chosen(chosen, agent);
        }
        if self.channel.is_round_due() {
            return self.begin_cycle(Start::First, Cause::MentionRound);
        }
        match self.channel.list.position(agent) {
            Some(at) => self.grant_from(at + 1, Cause::NextInList),
            None => self.begin_boundary(),
        }
    }

    /// Grants the first agent that can be, from this slot on; skips those before it, having told why.
    fn grant_from(&mut self, from: usize, cause: Cause) {
        let (mut at, mut cause) = (from, cause);
        while let Some(slot) = self.channel.list.slots().get(at).copied() {
            let Some(hindrance) = self.channel.hindrance(&slot) else {
                return self.grant(slot.agent, cause);
            };
            if cause != Cause::NextInList {
                self.tell(None, core::mem::replace(&mut cause, Cause::NextInList));
            }
            self.skip(at, hindrance);
            at += 1;
        }
        self.begin_boundary();
    }

    /// An agent that passed before passes again; others miss their turn.
    fn skip(&mut self, at: usize, cause: Cause) {
        if let Some(slot) = self.channel.list.slots_mut().get_mut(at) {
            let passes = cause == Cause::AgentPassed;
            slot.turn = if passes { SeatTurn::Passed } else { SeatTurn::Skipped };
            let agent = slot.agent;
            self.tell(Some(agent), cause);
        }
    }

    pub(super) fn grant(&mut self, agent: AgentKey, cause: Cause) {
        if self.channel.turn_budget_spent() {
            return self.stop_at_budget();
        }
        if self.channel.turns_reached() {
            return self.stop_at_ceiling();
        }
        self.channel.limits.count_turn();
        self.channel.count_budget_turn();
        self.channel.forget_choice();
        self.channel.turn = TurnId::new(self.channel.turn.get() + 1);
        let grant = Grant { agent, until: None, attempt: 0 };
        self.shift(Phase::Granted(grant), Some(agent), cause);
        self.trigger_anew();
    }

    /// Wakes the agent of a new turn, or of one that goes on after a hold: with all its time, and
    /// with what people said.
    pub(super) fn trigger_anew(&mut self) {
        if self.channel.rest.is_none() {
            self.set_turn_end();
        }
        let held = match &mut self.channel.steering {
            Some(steering) if self.channel.rest.is_none() => steering.held.take(),
            Some(_) | None => None,
        };
        self.trigger(held);
    }

    /// Wakes the agent that has the floor and gives it time to start, and these messages; not while
    /// on hold.
    pub(super) fn trigger(&mut self, handed: Option<Span>) {
        let (agent, attempt) = match self.channel.phase {
            Phase::Granted(Grant { agent, attempt, .. }) => (agent, attempt),
            Phase::Continuing { agent, .. } => (agent, 0),
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
        let turn = self.channel.turn;
        self.set_start_deadline();
        if self.channel.rest.is_some() {
            return self.hold_back(handed);
        }
        self.clean_up_before_trigger();
        if let Some(Span { first, last }) = handed {
            self.effects.push(Effect::Deliver { agent, turn, first, last });
        }
        self.owe(|ticket| Effect::Trigger { ticket, agent, turn, attempt });
    }

    /// A new cycle: from the first slot, or from another. It is for the addressed if such a round is
    /// due and no other agent was chosen.
    pub(super) fn begin_cycle(&mut self, start: Start, cause: Cause) {
        self.forget_cycle();
        if self.channel.budget_spent() {
            return self.stop_at_budget();
        }
        if self.channel.limits.cycles_reached(&self.channel.config, self.channel.mode) {
            return self.stop_at_ceiling();
        }
        self.channel.limits.count_cycle();
        self.channel.count_budget_cycle();
        if self.channel.choice().is_none() {
            self.channel.begin_round();
        }
        let from = self.channel.place(start);
        for slot in self.channel.list.slots_mut().iter_mut().take(from) {
            slot.turn = SeatTurn::Skipped;
        }
        self.channel.vetoed = from > 0;
        self.grant_from(from, cause);
        self.channel.forget_choice();
    }

    /// Forgets the cycle: no agent has taken a turn, and nothing asks for another cycle.
    pub(super) fn forget_cycle(&mut self) {
        self.channel.list.begin_cycle();
        self.channel.last_completer = None;
        self.channel.vetoed = false;
        self.channel.end_round();
    }

    /// The last slot is behind: the member list is read again, exactly once.
    fn begin_boundary(&mut self) {
        self.shift(Phase::Refreshing(Purpose::Boundary), None, Cause::CycleBoundary);
        self.fetch_members();
    }

    /// The member list is there, or will not come: another cycle, or dormancy.
    pub(super) fn end_boundary(&mut self, ended: EndedCycle, anybody_new: bool) {
        if !ended.vetoed && !anybody_new && !self.could_be_answered(&ended) {
            let cause = match ended.speakers {
                [Some(_), _] => Cause::NobodyElse,
                [None, _] if ended.anybody_completed => Cause::AllPassed,
                [None, _] => Cause::NobodyAnswered,
            };
            return self.become_dormant(cause);
        }
        let planned = self.channel.is_round_planned();
        if !planned && !ended.was_round {
            self.reorder(ended.agents >= 3);
        }
        let cause = match self.channel.choice() {
            Some(chosen) => {
                self.channel.list.move_to(chosen, 0);
                Cause::OperatorChoice
            }
            None if planned => Cause::MentionRound,
            None => Cause::NextCycle,
        };
        self.begin_cycle(Start::First, cause);
    }

    /// Whether an agent spoke whom another agent could answer. After a round of the addressed that is
    /// so in any case: the others were not asked.
    fn could_be_answered(&self, ended: &EndedCycle) -> bool {
        match ended.speakers {
            [None, _] => false,
            [Some(_), _] if ended.was_round => true,
            [alone, None] => self.channel.is_anybody_free_but(alone),
            [Some(_), Some(_)] => self.channel.is_anybody_free_but(None),
        }
    }

    /// Three or more speak in a new random order. Two keep theirs; but where they were more, no
    /// agent speaks twice in a row.
    fn reorder(&mut self, was_shuffled: bool) {
        let mut list = core::mem::take(&mut self.channel.list);
        let (mut rng, completer) = (self.channel.rng, self.channel.last_completer);
        let shuffled = match list.len() {
            3.. => {
                list.shuffle(&mut rng, |order| self.channel.does_not_repeat(order, completer));
                true
            }
            2 if was_shuffled && completer.is_some() && list.first() == completer => {
                list.swap_pair();
                true
            }
            _ => false,
        };
        (self.channel.list, self.channel.rng) = (list, rng);
        if !shuffled {
            return;
        }
        self.tell(None, Cause::Reshuffled);
    }

    /// The ceiling was reached: no agent speaks until a human writes.
    fn stop_at_ceiling(&mut self) {
        self.become_dormant(Cause::CeilingReached);
        if !self.channel.limits.announced {
            self.channel.limits.announced = true;
            self.owe(|ticket| Effect::Notice { ticket, notice: Notice::Ceiling });
        }
    }

    pub(super) fn become_dormant(&mut self, cause: Cause) {
        self.forget_cycle();
        self.channel.forget_plans();
        self.channel.keep_unheard();
        self.channel.missed |= cause == Cause::ChatAway;
        self.shift(Phase::Dormant, None, cause);
        let reminds = !matches!(cause, Cause::AwaitingHuman | Cause::ChatAway);
        if self.channel.mode == Mode::Discussion && reminds {
            self.schedule_reminder();
        }
    }
}

impl Channel {
    /// Whether the reply asks for a person, who has not written anyway.
    pub(super) fn asks_for_human(&self) -> bool {
        self.steering.as_ref().is_some_and(|it| {
            let word = it.held.is_some() || it.chosen.is_some() || !it.next_round.is_empty();
            it.terms.awaits_human && !word
        })
    }

    /// Whether the turn that ends with this cause has no late pieces: its whole reply is known to have arrived.
    fn has_whole_reply(&self, cause: Cause) -> bool {
        // A short end may match an earlier piece of the same words, so the length has to fit, too.
        let is_as_long = || self.delivery.as_ref().is_some_and(|it| it.is_as_long());
        cause == Cause::ReceiptGiven || (cause == Cause::TailMatched && is_as_long())
    }

    /// Whether the last to complete a turn is neither first in the order nor the first who can
    /// speak, unless no other agent can.
    fn does_not_repeat(&self, order: &[Slot], last: Option<AgentKey>) -> bool {
        let can_speak = |slot: &&Slot| {
            let Slot { agent, left, .. } = **slot;
            !left && !self.is_muted(agent) && self.away(agent).is_none() && !self.is_capped(agent)
        };
        let mut speakers = order.iter().filter(can_speak).map(|slot| slot.agent);
        let (first, second) = (speakers.next(), speakers.next());
        let leads = order.first().map(|slot| slot.agent) == last;
        last.is_none() || (!leads && (first != last || second.is_none()))
    }
}

/// Whether a turn that ended so took too long.
const fn is_timeout(cause: Cause) -> bool {
    matches!(cause, Cause::StartTimedOut | Cause::RunTimedOut | Cause::SignalMissing)
}
