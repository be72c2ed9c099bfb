//! From one turn to the next: granting, the cycle's boundary, dormancy (rules 29 to 34)

use alloc::vec::Vec;

use crate::machine::caller::Caller;
use crate::machine::members::Members;
use crate::machine::next_speaker::NextSpeaker;
use crate::machine::out::Out;
use crate::machine::reminding::Reminding;
use crate::state::speaker_list::{SeatTurn, Slot};
use crate::state::{
    Cycle, Floor, Grant, Phase, Purpose, Quota, Rare, Reminders, Rng, Roster, Situation, Start,
    State, Words,
};
use crate::values::config::MentionRule;
use crate::{AgentKey, Cause, Effect, Notice, TurnId};

/// Passes the floor on.
pub(crate) struct Rotation<'a, 'o> {
    pub(crate) standing: &'a Situation,
    pub(crate) floor: &'a mut Floor,
    pub(crate) roster: &'a mut Roster,
    pub(crate) cycle: &'a mut Cycle,
    pub(crate) words: &'a mut Words,
    pub(crate) quota: &'a mut Quota,
    pub(crate) reminders: &'a mut Rare<Reminders>,
    pub(crate) rng: &'a mut Rng,
    pub(crate) out: &'a mut Out<'o>,
}

/// What a cycle came to. Read off the list before it is rebuilt, so that what an agent said counts
/// even if it has left since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedCycle {
    /// Something asked for another cycle.
    requested: bool,
    /// The first two who spoke.
    speakers: [Option<AgentKey>; 2],
    /// It was for the addressed only.
    was_round: bool,
    /// An agent completed a turn, if only with nothing to say.
    anybody_completed: bool,
    /// How many were listed.
    agents: usize,
}

impl EndedCycle {
    pub(crate) fn of(state: &State) -> Self {
        let State { roster, cycle, words, .. } = state;
        let list = &roster.list;
        let mut speakers = list.speakers();
        Self {
            requested: words.cycle_requested || words.returned && words.are_owed(),
            speakers: [speakers.next(), speakers.next()],
            was_round: cycle.is_round(),
            anybody_completed: list.anybody_completed(),
            agents: list.len(),
        }
    }
}

