//! The host's hand in a scene: who enters, who leaves, and who hears what.

use std::fmt;

use crate::judge::SpokenLine;
use crate::slug::Slug;

/// Directs a scene: who comes in, who goes, and whether a speech is whispered. It says nothing to any actor. Its methods
/// are called between the steps of the scene and must not block.
///
/// ```
/// use dirigent_scene::{Audience, Direction, Director, SpokenLine, Moment, Slug};
///
/// /// Zoe enters after the fourth speech, and what is said in a whisper is heard by Maria alone.
/// struct Evening;
///
/// impl Director for Evening {
///     fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
///         let zoe = Slug::new("zoe").unwrap();
///         if moment.speeches == 4 { vec![Direction::Enter(zoe)] } else { Vec::new() }
///     }
///
///     fn audience(&mut self, line: &SpokenLine, _: &Moment) -> Audience {
///         let is_whisper = line.speech.as_str().starts_with("*[whispers to Maria]*");
///         if is_whisper { Audience::Only(vec![Slug::new("maria").unwrap()]) } else { Audience::Everyone }
///     }
/// }
/// ```
pub trait Director: Send {
    /// Says what happens before the next turn. Default: nothing.
    fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
        let _ = moment;
        Vec::new()
    }

    /// Says who hears this speech. Default: everyone who is present.
    fn audience(&mut self, line: &SpokenLine, moment: &Moment) -> Audience {
        let _ = (line, moment);
        Audience::Everyone
    }

    /// Hears of a direction that cannot be carried out. The scene goes on without it. Default: nothing.
    fn refused(&mut self, direction: &Direction, why: BadDirection) {
        let _ = (direction, why);
    }
}

/// A scene between two turns.
///
/// ```
/// fn is_crowded(moment: &dirigent_scene::Moment) -> bool {
///     moment.present.len() > 4
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moment {
    /// How many speeches there were.
    pub speeches: u32,
    /// Whose turn it is.
    pub speaker: Slug,
    /// Who is present, in the order of the cast.
    pub present: Vec<Slug>,
}

/// What a host directs.
///
/// ```
/// use dirigent_scene::{Direction, Slug};
/// let enter = Direction::Enter(Slug::new("zoe")?);
/// assert_ne!(enter, Direction::Stop);
/// # Ok::<(), dirigent_scene::BadSlug>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// A character that waits ([`SceneBuilder::waiting`](crate::SceneBuilder::waiting)) comes in: its actor is
    /// created and briefed, hears what is said from now on, and has turns from the next round on.
    Enter(Slug),
    /// A character goes: its actor writes its journal now, hears no more, and has no further turn. Two must remain.
    Leave(Slug),
    /// The scene ends as aborted, without journals.
    Stop,
}

/// Who hears a speech. Everyone reads it in the transcript.
///
/// ```
/// assert_eq!(dirigent_scene::Audience::default(), dirigent_scene::Audience::Everyone);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Audience {
    /// All who are present.
    #[default]
    Everyone,
    /// These only. One who is not present, and the speaker, are left out; if none is left, no actor hears it.
    Only(Vec<Slug>),
}

/// Why a direction cannot be carried out. Nothing was changed by it.
///
/// ```
/// assert!(dirigent_scene::BadDirection::TooFew.to_string().contains("two"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BadDirection {
    /// No character of the scene has this slug.
    Unknown,
    /// The character is in the scene, or has left it: it enters once.
    CannotEnter,
    /// The character is not present.
    NotPresent,
    /// Fewer than two would remain.
    TooFew,
}

impl fmt::Display for BadDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "no character of the scene has this slug",
            Self::CannotEnter => "the character is in the scene or has left it",
            Self::NotPresent => "the character is not present",
            Self::TooFew => "fewer than two would remain: stop the scene instead",
        })
    }
}

impl std::error::Error for BadDirection {}
