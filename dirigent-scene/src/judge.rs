//! Who is asked whether a scene has ended.

use std::fmt;

use async_trait::async_trait;

use crate::actor::CastRole;
use crate::protocol::Speech;

/// Judges for the roles A and B whether the scene has ended. It reads what was said aloud, one speech after the other,
/// and answers with one of two words: nothing that it thinks can reach an actor.
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
    /// Says whether the scene has ended with this speech. Asked after each speech that closes nothing by itself. As
    /// after words of closing, the next actor may still reply.
    ///
    /// # Errors
    ///
    /// [`JudgeError`]: the scene goes on, and [`Report::unjudged`](crate::Report::unjudged) has the error.
    ///
    /// # Cancellation
    ///
    /// A scene whose [deadline](crate::SceneDeadlines::judge) is over drops the future, and goes on.
    async fn has_ended(&mut self, line: &SpokenLine) -> Result<Judgement, JudgeError>;
}

/// What a judge answers.
///
/// ```
/// assert_ne!(dirigent_scene::Judgement::Ended, dirigent_scene::Judgement::GoesOn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third answer")]
pub enum Judgement {
    /// The scene has ended.
    Ended,
    /// It goes on.
    GoesOn,
}

/// The judge could not be asked. Its text must hold nothing that was said.
///
/// ```
/// assert_eq!(dirigent_scene::JudgeError::new("offline").to_string(), "the judge did not answer: offline");
/// ```
#[derive(Debug, thiserror::Error)]
#[error("the judge did not answer: {0}")]
pub struct JudgeError(Box<str>);

impl JudgeError {
    /// Says why.
    pub fn new(why: impl Into<Box<str>>) -> Self {
        Self(why.into())
    }
}

/// A speech that was accepted, with who said it and whom it reached. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpokenLine {
    /// Which speech of the scene it is, from 1.
    pub number: u32,
    /// The character that spoke.
    pub speaker: CastRole,
    /// What was said.
    pub speech: Speech,
    /// Whether only some of those present heard it.
    pub is_whisper: bool,
}

impl SpokenLine {
    /// Makes a line, for tests of judges, directors and outlets.
    pub fn for_tests(number: u32, speaker: CastRole, speech: &str) -> Self {
        Self { number, speaker, speech: Speech::of_person(speech), is_whisper: false }
    }
}

impl fmt::Debug for SpokenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpokenLine({}, {}, {:?})", self.number, self.speaker.slug(), self.speech)
    }
}
