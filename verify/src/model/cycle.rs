//! Waking, cycles, grants, boundaries and dormancy (rules 27, 29 to 34).

use std::collections::BTreeMap;

use dirigent_core::config::MentionRule;
use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Cause, Notice};

use super::Model;
use super::answer::EndedTurn;
use super::members::CycleSoFar;
use super::state::{Cycle, First, Phase, Purpose, Slot, Turn, TurnProgress};

impl Model {
    /// Rule 27: a new cycle begins, with a fresh list.
    pub(super) fn wake(&mut self, first: First) {
        self.wake_for(first, None);
    }

    /// Rules 27 and 62: a new cycle begins, as a round of these if there are any.
    pub(super) fn wake_for(&mut self, first: First, round: Option<Vec<AgentKey>>) {
        if self.sleeps_without_chat() {
            self.kept_in_mind = true; // rule 70
            self.untaken = false;
            self.round_to_come = None;
            self.settling = None;
            return;
        }
        self.untaken |= std::mem::take(&mut self.kept_in_mind); // rule 54
        self.settling = None; // rule 79
        self.awaits_human = false; // rule 63
        self.choice = None; // rule 61
        self.round_to_come = round;
        self.handed_to = None; // rule 78
        self.reminders = 0; // rule 36
        self.empty_cycle();
        self.forgive_passing(); // rule 59
        self.withdraw_permit();
        self.reminder_due = None;
        self.turn_list_to_cut(first);
        if self.is_list_fresh() {
            self.forget_refresh();
            self.start_cycle(first);
        } else {
            if self.refresh.is_none() {
                self.ask_refresh();
            }
            self.enter(Phase::Refreshing(Purpose::Waking { first }));
        }
    }

    /// Rule 4: no agent took a turn, no veto, no last completer.
    pub(super) fn empty_cycle(&mut self) {
        for slot in &mut self.list {
            slot.turn = SeatTurn::Ahead;
        }
        self.cycle = Cycle::default();
        self.round = None;
    }

    /// Rule 29: counts the cycle and grants its first turn, or the one asked for.
    pub(super) fn start_cycle(&mut self, first: First) {
        self.choice = None; // rule 61
        if self.is_any_budget_spent() {
            self.on_budget_spent();
            return;
        }
        if self.are_cycles_used_up() {
            self.on_ceiling();
            return;
        }
        self.cycles = self.cycles.saturating_add(1);
        self.count_cycle_of_budget();
        self.forget_old_turns(self.now); // rule 64
        let start = self.start_of(first);
        let chosen = self.list.get(start).map(|slot| First::Chosen(slot.agent));
        let is_chosen = chosen == Some(first) && self.is_place_available(start);
        if !is_chosen {
            self.begin_round(); // rule 62: a choice comes first
        }
        if start > 0 {
            self.veto();
        }
        for slot in self.list.iter_mut().take(start) {
            slot.turn = SeatTurn::Skipped;
        }
        if is_chosen {
            self.grant(start, true);
        } else {
            self.grant_from(start, true);
        }
    }

    /// Rules 27, 58 and 61: at which slot the cycle starts.
    fn start_of(&self, first: First) -> usize {
        let place = |agent| self.list.iter().position(|slot| slot.agent == agent);
        match first {
            First::Front => 0,
            First::At(agent) | First::Chosen(agent) => {
                place(agent).filter(|at| self.is_place_available(*at)).unwrap_or(0)
            }
            First::After(sender) => {
                let Some(place) = place(sender) else {
                    return 0;
                };
                let mut cyclically = (place + 1..self.list.len()).chain(0..=place);
                cyclically.find(|at| self.hindrance(*at).is_none()).unwrap_or(0)
            }
        }
    }

