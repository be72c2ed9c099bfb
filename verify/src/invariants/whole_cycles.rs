//! I8: in every cycle everybody is asked once, in the order of the list.

use dirigent_core::view::{Seat, SeatTurn};
use dirigent_core::{AgentKey, Cause, Input, PhaseKind};

use super::observation::{begins_cycle, is_grant, is_skip};
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I8",
    promise: 2,
    requirements: "R060-R066, rules 29-32",
    sentence: "every completed cycle asks each agent of the list exactly once, in its order, or says why not",
    observer: || Box::new(WholeCycles::default()),
};

/// The book of one cycle.
#[derive(Debug, Default)]
struct WholeCycles {
    granted: Vec<AgentKey>,
    passed_over: Vec<AgentKey>,
    /// Who counts as Passed without having been asked.
    passing: Vec<AgentKey>,
}

impl Observer for WholeCycles {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let mut boundary = false;
        for told in seen.transitions() {
            let agent = told.agent.unwrap_or_default();
            if begins_cycle(told) {
                self.granted.clear();
            }
            if is_grant(told) {
                if told.cause == Cause::OperatorChoice {
                    self.granted.retain(|one| *one != agent); // its slot was moved
                }
                if self.granted.contains(&agent) {
                    return Err(format!("{agent} was granted twice in one cycle"));
                }
                self.granted.push(agent);
            }
            if is_skip(told.cause) {
                self.passed_over.push(agent);
            }
            if matches!(told.cause, Cause::AgentPassed | Cause::NothingNew) {
                self.passing.push(agent);
            }
            // The slot of an agent whose reply is delivered stays where it is.
            let moved = told.cause == Cause::AgentAssigned && seen.before.speaker != told.agent;
            if moved && !has_completed(seen.after, agent) {
                self.granted.retain(|one| *one != agent); // its slot was moved, too
            }
            boundary = told.cause == Cause::CycleBoundary;
            if boundary && matches!(told.from, PhaseKind::Dormant | PhaseKind::Refreshing) {
                self.granted.clear();
            }
        }
        let moves = matches!(seen.input, Input::Assign(_) | Input::Online(_));
        if boundary && seen.after.phase == PhaseKind::Refreshing && !moves {
            self.check(&seen.after.seats)?;
            self.passed_over.clear();
            self.passing.clear();
        }
        if !seen.after.is_active() {
            self.granted.clear();
            self.passed_over.clear();
            self.passing.clear();
        }
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {}
}

/// Whether the agent's slot says that it completed a turn.
fn has_completed(glance: &Glance, agent: AgentKey) -> bool {
    let seat = glance.seat(agent);
    seat.is_some_and(|seat| matches!(seat.turn, SeatTurn::Passed | SeatTurn::Spoke))
}

impl WholeCycles {
    fn check(&self, seats: &[Seat]) -> Result<(), String> {
        let mut order = self.granted.iter();
        let mut begun = false;
        for seat in seats {
            if seat.turn == SeatTurn::Ahead {
                return Err(format!("the cycle ended before the turn of {}", seat.agent));
            }
            if self.granted.contains(&seat.agent) {
                begun = true;
                if order.next() != Some(&seat.agent) {
                    return Err(format!("{} was not asked in the order of the list", seat.agent));
                }
                continue;
            }
            let passes = seat.turn == SeatTurn::Passed && self.passing.contains(&seat.agent);
            if seat.turn != SeatTurn::Skipped && !passes {
                return Err(format!("{} completed a turn that it was never given", seat.agent));
            }
            if begun && !self.passed_over.contains(&seat.agent) {
                return Err(format!("{} was skipped without a word", seat.agent));
            }
        }
        match order.next() {
            Some(agent) => Err(format!("{agent} was granted and is not in the list")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::forged::{A, B, Forged, fresh, seat};
    use super::*;
    use PhaseKind::{Dormant, Granted, Refreshing, Running};

    fn cycle(second: AgentKey) -> Forged {
        let told = [
            (Dormant, Granted, A, Cause::HumanMessage),
            (Running, Granted, second, Cause::NextInList),
            (Running, Refreshing, A, Cause::CycleBoundary),
        ];
        let mut step = Forged::default().telling(&told);
        step.after.seats = vec![seat(A, SeatTurn::Passed), seat(B, SeatTurn::Spoke)];
        step
    }

    #[test]
    fn a_whole_cycle_is_accepted() {
        cycle(B).accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn an_agent_granted_twice_is_caught() {
        cycle(A).rejected(fresh(&INVARIANT).as_mut(), "granted twice");
    }

    #[test]
    fn an_agent_granted_again_by_choice_is_accepted_and_one_passed_over_must_be_named() {
        let told = [
            (Dormant, Granted, A, Cause::HumanMessage),
            (Running, Granted, B, Cause::NextInList),
            (Running, Granted, A, Cause::OperatorChoice),
            (Running, Refreshing, A, Cause::CycleBoundary),
        ];
        let mut step = Forged::default().telling(&told);
        step.after.seats = vec![seat(B, SeatTurn::Passed), seat(A, SeatTurn::Passed)];
        step.accepted(fresh(&INVARIANT).as_mut());
        step.after.seats.push(seat(AgentKey::new(3), SeatTurn::Passed));
        step.rejected(fresh(&INVARIANT).as_mut(), "never given");
    }

    #[test]
    fn an_agent_forgotten_is_caught() {
        let mut step = cycle(B);
        step.after.seats[1].turn = SeatTurn::Ahead;
        step.rejected(fresh(&INVARIANT).as_mut(), "ended before the turn");
        let third = AgentKey::new(3);
        step.after.seats.clone_from(&cycle(B).after.seats);
        step.after.seats.push(seat(third, SeatTurn::Skipped));
        step.rejected(fresh(&INVARIANT).as_mut(), "without a word");
    }

    #[test]
    fn a_wrong_order_is_caught() {
        let mut step = cycle(B);
        step.after.seats.reverse();
        step.rejected(fresh(&INVARIANT).as_mut(), "in the order");
    }
}
