//! What the channel did with one input, in words.

use dirigent_core::{
    Answer, Cause, Effect, Notice, Reason, Refusal, ReminderPlace, Ticket, Transition, Verdict,
};

use super::name;

/// What the channel did with one input.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its answer.
    pub(crate) answer: Result<Answer, Refusal>,
    /// All effects, in order.
    pub(crate) effects: Vec<Effect>,
}

impl Step {
    /// Every effect in words, in order.
    pub(crate) fn all(&self) -> Vec<String> {
        self.effects.iter().map(words).collect()
    }

    /// What the host is asked to do, in words: every effect but the transitions.
    pub(crate) fn asks(&self) -> Vec<String> {
        let asked = |effect: &&Effect| !matches!(effect, Effect::Transition(_));
        self.effects.iter().filter(asked).map(words).collect()
    }

    /// The transitions.
    pub(crate) fn transitions(&self) -> Vec<Transition> {
        self.effects.iter().filter_map(Effect::transition).collect()
    }

    /// Why it did what it did.
    pub(crate) fn causes(&self) -> Vec<Cause> {
        self.transitions().iter().map(|it| it.cause).collect()
    }

    /// The tickets of the effects, in order.
    pub(crate) fn tickets(&self) -> Vec<Ticket> {
        self.effects.iter().filter_map(Effect::ticket).collect()
    }

    /// The answer to a gate call.
    #[track_caller]
    pub(crate) fn verdict(&self) -> Verdict {
        self.answer
            .expect("the gate answers")
            .verdict()
            .expect("a gate call is answered with a verdict")
    }

    /// The reason in the answer to a gate call.
    #[track_caller]
    pub(crate) fn reason(&self) -> Reason {
        self.verdict().reason()
    }

    /// Whether the channel did nothing at all.
    pub(crate) fn is_silent(&self) -> bool {
        self.effects.is_empty()
    }
}

/// An effect in words.
fn words(effect: &Effect) -> String {
    match *effect {
        Effect::FetchMembers { .. } => "fetch members".to_owned(),
        Effect::Trigger { agent, attempt, .. } => match attempt {
            0 => format!("trigger {}", name(agent)),
            again => format!("trigger {} again, {again}", name(agent)),
        },
        Effect::Delete { message, .. } => format!("delete {}", message.get()),
        Effect::Poll { after, .. } => match after {
            Some(message) => format!("poll after {}", message.get()),
            None => "poll from the beginning".to_owned(),
        },
        Effect::Notice { notice, .. } => match notice {
            Notice::Archived => "notice archived".to_owned(),
            Notice::Closed => "notice closed".to_owned(),
            Notice::Ceiling => "notice ceiling".to_owned(),
            Notice::Stopped { message } => format!("notice stopped, to {}", message.get()),
            Notice::Resumed { message } => format!("notice resumed, to {}", message.get()),
            Notice::ResumedIdle { message } => format!("notice resumed-idle, to {}", message.get()),
            Notice::TimedOut { .. } | Notice::Disconnected { .. } | Notice::Budget | _ => {
                format!("{notice:?}")
            }
        },
        Effect::Reminder { initiator, place, .. } => match place {
            ReminderPlace::Discussion => format!("remind {}", name(initiator)),
            ReminderPlace::Callback => {
                format!("remind {} in the callback channel", name(initiator))
            }
        },
        Effect::Inject { agent, message, .. } => {
            format!("inject {} to {}", message.get(), name(agent))
        }
        Effect::Deliver { agent, first, last, .. } => {
            format!("deliver {} to {} to {}", first.get(), last.get(), name(agent))
        }
        Effect::Consult { agent, first, last, .. } => {
            format!("consult about {} to {} for {}", first.get(), last.get(), name(agent))
        }
        Effect::CancelRun { agent, turn, .. } => match turn {
            Some(_) => format!("cancel the run of {}", name(agent)),
            None => format!("cancel the permitted run of {}", name(agent)),
        },
        Effect::Transition(it) => {
            let who = it.agent.map(|agent| format!(" {}", name(agent)));
            let (from, to, cause) = (it.from.as_str(), it.to.as_str(), it.cause.as_str());
            format!("{from} > {to}{}: {cause}", who.unwrap_or_default())
        }
    }
}
