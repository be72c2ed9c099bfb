//! One turn, from the cue to the routed speech.

use std::sync::Arc;

use crate::actor::Output;
use crate::cue::{Cue, CueKind, HeardSpeech};
use crate::director::Audience;
use crate::ending::is_explicit_end;
use crate::event::{CloseReason, EventKind};
use crate::judge::SpokenLine;
use crate::machine::Machine;
use crate::machine::effect::{AbortCause, SceneEffect};
use crate::machine::plan::CastPlace;
use crate::machine::stage::{Asking, AwaitedAnswer, Said};
use crate::prompt::Prompt;
use crate::protocol::{Parsed, Speech};

impl Machine {
    /// Gives a cue to the actor that has the floor.
    pub(super) fn ask(&mut self, effects: &mut Vec<SceneEffect>) {
        let Some(seat) = self.floor.granted() else {
            return self.close(self.ending.reason_at_ceiling(), effects);
        };
        let state = self.seats.of(seat);
        let heard = std::mem::take(&mut state.inbox);
        let is_first = !std::mem::replace(&mut state.has_begun, true);
        let mut prompt = (heard.is_empty() && !is_first).then_some(Prompt::YourTurn);
        let may_nudge = !self.ending.is_nudged && !self.ending.is_closing();
        if may_nudge && self.seats.turns_left(self.plan.soft_cap) == 0 {
            self.ending.is_nudged = true;
            prompt = Some(Prompt::WindDown);
            effects.push(self.events().to(EventKind::Brief, seat, Prompt::WindDown.as_str()));
        }
        self.stage = AwaitedAnswer::Asking(Asking { seat, corrections: 0 });
        effects.push(SceneEffect::Ask { seat, cue: Cue::new(CueKind::Turn, heard, prompt) });
    }

    pub(super) fn on_answered(
        &mut self,
        asking: Asking,
        output: &Output,
        effects: &mut Vec<SceneEffect>,
    ) {
        self.seats.of(asking.seat).answered += 1;
        match output.as_turn() {
            Ok(parsed) => {
                let line = self.plan.line(asking.seat, parsed.speech.clone(), self.speeches + 1);
                let moment = self.seats.moment(&self.plan, self.speeches, asking.seat);
                self.stage = AwaitedAnswer::Hearing(asking.seat, parsed);
                effects.push(SceneEffect::Hear { line, moment });
            }
            Err(_) if asking.corrections >= self.plan.corrections_max => {
                self.abort(AbortCause::Protocol(asking.seat), effects);
            }
            Err(_) => {
                let asking = self.correct(asking, output, effects);
                self.stage = AwaitedAnswer::Asking(asking);
            }
        }
    }

    /// Asks an actor to reformat its answer.
    pub(super) fn correct(
        &mut self,
        asking: Asking,
        output: &Output,
        effects: &mut Vec<SceneEffect>,
    ) -> Asking {
        let Asking { seat, corrections } = asking;
        effects.push(self.events().correct(seat, output.as_str()));
        let cue = Cue::new(CueKind::Correction, Vec::new(), Some(Prompt::Correction));
        effects.push(SceneEffect::Ask { seat, cue });
        Asking { seat, corrections: corrections + 1 }
    }

    pub(super) fn on_heard(
        &mut self,
        seat: CastPlace,
        parsed: Parsed,
        audience: &Audience,
        effects: &mut Vec<SceneEffect>,
    ) {
        let Parsed { thinking, speech } = parsed;
        let audience = self.seats.listeners(&self.plan, seat, audience);
        self.speeches += 1;
        self.seats.of(seat).spoken += 1;
        let events = self.events();
        effects.push(events.from(EventKind::Think, seat, thinking.into_event()));
        effects.push(events.speak(seat, speech.shared(), audience.as_deref()));
        let line = self.plan.line(seat, speech.clone(), self.speeches);
        let line = SpokenLine { is_whisper: audience.is_some(), ..line };
        self.stage = AwaitedAnswer::Showing(Said { seat, speech, audience });
        effects.push(SceneEffect::Show(line));
    }

    pub(super) fn on_shown(&mut self, said: Said, effects: &mut Vec<SceneEffect>) {
        let Said { seat, speech, audience } = said;
        if is_explicit_end(speech.as_str()) {
            return self.close(CloseReason::Explicit, effects);
        }
        self.route(seat, &speech, audience.as_deref(), effects);
        let is_close = self.plan.signs.is_close(speech.as_str(), &self.plan.name(seat));
        let line = self.plan.line(seat, speech, self.speeches);
        let line = SpokenLine { is_whisper: audience.is_some(), ..line };
        self.end_or_go_on(line, is_close, effects);
    }

    /// Passes a speech on to its listeners.
    fn route(
        &mut self,
        from: CastPlace,
        speech: &Speech,
        audience: Option<&[CastPlace]>,
        effects: &mut Vec<SceneEffect>,
    ) {
        let speaker = self.plan.name(from);
        let present: Vec<CastPlace> = self.seats.present().collect();
        let count = u32::try_from(present.len()).unwrap_or(u32::MAX);
        let hears = |seat: &CastPlace| {
            *seat != from && audience.is_none_or(|audience| audience.contains(seat))
        };
        for hearer in present.into_iter().filter(hears) {
            let listener = self.plan.name(hearer);
            let text = format!("Forwarding {speaker}'s speech to {listener}");
            effects.push(self.events().to(EventKind::Route, hearer, text));
            let frame = self.plan.frame.frame(&speaker, &listener, count);
            let line = HeardSpeech { speaker: Arc::clone(&speaker), speech: speech.clone(), frame };
            self.seats.of(hearer).inbox.push(line);
        }
    }
}
