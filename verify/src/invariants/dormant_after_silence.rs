//! I4: silence is unanimous before a channel goes dormant.

use dirigent_core::{AgentKey, Cause, Input, MessageKind, PhaseKind};

use super::observation::{begins_cycle, is_reply, is_skip};
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I4",
    promise: 2,
    requirements: "R070-R077, D66, rules 32-34",
    sentence: "dormant only after a whole cycle in which all who are present had nothing to say, or by order or ceiling",
    observer: || Box::new(DormantAfterSilence::default()),
};

/// The book of one cycle.
#[derive(Debug, Default)]
struct DormantAfterSilence {
    /// Whose turn ended in this cycle, or who was skipped.
    done: Vec<AgentKey>,
    /// An agent replied.
    replied: Option<AgentKey>,
    /// A person wrote since the cycle began.
    human: bool,
}

impl Observer for DormantAfterSilence {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let mut woken = false;
        let mut skipped_first = Vec::new();
        for told in seen.transitions() {
            let idle = matches!(
                told.from,
                PhaseKind::Dormant | PhaseKind::Disabled | PhaseKind::Refreshing
            );
            if begins_cycle(told) || (told.cause == Cause::CycleBoundary && idle) {
                // Those who were skipped just before belong to the cycle that begins.
                *self = Self { done: std::mem::take(&mut skipped_first), ..Self::default() };
            }
            if is_skip(told.cause) {
                skipped_first.extend(told.agent);
            } else {
                skipped_first.clear();
            }
            if is_reply(told.cause) {
                self.replied = told.agent;
            }
            // A wake that finds no agent available tells only of the boundary that follows at once.
            let at_once = told.cause == Cause::CycleBoundary && told.from == PhaseKind::Dormant;
            // A word that interrupts may be followed by the cycle of a hand-over, in which everybody has it.
            let is_interrupted = || seen.transitions().any(|told| told.cause == Cause::Interrupted);
            let by_word = matches!(told.cause, Cause::HumanMessage | Cause::MentionRound)
                || told.cause == Cause::HandedOver && is_interrupted();
            woken |= by_word || at_once;
            self.note_done(told.agent, told.cause);
            if told.to == PhaseKind::Dormant && told.from == PhaseKind::Refreshing {
                self.check(told.cause, seen)?;
            }
        }
        if seen.human_spoke() && !woken && !is_order(seen) {
            self.human |= seen.before.is_active() && seen.after.is_active();
        }
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {}
}

impl DormantAfterSilence {
    fn note_done(&mut self, agent: Option<AgentKey>, cause: Cause) {
        let ended = matches!(
            cause,
            Cause::Passed
                | Cause::Repeated
                | Cause::RunFailed
                | Cause::StartTimedOut
                | Cause::RunTimedOut
                | Cause::RunLost
                | Cause::Undelivered
        );
        if ended || is_skip(cause) {
            self.done.extend(agent);
        }
    }

    fn check(&self, cause: Cause, seen: &Observation<'_>) -> Result<(), String> {
        if !matches!(cause, Cause::AllPassed | Cause::Unanswered) {
            return Ok(());
        }
        if let Some(agent) = self.replied {
            return Err(format!("dormant although {agent} replied in this cycle"));
        }
        if self.human {
            return Err("dormant although a person wrote in this cycle".to_owned());
        }
        let fetched = matches!(seen.input, Input::Members { .. });
        let missing = seen.after.seats.iter().find(|seat| !self.done.contains(&seat.agent));
        match missing {
            Some(seat) if fetched || seat.is_available() => {
                Err(format!("dormant although {} was not asked", seat.agent))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the word is a stop or resume word that was obeyed: it qualifies for nothing (rule 24).
fn is_order(seen: &Observation<'_>) -> bool {
    let Some(message) = seen.message() else {
        return false;
    };
    message.kind == MessageKind::StopWord
        || (message.kind == MessageKind::ResumeWord && seen.before.rest.is_some())
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Author, Message, MessageId, Tail};

    use super::super::forged::{A, B, Forged, fresh};
    use super::*;
    use PhaseKind::{Confirming, Dormant, Granted, Refreshing, Running};

    const ALL_PASSED: (PhaseKind, PhaseKind, AgentKey, Cause) =
        (Refreshing, Dormant, A, Cause::AllPassed);

    #[test]
    fn a_cycle_of_passes_may_end() {
        let told = [
            (Dormant, Granted, A, Cause::HumanMessage),
            (Running, Running, A, Cause::Passed),
            (Running, Granted, B, Cause::NextInList),
            (Granted, Granted, B, Cause::StartTimedOut),
            ALL_PASSED,
        ];
        Forged::default().telling(&told).accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn an_agent_that_was_not_asked_is_caught() {
        let told = [(Running, Running, A, Cause::Passed), ALL_PASSED];
        Forged::default().telling(&told).rejected(fresh(&INVARIANT).as_mut(), "was not asked");
    }

    #[test]
    fn a_turn_that_went_on_before_it_passed_is_a_reply() {
        let told = [
            (Running, PhaseKind::Continuing, A, Cause::Unfinished),
            (Running, Running, A, Cause::Passed),
            (Running, Running, B, Cause::Passed),
            ALL_PASSED,
        ];
        Forged::default().telling(&told).rejected(fresh(&INVARIANT).as_mut(), "replied");
    }

    #[test]
    fn a_reply_in_the_last_cycle_is_caught() {
        let told = [(Confirming, Confirming, B, Cause::TailMatched), ALL_PASSED];
        Forged::default().telling(&told).rejected(fresh(&INVARIANT).as_mut(), "replied");
    }

    fn word_in_a_turn() -> Forged {
        let mut word = Forged {
            input: Input::Message(Message {
                id: MessageId::new(5),
                author: Author::Human,
                kind: MessageKind::Conversation,
                tail: Tail::EMPTY,
                backfilled: false,
            }),
            ..Forged::default()
        };
        word.before.phase = Running;
        word.after.phase = Running;
        word
    }

    #[test]
    fn a_person_overheard_is_caught() {
        let mut observer = fresh(&INVARIANT);
        word_in_a_turn().accepted(observer.as_mut());
        let told = [
            (Running, Running, A, Cause::Passed),
            (Running, Running, B, Cause::Passed),
            ALL_PASSED,
        ];
        Forged::default().telling(&told).rejected(observer.as_mut(), "a person wrote");
    }

    #[test]
    fn a_word_that_interrupts_is_heard_in_the_cycle_of_the_hand_over_that_follows() {
        let told = [
            (Confirming, Confirming, A, Cause::Interrupted),
            (Confirming, Granted, B, Cause::HandedOver),
        ];
        for (told, is_heard) in [(&told[..], true), (&told[1..], false)] {
            let mut observer = fresh(&INVARIANT);
            word_in_a_turn().telling(told).accepted(observer.as_mut());
            let ends = [
                (Running, Running, B, Cause::Passed),
                (Granted, Granted, A, Cause::StartTimedOut),
                ALL_PASSED,
            ];
            let ends = Forged::default().telling(&ends);
            assert_eq!(ends.show(observer.as_mut()).is_ok(), is_heard);
        }
    }
}
