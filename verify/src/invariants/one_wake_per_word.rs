//! I15: the channel does not call agents again and again for the same word.

use dirigent_core::{AgentKey, Cause, Input, PhaseKind};

use super::{Glance, Invariant, Observation, Observer};
use crate::portrait::is_active;

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I15",
    promise: 2,
    requirements: "F01, R264, rules 54, 64, 79",
    sentence: "by itself the channel wakes once for a word at most, and once for each agent whose cap has ended since: else it needs an input that lets an agent be granted",
    observer: || Box::new(OneWakePerWord { may_wake: true, capped: Vec::new() }),
};

#[derive(Debug)]
struct OneWakePerWord {
    /// Something came that may wake, and the channel has not woken since.
    may_wake: bool,
    /// Who was capped at any time since then.
    capped: Vec<AgentKey>,
}

impl Observer for OneWakePerWord {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        self.may_wake |= lifts(seen);
        let mut wakes = seen.transitions();
        let wakes = wakes.any(|told| told.from == PhaseKind::Dormant && is_active(told.to));
        if wakes {
            let was_freed = self.capped.iter().any(|agent| !seen.after.capped.contains(agent));
            if !self.may_wake && !was_freed {
                return Err("woke again for the same word".to_owned());
            }
            self.may_wake = false;
        }
        if wakes {
            self.capped.clear();
        }
        let new = seen.after.capped.iter().filter(|agent| !self.capped.contains(agent));
        let new: Vec<_> = new.copied().collect();
        self.capped.extend(new);
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {
        // It may have been brought back as it was before it woke.
        self.may_wake = true;
    }
}

/// Whether this may wake a channel, or let an agent be granted.
fn lifts(seen: &Observation<'_>) -> bool {
    let is_given = matches!(
        seen.input,
        Input::Message(_)
            | Input::Addressed { .. }
            | Input::Wake { .. }
            | Input::SpeakNext(_)
            | Input::Resume
            | Input::Unmute(_)
            | Input::MayNotWrite { .. }
            | Input::MayWrite(_)
            | Input::MemberJoined(_)
            | Input::Members { .. }
            | Input::Online(_)
            | Input::Assign(_)
            | Input::ResetBudget
            | Input::Reconfigure(_)
            | Input::Chat { away: false }
    );
    // What the initiator said by its permit (rules 15 and 36), and what it was about to say.
    let is_given = is_given || seen.before.permit.is_some();
    let ends = |cause| matches!(cause, Cause::AgentMayWrite | Cause::EnoughAgents);
    is_given || seen.transitions().any(|told| ends(told.cause))
}

#[cfg(test)]
mod tests {
    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn wakes(input: Input) -> Forged {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        Forged { input, ..Forged::default() }.telling(&told)
    }

    fn sleeps(capped: &[AgentKey]) -> Forged {
        let mut ends = Forged::default();
        ends.before.phase = PhaseKind::Refreshing;
        ends.after.capped = capped.to_vec();
        ends
    }

    #[test]
    fn a_channel_that_wakes_again_for_the_same_word_is_caught() {
        let mut observer = fresh(&INVARIANT);
        wakes(Input::Unmute(B)).accepted(observer.as_mut());
        sleeps(&[]).accepted(observer.as_mut());
        wakes(Input::Tick).rejected(observer.as_mut(), "again");
        wakes(Input::MayWrite(B)).accepted(observer.as_mut());
    }

    #[test]
    fn the_end_of_a_cap_wakes_once() {
        let mut observer = fresh(&INVARIANT);
        wakes(Input::Unmute(B)).accepted(observer.as_mut());
        sleeps(&[A, B]).accepted(observer.as_mut());
        let mut freed = wakes(Input::Tick);
        freed.after.capped = vec![B];
        freed.accepted(observer.as_mut());
        sleeps(&[B]).accepted(observer.as_mut());
        freed.rejected(observer.as_mut(), "again");
    }
}
