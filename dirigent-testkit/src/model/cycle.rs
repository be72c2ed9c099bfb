//! Waking, cycles, grants, boundaries and dormancy (rules 27, 29 to 34).

use std::collections::BTreeMap;

use dirigent_core::{AgentKey, Cause, Notice, SeatTurn};

use super::Model;
use super::answer::EndedTurn;
use super::members::CycleSoFar;
use super::state::{Cycle, Phase, Purpose, Slot, Stage, Turn};

impl Model {
    /// Rule 27: a new cycle begins, with a fresh list.
    pub(super) fn wake(&mut self, first: Option<AgentKey>) {
        self.empty_cycle();
        self.withdraw_permit();
        self.reminder_due = None;
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

    /// Rule 4: nobody took a turn, no veto, no last completer.
    pub(super) fn empty_cycle(&mut self) {
        for slot in &mut self.list {
            slot.turn = SeatTurn::Ahead;
        }
        self.cycle = Cycle::default();
    }

    /// Rule 29: counts the cycle and grants its first turn, or the one asked for (rule 27).
    pub(super) fn start_cycle(&mut self, first: Option<AgentKey>) {
        if self.are_cycles_used_up() {
            self.on_ceiling();
            return;
        }
        self.cycles = self.cycles.saturating_add(1);
        let asked = self.list.iter().position(|slot| Some(slot.agent) == first);
        let asked = asked.filter(|at| self.is_available(*at)).unwrap_or(0);
        if asked > 0 {
            self.cycle.vetoed = true;
        }
        for slot in self.list.iter_mut().take(asked) {
            slot.turn = SeatTurn::Skipped;
        }
        self.grant_from(asked);
    }

    /// Rules 29 and 31: grants the next available slot, or meets the boundary.
    fn grant_from(&mut self, start: usize) {
        for at in start..self.list.len() {
            if self.is_available(at) {
                self.grant(at);
                return;
            }
            if let Some(slot) = self.list.get_mut(at) {
                slot.turn = SeatTurn::Skipped;
            }
        }
        self.on_boundary();
    }

    /// Rule 30.
    fn grant(&mut self, at: usize) {
        if self.are_turns_used_up() || self.is_time_up() {
            self.on_ceiling();
            return;
        }
        let Some(agent) = self.list.get(at).map(|slot| slot.agent) else {
            return;
        };
        self.turns = self.turns.saturating_add(1);
        self.turn += 1;
        let held = self.is_held();
        let due = self.config.start_deadline.map(|time| self.now + time);
        self.enter(Phase::Turn(Turn {
            agent,
            stage: Stage::Granted { attempt: 0, due: due.filter(|_| !held) },
            run: None,
            anchor: None,
            pieces: BTreeMap::new(),
            last_piece: None,
            receipt: false,
        }));
        if !held {
            self.emit_trigger(agent, 0);
        }
    }

    /// Rules 20, 23 and 31: the speaker's turn is over, and how.
    pub(super) fn end_turn(&mut self, how: SeatTurn, cause: Cause) {
        let Some(agent) = self.speaker() else {
            return;
        };
        self.ended.push(EndedTurn { agent, cause });
        let now = self.now;
        if let Some(slot) = self.list.iter_mut().find(|slot| slot.agent == agent) {
            slot.turn = how;
            if how != SeatTurn::Passed {
                slot.grace_since = Some(now);
            }
        }
        if matches!(how, SeatTurn::Passed | SeatTurn::Spoke) {
            self.cycle.last_completer = Some(agent); // D30
        }
    }

    /// Rule 31: on to the next slot.
    pub(super) fn advance(&mut self) {
        let speaker = self.speaker();
        let at = self.list.iter().position(|slot| Some(slot.agent) == speaker);
        self.grant_from(at.map_or(0, |at| at + 1));
    }

    /// Rule 32: the list is read once.
    fn on_boundary(&mut self) {
        self.ask_refresh();
        self.enter(Phase::Refreshing(Purpose::Boundary));
    }

    /// Rule 32: what follows when the list was read, or could not be.
    pub(super) fn after_boundary(&mut self, is_anybody_new: bool, before: CycleSoFar) {
        if self.list.len() < 2 {
            self.disable();
            return;
        }
        if !is_anybody_new && !self.cycle.vetoed && !before.spoke {
            let nobody = self.cycle.last_completer.is_none();
            self.causes.push(if nobody { Cause::NobodyAnswered } else { Cause::AllPassed });
            self.enter_dormancy();
            return;
        }
        let last = self.cycle.last_completer;
        self.empty_cycle();
        if self.list.len() >= 3 {
            self.adopt_order(last);
        } else if before.agents >= 3 && self.list.first().map(|slot| slot.agent) == last {
            self.causes.push(Cause::Reshuffled);
            self.list.swap(0, 1);
        }
        self.start_cycle(None);
    }

    /// Takes the machine's order for a shuffled one, if the rules allow it.
    pub(super) fn adopt_order(&mut self, not_first: Option<AgentKey>) {
        self.causes.push(Cause::Reshuffled);
        let slots = std::mem::take(&mut self.list);
        let sought = self.order.iter();
        let found = sought.filter_map(|agent| slots.iter().find(|slot| slot.agent == *agent));
        self.list = found.cloned().collect();
        let is_listed = |slot: &Slot, list: &[Slot]| list.iter().any(|one| one.agent == slot.agent);
        let missing = slots.iter().filter(|slot| !is_listed(slot, &self.list));
        let missing: Vec<Slot> = missing.cloned().collect();
        // When nobody is available, the cycle is over at once, and an answer in the very same step
        // may have changed the list again.
        let again = !slots.iter().any(|slot| self.can_speak(slot));
        let is_whole = missing.is_empty() && self.list.len() == slots.len();
        if !is_whole && !again {
            let what = format!("{:?} is no order of {slots:?}", self.order);
            self.violations.push(what);
        }
        self.list.extend(missing);
        let mut able = self.list.iter().filter(|slot| self.can_speak(slot));
        let first_able = able.next().map(|slot| slot.agent);
        let is_only = first_able == not_first && able.next().is_none();
        let first = self.list.first().map(|slot| slot.agent);
        let speaks_twice = first == not_first || first_able == not_first;
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
        self.empty_cycle();
        self.enter(Phase::Dormant);
        self.plan_reminder();
    }

    /// Fewer than two agents: everybody may speak.
    pub(super) fn disable(&mut self) {
        self.causes.push(Cause::TooFewAgents);
        self.empty_cycle();
        self.withdraw_permit();
        self.reminder_due = None;
        self.enter(Phase::Disabled);
    }

    /// Whether the slot's agent can be given the floor.
    fn is_available(&self, at: usize) -> bool {
        self.list.get(at).is_some_and(|slot| self.can_speak(slot))
    }

    /// Whether the agent is neither gone nor muted.
    fn can_speak(&self, slot: &Slot) -> bool {
        !slot.left && !self.muted.contains(&slot.agent)
    }
}
