//! I5: nothing but a qualifying word starts a round.

use dirigent_core::{Author, Cause, Input, MessageKind, PhaseKind};

use super::observation::is_wake;
use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I5",
    promise: 2,
    requirements: "F01-F03, D50, D70, rules 21-25",
    sentence: "webhooks, edits, system messages and the moderator never start a turn; agents only below the ceiling",
    observer: || Box::new(NoLoop),
};

#[derive(Debug)]
struct NoLoop;

impl Observer for NoLoop {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let Some(culprit) = powerless(seen) else {
            return Ok(());
        };
        if let Some(told) = seen.transitions().find(|told| wakes_by_word(told.cause)) {
            return Err(format!("{culprit} caused {:?}", told.cause));
        }
        let idle = matches!(seen.before.phase, PhaseKind::Dormant | PhaseKind::Disabled);
        if seen.undisturbed && idle && seen.after.is_active() {
            return Err(format!("{culprit} woke the channel"));
        }
        Ok(())
    }
}

/// Whether the cause is a message, of whomever.
fn wakes_by_word(cause: Cause) -> bool {
    is_wake(cause) && matches!(cause, Cause::HumanMessage | Cause::AgentMessage | Cause::BotMessage)
}

/// What the input is, if it is a message that must not start anything.
fn powerless(seen: &Observation<'_>) -> Option<&'static str> {
    match seen.input {
        Input::MessageEdited { .. } => Some("an edit"),
        Input::Message(message) if message.kind == MessageKind::System => Some("a system message"),
        Input::Message(message) => match message.author {
            Author::Moderator => Some("the moderator"),
            Author::Bot if !seen.rules.bots_qualify => Some("a bot"),
            Author::Agent(_) if ceiling_was_reached(seen) => Some("an agent beyond the ceiling"),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the ceiling stood before the step: then an agent's word may wake nobody.
fn ceiling_was_reached(seen: &Observation<'_>) -> bool {
    let turns = seen.rules.turns_max.is_some_and(|max| seen.before.turns >= max);
    let cycles = seen.rules.cycles_max.is_some_and(|max| seen.before.cycles >= max);
    seen.before.phase == PhaseKind::Dormant && (turns || cycles)
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Message, MessageId, Tail};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn word_of(author: Author, kind: MessageKind) -> Forged {
        let message = Message { id: MessageId::new(1), author, kind, tail: Tail::EMPTY };
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::BotMessage)];
        Forged { input: Input::Message(message), ..Forged::default() }.telling(&told)
    }

    #[test]
    fn a_turn_started_by_a_webhook_is_caught() {
        let bot = word_of(Author::Bot, MessageKind::Conversation);
        bot.rejected(fresh(&INVARIANT).as_mut(), "a bot caused");
        let mut welcome = bot.clone();
        welcome.rules.bots_qualify = true;
        welcome.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_turn_started_by_the_moderator_or_a_pin_is_caught() {
        let own = word_of(Author::Moderator, MessageKind::Conversation);
        own.rejected(fresh(&INVARIANT).as_mut(), "the moderator caused");
        let pin = word_of(Author::Human, MessageKind::System);
        pin.rejected(fresh(&INVARIANT).as_mut(), "a system message caused");
    }

    #[test]
    fn a_round_that_agents_start_beyond_the_ceiling_is_caught() {
        let mut step = word_of(Author::Agent(A), MessageKind::Conversation);
        step.accepted(fresh(&INVARIANT).as_mut());
        step.before.turns = 60;
        step.rejected(fresh(&INVARIANT).as_mut(), "beyond the ceiling");
    }

    #[test]
    fn an_edit_that_wakes_silently_is_caught() {
        let mut step = Forged {
            input: Input::MessageEdited {
                id: MessageId::new(1),
                author: Author::Human,
                tail: Tail::EMPTY,
            },
            ..Forged::default()
        };
        step.after.phase = PhaseKind::Refreshing;
        step.rejected(fresh(&INVARIANT).as_mut(), "woke the channel");
    }
}
