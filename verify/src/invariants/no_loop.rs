//! I5: nothing but a qualifying word starts a round.

use dirigent_core::{AgentKey, Author, Cause, Effect, Input, MessageKind, Mode, PhaseKind};

use super::observation::{is_reply, is_wake};
use super::{Invariant, Observation, Observer};
use crate::portrait::is_active;

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I5",
    promise: 2,
    requirements: "F01-F03, D50, D70, rules 21-25",
    sentence: "webhooks, edits, system messages and the moderator never start a turn, agents only below the ceiling and none by itself alone, a resume only after a word that was missed",
    observer: || Box::new(NoLoop::default()),
};

#[derive(Debug, Default)]
struct NoLoop {
    /// A message came, and no agent has answered or passed since; one that failed has not.
    missed: bool,
    /// Who wrote something by its permit's run, which is not over.
    permitted: Option<AgentKey>,
}

impl Observer for NoLoop {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let (missed, permitted) = (self.missed, self.permitted.is_some());
        self.follow_missed(seen)?;
        self.follow_permit(seen);
        let Some(culprit) = powerless(seen) else {
            return Ok(());
        };
        // What becomes due comes before the input: a word that was kept in mind may wake then (rules 54, 64), and what the
        // initiator said by a permit whose run took too long (rules 15, 36).
        let due = |cause| {
            let kept = missed && cause == Cause::HumanMessage;
            let said = permitted && cause == Cause::AgentMessage;
            !seen.undisturbed && (kept || said)
        };
        let mut wakes = seen.transitions();
        if let Some(told) = wakes.find(|told| wakes_by_word(told.cause) && !due(told.cause)) {
            return Err(format!("{culprit} caused {:?}", told.cause));
        }
        let idle = matches!(seen.before.phase, PhaseKind::Dormant | PhaseKind::Disabled);
        if seen.undisturbed && idle && seen.after.is_active() {
            return Err(format!("{culprit} woke the channel"));
        }
        Ok(())
    }
}

impl NoLoop {
    /// The end of a stop, or a second agent, wakes only if a message came meanwhile.
    fn follow_missed(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let word = matches!(
            seen.input,
            Input::Message(_) | Input::Addressed { .. } | Input::Wake { .. } | Input::SpeakNext(_)
        );
        for told in seen.transitions() {
            if told.from != PhaseKind::Dormant || !is_active(told.to) {
                continue;
            }
            let kept = matches!(told.cause, Cause::Resumed | Cause::HumanMessage);
            if !word && kept && !self.missed {
                return Err(format!("{:?} woke the channel without a message", told.cause));
            }
        }
        let mut ended = seen.transitions();
        self.missed &= !ended.any(|told| is_answer(told.cause)) || seen.after.held.is_some();
        // What a run was given that was cut off is for another one.
        self.missed |= seen.transitions().any(|told| {
            let loses_run = matches!(told.cause, Cause::AgentOffline | Cause::AgentMayNotWrite);
            let is_lost = loses_run && told.from == PhaseKind::Running;
            told.cause == Cause::RunLost || is_lost && told.agent == seen.before.speaker
        });
        // A word that was queued is with the next agent now.
        self.missed |= seen.effects.iter().any(|effect| matches!(effect, Effect::Deliver { .. }));
        self.missed |= matches!(seen.input, Input::Wake { .. } | Input::SpeakNext(_));
        // What was posted of a reply that broke off is a message, and what a receipt names is.
        let is_posted =
            matches!(seen.input, Input::Undelivered { posted: true, .. } | Input::Receipt { .. });
        self.missed |= seen.answer.is_ok() && is_posted;
        // A stop that cut the conversation is followed by its rest (rule 37).
        let is_stop = |cause| matches!(cause, Cause::Stopped | Cause::Finished);
        self.missed |= seen.transitions().any(|told| is_stop(told.cause) && is_active(told.from));
        // Whatever was under way goes on when the chat is back.
        self.missed |= seen
            .transitions()
            .any(|told| told.cause == Cause::ChatAway && told.to == PhaseKind::Dormant);
        if let (Some(message), Ok(_)) = (seen.message(), seen.answer) {
            // The ceiling is looked at when the channel goes on, not when the word is kept.
            let heard = match message.author {
                Author::Human | Author::Agent(_) => true,
                Author::Bot => seen.rules.people.bots_qualify,
                Author::Moderator | _ => false,
            };
            self.missed |= heard && message.kind != MessageKind::System;
        }
        Ok(())
    }
}

