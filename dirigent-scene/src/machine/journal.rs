//! Journals: after the scene, and when a character leaves it.

use std::sync::Arc;

use crate::actor::Output;
use crate::cue::{Cue, CueKind};
use crate::event::EventKind;
use crate::machine::Machine;
use crate::machine::effect::Effect;
use crate::machine::plan::Seat;
use crate::machine::seat::Presence;
use crate::machine::stage::{Asking, Stage};
use crate::prompt::Prompt;
use crate::protocol::has_tag;

/// What an actor wrote for its journal, or answered in an interview: the speech, where it has the protocol's form, or a
/// text without any tag of it. None where it is neither, or blank.
pub(crate) fn written(output: &Output) -> Option<Arc<str>> {
    let text: Arc<str> = match output.as_turn() {
        Ok(parsed) => parsed.speech.shared(),
        Err(_) if has_tag(output.as_str()) => return None,
        Err(_) => output.as_str().trim().into(),
    };
    (!text.trim().is_empty()).then_some(text)
}

impl Machine {
    pub(super) fn ask_for_entry(&mut self, seat: Seat, effects: &mut Vec<Effect>) {
        let state = self.seats.of(seat);
        state.presence = Presence::Leaving;
        // The last words that it heard, it heard before it writes.
        let heard = std::mem::take(&mut state.inbox);
        self.stage = Stage::Writing(Asking { seat, corrections: 0 });
        let cue = Cue::new(CueKind::Journal, heard, Some(Prompt::Journal));
        effects.push(Effect::Ask { seat, cue });
    }

    pub(super) fn on_entry(&mut self, asking: Asking, output: &Output, effects: &mut Vec<Effect>) {
        let seat = asking.seat;
        self.seats.of(seat).answered += 1;
        match written(output) {
            Some(entry) => self.end_entry(seat, Some(entry), effects),
            None if has_tag(output.as_str()) && asking.corrections < self.plan.corrections_max => {
                let asking = self.correct(asking, output, effects);
                self.stage = Stage::Writing(asking);
            }
            None => self.end_entry(seat, None, effects),
        }
    }

    /// The entry is there, or will not come; the others are asked all the same.
    pub(super) fn end_entry(
        &mut self,
        seat: Seat,
        entry: Option<Arc<str>>,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(entry) = entry {
            effects.push(self.events().from(EventKind::Journal, seat, Arc::clone(&entry)));
            effects.push(Effect::Journal { seat, entry });
        } else {
            effects.push(Effect::NoEntry { seat });
        }
        self.seats.of(seat).presence = Presence::Gone;
        self.stage = Stage::Finished;
        self.go_on(effects);
    }
}
