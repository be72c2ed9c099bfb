//! What can go wrong with a scene.

use std::path::PathBuf;
use std::time::Duration;

use crate::actor::ActorError;
use crate::choices::CoordinatorRole;
use crate::files::FileError;
use crate::log::LogError;
use crate::outlet::ShowError;
use crate::slug::Slug;

/// A scene cannot be built as it was described. Nothing was created and nothing written; change what is named.
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
    /// There is one character alone at the beginning.
    #[error("a scene needs at least two characters at its beginning")]
    OneCharacter,
    /// There are more than [`Plan::CHARACTERS_MAX`](crate::machine::Plan::CHARACTERS_MAX).
    #[error("a scene has at most 64 characters, and {count} were added")]
    TooManyCharacters {
        /// How many.
        count: usize,
    },
    /// A name is empty, longer than 100 characters, or has line breaks or other control characters.
    #[error("the name of character {number} is empty, too long, or has control characters")]
    BadName {
        /// Which character, from 1.
        number: usize,
    },
    /// A character's slug, or its folder's name, is none, or none could be derived from its name.
    #[error("{name} has no usable slug: name one with Character::slug")]
    BadSlug {
        /// The character.
        name: String,
    },
    /// Two characters have one name; case does not matter.
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
    /// The first speaker is not of the cast.
    #[error("the first speaker {slug} is not there at the beginning")]
    NoFirstSpeaker {
        /// Who was named.
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
    /// A deadline leaves no time. Without a deadline it is `None`.
    #[error("the deadline `{field}` must be longer than zero; None is without end")]
    NoTime {
        /// Which of [`SceneDeadlines`](crate::SceneDeadlines).
        field: &'static str,
    },
    /// No folder was named.
    #[error("a scene needs a folder for its files: SceneBuilder::folder")]
    NoFolder,
    /// No factory of actors was given.
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

/// A scene did not begin, or did not end as scenes should. `Display` and `Debug` show nothing that was said or thought.
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
    /// The folder holds a scene already. Nothing was changed: name another folder, or resume that scene.
    #[error("{} is there already: name another folder, or resume the scene that it holds", file.display())]
    FolderInUse {
        /// The file that is there.
        file: PathBuf,
    },
    /// A file could not be read or written. Before the first actor: nothing was begun. Later: what was said so far is in
    /// `events.jsonl`, and [`Scene::resume`](crate::Scene::resume) goes on from there.
    #[error(transparent)]
    File(#[from] FileError),
    /// An actor could not be created or briefed, or gave no answer. The scene is closed as aborted; its files are final.
    #[error("the actor of {slug} failed while {}: {source}", doing.as_str())]
    Actor {
        /// Whose actor.
        slug: Slug,
        /// What it was to do.
        doing: Doing,
        /// Why it did not.
        source: ActorError,
    },
    /// An actor did not bring its output into the protocol's form. The scene is closed as aborted; its files are final.
    #[error("the actor of {slug} did not keep to the protocol in {outputs} outputs")]
    Protocol {
        /// Whose actor.
        slug: Slug,
        /// How many outputs it gave.
        outputs: u32,
    },
    /// A speech could not be shown. The scene is closed as aborted; its files are final.
    #[error("the speech of {slug} could not be shown: {source}")]
    Show {
        /// Who spoke.
        slug: Slug,
        /// Why not.
        source: ShowError,
    },
    /// An actor, or the outlet, did not do in time what it was to do ([`SceneDeadlines`](crate::SceneDeadlines)). The scene is
    /// closed as timed out; its files are final.
    #[error("{slug}: no answer within {} s while {}", after.as_secs_f64(), doing.as_str())]
    TimedOut {
        /// Whose actor, or who spoke.
        slug: Slug,
        /// What was to be done.
        doing: Doing,
        /// How long the scene waited.
        after: Duration,
    },
    /// The director stopped the scene. It is closed as aborted; its files are final.
    #[error("the host stopped the scene")]
    Stopped,
    /// The scene cannot be resumed. Nothing was changed.
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

/// What an actor was to do when it failed.
///
/// ```
/// assert_eq!(dirigent_scene::Doing::Brief.as_str(), "being briefed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Doing {
    /// To be created.
    Spawn,
    /// To take its briefing.
    Brief,
    /// To answer a cue.
    Respond,
    /// To have its speech shown.
    Show,
}

impl Doing {
    /// Returns it in words, as they follow "while".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spawn => "being created",
            Self::Brief => "being briefed",
            Self::Respond => "answering",
            Self::Show => "its speech was shown",
        }
    }
}

/// Why a killed scene cannot be resumed. Nothing was changed: it stays readable, and
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
    /// There is no log of a killed scene in the folder, or it cannot be read.
    #[error("there is no scene to resume: {0}")]
    NoScene(#[source] LogError),
    /// `resume.jsonl` is missing or of another version.
    #[error("there is no scene to resume: resume.jsonl is missing, damaged or of another version")]
    NoAnswers,
    /// The log is not one of a scene that was built like this.
    #[error("event {event} of the log does not fit this scene: was it built otherwise?")]
    OtherScene {
        /// Which event, from 1.
        event: usize,
    },
    /// An actor that had turns saved no state. Prior turns are never sent again, so it cannot go on.
    #[error("the actor of {slug} had turns and saved no state")]
    NoSavedState {
        /// Whose actor.
        slug: Slug,
    },
    /// What an actor saved is of another moment than the log, by more than the one answer that could be lost.
    #[error("the actor of {slug} saved {saved} answers, and the log has {logged}")]
    OutOfStep {
        /// Whose actor.
        slug: Slug,
        /// Answers that the actor remembers.
        saved: u32,
        /// Answers that the log has.
        logged: u32,
    },
    /// An actor could not be taken up again.
    #[error("the actor of {slug} could not be restored: {source}")]
    Actor {
        /// Whose actor.
        slug: Slug,
        /// Why not.
        source: ActorError,
    },
}
