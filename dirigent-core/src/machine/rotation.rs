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

/// The result of a cycle. It is read from the list before that is rebuilt, so that an agent's words count even if it
/// has left since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedCycle {
    /// True if another cycle was requested.
    requested: bool,
    /// The first two agents that spoke.
    speakers: [Option<AgentKey>; 2],
    /// True if the cycle was only for the addressed.
    was_round: bool,
    /// True if an agent completed a turn, with or without words.
    anybody_completed: bool,
    /// The number of listed agents.
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

    /// Grants the chosen agent, or the next one that can be granted, or ends the cycle.
    #[inline]
    pub(crate) fn advance_after(&mut self, agent: AgentKey) {
        let handed_to = self.cycle.take_handed_to();
        // The chat has been away for so long that the next agent could not be heard either.
        if self.standing.has_lost_patience(self.out.now, self.out.config) {
            self.cycle.cut_at(self.roster.list.behind(agent));
            return self.become_dormant(Cause::ChatAway);
        }
        if let Some(chosen) = self.next_speaker().choice() {
            return self.grant_chosen(chosen, agent);
        }
        if self.cycle.is_round_due() {
            if self.out.config.people.mentions == MentionRule::First {
                // Behind the addressed, the order goes on where it was. Otherwise a mention would give an agent two
                // turns in a row.
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

    /// Returns true if the agent of the ended turn may name the next one: it spoke, and this cycle is not for certain
    /// agents only.
    fn may_hand_over(&self, agent: AgentKey, next: AgentKey) -> bool {
        let turn = self.roster.list.slot(agent).map(|slot| slot.turn);
        turn == Some(SeatTurn::Spoke)
            && next != agent
            && !self.cycle.is_round()
            && self.next_speaker().is_free(next)
    }

    /// Grants the first possible agent from this slot on. The slots before it are skipped, each with its reason.
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

    /// Lets an agent pass if it passed before or has no news to answer. Any other agent misses its turn.
    fn skip(&mut self, at: usize, cause: Cause) {
        if let Some(slot) = self.roster.list.slots_mut().get_mut(at) {
            let passes = matches!(cause, Cause::AgentPassed | Cause::NothingNew);
            slot.turn = if passes { SeatTurn::Passed } else { SeatTurn::Skipped };
            self.out.tell(self.floor, Some(slot.agent), cause);
        }
    }

    /// Grants this slot. A cycle begins or goes on with it.
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
        // From now on a message of another author is news to this agent after its turn.
        slot.nothing_new = true;
        let agent = slot.agent;
        self.quota.count_turn(config);
        self.cycle.forget_choice();
        self.floor.turn = TurnId::new(self.floor.turn.get() + 1);
        let phase = Phase::Granted(Grant { agent, until: None, attempt: 0 });
        self.out.shift(self.floor, phase, Some(agent), cause);
        self.caller().trigger_anew();
    }

    /// Notes that the cycle ends before the agent at this place. A cycle that has only begun starts over instead.
    fn cut_at(&mut self, at: usize, begins: bool) {
        let slot = self.roster.list.slots().get(at).filter(|_| !begins);
        self.cycle.cut_at(slot.map(|slot| slot.agent));
    }

    /// Grants the agent that an operator chose, directly after the one with the ended turn.
    fn grant_chosen(&mut self, chosen: AgentKey, after: AgentKey) {
        let list = &mut self.roster.list;
        let place = list.position(after).unwrap_or(0);
        // An agent from a lower place is taken out first, which moves the place up by one.
        let behind = list.position(chosen).is_some_and(|at| at > place);
        let at = (place + usize::from(behind)).min(list.len().saturating_sub(1));
        let had = list.move_to(chosen, at);
        if self.cycle.last_completer == Some(chosen) {
            self.cycle.last_completer = None;
        }
        if had == Some(SeatTurn::Spoke) {
            // The list no longer shows that this agent spoke. Its words still ask for another cycle, so that is
            // requested here.
            self.request_cycle();
        }
        self.grant(at, Cause::OperatorChoice, false);
    }

    /// Requests another cycle, because something was said after this one began.
    pub(crate) fn request_cycle(&mut self) {
        let is_change = self.words.request_cycle(&mut self.roster.list);
        self.out.changed_if(is_change);
    }

    /// Notes that this agent can be granted again. If it was skipped, another cycle follows unless a turn takes the
    /// words. That is no news to agents that passed or spoke last, because one of them would speak twice in a row. A
    /// channel once slept over a word because its only free agent came back while the list was read.
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

    /// Wakes the channel: a new cycle begins, after the list was read, unless the list is fresh.
    pub(crate) fn wake(&mut self, start: Start, cause: Cause) {
        self.words.wake_unserved = self.words.wake_pending || must_be_heard(cause);
        self.words.wake_pending = false;
        self.words.awaits_human = false;
        self.reminders.cancel();
        self.reminders.restart_count();
        self.roster.list.forget_passed();
        self.cycle.forget(&mut self.roster.list, self.words);
        // With more agents than a ceiling allows turns, the last ones would never be asked.
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
            // An answer that is already on its way is new enough.
            if self.roster.refresh.is_none() {
                self.members().fetch();
            }
        }
    }

    /// Begins a new cycle at the first slot, or at another. It is for the addressed if such a round is due and no other
    /// agent was chosen.
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
        // The agents before the first speaker were not asked, so they get another cycle.
        self.words.cycle_requested = from > 0;
        self.grant_from(from, cause, true);
        self.cycle.forget_choice();
    }

    /// Ends the cycle behind its last slot: requests the member list, exactly once.
    fn begin_boundary(&mut self) {
        let phase = Phase::Refreshing(Purpose::Boundary);
        self.out.shift(self.floor, phase, None, Cause::CycleBoundary);
        self.members().fetch();
    }

    /// Decides what follows the boundary, with the member list or without: another cycle, or dormancy.
    pub(crate) fn end_boundary(&mut self, ended: EndedCycle, anybody_new: bool) {
        // If the addressed failed with words that were only for them, no other agents are asked. Such a round was once
        // held again for every agent.
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
        // A cycle only for the addressed does not change the order, because the interrupted cycle goes on after it.
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

    /// Plans a round again that was in vain.
    fn hold_again(&mut self, round: &[AgentKey]) {
        if !round.is_empty() {
            self.cycle.plan_round(round);
        }
    }

    /// Returns true if another cycle follows the ended one, by the list as it is now.
    pub(crate) fn goes_on_after(&self, ended: &EndedCycle) -> bool {
        ended.requested || self.could_be_answered(ended)
    }

    /// Returns true if an agent spoke that another agent could answer. After a round of the addressed it always could,
    /// because the others were not asked.
    fn could_be_answered(&self, ended: &EndedCycle) -> bool {
        match ended.speakers {
            [None, _] => false,
            [Some(_), _] if ended.was_round => true,
            [alone, None] => self.next_speaker().is_anybody_free_but(alone),
            [Some(_), Some(_)] => self.next_speaker().is_anybody_free_but(None),
        }
    }

    /// Shuffles three or more agents. Two keep their order. But if they were more before, their order was random, so
    /// the last to speak goes second: no agent speaks twice in a row because another one left.
    fn reorder(&mut self, was_shuffled: bool) {
        // The list is taken out while it is shuffled, because the check of an order needs the rest of the roster.
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

    /// Makes the channel dormant at a ceiling, until a human writes.
    fn stop_at_ceiling(&mut self) {
        self.become_dormant(Cause::CeilingReached);
        if !core::mem::replace(&mut self.quota.limits.announced, true) {
            self.out.request(|ticket| Effect::Notice { ticket, notice: Notice::Ceiling });
        }
    }

    /// Makes the channel dormant until an operator resets the budgets.
    fn stop_at_budget(&mut self) {
        self.become_dormant(Cause::BudgetSpent);
        if !core::mem::replace(&mut self.quota.budget.edit().announced, true) {
            self.out.request(|ticket| Effect::Notice { ticket, notice: Notice::Budget });
        }
    }

    /// Announces once that a spent budget keeps the dormant channel from going on.
    pub(crate) fn announce_budget(&mut self) {
        if !core::mem::replace(&mut self.quota.budget.edit().announced, true) {
            self.out.tell(self.floor, None, Cause::BudgetSpent);
            self.out.request(|ticket| Effect::Notice { ticket, notice: Notice::Budget });
        }
    }

    /// Makes the channel dormant until a person writes, because the agent that has spoken asked for that.
    pub(crate) fn await_human(&mut self) {
        self.words.awaits_human = true;
        self.become_dormant(Cause::AwaitingHuman);
    }

    pub(crate) fn become_dormant(&mut self, cause: Cause) {
        self.cycle.forget(&mut self.roster.list, self.words);
        self.cycle.forget_plans();
        self.words.keep_unserved();
        // The turn that waited for the chat did not take place.
        self.words.wake_pending |= cause == Cause::ChatAway;
        self.cycle.forget_answered(self.words);
        self.out.shift(self.floor, Phase::Dormant, None, cause);
        // The initiator cannot help if a person or the chat is missing, so it is not reminded.
        let reminds = !matches!(cause, Cause::AwaitingHuman | Cause::ChatAway);
        if self.standing.is_discussion() && reminds {
            let Self { standing, floor, roster, reminders, out, .. } = self;
            Reminding { standing, floor, roster, reminders, out }.schedule();
        }
    }
}

/// Returns true if the channel woke for words that an agent must hear: a person's, or the post of a discussion.
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
