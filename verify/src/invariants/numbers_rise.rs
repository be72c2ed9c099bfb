//! I2, the core's part: turns, tickets and revisions only rise.

use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I2",
    promise: 1,
    requirements: "D40, rules 30 and 42",
    sentence: "turn numbers rise by one with each grant, tickets never repeat, no effect without a new revision",
    observer: || Box::new(NumbersRise::default()),
};

#[derive(Debug, Default)]
struct NumbersRise {
    /// The ticket that may come next at the earliest; a ticket is stored before it is acted upon,
    /// so a restart does not take it back.
    next_ticket: u64,
}

impl Observer for NumbersRise {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let (before, after) = (seen.before, seen.after);
        let mut turn = before.turn.get();
        for grant in seen.grants() {
            turn += 1;
            if grant.turn.get() != turn {
                return Err(format!("{} was granted after turn {}", grant.turn, turn - 1));
            }
        }
        if after.turn.get() != turn {
            return Err(format!("{} without a grant, expected {turn}", after.turn));
        }
        for ticket in seen.effects.iter().filter_map(dirigent_core::Effect::ticket) {
            if ticket.get() < self.next_ticket {
                return Err(format!("{ticket} was given out before"));
            }
            self.next_ticket = ticket.get() + 1;
        }
        let changed = after.revision > before.revision;
        if after.revision < before.revision || (!changed && !seen.effects.is_empty()) {
            return Err(format!(
                "revision {} after {} with {} effects",
                after.revision,
                before.revision,
                seen.effects.len()
            ));
        }
        let phase_moved = before.phase != after.phase || before.rest != after.rest;
        if phase_moved && !changed {
            return Err("the phase changed and a restart would not know".to_owned());
        }
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {}
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Cause, Effect, PhaseKind, Ticket, TurnId};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    #[test]
    fn a_turn_number_that_jumps_is_caught() {
        let mut step = Forged::default();
        step.after.turn = TurnId::new(2);
        step.after.revision = 1;
        step.rejected(fresh(&INVARIANT).as_mut(), "without a grant");
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        step.telling(&told).rejected(fresh(&INVARIANT).as_mut(), "was granted after");
    }

    #[test]
    fn a_ticket_given_out_twice_is_caught() {
        let mut observer = fresh(&INVARIANT);
        let mut step = Forged::default();
        step.effects.push(Effect::FetchMembers { ticket: Ticket::new(4) });
        step.after.revision = 1;
        step.accepted(observer.as_mut());
        step.rejected(observer.as_mut(), "given out before");
    }

    #[test]
    fn an_effect_that_no_restart_would_know_of_is_caught() {
        let mut step = Forged::default();
        step.effects.push(Effect::FetchMembers { ticket: Ticket::new(4) });
        step.rejected(fresh(&INVARIANT).as_mut(), "revision");
        let mut silent = Forged::default();
        silent.after.phase = PhaseKind::Disabled;
        silent.rejected(fresh(&INVARIANT).as_mut(), "would not know");
    }
}
