//! Errors of a scene.

use std::path::PathBuf;
use std::time::Duration;

use crate::actor::ActorError;
use crate::choices::CoordinatorRole;
use crate::files::FileError;
use crate::log::LogError;
use crate::outlet::ShowError;
use crate::slug::Slug;

/// Why a scene cannot be built. No actor was created and no file written, so correct the description and try again.
///
/// ```
/// use dirigent_scene::{SceneBuildError, CoordinatorRole, Isolation, Scene};
///
/// let error = Scene::builder(Isolation::Conversations, CoordinatorRole::Code).build().unwrap_err();
/// assert!(matches!(error, SceneBuildError::NoCharacters));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneBuildError {
    /// There is no character.
    #[error("a scene needs characters: none was added")]
    NoCharacters,
    /// Only one character is present at the beginning.
    #[error("a scene needs at least two characters at its beginning")]
    OneCharacter,
    /// There are more than [`Plan::CHARACTERS_MAX`](crate::machine::Plan::CHARACTERS_MAX).
    #[error("a scene has at most 64 characters, and {count} were added")]
    TooManyCharacters {
        /// The number of characters.
        count: usize,
    },
    /// A name is empty, longer than 100 characters, or has line breaks or other control characters.
    #[error("the name of character {number} is empty, too long, or has control characters")]
    BadName {
        /// The number of the character, from 1.
        number: usize,
    },
    /// A character's slug or its folder's name is not a slug, or no slug could be derived from its name.
    #[error("{name} has no usable slug: name one with Character::slug")]
    BadSlug {
        /// The character.
        name: String,
    },
    /// Two characters have one name. Case does not matter.
    #[error("two characters are called {name}")]
    SameName {
        /// The name.
        name: String,
    },
    /// Two characters have one slug.
    #[error("two characters have the slug {slug}")]
    SameSlug {
        /// The slug.
        slug: Slug,
    },
    /// The first speaker is not in the cast.
    #[error("the first speaker {slug} is not there at the beginning")]
    NoFirstSpeaker {
        /// The first speaker that you named.
        slug: Slug,
    },
    /// The soft cap is above the hard cap, or the hard cap is zero.
    #[error("the soft cap ({soft}) must not be above the hard cap ({hard}), which is at least 1")]
    BadCaps {
        /// The soft cap.
        soft: u32,
        /// The hard cap.
        hard: u32,
    },
    /// The title or the setting has line breaks or other control characters, or the title is empty.
    #[error("the {field} is empty or has control characters")]
    BadText {
        /// `title` or `setting`.
        field: &'static str,
    },
    /// A deadline leaves no time. Use `None` if you want no deadline.
    #[error("the deadline `{field}` must be longer than zero; None is without end")]
    NoTime {
        /// The name of the field in [`SceneDeadlines`](crate::SceneDeadlines).
        field: &'static str,
    },
    /// You named no folder.
    #[error("a scene needs a folder for its files: SceneBuilder::folder")]
    NoFolder,
    /// You gave no factory of actors.
    #[error("a scene needs actors: SceneBuilder::actors")]
    NoActors,
    /// The role needs a judge.
    #[error("with the coordinator role {} a scene needs a judge: SceneBuilder::judge", role.letter())]
    JudgeMissing {
        /// The role.
        role: CoordinatorRole,
    },
    /// The role has no judge.
    #[error("with the coordinator role {} no judge is asked: leave it out or choose another role", role.letter())]
    JudgeUnwanted {
        /// The role.
        role: CoordinatorRole,
    },
}

