//! Journals: after the scene, and when a character leaves it.

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

/// What an actor wrote for its journal, or answered in an interview: the speech, where it has the protocol's form, or a
/// text without any tag of it and without a mark of thinking. None where it is neither, or blank.
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
        // The last words that it heard, it heard before it writes.
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

    /// The entry is there, or will not come; the others are asked all the same.
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
