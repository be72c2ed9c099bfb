//! The driver of a scene. It performs one effect of the machine after the other, and makes no decisions.
//!
//! `builder` checks your description, `run` performs, `recording` writes the log, and `folder` knows the place of each
//! file. `deadlines` limits the waits, `resume` continues a killed scene, and `epilogue` is for the time after the end.

use std::fmt;
use std::sync::Arc;

use crate::choices::{Choices, CoordinatorRole, Isolation};
use crate::machine::Machine;

mod builder;
mod deadlines;
mod epilogue;
mod error;
mod folder;
mod recording;
mod resume;
mod run;
mod setup;

pub use self::builder::SceneBuilder;
pub use self::deadlines::SceneDeadlines;
pub use self::epilogue::{Epilogue, InterviewError, Report};
pub use self::error::{Doing, ResumeError, SceneBuildError, SceneError};
pub use self::folder::SceneFolder;

use self::recording::Recording;
use self::run::Run;
use self::setup::Setup;

/// A scene that is ready to begin, with its characters, rules and folder.
///
/// ```
/// use dirigent_scene::{Cast, Character, CoordinatorRole, Isolation, Scene, ScriptedActor};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path().join("scene-001");
/// let scene = Scene::builder(Isolation::Conversations, CoordinatorRole::Code)
///     .title("Scene 001 — Morning kitchen")
///     .character(Character::new("Maria"))
///     .character(Character::new("Sam"))
///     .actors(
///         Cast::new()
///             .actor("maria", || ScriptedActor::new(["<thinking>Him!</thinking><speech>I should head out.</speech>"]))
///             .actor("sam", || ScriptedActor::new(["<thinking>Already?</thinking><speech>Take the umbrella.</speech>"])),
///     )
///     .folder(&folder)
///     .build()?;
/// let epilogue = scene.run().await?;
/// assert_eq!(epilogue.report().reason.as_str(), "natural");
/// assert!(std::fs::read_to_string(folder.join("transcript.md"))?.contains("**SAM:** Take the umbrella."));
/// # Ok(())
/// # }
/// ```
pub struct Scene(Setup);

impl Scene {
    /// Begins to describe a scene. You make both choices, because there is no default;
    /// [`present_choices`](crate::present_choices) explains them.
    pub fn builder(isolation: Isolation, role: CoordinatorRole) -> SceneBuilder {
        SceneBuilder::new(Choices { isolation, role })
    }

    /// Plays the scene to its end. It writes the notes, creates and briefs the actors, routes and records their speech,
    /// asks for journals, and makes the files final. The actors live until you drop the epilogue.
    ///
    /// # Errors
    ///
    /// Returns a [`SceneError`]. Each variant says what is then on disk.
    ///
    /// # Cancellation
    ///
    /// Dropping the future kills the scene. All recorded events are in `events.jsonl`, and [`Scene::resume`] continues
    /// from there.
    pub async fn run(self) -> Result<Epilogue, SceneError> {
        let Self(mut setup) = self;
        if let Some(file) = setup.folder.earlier()? {
            return Err(SceneError::FolderInUse { file });
        }
        setup.folder.begin(setup.choices)?;
        let started = setup.hands.clock.now();
        setup.transcript = setup.transcript.date(started);
        let recording = Recording::begin(&setup.folder, started, &setup.transcript)?;
        let machine = Machine::new(Arc::clone(&setup.plan));
        Run::new(setup, machine, recording).start().await
    }

    /// Continues a killed scene in its folder. Build the scene exactly as before. Actors that had turns come back with
    /// [`ActorFactory::restore`](crate::ActorFactory::restore), and get no speech twice. If an actor saved an answer
    /// that was not recorded, that answer is used. If the scene was killed while its files were made final, that is
    /// completed.
    ///
    /// # Errors
    ///
    /// Returns [`SceneError::Resume`] if the scene cannot be continued; no file has then changed. Other errors are
    /// those of [`Scene::run`].
    ///
    /// # Cancellation
    ///
    /// Dropping the future kills the scene, as with [`Scene::run`].
    pub async fn resume(self) -> Result<Epilogue, SceneError> {
        resume::resume(self.0).await
    }

    /// Makes the files of a killed scene final without continuing it. The scene is closed as aborted, unless it was
    /// closed before.
    ///
    /// # Errors
    ///
    /// Returns [`SceneError::Resume`] or [`SceneError::File`].
    pub fn abandon(self) -> Result<Report, SceneError> {
        resume::abandon(self.0)
    }
}

impl fmt::Debug for Scene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene")
            .field("choices", &self.0.choices)
            .field("plan", &self.0.plan)
            .field("folder", &self.0.folder)
            .finish_non_exhaustive()
    }
}