impl NoLoop {
    /// What the initiator says while its permit runs wakes the channel when that run is over (rules 15, 25).
    fn follow_permit(&mut self, seen: &Observation<'_>) {
        let word = seen.message().filter(|message| message.kind != MessageKind::System);
        let author = word.map(|message| message.author);
        let says = if let Some(Author::Agent(agent)) = author {
            Some(agent)
        } else if let Input::Receipt { agent, .. }
        | Input::Undelivered { agent, posted: true, .. } = seen.input
        {
            Some(*agent)
        } else {
            None
        };
        let says = says.filter(|agent| seen.answer.is_ok() && seen.after.permit == Some(*agent));
        self.permitted = says.or(self.permitted).filter(|agent| seen.after.permit == Some(*agent));
    }
}

/// Whether the cause is a message, of whomever.
fn wakes_by_word(cause: Cause) -> bool {
    is_wake(cause) && matches!(cause, Cause::HumanMessage | Cause::AgentMessage | Cause::BotMessage)
}

/// Whether an agent's turn ended well, or a part of its reply did. One that went silent after a part has failed with what came since.
fn is_answer(cause: Cause) -> bool {
    let answers = is_reply(cause) || matches!(cause, Cause::Passed | Cause::Repeated);
    answers && cause != Cause::SignalMissing
}