    /// Rules 29 and 31: grants the next slot that can be granted, or meets the boundary.
    fn grant_from(&mut self, start: usize, is_first: bool) {
        for at in start..self.list.len() {
            let Some(hindrance) = self.hindrance(at) else {
                self.grant(at, is_first);
                return;
            };
            let passes = matches!(hindrance, Cause::AgentPassed | Cause::NothingNew);
            if let Some(slot) = self.list.get_mut(at) {
                slot.turn = if passes { SeatTurn::Passed } else { SeatTurn::Skipped };
            }
            let is_named = !matches!(
                hindrance,
                Cause::AgentLeft
                    | Cause::AgentMuted
                    | Cause::AgentMayNotWrite
                    | Cause::AgentOffline
            );
            self.causes.extend(is_named.then_some(hindrance));
        }
        self.on_boundary();
    }

    /// Rule 30.
    fn grant(&mut self, at: usize, is_first: bool) {
        if self.is_turn_budget_spent() {
            self.note_cut_before(at, is_first); // rule 65
            self.on_budget_spent();
            return;
        }
        if self.are_turns_used_up() || self.is_time_up() {
            self.note_cut_before(at, is_first); // rule 33
            self.on_ceiling();
            return;
        }
        let Some(agent) = self.list.get(at).map(|slot| slot.agent) else {
            return;
        };
        self.turns = self.turns.saturating_add(1);
        self.count_turn_of_budget();
        self.turn += 1;
        self.choice = None; // rule 61
        let held = self.is_held();
        let due = self.fresh_start();
        let end = self.config.deadlines.turn.map(|time| self.now + time);
        self.enter(Phase::Turn(Turn {
            agent,
            stage: TurnProgress::Granted { attempt: 0, due },
            run: None,
            anchor: None,
            pieces: BTreeMap::new(),
            last_piece: None,
            arrivals: Vec::new(),
            receipt: false,
            spoken: false,
            asked: 0,
            end: end.filter(|_| !held), // rule 50
            slow: None,
            awaits_human: false,
            whole: false,
            news: false,
            told: false,
        }));
        if !held {
            let over = self.held.take(); // rule 54
            self.emit_trigger(agent, 0, over);
        }
    }

    /// Rule 27: the cut's slot is first now, and those before it follow behind the last.
    fn turn_list_to_cut(&mut self, first: First) {
        let Some(cut) = self.cut.take().filter(|_| first == First::Front) else {
            return;
        };
        let place = self.list.iter().position(|slot| slot.agent == cut);
        let before: Vec<Slot> = self.list.drain(..place.unwrap_or(0)).collect();
        self.list.extend(before);
    }

    /// Rules 37 and 71: with whom the conversation goes on, where a turn is cut.
    pub(super) fn note_cut(&mut self) {
        let Some(turn) = self.phase.turn() else {
            return;
        };
        let (agent, is_said) = (turn.agent, turn.confirming().is_some());
        self.cut = if is_said { self.next_behind(agent) } else { Some(agent) };
    }

    /// Rule 33: this slot was to be granted, and not as the first of its cycle.
    fn note_cut_before(&mut self, at: usize, is_first: bool) {
        self.cut = self.list.get(at).filter(|_| !is_first).map(|slot| slot.agent);
    }

    /// Who is behind this agent, around the list.
    fn next_behind(&self, agent: AgentKey) -> Option<AgentKey> {
        let mut around = self.list.iter().chain(&self.list).map(|slot| slot.agent);
        around.find(|one| *one == agent)?;
        around.next()
    }

