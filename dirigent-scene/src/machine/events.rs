//! Makes the machine's events.

use std::sync::Arc;
use std::time::Duration;

use crate::event::{CloseReason, EventKind, SceneEvent, Source};
use crate::machine::effect::SceneEffect;
use crate::machine::plan::{CastPlace, Plan};
use crate::prompt::Prompt;

/// Makes events of one moment.
#[derive(Clone, Copy)]
pub(super) struct Events<'a> {
    pub(super) plan: &'a Plan,
    pub(super) at: Duration,
}

impl Events<'_> {
    /// Returns an action of the coordinator on a character.
    pub(super) fn to(
        &self,
        kind: EventKind,
        seat: CastPlace,
        text: impl Into<Arc<str>>,
    ) -> SceneEffect {
        let event = SceneEvent::new(self.at, Source::Coordinator, kind, text.into());
        SceneEffect::Record(SceneEvent { target: Some(self.plan.slug(seat).clone()), ..event })
    }

    /// Returns an action of a character.
    pub(super) fn from(&self, kind: EventKind, seat: CastPlace, text: Arc<str>) -> SceneEffect {
        SceneEffect::Record(SceneEvent::new(self.at, self.source(seat), kind, text))
    }

    /// Returns a speech of a character, to these characters or to all.
    pub(super) fn speak(
        &self,
        seat: CastPlace,
        text: Arc<str>,
        audience: Option<&[CastPlace]>,
    ) -> SceneEffect {
        let event = SceneEvent::new(self.at, self.source(seat), EventKind::Speak, text);
        let slugs =
            |seats: &[CastPlace]| seats.iter().map(|seat| self.plan.slug(*seat).clone()).collect();
        SceneEffect::Record(SceneEvent { audience: audience.map(slugs), ..event })
    }

    /// Returns a request to an actor to reformat this output.
    pub(super) fn correct(&self, seat: CastPlace, output: &str) -> SceneEffect {
        let text = Prompt::Correction.as_str().into();
        let event = SceneEvent::new(self.at, Source::Coordinator, EventKind::Correct, text);
        let (target, raw) =
            (self.plan.slug(seat).clone(), self.plan.keep_raw.then(|| output.into()));
        SceneEffect::Record(SceneEvent { target: Some(target), raw, ..event })
    }

    /// Returns the end of the scene.
    pub(super) fn close(&self, reason: CloseReason) -> SceneEffect {
        let text = format!("Scene ended: {reason}").into();
        let event = SceneEvent::new(self.at, Source::Coordinator, EventKind::Close, text);
        SceneEffect::Record(SceneEvent { reason: Some(reason), ..event })
    }

    fn source(&self, seat: CastPlace) -> Source {
        Source::Character(self.plan.slug(seat).clone())
    }
}
