//! The judge that decides whether a scene has ended.

use std::fmt;

use async_trait::async_trait;

use crate::actor::CastRole;
use crate::protocol::Speech;

/// Decides for roles A and B whether the scene has ended. It reads each speech and returns one of two values, so that
/// none of its own thoughts can reach an actor.
///
/// ```
/// use dirigent_scene::{Judge, JudgeError, Judgement, SpokenLine, async_trait};
///
/// struct Patience(u32);
///
/// #[async_trait]
/// impl Judge for Patience {
///     async fn has_ended(&mut self, _: &SpokenLine) -> Result<Judgement, JudgeError> {
///         self.0 = self.0.saturating_sub(1);
///         Ok(if self.0 == 0 { Judgement::Ended } else { Judgement::GoesOn })
///     }
/// }
/// ```
#[async_trait]
pub trait Judge: Send {
    /// Returns whether the scene has ended with this speech. It is called after each speech that does not close the
    /// scene by itself. As after closing words, the next actor may still reply.
    ///
    /// # Errors
    ///
    /// Return a [`JudgeError`] if you cannot tell. The scene goes on, and
    /// [`Report::unjudged`](crate::Report::unjudged) contains the error.
    ///
    /// # Cancellation
    ///
    /// If the [deadline](crate::SceneDeadlines::judge) passes, the future is dropped and the scene goes on.
    async fn has_ended(&mut self, line: &SpokenLine) -> Result<Judgement, JudgeError>;
}

/// A judge's answer.
///
/// ```
/// assert_ne!(dirigent_scene::Judgement::Ended, dirigent_scene::Judgement::GoesOn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third answer")]
pub enum Judgement {
    /// The scene has ended.
    Ended,
    /// The scene goes on.
    GoesOn,
}

/// Why the judge could not be asked. Do not put words of the scene into its text.
///
/// ```
/// assert_eq!(dirigent_scene::JudgeError::new("offline").to_string(), "the judge did not answer: offline");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the judge did not answer: {0}")]
pub struct JudgeError(Box<str>);

impl JudgeError {
    /// Creates an error with this reason.
    pub fn new(why: impl Into<Box<str>>) -> Self {
        Self(why.into())
    }
}

/// A speech that was accepted, with its speaker. `Debug` hides the words.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpokenLine {
    /// The number of the speech in the scene, from 1.
    pub number: u32,
    /// The character that spoke.
    pub speaker: CastRole,
    /// The spoken words.
    pub speech: Speech,
    /// True if only some of the characters present heard it.
    pub is_whisper: bool,
}

impl SpokenLine {
    /// Creates a line, so that you can test judges, directors and outlets.
    pub fn for_tests(number: u32, speaker: CastRole, speech: &str) -> Self {
        Self { number, speaker, speech: Speech::of_person(speech), is_whisper: false }
    }
}

impl fmt::Debug for SpokenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpokenLine({}, {}, {:?})", self.number, self.speaker.slug(), self.speech)
    }
}
