//! A person who plays a character.

use std::fmt;

use async_trait::async_trait;
use dirigent::{ChannelId, ChatMessage, UserId};
use tokio::sync::{mpsc, watch};

use crate::actor::{Actor, ActorError, Output};
use crate::briefing::Briefing;
use crate::cue::Cue;

/// The actor of a character that a person plays. What the person says is speech with empty thinking; there is no form to
/// keep. Made with its [`Prompter`], through which the host shows the person the briefing and each cue, and hands in
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

/// Where a person's part of a scene is seen and said.
pub struct Prompter {
    briefings: watch::Receiver<Option<Briefing>>,
    cues: mpsc::UnboundedReceiver<Cue>,
    lines: mpsc::UnboundedSender<String>,
    is_asked: watch::Receiver<bool>,
    /// Where the person writes, if they play in a channel.
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
    /// Lets the person play in a channel: [`Prompter::hear`] then takes what this account writes there.
    #[must_use]
    pub const fn in_channel(mut self, channel: ChannelId, account: UserId) -> Self {
        self.place = Some((channel, account));
        self
    }

    /// Returns the briefing, once there is one.
    pub fn briefing(&self) -> Option<Briefing> {
        self.briefings.borrow().clone()
    }

    /// Waits until the person is asked for something; `None` when the scene has ended.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Cue> {
        self.cues.recv().await
    }

    /// Hands in what the person says.
    ///
    /// # Errors
    ///
    /// [`NotAsked`], when it is not the person's turn. It is not kept for later.
    pub fn say(&self, text: impl Into<String>) -> Result<(), NotAsked> {
        if !*self.is_asked.borrow() {
            return Err(NotAsked);
        }
        self.lines.send(text.into()).map_err(|_| NotAsked)
    }

    /// Hands in a message of the channel. Taken is what the person's account writes there when it has the turn; what
    /// others write, or the person out of turn, is not routed. Returns whether it was taken.
    pub fn hear(&self, message: &ChatMessage) -> bool {
        let is_its_own = self.place == Some((message.channel, message.author));
        is_its_own && self.say(&*message.content).is_ok()
    }
}

/// The person does not have the turn.
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
        // A second line that was handed in for an earlier turn is none for this one.
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

/// The person has the turn while this lives: a scene that waits no longer drops it.
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
