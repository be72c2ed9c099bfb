//! C1: without a person, agents talk for a limited time only.

use dirigent_core::{Author, Cause, Config, Effect, Notice};

use super::observation::{begins_cycle, is_grant};
use super::{Glance, Invariant, Observation, Observer};
use crate::portrait::{cycles_max, turns_max};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "C1",
    promise: 2,
    requirements: "F01, F02, rules 22, 29, 30, 33",
    sentence: "since a person last spoke no more turns and cycles begin than the ceilings allow, and it is said once",
    observer: || Box::new(CeilingsHold::default()),
};

/// Counts of its own, never above the machine's.
#[derive(Debug, Default)]
struct CeilingsHold {
    turns: u32,
    cycles: u32,
    announced: bool,
}

impl Observer for CeilingsHold {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        if seen.ceilings_lifted() {
            *self = Self::default();
            if !seen.undisturbed {
                return Ok(());
            }
        }
        if seen.undisturbed && is_agents_word(seen) {
            // Which words count (rule 22) the reference model checks; here, that they are obeyed.
            self.turns += seen.after.turns.saturating_sub(seen.before.turns).min(1);
        }
        let time_up = seen.before.time_up.filter(|at| *at <= seen.now);
        // A resume begins the time anew (rule 37).
        let resumed = seen.transitions().any(|told| told.cause == Cause::Resumed);
        let cut = seen.undisturbed && !seen.ceilings_lifted() && time_up.is_some() && !resumed;
        if cut && seen.grants().next().is_some() && !seen.rules_changed() {
            return Err("a turn began after the discussion's time was up".to_owned());
        }
        let mut begun = false;
        for told in seen.transitions() {
            begun |= begins_cycle(told);
            if !is_grant(told) {
                continue;
            }
            if std::mem::take(&mut begun) {
                if ceiling(seen, |rules| cycles_max(rules, seen.after.mode))
                    .is_some_and(|max| self.cycles >= max)
                {
                    return Err(format!("cycle {} began without a person", self.cycles + 1));
                }
                self.cycles += 1;
            }
            let most = ceiling(seen, |rules| turns_max(rules, seen.after.mode));
            if most.is_some_and(|max| self.turns >= max) {
                return Err(format!("turn {} began without a person", self.turns + 1));
            }
            self.turns += 1;
        }
        self.count_notices(seen)
    }

    fn restarted(&mut self, now: &Glance) {
        // A word of an agent that asked for nothing need not have been stored.
        self.turns = self.turns.min(now.turns);
        self.cycles = self.cycles.min(now.cycles);
    }
}

impl CeilingsHold {
    fn count_notices(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        for effect in seen.effects {
            if let Effect::Notice { notice: Notice::Ceiling, .. } = effect {
                if core::mem::replace(&mut self.announced, true) {
                    return Err("the ceiling was announced twice".to_owned());
                }
            }
        }
        Ok(())
    }
}

/// The ceiling that holds in this step; where the step changed the rules, the higher one, since
/// what was due has expired by the old ones.
fn ceiling(seen: &Observation<'_>, of: impl Fn(&Config) -> Option<u32>) -> Option<u32> {
    Some(of(seen.rules_before)?.max(of(seen.rules)?))
}

/// Whether an agent's word was taken in and nothing was granted over it.
fn is_agents_word(seen: &Observation<'_>) -> bool {
    let Some(message) = seen.message() else {
        return false;
    };
    let by_agent = matches!(message.author, Author::Agent(_));
    by_agent && seen.answer.is_ok() && seen.grants().next().is_none()
}

#[cfg(test)]
mod tests {
    use dirigent_core::{PhaseKind, Ticket, Timestamp};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn next_turn() -> Forged {
        let told = [(PhaseKind::Running, PhaseKind::Granted, A, Cause::NextInList)];
        Forged::default().telling(&told)
    }

    #[test]
    fn one_turn_too_many_is_caught() {
        let mut observer = fresh(&INVARIANT);
        (0..60).for_each(|_| next_turn().accepted(observer.as_mut()));
        next_turn().rejected(observer.as_mut(), "turn 61");
    }

    #[test]
    fn one_cycle_too_many_is_caught() {
        let mut observer = fresh(&INVARIANT);
        let told = [(PhaseKind::Refreshing, PhaseKind::Granted, A, Cause::NextCycle)];
        let cycle = Forged::default().telling(&told);
        (0..12).for_each(|_| cycle.accepted(observer.as_mut()));
        cycle.rejected(observer.as_mut(), "cycle 13");
    }

    #[test]
    fn a_turn_after_the_time_is_caught() {
        let mut late = next_turn();
        late.before.time_up = Some(Timestamp::from_millis(late.now));
        late.rejected(fresh(&INVARIANT).as_mut(), "time was up");
        late.before.time_up = Some(Timestamp::from_millis(late.now + 1));
        late.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_notice_said_twice_is_caught() {
        let mut observer = fresh(&INVARIANT);
        let mut step = Forged::default();
        step.effects.push(Effect::Notice { ticket: Ticket::new(1), notice: Notice::Ceiling });
        step.accepted(observer.as_mut());
        step.rejected(observer.as_mut(), "twice");
    }
}