/// Why a scene did not begin, or did not end as it should. `Display` and `Debug` show no word that was said or thought.
///
/// ```
/// fn may_try_again(error: &dirigent_scene::SceneError) -> bool {
///     // The folder holds what was said so far, and the scene can be resumed.
///     matches!(error, dirigent_scene::SceneError::File(_))
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The folder already contains a scene, and has not changed. Name another folder, or resume that scene.
    #[error("{} is there already: name another folder, or resume the scene that it holds", file.display())]
    FolderInUse {
        /// The file of that scene.
        file: PathBuf,
    },
    /// A file could not be read or written. If it happens before the first actor, the scene has not begun. Later,
    /// everything that was said is in `events.jsonl`, and [`Scene::resume`](crate::Scene::resume) continues from there.
    #[error(transparent)]
    File(#[from] FileError),
    /// An actor could not be created or briefed, or did not answer. The scene is closed as aborted, and its files are
    /// final.
    #[error("the actor of {slug} failed while {}: {source}", doing.as_str())]
    Actor {
        /// The actor's character.
        slug: Slug,
        /// The actor's task.
        doing: Doing,
        /// The actor's error.
        source: ActorError,
    },
    /// An actor did not follow the protocol. The scene is closed as aborted, and its files are final.
    #[error("the actor of {slug} did not keep to the protocol in {outputs} outputs")]
    Protocol {
        /// The actor's character.
        slug: Slug,
        /// The number of outputs that it gave.
        outputs: u32,
    },
    /// A speech could not be shown. The scene is closed as aborted, and its files are final.
    #[error("the speech of {slug} could not be shown: {source}")]
    Show {
        /// The character that spoke.
        slug: Slug,
        /// The outlet's error.
        source: ShowError,
    },
    /// An actor or the outlet did not finish in time ([`SceneDeadlines`](crate::SceneDeadlines)). The scene is closed
    /// as timed out, and its files are final.
    #[error("{slug}: no answer within {} s while {}", after.as_secs_f64(), doing.as_str())]
    TimedOut {
        /// The actor's character, or the one that spoke.
        slug: Slug,
        /// The task that did not finish.
        doing: Doing,
        /// The time that was waited.
        after: Duration,
    },
    /// The director stopped the scene. It is closed as aborted, and its files are final.
    #[error("the host stopped the scene")]
    Stopped,
    /// The scene cannot be resumed. No file has changed.
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

/// The task of an actor that failed.
///
/// ```
/// assert_eq!(dirigent_scene::Doing::Brief.as_str(), "being briefed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Doing {
    /// Being created.
    Spawn,
    /// Reading its briefing.
    Brief,
    /// Answering a cue.
    Respond,
    /// Having its speech shown.
    Show,
}

impl Doing {
    /// Returns the task in words that follow "while".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spawn => "being created",
            Self::Brief => "being briefed",
            Self::Respond => "answering",
            Self::Show => "its speech was shown",
        }
    }
}

/// Why a killed scene cannot be resumed. No file has changed, so you can still read the scene, and
/// [`Scene::abandon`](crate::Scene::abandon) makes its files final.
///
/// ```
/// use dirigent_scene::{ResumeError, Slug};
/// let error = ResumeError::NoSavedState { slug: Slug::new("maria")? };
/// assert!(error.to_string().contains("saved no state"));
/// # Ok::<(), dirigent_scene::BadSlug>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The folder has no log of a killed scene, or the log cannot be read.
    #[error("there is no scene to resume: {0}")]
    NoScene(#[source] LogError),
    /// `resume.jsonl` is missing, or has another version.
    #[error("there is no scene to resume: resume.jsonl is missing, damaged or of another version")]
    NoAnswers,
    /// The log does not belong to a scene that was built like this one.
    #[error("event {event} of the log does not fit this scene: was it built otherwise?")]
    OtherScene {
        /// The number of the first event that differs, from 1.
        event: usize,
    },
    /// An actor that had turns saved no state. It cannot go on, because earlier turns are never sent again.
    #[error("the actor of {slug} had turns and saved no state")]
    NoSavedState {
        /// The actor's character.
        slug: Slug,
    },
    /// The actor's saved state and the log differ by more than the one answer that can be lost.
    #[error("the actor of {slug} saved {saved} answers, and the log has {logged}")]
    OutOfStep {
        /// The actor's character.
        slug: Slug,
        /// The number of answers that the actor remembers.
        saved: u32,
        /// The number of answers in the log.
        logged: u32,
    },
    /// An actor could not be restored.
    #[error("the actor of {slug} could not be restored: {source}")]
    Actor {
        /// The actor's character.
        slug: Slug,
        /// The actor's error.
        source: ActorError,
    },
}
