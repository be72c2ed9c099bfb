//! The driver of a scene: carries out one effect of the machine after the other, and decides nothing.
//!
//! `builder` checks what the host gave, `run` performs, `recording` writes the log, `folder` knows which file is
//! where, `deadlines` how long is waited, `resume` continues a killed scene, and `epilogue` is for what comes after the end.

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

/// A scene that is ready to begin: who plays, by which rules, and where it is recorded.
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
    /// Begins to describe a scene. Both choices are the host's, and have no default: present them with
    /// [`present_choices`](crate::present_choices).
    pub fn builder(isolation: Isolation, role: CoordinatorRole) -> SceneBuilder {
        SceneBuilder::new(Choices { isolation, role })
    }

    /// Plays the scene to its end: writes the notes, creates and briefs the actors, routes, records, asks for journals,
    /// and makes the files final. The actors live until the epilogue is dropped.
    ///
    /// # Errors
    ///
    /// [`SceneError`]; each kind says what is on disk then.
    ///
    /// # Cancellation
    ///
    /// Dropping the future is a kill: what was recorded is in `events.jsonl`, and [`Scene::resume`] goes on from there.
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

    /// Goes on with a scene that was killed, in the folder where it was. The scene must be built as that one was. Actors
    /// that had turns come back with [`ActorFactory::restore`](crate::ActorFactory::restore); what was said is never sent to them again. An answer that
    /// an actor gave and saved, and that was not recorded any more, is taken as it is. A scene that was killed while its
    /// files were made final is made final.
    ///
    /// # Errors
    ///
    /// [`SceneError::Resume`]: nothing was changed. Others as with [`Scene::run`].
    ///
    /// # Cancellation
    ///
    /// As with [`Scene::run`].
    pub async fn resume(self) -> Result<Epilogue, SceneError> {
        resume::resume(self.0).await
    }

    /// Makes the files of a killed scene final without going on: it is closed as aborted, unless it was closed before.
    ///
    /// # Errors
    ///
    /// [`SceneError::Resume`] and [`SceneError::File`].
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
