//! The traits that you implement to play a character.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::briefing::Briefing;
use crate::cue::Cue;
use crate::protocol::{Parsed, Speech, Thoughts, parse_output};
use crate::slug::Slug;

/// Plays one character in one scene. You implement it, and it keeps its own memory. It belongs to a single scene:
/// `Box<dyn Actor>` cannot be cloned, and the scene drops it after the journals.
///
/// ```
/// use dirigent_scene::{Actor, ActorError, Briefing, Cue, Output, async_trait};
///
/// struct Parrot;
///
/// #[async_trait]
/// impl Actor for Parrot {
///     async fn brief(&mut self, _: Briefing) -> Result<(), ActorError> {
///         Ok(())
///     }
///
///     async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
///         let heard = cue.heard().last().map_or("Hello?", |heard| heard.speech());
///         Ok(Output::text(format!("<thinking>I am a parrot.</thinking><speech>{heard}</speech>")))
///     }
/// }
/// ```
#[async_trait]
pub trait Actor: Send {
    /// Reads the briefing. It is called once, before anything else.
    ///
    /// # Errors
    ///
    /// Return any error; the scene then ends as aborted.
    async fn brief(&mut self, briefing: Briefing) -> Result<(), ActorError>;

    /// Answers a cue. A cue contains only what is new, because the actor remembers the rest. If your actor saves its
    /// state, save it here, together with the answer, before you return.
    ///
    /// # Errors
    ///
    /// Return any error, for example if the actor's memory is full. During the scene it then ends as aborted. In a
    /// journal or an interview the other actors are still asked.
    ///
    /// # Cancellation
    ///
    /// The future is dropped if the scene is dropped, or if its [deadline](crate::SceneDeadlines::answer) passes.
    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError>;

    /// Returns true if a person plays, because the scene waits [longer](crate::SceneDeadlines::person) for people.
    /// Default false.
    fn is_person(&self) -> bool {
        false
    }
}

/// Creates the actors of a scene, one for each character. It is up to you to isolate them from each other. The notes
/// record how you do it, by the [`Isolation`](crate::Isolation) that you chose.
#[async_trait]
pub trait ActorFactory: Send {
    /// Creates the actor of a character. You get only its name, and nothing of any briefing.
    ///
    /// # Errors
    ///
    /// Return any error; the scene then ends as aborted.
    async fn spawn(&mut self, role: &CastRole) -> Result<Box<dyn Actor>, ActorError>;

    /// Restores an actor after its scene was killed, from the state that the actor saved itself. By default there is no
    /// saved state.
    ///
    /// # Errors
    ///
    /// Return any error; the scene is then not resumed, and no file changes.
    async fn restore(&mut self, role: &CastRole) -> Result<Option<Restored>, ActorError> {
        let _ = role;
        Ok(None)
    }
}

/// A character, as the factory knows it.
///
/// ```
/// use dirigent_scene::{CastRole, Slug};
/// let role = CastRole::new(Slug::new("maria")?, "Maria");
/// assert_eq!((role.slug().as_str(), role.name()), ("maria", "Maria"));
/// # Ok::<(), dirigent_scene::BadSlug>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastRole {
    slug: Slug,
    name: Arc<str>,
}

impl CastRole {
    /// Names a character.
    pub fn new(slug: Slug, name: impl Into<Arc<str>>) -> Self {
        Self { slug, name: name.into() }
    }

    /// Returns the slug.
    pub const fn slug(&self) -> &Slug {
        &self.slug
    }

    /// Returns the display name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }
}

/// A restored actor. It has already been briefed.
#[non_exhaustive]
pub struct Restored {
    /// The actor.
    pub actor: Box<dyn Actor>,
    /// The number of cues that it has answered: turns, corrections and journal entries.
    pub answered: u32,
    /// Its last answer. If the scene was killed before it recorded that answer, this one is used, so that the actor is
    /// not asked twice.
    pub last: Option<Output>,
}

impl Restored {
    /// Restores an actor that has answered this many cues, with its last answer.
    pub fn new(actor: impl Actor + 'static, answered: u32, last: Option<Output>) -> Self {
        Self { actor: Box::new(actor), answered, last }
    }
}

impl fmt::Debug for Restored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Restored").field("answered", &self.answered).finish_non_exhaustive()
    }
}

/// An actor's answer.
///
/// ```
/// use dirigent_scene::Output;
/// assert_eq!(format!("{:?}", Output::speech("Hello.")), "Speech(6 bytes)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Output(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    /// A text that should follow the protocol.
    Text(Arc<str>),
    /// A person's words, without thinking and without tags.
    Speech(Arc<str>),
    /// A turn from the log of a killed scene.
    Replayed(Parsed),
}

impl Output {
    /// Creates an answer from a text that follows the protocol. For a journal or an interview it may also be plain
    /// text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self(Kind::Text(text.into()))
    }

    /// Creates an answer from a person's words, with empty thinking. A person need not follow the protocol, so the
    /// whole text is spoken.
    pub fn speech(text: impl Into<Arc<str>>) -> Self {
        Self(Kind::Speech(text.into()))
    }

    /// Creates an answer from a turn in the log of a killed scene.
    pub(crate) const fn replayed(parsed: Parsed) -> Self {
        Self(Kind::Replayed(parsed))
    }

    /// Reads the answer as a turn.
    pub(crate) fn as_turn(&self) -> Result<Parsed, crate::protocol::Malformed> {
        match &self.0 {
            Kind::Text(text) => parse_output(text),
            Kind::Replayed(parsed) => Ok(parsed.clone()),
            Kind::Speech(text) => {
                Ok(Parsed { thinking: Thoughts::none(), speech: Speech::of_person(text) })
            }
        }
    }

    /// Returns the actor's text unchanged. Do not route it, because it may contain thinking.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Text(text) | Kind::Speech(text) => text,
            Kind::Replayed(parsed) => parsed.speech.as_str(),
        }
    }

    /// Returns true if this is a person's speech without tags.
    pub const fn is_speech(&self) -> bool {
        matches!(self.0, Kind::Speech(_))
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_speech() { "Speech" } else { "Text" };
        write!(f, "{name}({} bytes)", self.as_str().len())
    }
}

/// Why an actor failed, in your words. They are shown, so do not put secrets or words of the scene into them.
///
/// ```
/// use dirigent_scene::ActorError;
/// assert_eq!(ActorError::new("the context is full").to_string(), "the context is full");
/// ```
#[derive(Debug)]
pub struct ActorError(Box<dyn Error + Send + Sync>);

impl ActorError {
    /// Creates it from an error or a text.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for ActorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ActorError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
