//! How the machine's events are made.

use std::sync::Arc;
use std::time::Duration;

use crate::event::{CloseReason, Event, EventKind, Source};
use crate::machine::effect::Effect;
use crate::machine::plan::{Plan, Seat};
use crate::prompt::Prompt;

/// Makes events of one moment.
#[derive(Clone, Copy)]
pub(super) struct Events<'a> {
    pub(super) plan: &'a Plan,
    pub(super) at: Duration,
}

impl Events<'_> {
    /// What the coordinator did to a character.
    pub(super) fn to(&self, kind: EventKind, seat: Seat, text: impl Into<Arc<str>>) -> Effect {
        let event = Event::new(self.at, Source::Coordinator, kind, text.into());
        Effect::Record(Event { target: Some(self.plan.slug(seat).clone()), ..event })
    }

    /// What a character did.
    pub(super) fn from(&self, kind: EventKind, seat: Seat, text: Arc<str>) -> Effect {
        Effect::Record(Event::new(self.at, self.source(seat), kind, text))
    }

    /// What a character said, to these or to all.
    pub(super) fn speak(&self, seat: Seat, text: Arc<str>, audience: Option<&[Seat]>) -> Effect {
        let event = Event::new(self.at, self.source(seat), EventKind::Speak, text);
        let slugs =
            |seats: &[Seat]| seats.iter().map(|seat| self.plan.slug(*seat).clone()).collect();
        Effect::Record(Event { audience: audience.map(slugs), ..event })
    }

    /// That an actor is asked to reformat this output.
    pub(super) fn correct(&self, seat: Seat, output: &str) -> Effect {
        let text = Prompt::Correction.as_str().into();
        let event = Event::new(self.at, Source::Coordinator, EventKind::Correct, text);
        let (target, raw) =
            (self.plan.slug(seat).clone(), self.plan.keep_raw.then(|| output.into()));
        Effect::Record(Event { target: Some(target), raw, ..event })
    }

    /// That the scene ended.
    pub(super) fn close(&self, reason: CloseReason) -> Effect {
        let text = format!("Scene ended: {reason}").into();
        let event = Event::new(self.at, Source::Coordinator, EventKind::Close, text);
        Effect::Record(Event { reason: Some(reason), ..event })
    }

    fn source(&self, seat: Seat) -> Source {
        Source::Character(self.plan.slug(seat).clone())
    }
}
