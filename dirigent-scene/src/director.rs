//! Directs a scene: who enters, who leaves, and who hears what.

use std::fmt;

use crate::judge::SpokenLine;
use crate::slug::Slug;

/// Directs a scene. You decide who enters and leaves, and whether a speech is whispered, but you cannot say anything to
/// an actor. The methods are called between the steps of the scene and must not block.
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
    /// Returns your directions before the next turn. By default there are none.
    fn before_turn(&mut self, moment: &Moment) -> Vec<Direction> {
        let _ = moment;
        Vec::new()
    }

    /// Returns who hears this speech. By default everyone present does.
    fn audience(&mut self, line: &SpokenLine, moment: &Moment) -> Audience {
        let _ = (line, moment);
        Audience::Everyone
    }

    /// Receives a direction that cannot be performed. The scene goes on without it. By default it is ignored.
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
    /// The number of speeches so far.
    pub speeches: u32,
    /// The character that has the turn.
    pub speaker: Slug,
    /// The characters present, in the order of the cast.
    pub present: Vec<Slug>,
}

/// A direction of yours.
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
    /// A waiting character ([`SceneBuilder::waiting`](crate::SceneBuilder::waiting)) enters. Its actor is created and
    /// briefed. It hears what is said from now on, and has turns from the next round on.
    Enter(Slug),
    /// A character leaves. Its actor writes its journal now, hears no more, and has no further turn. At least two
    /// characters must remain.
    Leave(Slug),
    /// The scene ends as aborted, without journals.
    Stop,
}

/// The characters that hear a speech. The transcript contains it in any case.
///
/// ```
/// assert_eq!(dirigent_scene::Audience::default(), dirigent_scene::Audience::Everyone);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Audience {
    /// All characters present.
    #[default]
    Everyone,
    /// Only these. Absent characters and the speaker are ignored. If none is left, no actor hears the speech.
    Only(Vec<Slug>),
}

/// Why a direction cannot be performed. The scene is unchanged.
///
/// ```
/// assert!(dirigent_scene::BadDirection::TooFew.to_string().contains("two"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BadDirection {
    /// No character of the scene has this slug.
    Unknown,
    /// The character is in the scene, or has left it. Each character enters only once.
    CannotEnter,
    /// The character is not present.
    NotPresent,
    /// Fewer than two characters would remain.
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
