//! What plays a character: the traits that a host implements.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::briefing::Briefing;
use crate::cue::Cue;
use crate::protocol::{Parsed, Speech, Thoughts, parse_output};
use crate::slug::Slug;

/// Plays one character in one scene. It is the host's, keeps its own memory, and belongs to the scene that had it
/// created: `Box<dyn Actor>` cannot be cloned, and the scene drops it after the journals.
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
    /// Takes the briefing. Called once, before anything else.
    ///
    /// # Errors
    ///
    /// Any; the scene ends as aborted.
    async fn brief(&mut self, briefing: Briefing) -> Result<(), ActorError>;

    /// Answers a cue. What was said before is in the actor's own memory: a cue has only what is new. An actor that
    /// saves its state saves it here, together with the answer, before it returns.
    ///
    /// # Errors
    ///
    /// Any, also that its memory is full. During the scene it then ends as aborted; with a journal or an interview
    /// the others are asked all the same.
    ///
    /// # Cancellation
    ///
    /// A scene that is dropped drops the future, and so does one whose [deadline](crate::SceneDeadlines::answer) is over.
    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError>;

    /// Returns whether a person plays, for whom the scene waits [longer](crate::SceneDeadlines::person). Default: no.
    fn is_person(&self) -> bool {
        false
    }
}

/// Creates the actors of a scene, one for each character. Whether they are isolated from one another is its business;
/// the [`Isolation`](crate::Isolation) that the notes record says how.
#[async_trait]
pub trait ActorFactory: Send {
    /// Creates the actor of a character. It knows a name, and nothing that any actor is briefed with.
    ///
    /// # Errors
    ///
    /// Any; the scene ends as aborted.
    async fn spawn(&mut self, role: &CastRole) -> Result<Box<dyn Actor>, ActorError>;

    /// Takes an actor up again whose scene was killed, from the state that it saved itself. Default: none is saved.
    ///
    /// # Errors
    ///
    /// Any; the scene is not resumed, and nothing is changed.
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

/// An actor that was taken up again. It is briefed already.
#[non_exhaustive]
pub struct Restored {
    /// The actor.
    pub actor: Box<dyn Actor>,
    /// How many cues it has answered: turns, corrections and journal entries.
    pub answered: u32,
    /// Its last answer. It is taken in the place of a new one if the scene was killed before it was recorded, so that
    /// the actor is not asked a second time.
    pub last: Option<Output>,
}

impl Restored {
    /// Takes up an actor that has answered this many cues, with its last answer.
    pub fn new(actor: impl Actor + 'static, answered: u32, last: Option<Output>) -> Self {
        Self { actor: Box::new(actor), answered, last }
    }
}

impl fmt::Debug for Restored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Restored").field("answered", &self.answered).finish_non_exhaustive()
    }
}

/// What an actor answers.
///
/// ```
/// use dirigent_scene::Output;
/// assert_eq!(format!("{:?}", Output::speech("Hello.")), "Speech(6 bytes)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Output(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    /// A text that should have the protocol's form.
    Text(Arc<str>),
    /// What a person says, without thinking and without tags.
    Speech(Arc<str>),
    /// What the log of a killed scene has of a turn.
    Replayed(Parsed),
}

impl Output {
    /// Takes a text in the protocol's form (for a journal or an interview: or a plain one).
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self(Kind::Text(text.into()))
    }

    /// Takes what a person says: speech with empty thinking. There is no form to keep, so whatever it is is spoken.
    pub fn speech(text: impl Into<Arc<str>>) -> Self {
        Self(Kind::Speech(text.into()))
    }

    /// What the log of a killed scene has of a turn.
    pub(crate) const fn replayed(parsed: Parsed) -> Self {
        Self(Kind::Replayed(parsed))
    }

    /// Reads it as a turn.
    pub(crate) fn as_turn(&self) -> Result<Parsed, crate::protocol::Malformed> {
        match &self.0 {
            Kind::Text(text) => parse_output(text),
            Kind::Replayed(parsed) => Ok(parsed.clone()),
            Kind::Speech(text) => {
                Ok(Parsed { thinking: Thoughts::none(), speech: Speech::of_person(text) })
            }
        }
    }

    /// Returns the text as the actor gave it. Not for routing.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Text(text) | Kind::Speech(text) => text,
            Kind::Replayed(parsed) => parsed.speech.as_str(),
        }
    }

    /// Returns whether it is a person's speech without tags.
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

/// Why an actor failed, in the host's words. They are shown, so they must hold no secret and nothing that was said.
///
/// ```
/// use dirigent_scene::ActorError;
/// assert_eq!(ActorError::new("the context is full").to_string(), "the context is full");
/// ```
#[derive(Debug)]
pub struct ActorError(Box<dyn Error + Send + Sync>);

impl ActorError {
    /// Takes an error, or a text.
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