    /// Rules 20, 23 and 31: the speaker's turn is over, and how.
    pub(super) fn end_turn(&mut self, how: SeatTurn, cause: Cause) {
        self.end_rest(); // rule 55
        let Some(turn) = self.phase.turn() else {
            return;
        };
        let (agent, spoken, whole) = (turn.agent, turn.spoken, turn.whole);
        let has_failed = matches!(cause, Cause::RunFailed | Cause::SignalMissing);
        self.untaken &= how == SeatTurn::Skipped || has_failed; // rule 54
        let delivered = turn.stage == TurnProgress::Delivering && cause == Cause::ReceiptGiven;
        let said_last = delivered && !turn.news; // rule 76
        let how = if spoken { SeatTurn::Spoke } else { how }; // rule 49
        self.ended.push(EndedTurn { agent, cause });
        let (now, skips) = (self.now, self.config.order.skip_passed);
        if let Some(slot) = self.list.iter_mut().find(|slot| slot.agent == agent) {
            slot.turn = how;
            let nothing_comes = how == SeatTurn::Passed && cause != Cause::Repeated; // rule 77
            if !nothing_comes && !whole {
                slot.grace_since = Some(now);
            }
            slot.passed_over = skips && how == SeatTurn::Passed; // rule 59
        }
        if how == SeatTurn::Spoke {
            self.note_spoke(agent);
            self.last_word = said_last.then_some(agent);
        } else if self.last_word == Some(agent) {
            self.last_word = None;
        }
        if matches!(how, SeatTurn::Passed | SeatTurn::Spoke) {
            self.cycle.last_completer = Some(agent); // D30
        }
    }

    /// Rules 59 and 64: a slot became Spoke.
    pub(super) fn note_spoke(&mut self, agent: AgentKey) {
        self.forgive_passing();
        self.remember_spoken_turn(agent);
    }

    /// Rule 31: on to the next slot, to whom an operator chose, or to a round.
    pub(super) fn advance(&mut self) {
        let speaker = self.speaker();
        let at = self.list.iter().position(|slot| Some(slot.agent) == speaker);
        let handed_to = self.handed_to.take();
        if self.is_patience_over() {
            self.cut = speaker.and_then(|agent| self.next_behind(agent)); // rule 71
            self.sleep_without_chat();
            return;
        }
        if let Some(next) = self.move_choice_behind(at) {
            self.grant(next, false); // rule 61
            return;
        }
        if self.round.is_none() && self.round_to_come.is_some() {
            if self.put_first().is_some() {
                self.turn_list_behind(at);
            }
            self.empty_cycle();
            self.start_cycle(First::Front); // rule 62
            return;
        }
        if let Some(next) = handed_to.filter(|next| self.may_hand_over(at, *next)) {
            self.turn_list_behind(at);
            self.move_to_front(Some(next));
            self.empty_cycle();
            self.start_cycle(First::Front); // rule 78
            return;
        }
        self.grant_from(at.map_or(0, |at| at + 1), false);
    }

    /// Rule 78: whether the agent at this place, whose turn ended, chooses who is next.
    fn may_hand_over(&self, at: Option<usize>, next: AgentKey) -> bool {
        let ended = at.and_then(|at| self.list.get(at));
        let spoke = ended.is_some_and(|it| it.turn == SeatTurn::Spoke && it.agent != next);
        let is_next_free = self.list.iter().any(|slot| slot.agent == next && self.is_free(slot));
        spoke && is_next_free && self.round.is_none()
    }

    /// Rule 32: the list is read once.
    fn on_boundary(&mut self) {
        self.ask_refresh();
        self.enter(Phase::Refreshing(Purpose::Boundary));
    }

    /// Rule 32: what follows when the list was read, or could not be.
    pub(super) fn after_boundary(&mut self, is_anybody_new: bool, before: &CycleSoFar) {
        if !self.has_enough_agents() {
            self.disable();
            return;
        }
        let ended = self.round.take();
        let is_after_round = ended.is_some();
        let in_vain = ended.filter(|_| self.untaken && !self.cycle.vetoed); // rule 62
        let is_answered = if is_after_round {
            !before.spoke.is_empty() // rule 62
        } else {
            self.can_be_answered(&before.spoke)
        };
        if !is_anybody_new && !self.is_cycle_requested() && !is_answered {
            self.causes.push(match (before.spoke.is_empty(), before.passed) {
                (false, _) => Cause::NoOtherAgent,
                (true, true) => Cause::AllPassed,
                (true, false) => Cause::Unanswered,
            });
            self.enter_dormancy();
            self.plan_round(in_vain);
            return;
        }
        self.plan_round(in_vain);
        let last = self.cycle.last_completer;
        self.empty_cycle();
        let choice = self.choice.take().filter(|agent| {
            let place = self.list.iter().position(|slot| slot.agent == *agent);
            place.is_some_and(|at| self.is_place_available(at))
        });
        let apart =
            self.round_to_come.is_some() && self.config.people.mentions == MentionRule::Only;
        if is_after_round || apart {
            // Rule 62: the order is what it was.
        } else if self.list.len() >= 3 {
            self.adopt_order(last, choice);
        } else if let (true, [one, two]) = (before.agents >= 3, self.list.as_mut_slice()) {
            if Some(one.agent) == last {
                self.causes.push(Cause::Reshuffled);
                std::mem::swap(one, two);
            }
        }
        self.move_to_front(choice);
        self.start_cycle(choice.map_or(First::Front, First::Chosen));
    }

