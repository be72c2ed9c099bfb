//! Agents that the library calls itself.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::MessageId;
use serde::{Deserialize, Serialize};

use super::turn::Turn;
use crate::AgentId;
use crate::values::embed::Embed;
use crate::values::extras::{AllowedMentions, Extras};
use crate::values::reply_error::ReplyError;
use crate::values::reply_file::ReplyFile;

/// A hosted agent. You decide what it answers, and the library decides when.
///
/// ```
/// use dirigent::{Agent, AgentError, Reply, Turn};
///
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl Agent for Echo {
///     async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
///         Ok(match turn.missed().last() {
///             Some(message) => Reply::from(format!("You said: {}", message.content)),
///             None => Reply::Pass,
///         })
///     }
/// }
/// ```
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Takes a turn. The library posts the reply through the agent's own account.
    ///
    /// Return soon after [`Turn::cancelled`]. A later answer is not posted. The agent gets it back with its next turn
    /// in the channel ([`Turn::late_answer`]).
    ///
    /// At a [`shutdown`](crate::Dirigent::shutdown) the agent keeps its turn. Its reply still counts and is stored, and
    /// the next process posts it. If the text is only half done at that moment, return an error, because then it is not
    /// posted.
    ///
    /// The driver polls this method on its own task, together with all other agents and channels. Code that blocks the
    /// thread freezes every channel, for example a model that computes here. Run such code in
    /// `tokio::task::spawn_blocking`, or in a thread of its own. The log names an agent that needs more than a second
    /// for one step, and such steps are counted ([`Tally::long_steps`](crate::operate::Tally::long_steps)).
    /// [`Builder::spawn_calls`](crate::host::Builder::spawn_calls) runs the calls of agents outside of the driver.
    ///
    /// A panic or an error ends only this turn, and the agent stays online. If you know that the agent is gone, call
    /// [`Dirigent::agent_offline`](crate::Dirigent::agent_offline). You can also let a number of failures in a row put
    /// it offline ([`Hooks::offline_after_failures`](crate::settings::Hooks::offline_after_failures)).
    ///
    /// # Errors
    ///
    /// You may return any error. The turn then counts as a pass, and the next agent is called, because the library does
    /// not repeat the call. The agent gets the messages that it missed ([`Turn::missed`](crate::Turn::missed)) again
    /// with its next turn. If your agent can repeat its own request within [`Turn::time_left`](crate::Turn::time_left),
    /// it answers sooner.
    ///
    /// The library tells people in the channel about the failure only in `explain` and `/why`. If you want more, use
    /// [`Builder::on_agent_error`](crate::host::Builder::on_agent_error). The text of the error is not logged, because
    /// it may contain a secret. [`failure_class`](Self::failure_class) returns a text that may be shown.
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError>;

    /// Describes an error of this agent in a few words that people may read. The text must contain no key, no address
    /// and no text of a conversation. The log, `/why` and the control page show it, for example "the endpoint refuses
    /// the request (status 401)". They show it as one line of at most 200 characters. The default returns `None`,
    /// because the text of an unknown error may contain anything.
    fn failure_class(&self, error: &AgentError) -> Option<String> {
        let _ = error;
        None
    }
}

/// The error of an agent, of any type.
pub type AgentError = Box<dyn Error + Send + Sync>;

/// The answer of an agent. It is a text, and optionally embeds, files, a reference to the message that it answers, and
/// the accounts that it may ping. Its `Debug` output contains no text.
///
/// A text beyond the chat's [longest message](crate::DiscordApi::longest_message) (2,000 characters on Discord) becomes
/// several messages. The first one has the reference, the last one has the embeds and files, and all of them may ping
/// the same users.
///
/// ```
/// use dirigent::ports::{AllowedMentions, Embed};
/// use dirigent::{MessageId, Reply, UserId};
///
/// # let (question, asker) = (MessageId::new(3), UserId::new(7));
/// let report = Embed::new().title("Build 214").field("Duration", "6 min", true);
/// let reply = Reply::text(format!("<@{asker}> the build is green."))
///     .embed(report)
///     .to(question)
///     .allowed_mentions(AllowedMentions::new().user(asker));
/// assert_eq!(reply.check(), Ok(()));
///
/// assert_eq!(Reply::from("hello"), Reply::Say("hello".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ReplyForm", into = "ReplyForm")]
#[non_exhaustive]
pub enum Reply {
    /// Says this text, unless the silence policy counts it as silence.
    Say(String),
    /// Says this text, which may be empty, with extras. If the silence policy counts the text as silence, only the
    /// embeds and files are posted. Without embeds and files it is then a [`Reply::Pass`].
    Rich(String, Box<Extras>),
    /// Passes, because the agent has nothing to say.
    Pass,
}

impl Reply {
    /// Creates a reply with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    /// Adds an embed. A reply has at most 10. An embed needs no text, so `Reply::Pass.embed(…)` is a reply and not a
    /// pass.
    #[must_use]
    pub fn embed(self, embed: Embed) -> Self {
        self.with(|extras| extras.embeds.push(embed))
    }

