//! H1: no word of a person is lost.

use std::time::Duration;

use dirigent_core::{Cause, Config, Effect, Input, MessageKind, PhaseKind};

use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "H1",
    promise: 4,
    requirements: "R020, D62, D66, rules 22-27",
    sentence: "a person's word in a live channel is handed over or followed by a turn within bounded time",
    observer: || Box::new(HumansAreHeard::default()),
};

#[derive(Debug, Default)]
struct HumansAreHeard {
    /// How long a word has been waiting to be heard.
    waiting: Option<Duration>,
    /// How long it may wait at most, by the most patient rules that the channel ever
    /// had: what is under way may have begun under any of them.
    patience: Duration,
    /// The rules once set no limit.
    unlimited: bool,
}

impl Observer for HumansAreHeard {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let new = self.hear(seen)?;
        let Some(waited) = &mut self.waiting else {
            return Ok(());
        };
        let after = seen.after;
        let heard = seen.grants().next().is_some()
            || seen.effects.iter().any(|e| matches!(e, Effect::Inject { .. }));
        let nobody = !after.seats.iter().any(dirigent_core::Seat::is_available);
        for rules in [seen.rules_before, seen.rules] {
            self.patience = self.patience.max(longest_cycle(rules, after));
            self.unlimited |= rules.start_deadline.is_none() || rules.run_deadline.is_none();
        }
        if heard || nobody || after.rest.is_some() || !after.keeps_turns() {
            self.waiting = None;
            return Ok(());
        }
        if after.phase == PhaseKind::Dormant {
            let by_order = seen
                .transitions()
                .any(|told| matches!(told.cause, Cause::CeilingReached | Cause::ModeChanged));
            self.waiting = None;
            return if by_order {
                Ok(())
            } else {
                Err("dormant, and a person's word was heard by nobody".to_owned())
            };
        }
        if !new {
            *waited += seen.elapsed;
        }
        if !self.unlimited && *waited > self.patience {
            return Err(format!("a person's word has waited {waited:?}"));
        }
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {
        // A crash may have come before the word was stored; then it was not taken in at all.
        self.waiting = None;
    }
}

impl HumansAreHeard {
    /// Begins to wait for the answer to a word that was taken in, unless one is awaited already.
    fn hear(&mut self, seen: &Observation<'_>) -> Result<bool, String> {
        let Input::Message(message) = seen.input else {
            return Ok(false);
        };
        let live = seen.before.keeps_turns() && seen.before.rest.is_none();
        if !seen.human_spoke() || message.kind == MessageKind::StopWord || !live {
            return Ok(false);
        }
        let after = seen.after;
        let some_available = after.seats.iter().any(dirigent_core::Seat::is_available);
        let dormant = after.phase == PhaseKind::Dormant && after.rest.is_none();
        let ceiling = seen.transitions().any(|told| told.cause == Cause::CeilingReached);
        if dormant && some_available && !ceiling {
            return Err("a person wrote and the channel stayed dormant".to_owned());
        }
        let new = self.waiting.is_none();
        self.waiting.get_or_insert_default();
        Ok(new)
    }
}

/// How long a whole cycle may take, with the reading of the list at both ends.
fn longest_cycle(rules: &Config, glance: &Glance) -> Duration {
    let start = rules.start_deadline.unwrap_or_default() * (u32::from(rules.retriggers) + 1);
    let turn = start + rules.run_deadline.unwrap_or_default() + rules.delivery_timeout;
    let agents = u32::try_from(glance.seats.len()).unwrap_or(u32::MAX);
    turn * agents.max(1) + rules.refresh_deadline * 2
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Author, Message, MessageId, Tail};

    use super::super::forged::{Forged, fresh};
    use super::*;

    fn word(phase: PhaseKind) -> Forged {
        let mut step = Forged {
            input: Input::Message(Message {
                id: MessageId::new(3),
                author: Author::Human,
                kind: MessageKind::Conversation,
                tail: Tail::EMPTY,
            }),
            ..Forged::default()
        };
        step.before.phase = phase;
        step.after.phase = phase;
        step
    }

    #[test]
    fn a_word_that_wakes_nobody_is_caught() {
        word(PhaseKind::Dormant).rejected(fresh(&INVARIANT).as_mut(), "stayed dormant");
    }

    #[test]
    fn a_word_that_is_forgotten_is_caught() {
        let mut observer = fresh(&INVARIANT);
        word(PhaseKind::Refreshing).accepted(observer.as_mut());
        Forged::default().rejected(observer.as_mut(), "heard by nobody");
    }

    #[test]
    fn a_word_that_waits_for_ever_is_caught() {
        let mut observer = fresh(&INVARIANT);
        word(PhaseKind::Refreshing).accepted(observer.as_mut());
        let mut later = Forged { elapsed: Duration::from_secs(7_200), ..Forged::default() };
        later.after.phase = PhaseKind::Refreshing;
        later.rejected(observer.as_mut(), "has waited");
    }
}
