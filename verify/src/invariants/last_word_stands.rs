//! L1: only an agent that spoke last is not asked for want of anything new.

use dirigent_core::{AgentKey, Author, Cause, Input, PhaseKind, Transition};

use super::observation::{is_grant, is_reply, is_return, is_wake};
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "L1",
    promise: 4,
    requirements: "N6, rule 76",
    sentence: "an agent that is passed unasked had its reply delivered last, and nobody has written since its turn began",
    observer: || Box::new(LastWordStands::default()),
};

/// The book of who spoke last.
#[derive(Debug, Default)]
struct LastWordStands {
    /// Whose delivered reply was the last thing said.
    last: Option<AgentKey>,
    /// Who has the floor, while nobody else has written since it was granted.
    undisturbed: Option<AgentKey>,
}

impl Observer for LastWordStands {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        if seen.undisturbed {
            self.follow_input(seen);
        }
        let mut granted = None;
        for told in seen.transitions() {
            self.follow(seen, told)?;
            granted = granted.or(told.agent.filter(|_| is_grant(told)));
        }
        if !seen.undisturbed {
            // What became due came before the input, and what was granted may have come after it.
            let undisturbed = self.undisturbed.filter(|speaker| granted == Some(*speaker));
            self.follow_input(seen);
            self.undisturbed = self.undisturbed.or(undisturbed);
        }
        if !seen.after.is_active() {
            self.undisturbed = None;
        }
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {}
}

impl LastWordStands {
    /// Somebody wrote, or an operator woke the channel.
    fn follow_input(&mut self, seen: &Observation<'_>) {
        if seen.answer.is_err() {
            return;
        }
        let is_wake = matches!(seen.input, Input::Wake { .. });
        let author = seen.message().map(|message| message.author);
        if let Some(Author::Agent(agent)) = author {
            self.last = self.last.filter(|last| *last == agent);
            self.undisturbed = self.undisturbed.filter(|speaker| *speaker == agent);
        } else if is_wake || author.is_some_and(|author| author != Author::Moderator) {
            (self.last, self.undisturbed) = (None, None);
        }
    }

    fn follow(&mut self, seen: &Observation<'_>, told: &Transition) -> Result<(), String> {
        if told.cause == Cause::NothingNew {
            if !(seen.rules.order.skip_last_speaker || seen.rules_before.order.skip_last_speaker) {
                return Err("an agent was passed unasked without the rule".to_owned());
            }
            if self.last != told.agent {
                return Err(format!("{:?} was passed unasked and did not speak last", told.agent));
            }
        }
        if told.cause == Cause::ReceiptGiven && told.from == PhaseKind::Delivering {
            self.last = self.undisturbed.filter(|speaker| Some(*speaker) == told.agent);
        } else if is_reply(told.cause) || (is_wake(told.cause) && !is_kept(told.cause)) {
            self.last = None;
        }
        if is_grant(told) && !is_return(told.cause) {
            self.undisturbed = told.agent;
        }
        Ok(())
    }
}

/// Whether the channel may have woken for what it kept in mind: that was new when it came, or never (rule 76).
const fn is_kept(cause: Cause) -> bool {
    matches!(cause, Cause::Resumed | Cause::HumanMessage)
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Message, MessageId, MessageKind, Tail};

    use super::super::forged::{A, B, Forged, fresh};
    use super::*;
    use PhaseKind::{Delivering, Dormant, Granted, Refreshing, Running};

    fn telling(told: &[(PhaseKind, PhaseKind, AgentKey, Cause)]) -> Forged {
        let mut step = Forged::default().telling(told);
        (step.before.phase, step.after.phase) = (Running, Running);
        step
    }

    fn writing(author: Author) -> Forged {
        let (id, kind, tail) = (MessageId::new(5), MessageKind::System, Tail::EMPTY);
        let message = Message { id, author, kind, tail, backfilled: false };
        Forged { input: Input::Message(message), ..telling(&[]) }
    }

    const GRANTED: (PhaseKind, PhaseKind, AgentKey, Cause) =
        (Dormant, Granted, A, Cause::HumanMessage);
    const DELIVERED: (PhaseKind, PhaseKind, AgentKey, Cause) =
        (Delivering, Delivering, A, Cause::ReceiptGiven);
    const PASSED: (PhaseKind, PhaseKind, AgentKey, Cause) =
        (Refreshing, Refreshing, A, Cause::NothingNew);

    #[test]
    fn the_last_to_speak_may_be_passed_whatever_it_writes_itself() {
        let mut observer = fresh(&INVARIANT);
        telling(&[GRANTED, DELIVERED]).accepted(observer.as_mut());
        writing(Author::Agent(A)).accepted(observer.as_mut());
        writing(Author::Moderator).accepted(observer.as_mut());
        telling(&[PASSED]).accepted(observer.as_mut());
    }

    #[test]
    fn an_agent_that_is_passed_although_something_is_new_is_caught() {
        let not_last = "did not speak last";
        telling(&[PASSED]).rejected(fresh(&INVARIANT).as_mut(), not_last);
        let gateway = (Running, Running, A, Cause::ReceiptGiven);
        telling(&[GRANTED, gateway, PASSED]).rejected(fresh(&INVARIANT).as_mut(), not_last);
        let other = [GRANTED, DELIVERED, (Granted, Granted, B, Cause::TailMatched), PASSED];
        telling(&other).rejected(fresh(&INVARIANT).as_mut(), not_last);
        for author in [Author::Human, Author::Bot, Author::Agent(B)] {
            let mut after = fresh(&INVARIANT);
            telling(&[GRANTED, DELIVERED]).accepted(after.as_mut());
            writing(author).accepted(after.as_mut());
            telling(&[PASSED]).rejected(after.as_mut(), not_last);
            let mut meanwhile = fresh(&INVARIANT);
            telling(&[GRANTED]).accepted(meanwhile.as_mut());
            writing(author).accepted(meanwhile.as_mut());
            telling(&[DELIVERED, PASSED]).rejected(meanwhile.as_mut(), not_last);
        }
    }

    #[test]
    fn an_agent_that_is_passed_without_the_rule_is_caught() {
        let mut step = telling(&[GRANTED, DELIVERED, PASSED]);
        step.rules.order.skip_last_speaker = false;
        step.rejected(fresh(&INVARIANT).as_mut(), "without the rule");
    }
}