    /// Rules 25 and 54: whether another cycle is asked for.
    pub(super) fn is_cycle_requested(&self) -> bool {
        let is_owed = self.untaken || self.held.is_some();
        self.cycle.vetoed || (self.cycle.returned && is_owed)
    }

    /// Rule 32: whether one of these could be answered by another.
    pub(super) fn can_be_answered(&self, spoke: &[AgentKey]) -> bool {
        let mut able = self.list.iter().filter(|slot| self.is_free(slot));
        able.any(|slot| spoke.iter().any(|speaker| *speaker != slot.agent))
    }

    /// Takes the machine's order for a shuffled one, if the rules allow it.
    pub(super) fn adopt_order(&mut self, not_first: Option<AgentKey>, choice: Option<AgentKey>) {
        self.causes.push(Cause::Reshuffled);
        let slots = std::mem::take(&mut self.list);
        let sought = self.order.iter();
        let found = sought.filter_map(|agent| slots.iter().find(|slot| slot.agent == *agent));
        self.list = found.cloned().collect();
        let is_listed = |slot: &Slot, list: &[Slot]| list.iter().any(|one| one.agent == slot.agent);
        let missing = slots.iter().filter(|slot| !is_listed(slot, &self.list));
        let missing: Vec<Slot> = missing.cloned().collect();
        // When no agent is available, the cycle is over at once, and an answer in the very same step
        // may have changed the list again.
        let again = !slots.iter().any(|slot| self.hindrance_of(slot).is_none());
        let is_whole = missing.is_empty() && self.list.len() == slots.len();
        if !is_whole && !again {
            let what = format!("{:?} is no order of {slots:?}", self.order);
            self.violations.push(what);
        }
        self.list.extend(missing);
        if choice.is_some() {
            let first = self.list.first().map(|slot| slot.agent);
            if first != choice && !again {
                self.violations.push(format!("{choice:?} was chosen and is not first"));
            }
            return; // where it was before it was moved is not to be seen
        }
        if self.put_first().is_some() || self.addresses {
            return; // as above; whether the addressed are first is seen when the round begins
        }
        let mut able = self.list.iter().filter(|slot| self.is_free(slot));
        let first_able = able.next().map(|slot| slot.agent);
        let is_only = first_able == not_first && able.next().is_none();
        let first = self.list.first().map(|slot| slot.agent);
        // Who was away and is assigned by this step's input stands behind the shuffled list, and may
        // have stood in front of it (rules 32 and 56).
        let moved =
            self.assigned.is_some() && self.list.last().map(|one| one.agent) == self.assigned;
        let speaks_twice = (first == not_first && !moved) || first_able == not_first;
        if not_first.is_some() && speaks_twice && !is_only && !again {
            let what = format!("{not_first:?} completed last and is first again");
            self.violations.push(what);
        }
    }

    /// Rule 33.
    fn on_ceiling(&mut self) {
        self.causes.push(Cause::CeilingReached);
        self.enter_dormancy();
        if !self.ceiling_announced {
            self.ceiling_announced = true;
            self.emit_notice(Notice::Ceiling);
        }
    }

    /// Rule 34.
    pub(super) fn enter_dormancy(&mut self) {
        self.fall_asleep();
        self.plan_reminder();
    }

