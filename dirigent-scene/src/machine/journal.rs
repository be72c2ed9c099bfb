//! Journals, written after the scene or when a character leaves it.

use std::sync::Arc;

use crate::actor::Output;
use crate::cue::{Cue, CueKind};
use crate::event::EventKind;
use crate::machine::Machine;
use crate::machine::effect::SceneEffect;
use crate::machine::plan::CastPlace;
use crate::machine::seat::Presence;
use crate::machine::stage::{Asking, AwaitedAnswer};
use crate::prompt::Prompt;
use crate::protocol::is_marked;

/// Returns an actor's journal entry or its answer in an interview. That is the speech if the output follows the
/// protocol, or a text without its tags and without marks of thinking. Otherwise, or if it is blank, it returns `None`.
pub(crate) fn written(output: &Output) -> Option<Arc<str>> {
    let text: Arc<str> = match output.as_turn() {
        Ok(parsed) => parsed.speech.shared(),
        Err(_) if is_marked(output.as_str()) => return None,
        Err(_) => output.as_str().trim().into(),
    };
    (!text.trim().is_empty()).then_some(text)
}

impl Machine {
    pub(super) fn ask_for_entry(&mut self, seat: CastPlace, effects: &mut Vec<SceneEffect>) {
        let state = self.seats.of(seat);
        state.presence = Presence::Leaving;
        // The actor hears the last words before it writes.
        let heard = std::mem::take(&mut state.inbox);
        self.stage = AwaitedAnswer::Writing(Asking { seat, corrections: 0 });
        let cue = Cue::new(CueKind::Journal, heard, Some(Prompt::Journal));
        effects.push(SceneEffect::Ask { seat, cue });
    }

    pub(super) fn on_entry(
        &mut self,
        asking: Asking,
        output: &Output,
        effects: &mut Vec<SceneEffect>,
    ) {
        let seat = asking.seat;
        self.seats.of(seat).answered += 1;
        match written(output) {
            Some(entry) => self.end_entry(seat, Some(entry), effects),
            None if is_marked(output.as_str())
                && asking.corrections < self.plan.corrections_max =>
            {
                let asking = self.correct(asking, output, effects);
                self.stage = AwaitedAnswer::Writing(asking);
            }
            None => self.end_entry(seat, None, effects),
        }
    }

    /// Ends the wait for an entry, which came or will not come. The others are asked in either case.
    pub(super) fn end_entry(
        &mut self,
        seat: CastPlace,
        entry: Option<Arc<str>>,
        effects: &mut Vec<SceneEffect>,
    ) {
        if let Some(entry) = entry {
            effects.push(self.events().from(EventKind::Journal, seat, Arc::clone(&entry)));
            effects.push(SceneEffect::Journal { seat, entry });
        } else {
            effects.push(SceneEffect::NoEntry { seat });
        }
        self.seats.of(seat).presence = Presence::Gone;
        self.stage = AwaitedAnswer::Finished;
        self.go_on(effects);
    }
}
