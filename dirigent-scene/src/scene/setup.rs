//! The parts of a scene.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use dirigent::Clock;

use crate::actor::{Actor, ActorFactory};
use crate::briefing::Briefing;
use crate::choices::Choices;
use crate::director::Director;
use crate::judge::Judge;
use crate::machine::{CastPlace, Plan};
use crate::outlet::Outlet;
use crate::scene::deadlines::SceneDeadlines;
use crate::scene::folder::SceneFolder;
use crate::transcript::Transcript;

/// A scene that was checked.
pub(super) struct Setup {
    pub(super) choices: Choices,
    pub(super) plan: Arc<Plan>,
    pub(super) parts: Vec<CharacterSummary>,
    pub(super) transcript: Transcript,
    pub(super) folder: SceneFolder,
    pub(super) draws_picture: bool,
    pub(super) hands: Hands,
}

/// A character's briefing and journal.
pub(super) struct CharacterSummary {
    pub(super) briefing: Briefing,
    pub(super) journal_file: PathBuf,
}

/// The scene's connections to the outside world.
pub(super) struct Hands {
    pub(super) factory: Box<dyn ActorFactory>,
    pub(super) judge: Option<Box<dyn Judge>>,
    pub(super) director: Box<dyn Director>,
    pub(super) outlet: Option<Box<dyn Outlet>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) deadlines: SceneDeadlines,
}

impl Setup {
    pub(super) fn part(&self, seat: CastPlace) -> Option<&CharacterSummary> {
        self.parts.get(seat.index())
    }
}

/// The actors, by their places.
pub(super) type Actors = BTreeMap<CastPlace, Box<dyn Actor>>;