    /// Rules 34 and 54: no agent has the floor, and what no agent heard is kept in mind.
    pub(super) fn fall_asleep(&mut self) {
        self.keep_untaken();
        self.choice = None;
        self.round_to_come = None;
        self.handed_to = None; // rule 78
        self.empty_cycle();
        self.enter(Phase::Dormant);
    }

    /// Fewer than two agents: everybody may speak.
    pub(super) fn disable(&mut self) {
        self.causes.push(Cause::TooFewAgents);
        self.keep_no_turns();
        self.enter(Phase::Disabled);
    }

    /// What ends where no turns are kept for now.
    pub(super) fn keep_no_turns(&mut self) {
        self.keep_untaken();
        self.awaits_human = false;
        self.choice = None;
        self.round_to_come = None;
        self.handed_to = None; // rule 78
        self.empty_cycle();
        self.withdraw_permit();
        self.reminder_due = None;
    }

    /// D66: the boundary may not end in dormancy, and who passed is asked again (rule 59).
    pub(super) fn veto(&mut self) {
        self.cycle.vetoed = true;
        self.forgive_passing();
        self.be_news(None);
    }

    /// Rule 76: something is new to everybody but this author.
    pub(super) fn be_news(&mut self, author: Option<AgentKey>) {
        if author.is_none() || self.last_word != author {
            self.last_word = None;
        }
        if let Some(turn) = self.phase.turn_mut() {
            turn.news |= author != Some(turn.agent);
        }
    }

    /// Rule 76: whether the agent spoke last, and is not asked while nothing is new.
    pub(super) fn has_nothing_new(&self, agent: AgentKey) -> bool {
        self.config.order.skip_last_speaker && self.last_word == Some(agent)
    }

    /// Rule 59: no agent is passed over any more.
    fn forgive_passing(&mut self) {
        for slot in &mut self.list {
            slot.passed_over = false;
        }
    }

    /// Rule 29: what hinders this place from being granted.
    pub(super) fn hindrance(&self, at: usize) -> Option<Cause> {
        self.list.get(at).and_then(|slot| self.hindrance_of(slot))
    }

    /// Rule 29: what hinders this slot from being granted.
    fn hindrance_of(&self, slot: &Slot) -> Option<Cause> {
        if slot.left {
            return Some(Cause::AgentLeft);
        }
        if self.muted.contains(&slot.agent) {
            return Some(Cause::AgentMuted);
        }
        if self.may_not_write.contains_key(&slot.agent) {
            return Some(Cause::AgentMayNotWrite);
        }
        if self.away.contains_key(&slot.agent) {
            return Some(Cause::AgentOffline);
        }
        if self.config.order.skip_passed && slot.passed_over {
            return Some(Cause::AgentPassed);
        }
        if self.has_nothing_new(slot.agent) {
            return Some(Cause::NothingNew);
        }
        if self.round.as_ref().is_some_and(|round| !round.contains(&slot.agent)) {
            return Some(Cause::NotMentioned);
        }
        self.is_slot_capped(slot).then_some(Cause::AgentCapped)
    }

    /// Rule 29: whether the slot's agent has not left, is not muted, may write, and is not away.
    pub(super) fn is_available(&self, slot: &Slot) -> bool {
        !slot.left && !self.is_barred(slot.agent)
    }

    /// Rules 37, 56 and 81: whether the agent has no turns, wherever it is.
    pub(super) fn is_barred(&self, agent: AgentKey) -> bool {
        self.muted.contains(&agent)
            || self.may_not_write.contains_key(&agent)
            || self.away.contains_key(&agent)
    }

    /// Rule 29: whether the agent at this place is available.
    pub(super) fn is_place_available(&self, at: usize) -> bool {
        self.list.get(at).is_some_and(|slot| self.is_available(slot))
    }

    /// Rule 32: whether the slot's agent is available and not capped.
    fn is_free(&self, slot: &Slot) -> bool {
        self.is_available(slot) && !self.is_slot_capped(slot)
    }
}
