//! C2: no budget is exceeded.

use dirigent_core::{Cause, Config, Effect, Input, MessageKind, Notice};

use super::observation::begins_cycle;
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "C2",
    promise: 2,
    requirements: "F01, rule 65",
    sentence: "no turn or cycle begins beyond a budget until an operator resets it, no matter who speaks, and it is said once",
    observer: || Box::new(BudgetsHold::default()),
};

/// Counts of its own, never above the machine's.
#[derive(Debug, Default)]
struct BudgetsHold {
    turns: u32,
    cycles: u32,
    cost: u64,
    announced: bool,
}

impl Observer for BudgetsHold {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        // A reset comes after what was due, and before what it wakes.
        let resets = matches!(seen.input, Input::ResetBudget) && seen.answer.is_ok();
        if resets {
            *self = Self::default();
            if !seen.undisturbed {
                // What was due came first, and may have met the budget of before.
                self.turns = seen.after.budget.turns;
                self.cycles = seen.after.budget.cycles;
                return Ok(());
            }
        }
        let mut begun = false;
        for told in seen.transitions() {
            begun |= begins_cycle(told);
            if !super::is_grant(told) {
                continue;
            }
            if std::mem::take(&mut begun) {
                expect_below(seen, "cycle", self.cycles.into(), |rules| {
                    rules.budget.cycles.map(u64::from)
                })?;
                self.cycles += u32::from(counts(seen, |rules| rules.budget.cycles.is_some()));
            }
            expect_below(seen, "turn", self.turns.into(), |rules| {
                rules.budget.turns.map(u64::from)
            })?;
            expect_below(seen, "cost", self.cost, |rules| rules.budget.cost)?;
            self.turns += u32::from(counts(seen, |rules| rules.budget.turns.is_some()));
        }
        if let (Input::Spent { cost }, Ok(_)) = (seen.input, seen.answer) {
            self.cost = self.cost.saturating_add(*cost);
        }
        self.count_notices(seen)
    }

    fn restarted(&mut self, now: &Glance) {
        // A cost that was not stored was not taken in.
        self.turns = self.turns.min(now.budget.turns);
        self.cycles = self.cycles.min(now.budget.cycles);
        self.cost = self.cost.min(now.budget.cost);
        self.announced &= now.budget.announced;
    }
}

impl BudgetsHold {
    fn count_notices(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        // A resume word is answered with what the channel needs, said before or not (rule 65).
        let is_word = seen.message().is_some_and(|message| message.kind == MessageKind::ResumeWord);
        let resumes =
            |effect: &Effect| effect.transition().is_some_and(|told| told.cause == Cause::Resumed);
        for effect in seen.effects {
            if is_word && resumes(effect) {
                self.announced = false;
            }
            if let Effect::Notice { notice: Notice::Budget, .. } = effect {
                if core::mem::replace(&mut self.announced, true) {
                    return Err("a spent budget was announced twice".to_owned());
                }
            }
        }
        Ok(())
    }
}

/// Whether it is counted by the rules before the step and after it.
fn counts(seen: &Observation<'_>, set: impl Fn(&Config) -> bool) -> bool {
    set(seen.rules_before) && set(seen.rules)
}

/// Complains when something begins although this much was used; where the step changed the rules, the
/// higher budget holds, since what was due has expired by the old ones.
fn expect_below(
    seen: &Observation<'_>,
    what: &str,
    used: u64,
    of: impl Fn(&Config) -> Option<u64>,
) -> Result<(), String> {
    match (of(seen.rules_before), of(seen.rules)) {
        (Some(before), Some(after)) if used >= before.max(after) => {
            Err(format!("the budget is {}, and {what} {used} was not the last", before.max(after)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Cause, PhaseKind, Ticket};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn granting() -> Forged {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        Forged::default().telling(&told)
    }

    #[test]
    fn a_turn_and_a_cycle_beyond_the_budget_are_caught() {
        let mut turns = granting();
        turns.rules.budget.turns = Some(1);
        let mut cycles = granting();
        cycles.rules.budget.cycles = Some(1);
        for step in [turns, cycles] {
            let mut observer = fresh(&INVARIANT);
            step.accepted(observer.as_mut());
            step.rejected(observer.as_mut(), "the budget is 1");
            Forged { input: Input::ResetBudget, ..Forged::default() }.accepted(observer.as_mut());
            step.accepted(observer.as_mut());
        }
    }

    #[test]
    fn a_turn_after_the_cost_was_reached_is_caught() {
        let mut observer = fresh(&INVARIANT);
        let mut step = granting();
        step.rules.budget.cost = Some(5);
        Forged { input: Input::Spent { cost: 4 }, ..Forged::default() }.accepted(observer.as_mut());
        step.accepted(observer.as_mut());
        Forged { input: Input::Spent { cost: 1 }, ..Forged::default() }.accepted(observer.as_mut());
        step.rejected(observer.as_mut(), "the budget is 5");
    }

    #[test]
    fn a_second_notice_is_caught() {
        let mut observer = fresh(&INVARIANT);
        let mut step = Forged::default();
        step.effects.push(Effect::Notice { ticket: Ticket::new(1), notice: Notice::Budget });
        step.accepted(observer.as_mut());
        step.rejected(observer.as_mut(), "announced twice");
    }
}