/// What the input is, if it is a message that must not start anything.
fn powerless(seen: &Observation<'_>) -> Option<&'static str> {
    if matches!(seen.input, Input::MessageEdited { .. }) {
        return Some("an edit");
    }
    let message = seen.message()?;
    let by_agent = matches!(message.author, Author::Agent(_));
    if message.kind == MessageKind::System {
        Some("a system message")
    } else if message.author == Author::Moderator {
        Some("the moderator")
    } else if message.author == Author::Bot && !seen.rules.people.bots_qualify {
        Some("a bot")
    } else if over_budget(seen) {
        Some("a word beyond the budget")
    } else if alone(seen).map(Author::Agent) == Some(message.author) {
        Some("an agent alone")
    } else if by_agent && seen.before.awaits_human {
        Some("an agent where a person is awaited")
    } else if by_agent && ceiling_was_reached(seen) {
        Some("an agent beyond the ceiling")
    } else {
        None
    }
}

/// The only agent of a chat that keeps turns for it.
fn alone(seen: &Observation<'_>) -> Option<AgentKey> {
    let keeps = seen.before.mode == Mode::Chat && seen.rules.order.single_agent;
    match seen.before.seats.as_slice() {
        [seat] if keeps && seen.undisturbed => Some(seat.agent),
        _ => None,
    }
}

/// Whether a budget was spent before the step: then no word may wake anybody. A resume word may,
/// for what was said before it (rule 37).
fn over_budget(seen: &Observation<'_>) -> bool {
    let idle = seen.before.phase == PhaseKind::Dormant && seen.before.rest.is_none();
    idle && seen.before.budget_spent
}

/// Whether the ceiling stood before the step: then an agent's word may not wake the channel.
fn ceiling_was_reached(seen: &Observation<'_>) -> bool {
    seen.before.phase == PhaseKind::Dormant && seen.before.is_at_ceiling(seen.rules, seen.now)
}

#[cfg(test)]
mod tests {
    use dirigent_core::view::Pause;
    use dirigent_core::{Message, MessageId, Tail};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn word_of(author: Author, kind: MessageKind) -> Forged {
        let message =
            Message { id: MessageId::new(1), author, kind, tail: Tail::EMPTY, backfilled: false };
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::BotMessage)];
        Forged { input: Input::Message(message), ..Forged::default() }.telling(&told)
    }

    #[test]
    fn a_turn_started_by_a_webhook_is_caught() {
        let bot = word_of(Author::Bot, MessageKind::Conversation);
        bot.rejected(fresh(&INVARIANT).as_mut(), "a bot caused");
        let mut welcome = bot.clone();
        welcome.rules.people.bots_qualify = true;
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
    fn an_agent_alone_that_wakes_itself_is_caught() {
        let mut step = word_of(Author::Agent(A), MessageKind::Conversation);
        step.before.mode = Mode::Chat;
        step.before.seats.truncate(1);
        step.accepted(fresh(&INVARIANT).as_mut());
        step.rules.order.single_agent = true;
        step.rejected(fresh(&INVARIANT).as_mut(), "an agent alone caused");
        step.before.mode = Mode::Discussion;
        step.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_round_that_agents_start_beyond_the_ceiling_is_caught() {
        let mut step = word_of(Author::Agent(A), MessageKind::Conversation);
        step.accepted(fresh(&INVARIANT).as_mut());
        step.before.turns = 60;
        step.rejected(fresh(&INVARIANT).as_mut(), "beyond the ceiling");
    }

    #[test]
    fn a_round_beyond_the_budget_or_without_the_person_awaited_is_caught() {
        let mut step = word_of(Author::Human, MessageKind::Conversation);
        step.before.budget_spent = true;
        step.rejected(fresh(&INVARIANT).as_mut(), "beyond the budget");
        let mut step = word_of(Author::Agent(A), MessageKind::Conversation);
        step.before.awaits_human = true;
        step.rejected(fresh(&INVARIANT).as_mut(), "a person is awaited");
    }

    /// The permit's run of A is under way, and this comes in.
    fn permitted(input: Input) -> Forged {
        let mut step = Forged { input, ..Forged::default() };
        step.before.permit = Some(A);
        step.after.permit = Some(A);
        step.after.phase = PhaseKind::Dormant;
        step
    }

    /// WD13
    #[test]
    fn what_a_permitted_run_said_wakes_when_its_time_is_up_and_only_then() {
        let message = |id, author| {
            let (kind, tail) = (MessageKind::Conversation, Tail::EMPTY);
            let id = MessageId::new(id);
            Input::Message(Message { id, author, kind, tail, backfilled: false })
        };
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::AgentMessage)];
        let own = message(2, Author::Moderator);
        let expiry = Forged { input: own, undisturbed: false, ..Forged::default() }.telling(&told);
        expiry.rejected(fresh(&INVARIANT).as_mut(), "the moderator caused");
        let mut observer = fresh(&INVARIANT);
        permitted(message(1, Author::Agent(A))).accepted(observer.as_mut());
        expiry.accepted(observer.as_mut());
        expiry.rejected(observer.as_mut(), "the moderator caused");
        let mut observer = fresh(&INVARIANT);
        permitted(message(1, Author::Agent(A))).accepted(observer.as_mut());
        let early = Forged { undisturbed: true, ..expiry };
        early.rejected(observer.as_mut(), "the moderator caused");
    }

    /// WD13
    #[test]
    fn what_a_receipt_names_may_be_kept_and_wake_after_a_budget_or_a_stop() {
        for (input, cause) in
            [(Input::ResetBudget, Cause::HumanMessage), (Input::Resume, Cause::Resumed)]
        {
            let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, cause)];
            let step = Forged { input, ..Forged::default() }.telling(&told);
            step.rejected(fresh(&INVARIANT).as_mut(), "without a message");
            let mut observer = fresh(&INVARIANT);
            let messages = vec![MessageId::new(1)];
            permitted(Input::Receipt { agent: A, run: None, messages }).accepted(observer.as_mut());
            step.accepted(observer.as_mut());
        }
    }

    #[test]
    fn what_a_run_was_given_that_ends_with_the_right_to_write_may_wake_later() {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        let wake = Forged { input: Input::MayWrite(A), ..Forged::default() }.telling(&told);
        for (from, may_wake) in [(PhaseKind::Running, true), (PhaseKind::Granted, false)] {
            let lost = [(from, PhaseKind::Dormant, A, Cause::AgentMayNotWrite)];
            let input = Input::MayNotWrite { agent: A, until: None };
            let mut forged = Forged { input, ..Forged::default() }.telling(&lost);
            forged.before.speaker = Some(A);
            let mut observer = fresh(&INVARIANT);
            forged.accepted(observer.as_mut());
            if may_wake {
                wake.accepted(observer.as_mut());
            } else {
                wake.rejected(observer.as_mut(), "without a message");
            }
        }
    }

    #[test]
    fn a_word_with_which_an_agent_failed_may_wake_later_and_one_that_it_answered_may_not() {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        let wake = Forged { input: Input::MayWrite(A), ..Forged::default() }.telling(&told);
        for (cause, may_wake) in [
            (Cause::RunFailed, true),
            (Cause::SignalMissing, true),
            (Cause::AgentMayNotWrite, true),
            (Cause::Passed, false),
            (Cause::ReceiptGiven, false),
        ] {
            let mut observer = fresh(&INVARIANT);
            let mut word = word_of(Author::Human, MessageKind::Conversation);
            word.effects.clear();
            word.accepted(observer.as_mut());
            let ended = [(PhaseKind::Running, PhaseKind::Dormant, A, cause)];
            Forged::default().telling(&ended).accepted(observer.as_mut());
            if may_wake {
                wake.accepted(observer.as_mut());
            } else {
                wake.rejected(observer.as_mut(), "without a message");
            }
        }
    }

    #[test]
    fn an_assignment_that_wakes_for_nobody_is_caught() {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        let step = Forged { input: Input::Assign(A), ..Forged::default() }.telling(&told);
        step.rejected(fresh(&INVARIANT).as_mut(), "without a message");
    }

    #[test]
    fn a_resume_that_wakes_for_nobody_is_caught() {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::Resumed)];
        let resume = Forged { input: Input::Resume, ..Forged::default() };
        let resume = resume.telling(&told);
        resume.rejected(fresh(&INVARIANT).as_mut(), "without a message");
        let mut observer = fresh(&INVARIANT);
        let mut word = word_of(Author::Human, MessageKind::Conversation);
        word.effects.clear();
        word.after.phase = PhaseKind::Dormant;
        word.after.rest = Some(Pause::Stopped);
        word.accepted(observer.as_mut());
        resume.accepted(observer.as_mut());
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