    /// Adds a file. A reply has at most 10, with at most 10 MiB together. A file needs no text, so
    /// `Reply::Pass.file(…)` is a reply and not a pass. [`ReplyFile::new`] says how the name is cleaned.
    ///
    /// The reply is posted even if its files cannot be. A file beyond the limits is left out. If the chat refuses the
    /// files or takes none at all, the message is posted without them. The bytes are only in memory until the message
    /// is posted, so after a restart the reply is posted without its files. Each missing file is logged, and
    /// [`Turn::late_files`] names it in the agent's next turn.
    ///
    /// ```
    /// let reply = dirigent::Reply::text("Here are the numbers.").file("numbers.csv", "a,b\n1,2\n");
    /// assert_eq!(reply.check(), Ok(()));
    /// ```
    #[must_use]
    pub fn file(self, name: impl AsRef<str>, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes: Arc<[u8]> = bytes.into().into();
        self.with(|extras| extras.files.push(ReplyFile::new(name, bytes)))
    }

    /// Makes the reply an answer to this message of the same channel. If the message does not exist there, the reply is
    /// posted without the reference. The author of the message is pinged only if you set
    /// [`AllowedMentions::replied_user`].
    #[must_use]
    pub fn to(self, message: MessageId) -> Self {
        self.with(|extras| extras.reply_to = Some(message))
    }

    /// Chooses the agent that speaks next. A new cycle begins with that agent, and the others follow. Two agents that
    /// hand over to each other therefore reach the ceiling of cycles. The hourly caps of agents still apply.
    ///
    /// The library ignores this choice in four cases. The reply was not posted, or the other agent takes no turns in
    /// the channel now. Or a person or an operator asked for other agents since then. Or the reply is an orchestrator's
    /// answer, because that ends no turn.
    ///
    /// ```
    /// let reply = dirigent::Reply::text("Over to you, historian.").then("historian");
    /// assert_eq!(reply.check(), Ok(()));
    /// ```
    #[must_use]
    pub fn then(self, agent: impl Into<AgentId>) -> Self {
        self.with(|extras| extras.next = Some(agent.into()))
    }

    /// Allows the reply to ping these users and roles, if its text names them. By default a reply pings no account,
    /// whatever its text says.
    #[must_use]
    pub fn allowed_mentions(self, mentions: AllowedMentions) -> Self {
        self.with(|extras| extras.mentions = mentions)
    }

    /// Checks whether the chat can take the reply. The library calls this for every reply. If a reply exceeds a limit,
    /// no part of it is posted, and the agent's call counts as failed.
    /// [`Builder::on_agent_error`](crate::host::Builder::on_agent_error) and listeners get the error. The exception is
    /// a file that exceeds a limit, because the rest of the reply is then posted, if there is any.
    ///
    /// # Errors
    ///
    /// Returns the first limit that is exceeded. The text has no limit, because it is split.
    pub fn check(&self) -> Result<(), ReplyError> {
        match self {
            Self::Rich(_, extras) => extras.check(),
            Self::Say(_) | Self::Pass => Ok(()),
        }
    }

    fn with(self, change: impl FnOnce(&mut Extras)) -> Self {
        let (text, mut extras) = match self {
            Self::Say(text) => (text, Box::default()),
            Self::Rich(text, extras) => (text, extras),
            Self::Pass => (String::new(), Box::default()),
        };
        change(&mut extras);
        Self::Rich(text, extras)
    }
}

/// A [`Reply`] in its written form. A form without a text is a pass.
#[derive(Serialize, Deserialize)]
struct ReplyForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extras: Option<Box<Extras>>,
}

impl From<Reply> for ReplyForm {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Say(text) => Self { text: Some(text), extras: None },
            Reply::Rich(text, extras) => Self { text: Some(text), extras: Some(extras) },
            Reply::Pass => Self { text: None, extras: None },
        }
    }
}

/// The error for a pass with extras, because a pass has none.
#[derive(Debug, thiserror::Error)]
#[error("a reply without a text is a pass, and has nothing besides")]
struct PassWithExtras;

impl TryFrom<ReplyForm> for Reply {
    type Error = PassWithExtras;

    fn try_from(form: ReplyForm) -> Result<Self, PassWithExtras> {
        match (form.text, form.extras) {
            (Some(text), Some(extras)) => Ok(Self::Rich(text, extras)),
            (Some(text), None) => Ok(Self::Say(text)),
            (None, None) => Ok(Self::Pass),
            (None, Some(_)) => Err(PassWithExtras),
        }
    }
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::Say(text.to_owned())
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::Say(text)
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Say(text) => write!(f, "Say({} bytes)", text.len()),
            Self::Rich(text, extras) => write!(f, "Rich({} bytes, {extras:?})", text.len()),
            Self::Pass => f.write_str("Pass"),
        }
    }
}