impl<'o> Rotation<'_, 'o> {
    fn caller(&mut self) -> Caller<'_, 'o> {
        let Self { standing, floor, words, out, .. } = self;
        Caller { standing, floor, words, out }
    }

    fn members(&mut self) -> Members<'_, 'o> {
        let Self { standing, floor, roster, rng, out, .. } = self;
        Members { standing, floor, roster, rng, out }
    }

    fn next_speaker(&self) -> NextSpeaker<'_> {
        let Self { roster, cycle, quota, .. } = self;
        NextSpeaker { roster, cycle, quota, config: self.out.config, now: self.out.now }
    }

    /// Grants the agent that was chosen, or the next that can be granted, or ends the cycle.
    #[inline]
    pub(crate) fn advance_after(&mut self, agent: AgentKey) {
        let handed_to = self.cycle.take_handed_to();
        if self.standing.has_lost_patience(self.out.now, self.out.config) {
            self.cycle.cut_at(self.roster.list.behind(agent));
            return self.become_dormant(Cause::ChatAway);
        }
        if let Some(chosen) = self.next_speaker().choice() {
            return self.grant_chosen(chosen, agent);
        }
        if self.cycle.is_round_due() {
            if self.out.config.people.mentions == MentionRule::First {
                // Behind the addressed the order goes on where it was.
                self.roster.list.turn_behind(agent);
            }
            return self.begin_cycle(Start::First, Cause::MentionRound);
        }
        if let Some(next) = handed_to.filter(|next| self.may_hand_over(agent, *next)) {
            self.roster.list.turn_behind(agent);
            self.roster.list.put_first(&[next]);
            return self.begin_cycle(Start::First, Cause::HandedOver);
        }
        match self.roster.list.position(agent) {
            Some(at) => self.grant_from(at + 1, Cause::NextInList, false),
            None => self.begin_boundary(),
        }
    }

    /// Whether the agent whose turn ended chooses who is next: it spoke, and this cycle is not for certain agents only.
    fn may_hand_over(&self, agent: AgentKey, next: AgentKey) -> bool {
        let turn = self.roster.list.slot(agent).map(|slot| slot.turn);
        turn == Some(SeatTurn::Spoke)
            && next != agent
            && !self.cycle.is_round()
            && self.next_speaker().is_free(next)
    }

    /// Grants the first agent that can be, from this slot on; skips those before it, having told why.
    #[inline]
    fn grant_from(&mut self, from: usize, cause: Cause, begins: bool) {
        let (mut at, mut cause) = (from, cause);
        while let Some(slot) = self.roster.list.slots().get(at) {
            let Some(hindrance) = self.next_speaker().hindrance(slot) else {
                return self.grant(at, cause, begins);
            };
            // The cause of the cycle is reported once, before the first skipped slot.
            if cause != Cause::NextInList {
                let told = core::mem::replace(&mut cause, Cause::NextInList);
                self.out.tell(self.floor, None, told);
            }
            self.skip(at, hindrance);
            at += 1;
        }
        self.begin_boundary();
    }

    /// An agent that passed before, or has nothing new to answer, passes; others miss their turn.
    fn skip(&mut self, at: usize, cause: Cause) {
        if let Some(slot) = self.roster.list.slots_mut().get_mut(at) {
            let passes = matches!(cause, Cause::AgentPassed | Cause::NothingNew);
            slot.turn = if passes { SeatTurn::Passed } else { SeatTurn::Skipped };
            self.out.tell(self.floor, Some(slot.agent), cause);
        }
    }

    /// Grants this slot, with which a cycle begins or goes on.
    #[inline]
    fn grant(&mut self, at: usize, cause: Cause, begins: bool) {
        let config = self.out.config;
        if self.quota.turn_budget_spent(config) {
            self.cut_at(at, begins);
            return self.stop_at_budget();
        }
        if self.quota.turns_reached(config, self.standing.mode, self.out.now) {
            self.cut_at(at, begins);
            return self.stop_at_ceiling();
        }
        let Some(slot) = self.roster.list.slots_mut().get_mut(at) else {
            return;
        };
        // What is said from now on is new to it when its turn has ended.
        slot.nothing_new = true;
        let agent = slot.agent;
        self.quota.count_turn(config);
        self.cycle.forget_choice();
        self.floor.turn = TurnId::new(self.floor.turn.get() + 1);
        let phase = Phase::Granted(Grant { agent, until: None, attempt: 0 });
        self.out.shift(self.floor, phase, Some(agent), cause);
        self.caller().trigger_anew();
    }

    /// The agent of this place is not granted, and the cycle ends here. One that only begins is begun anew.
    fn cut_at(&mut self, at: usize, begins: bool) {
        let slot = self.roster.list.slots().get(at).filter(|_| !begins);
        self.cycle.cut_at(slot.map(|slot| slot.agent));
    }

    /// Grants the agent that an operator chose, directly after the one whose turn ended.
    fn grant_chosen(&mut self, chosen: AgentKey, after: AgentKey) {
        let list = &mut self.roster.list;
        let place = list.position(after).unwrap_or(0);
        // An agent that stood before is taken out first, so that the place moves up by one.
        let behind = list.position(chosen).is_some_and(|at| at > place);
        let at = (place + usize::from(behind)).min(list.len().saturating_sub(1));
        let had = list.move_to(chosen, at);
        if self.cycle.last_completer == Some(chosen) {
            self.cycle.last_completer = None;
        }
        if had == Some(SeatTurn::Spoke) {
            // What it said no longer stands in the list, and still asks for another cycle.
            self.request_cycle();
        }
        self.grant(at, Cause::OperatorChoice, false);
    }

    /// Something was said after the cycle began: everybody gets another chance.
    pub(crate) fn request_cycle(&mut self) {
        let is_change = self.words.request_cycle(&mut self.roster.list);
        self.out.changed_if(is_change);
    }

    /// This agent can be granted again. Where it was skipped, another cycle follows if no turn takes what was said. That is no
    /// news to those who passed or spoke last: one of them would speak twice in a row.
    pub(crate) fn note_return(&mut self, agent: AgentKey) {
        let is_over = self.floor.phase == Phase::Refreshing(Purpose::Boundary);
        let is_missed = |slot: &&Slot| {
            slot.turn == SeatTurn::Skipped || is_over && slot.turn == SeatTurn::Ahead
        };
        let slot = self.roster.list.slot(agent).filter(is_missed);
        if slot.is_some_and(|slot| self.next_speaker().hindrance(slot).is_none()) {
            let is_first = !core::mem::replace(&mut self.words.returned, true);
            self.out.changed_if(is_first);
        }
    }

    /// The channel wakes: a new cycle begins, with a list that is read anew unless it is fresh.
    pub(crate) fn wake(&mut self, start: Start, cause: Cause) {
        self.words.wake_unserved = self.words.wake_pending || must_be_heard(cause);
        self.words.wake_pending = false;
        self.words.awaits_human = false;
        self.reminders.cancel();
        self.reminders.restart_count();
        self.roster.list.forget_passed();
        self.cycle.forget(&mut self.roster.list, self.words);
        if let (Some(cut), Start::First) = (self.cycle.take_cut(), start) {
            self.roster.list.turn_to(cut);
        }
        let (now, longest) = (self.out.now, self.out.config.members.list_fresh);
        if self.roster.read_at.is_some_and(|at| now.since(at) <= longest) {
            self.members().stop_reading();
            self.begin_cycle(start, cause);
        } else {
            let phase = Phase::Refreshing(Purpose::Wake(start));
            self.out.shift(self.floor, phase, None, cause);
            // An answer that is already waited for is new enough.
            if self.roster.refresh.is_none() {
                self.members().fetch();
            }
        }
    }

    /// A new cycle: from the first slot, or from another. It is for the addressed if such a round is
    /// due and no other agent was chosen.
    pub(crate) fn begin_cycle(&mut self, start: Start, cause: Cause) {
        self.cycle.forget(&mut self.roster.list, self.words);
        let config = self.out.config;
        if self.quota.budget_spent(config) {
            return self.stop_at_budget();
        }
        if self.quota.limits.cycles_reached(config, self.standing.mode) {
            return self.stop_at_ceiling();
        }
        self.quota.count_cycle(config, self.out.now);
        if self.next_speaker().choice().is_none() {
            self.cycle.begin_round(&mut self.roster.list, config.people.mentions);
        }
        let from = self.next_speaker().place(start);
        for slot in self.roster.list.slots_mut().iter_mut().take(from) {
            slot.turn = SeatTurn::Skipped;
        }
        // Those before the first speaker were not asked: they are in another cycle.
        self.words.cycle_requested = from > 0;
        self.grant_from(from, cause, true);
        self.cycle.forget_choice();
    }

    /// The last slot is behind: the member list is read again, exactly once.
    fn begin_boundary(&mut self) {
        let phase = Phase::Refreshing(Purpose::Boundary);
        self.out.shift(self.floor, phase, None, Cause::CycleBoundary);
        self.members().fetch();
    }

    /// The member list is there, or will not come: another cycle, or dormancy.
    pub(crate) fn end_boundary(&mut self, ended: EndedCycle, anybody_new: bool) {
        // With what was said to the addressed only, and with which they failed, no others are asked.
        let is_owed = self.words.wake_unserved && !self.words.cycle_requested;
        let round = if is_owed { self.cycle.take_round() } else { Vec::new() };
        if !anybody_new && !self.goes_on_after(&ended) {
            let cause = match ended.speakers {
                [Some(_), _] => Cause::NoOtherAgent,
                [None, _] if ended.anybody_completed => Cause::AllPassed,
                [None, _] => Cause::Unanswered,
            };
            self.become_dormant(cause);
            return self.hold_again(&round);
        }
        self.hold_again(&round);
        let planned = self.cycle.is_round_planned();
        // A cycle for the addressed only changes no order: what it interrupted goes on after it.
        let is_apart = planned && self.out.config.people.mentions == MentionRule::Only;
        if !is_apart && !ended.was_round {
            self.reorder(ended.agents >= 3);
        }
        let cause = match self.next_speaker().choice() {
            Some(chosen) => {
                self.roster.list.move_to(chosen, 0);
                Cause::OperatorChoice
            }
            None if planned => Cause::MentionRound,
            None => Cause::NextCycle,
        };
        self.begin_cycle(Start::First, cause);
    }

    /// A round that was in vain is held again.
    fn hold_again(&mut self, round: &[AgentKey]) {
        if !round.is_empty() {
            self.cycle.plan_round(round);
        }
    }

    /// Whether another cycle follows the one that ended, as the list is now.
    pub(crate) fn goes_on_after(&self, ended: &EndedCycle) -> bool {
        ended.requested || self.could_be_answered(ended)
    }

    /// Whether an agent spoke whom another agent could answer. After a round of the addressed that is
    /// so in any case: the others were not asked.
    fn could_be_answered(&self, ended: &EndedCycle) -> bool {
        match ended.speakers {
            [None, _] => false,
            [Some(_), _] if ended.was_round => true,
            [alone, None] => self.next_speaker().is_anybody_free_but(alone),
            [Some(_), Some(_)] => self.next_speaker().is_anybody_free_but(None),
        }
    }

    /// Three or more speak in a new random order. Two keep theirs; but where they were more, no
    /// agent speaks twice in a row.
    fn reorder(&mut self, was_shuffled: bool) {
        // Taken out, so that an order can be judged by the rest of the roster while it is drawn.
        let mut list = core::mem::take(&mut self.roster.list);
        let (mut rng, completer) = (*self.rng, self.cycle.last_completer);
        let is_changed = match list.len() {
            3.. => {
                let next = self.next_speaker();
                list.shuffle(&mut rng, |order| next.does_not_repeat(order, completer));
                true
            }
            2 if was_shuffled && completer.is_some() && list.first() == completer => {
                list.swap_pair();
                true
            }
            _ => false,
        };
        (self.roster.list, *self.rng) = (list, rng);
        if is_changed {
            self.out.tell(self.floor, None, Cause::Reshuffled);
        }
    }

    /// The ceiling was reached: no agent speaks until a human writes.
    fn stop_at_ceiling(&mut self) {
        self.become_dormant(Cause::CeilingReached);
        if !core::mem::replace(&mut self.quota.limits.announced, true) {
            self.out.request(|ticket| Effect::Notice { ticket, notice: Notice::Ceiling });
        }
    }

    /// No agent speaks until an operator resets the budgets.
    fn stop_at_budget(&mut self) {
        self.become_dormant(Cause::BudgetSpent);
        if !core::mem::replace(&mut self.quota.budget.edit().announced, true) {
            self.out.request(|ticket| Effect::Notice { ticket, notice: Notice::Budget });
        }
    }

    /// The channel is dormant, and would go on if a budget were not spent: that is said once.
    pub(crate) fn announce_budget(&mut self) {
        if !core::mem::replace(&mut self.quota.budget.edit().announced, true) {
            self.out.tell(self.floor, None, Cause::BudgetSpent);
            self.out.request(|ticket| Effect::Notice { ticket, notice: Notice::Budget });
        }
    }

    /// No agent speaks until a person writes: the one that has spoken asked for that.
    pub(crate) fn await_human(&mut self) {
        self.words.awaits_human = true;
        self.become_dormant(Cause::AwaitingHuman);
    }

    pub(crate) fn become_dormant(&mut self, cause: Cause) {
        self.cycle.forget(&mut self.roster.list, self.words);
        self.cycle.forget_plans();
        self.words.keep_unserved();
        // The turn that waited for the chat has not been had.
        self.words.wake_pending |= cause == Cause::ChatAway;
        self.cycle.forget_answered(self.words);
        self.out.shift(self.floor, Phase::Dormant, None, cause);
        // An initiator cannot go on where a person or the chat is waited for.
        let reminds = !matches!(cause, Cause::AwaitingHuman | Cause::ChatAway);
        if self.standing.is_discussion() && reminds {
            let Self { standing, floor, roster, reminders, out, .. } = self;
            Reminding { standing, floor, roster, reminders, out }.schedule();
        }
    }
}

/// Whether the channel woke for something that an agent must hear of: a person's word, or what a discussion
/// posted.
const fn must_be_heard(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::HumanMessage
            | Cause::OperatorWake
            | Cause::OperatorChoice
            | Cause::GuidePosted
            | Cause::ResultPosted
    )
}
