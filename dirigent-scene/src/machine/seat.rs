//! What the scene knows of each character: where it is, what it has not heard yet, and counts. Nothing of its content.

use std::sync::Arc;

use crate::cue::HeardSpeech;
use crate::director::{Audience, Moment};
use crate::machine::plan::{CastPlace, Plan};

/// One character.
#[derive(Clone, Debug, Default)]
pub(super) struct SeatState {
    pub(super) presence: Presence,
    /// Whether its actor was created.
    pub(super) is_spawned: bool,
    /// How many speeches it has made.
    pub(super) spoken: u32,
    /// Cues that its actor answered.
    pub(super) answered: u32,
    /// What was said to it since its last turn.
    pub(super) inbox: Vec<HeardSpeech>,
    /// Whether it has had a turn.
    pub(super) has_begun: bool,
}

/// Where a character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Presence {
    /// Not there yet.
    #[default]
    Waiting,
    /// Its actor is being created.
    Entering,
    Present,
    /// It hears no more, and is to write its journal.
    Leaving,
    /// It has left, or wrote after the scene.
    Gone,
}

/// All characters.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    states: Vec<SeatState>,
    /// The state that stands in for a seat that is not of this scene, which does not happen.
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

    /// Who is present, in the order of the cast.
    pub(super) fn present(&self) -> impl Iterator<Item = CastPlace> {
        self.those(|presence| presence == Presence::Present).map(|(seat, _)| seat)
    }

    fn those_staying(&self) -> impl Iterator<Item = (CastPlace, &SeatState)> {
        self.those(|presence| matches!(presence, Presence::Present | Presence::Entering))
    }

    /// How many are present or enter.
    pub(super) fn staying(&self) -> u32 {
        u32::try_from(self.those_staying().count()).unwrap_or(u32::MAX)
    }

    /// How many turns those who stay may still have together, of this number each.
    pub(super) fn turns_left(&self, cap: u32) -> u32 {
        let spoken = self.those_staying().map(|(_, state)| state.spoken);
        let spoken = spoken.fold(0, u32::saturating_add);
        cap.saturating_mul(self.staying()).saturating_sub(spoken)
    }

    /// The scene as a host sees it when this character has the turn.
    pub(super) fn moment(&self, plan: &Plan, speeches: u32, speaker: CastPlace) -> Moment {
        let present = self.present().map(|seat| plan.slug(seat).clone()).collect();
        Moment { speeches, speaker: plan.slug(speaker).clone(), present }
    }

    /// Those of a whisper's audience who are present, in the order of the cast; none where all hear it.
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
