//! A person who plays a character.

use std::fmt;

use async_trait::async_trait;
use dirigent::{ChannelId, ChatMessage, UserId};
use tokio::sync::{mpsc, watch};

use crate::actor::{Actor, ActorError, Output};
use crate::briefing::Briefing;
use crate::cue::Cue;

/// The actor of a character that a person plays. The person's words are speech with empty thinking, and need not follow
/// the protocol. It comes with a [`Prompter`]. Through that you show the person the briefing and each cue, and pass on
/// what they say.
///
/// ```
/// use dirigent_scene::{Actor, Cue, CueKind, HumanActor};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (mut actor, mut prompter) = HumanActor::new();
/// let turn = actor.respond(Cue::for_tests(CueKind::Turn, &[("Sam", "Hello.")], None));
/// let person = async {
///     let cue = prompter.next().await.unwrap();
///     assert_eq!(cue.text(), "Hello.");
///     prompter.say("Good morning.").unwrap();
/// };
/// let (output, ()) = tokio::join!(turn, person);
/// assert!(output.unwrap().is_speech());
/// # }
/// ```
pub struct HumanActor {
    briefings: watch::Sender<Option<Briefing>>,
    cues: mpsc::UnboundedSender<Cue>,
    lines: mpsc::UnboundedReceiver<String>,
    is_asked: watch::Sender<bool>,
}

/// The person's side of a [`HumanActor`]: shows what it receives, and sends what the person says.
pub struct Prompter {
    briefings: watch::Receiver<Option<Briefing>>,
    cues: mpsc::UnboundedReceiver<Cue>,
    lines: mpsc::UnboundedSender<String>,
    is_asked: watch::Receiver<bool>,
    /// The channel and account of the person, if they play in a channel.
    place: Option<(ChannelId, UserId)>,
}

impl HumanActor {
    /// Creates the actor and its prompter.
    pub fn new() -> (Self, Prompter) {
        let (briefings, briefed) = watch::channel(None);
        let (cues, heard) = mpsc::unbounded_channel();
        let (said, lines) = mpsc::unbounded_channel();
        let (is_asked, asked) = watch::channel(false);
        let prompter =
            Prompter { briefings: briefed, cues: heard, lines: said, is_asked: asked, place: None };
        (Self { briefings, cues, lines, is_asked }, prompter)
    }
}

impl Prompter {
    /// Lets the person play in a channel. [`Prompter::hear`] then accepts what this account writes there.
    #[must_use]
    pub const fn in_channel(mut self, channel: ChannelId, account: UserId) -> Self {
        self.place = Some((channel, account));
        self
    }

    /// Returns the briefing, once there is one.
    pub fn briefing(&self) -> Option<Briefing> {
        self.briefings.borrow().clone()
    }

    /// Waits for the next cue. Returns `None` when the scene has ended.
    ///
    /// # Cancellation
    ///
    /// You can drop the future without losing a cue.
    pub async fn next(&mut self) -> Option<Cue> {
        self.cues.recv().await
    }

    /// Sends the person's words to the scene.
    ///
    /// # Errors
    ///
    /// Returns [`NotAsked`] if it is not the person's turn. The words are not stored for later.
    pub fn say(&self, text: impl Into<String>) -> Result<(), NotAsked> {
        if !*self.is_asked.borrow() {
            return Err(NotAsked);
        }
        self.lines.send(text.into()).map_err(|_| NotAsked)
    }

    /// Passes on a message of the channel, and returns true if it was accepted. It must be the person's own, and it
    /// must be their turn. Messages of others, or out of turn, are not routed.
    pub fn hear(&self, message: &ChatMessage) -> bool {
        let is_its_own = self.place == Some((message.channel, message.author));
        is_its_own && self.say(&*message.content).is_ok()
    }
}

/// It is not the person's turn.
///
/// ```
/// let (_actor, prompter) = dirigent_scene::HumanActor::new();
/// assert_eq!(prompter.say("Hello?"), Err(dirigent_scene::NotAsked));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the person does not have the turn")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct NotAsked;

#[async_trait]
impl Actor for HumanActor {
    async fn brief(&mut self, briefing: Briefing) -> Result<(), ActorError> {
        self.briefings.send_replace(Some(briefing));
        Ok(())
    }

    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
        // Discard lines that were sent for an earlier turn.
        while self.lines.try_recv().is_ok() {}
        let _asked = Asked::begin(&self.is_asked);
        let gone = || ActorError::new("the person is gone");
        self.cues.send(cue).map_err(|_| gone())?;
        let line = self.lines.recv().await.ok_or_else(gone);
        Ok(Output::speech(line?))
    }

    fn is_person(&self) -> bool {
        true
    }
}

/// While this exists, it is the person's turn. A scene that stops waiting drops it.
struct Asked<'a>(&'a watch::Sender<bool>);

impl<'a> Asked<'a> {
    fn begin(is_asked: &'a watch::Sender<bool>) -> Self {
        is_asked.send_replace(true);
        Self(is_asked)
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

impl fmt::Debug for HumanActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HumanActor(..)")
    }
}

impl fmt::Debug for Prompter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompter").field("place", &self.place).finish_non_exhaustive()
    }
}
