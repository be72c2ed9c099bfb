//! The scene's state of each character: its presence, what it has not heard yet, and counts. No content is stored.

use std::sync::Arc;

use crate::cue::HeardSpeech;
use crate::director::{Audience, Moment};
use crate::machine::plan::{CastPlace, Plan};

/// The state of one character.
#[derive(Clone, Debug, Default)]
pub(super) struct SeatState {
    pub(super) presence: Presence,
    /// True if its actor was created.
    pub(super) is_spawned: bool,
    /// The number of its speeches.
    pub(super) spoken: u32,
    /// The number of cues that its actor has answered.
    pub(super) answered: u32,
    /// The speeches to it since its last turn.
    pub(super) inbox: Vec<HeardSpeech>,
    /// True if it has had a turn.
    pub(super) has_begun: bool,
}

/// The presence of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Presence {
    /// It has not entered yet.
    #[default]
    Waiting,
    /// Its actor is being created.
    Entering,
    Present,
    /// It hears no more, and must write its journal.
    Leaving,
    /// It has left, or has written after the scene.
    Gone,
}

/// All characters.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    states: Vec<SeatState>,
    /// A placeholder for a seat that is not in this scene. That does not happen.
    unknown: SeatState,
}

impl Seats {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut states = vec![SeatState::default(); plan.roles.len()];
        for state in states.iter_mut().take(plan.present) {
            state.presence = Presence::Entering;
        }
        Self { states, unknown: SeatState::default() }
    }

    pub(super) fn of(&mut self, seat: CastPlace) -> &mut SeatState {
        self.states.get_mut(seat.index()).unwrap_or(&mut self.unknown)
    }

    pub(super) fn get(&self, seat: CastPlace) -> Option<&SeatState> {
        self.states.get(seat.index())
    }

    fn those(
        &self,
        is_it: impl Fn(Presence) -> bool,
    ) -> impl Iterator<Item = (CastPlace, &SeatState)> {
        let seats = (0..=u8::MAX).map(CastPlace::new).zip(&self.states);
        seats.filter(move |(_, state)| is_it(state.presence))
    }

    /// Returns the characters present, in the order of the cast.
    pub(super) fn present(&self) -> impl Iterator<Item = CastPlace> {
        self.those(|presence| presence == Presence::Present).map(|(seat, _)| seat)
    }

    fn those_staying(&self) -> impl Iterator<Item = (CastPlace, &SeatState)> {
        self.those(|presence| matches!(presence, Presence::Present | Presence::Entering))
    }

    /// Returns the number of characters that are present or entering.
    pub(super) fn staying(&self) -> u32 {
        u32::try_from(self.those_staying().count()).unwrap_or(u32::MAX)
    }

    /// Returns how many turns the remaining characters may still have together, if each may have `cap`.
    pub(super) fn turns_left(&self, cap: u32) -> u32 {
        let spoken = self.those_staying().map(|(_, state)| state.spoken);
        let spoken = spoken.fold(0, u32::saturating_add);
        cap.saturating_mul(self.staying()).saturating_sub(spoken)
    }

    /// Returns the moment at which this character has the turn.
    pub(super) fn moment(&self, plan: &Plan, speeches: u32, speaker: CastPlace) -> Moment {
        let present = self.present().map(|seat| plan.slug(seat).clone()).collect();
        Moment { speeches, speaker: plan.slug(speaker).clone(), present }
    }

    /// Returns a whisper's listeners that are present, in the order of the cast. Returns `None` if all hear it.
    pub(super) fn listeners(
        &self,
        plan: &Plan,
        speaker: CastPlace,
        audience: &Audience,
    ) -> Option<Arc<[CastPlace]>> {
        let Audience::Only(slugs) = audience else {
            return None;
        };
        let is_meant = |seat: &CastPlace| *seat != speaker && slugs.contains(plan.slug(*seat));
        Some(self.present().filter(is_meant).collect())
    }
}
