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

/// A hosted agent: the host says what it answers, the library when.
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
    /// Takes a turn. The reply is posted by the library through the agent's own account.
    ///
    /// Should end soon after [`Turn::cancelled`]; what it answers then is not posted, and given back to it
    /// with its next turn in the channel ([`Turn::late_answer`]). At a [`shutdown`](crate::Dirigent::shutdown) the turn is
    /// not taken away from it: a reply still counts, is stored, and the next process posts it. Words that are only half done
    /// are better answered with an error then, and nothing is posted.
    ///
    /// The driver polls it on its own task, with all other agents and channels: code that blocks the thread, such as a
    /// model that computes here, freezes every channel meanwhile. It belongs into `tokio::task::spawn_blocking`, or
    /// into a thread of its own. A step that takes more than a second is logged with the agent's name, and counted
    /// ([`Tally::long_steps`](crate::operate::Tally::long_steps)). [`Builder::spawn_calls`](crate::host::Builder::spawn_calls)
    /// runs agents' calls elsewhere than in the driver.
    ///
    /// A panic or an error ends this turn and nothing else: the agent stays online. A host that knows it
    /// to be gone says so ([`Dirigent::agent_offline`](crate::Dirigent::agent_offline)), or lets failures in a row
    /// say so ([`Hooks::offline_after_failures`](crate::settings::Hooks::offline_after_failures)).
    ///
    /// # Errors
    ///
    /// Any; the turn counts as passing and the next agent is called: the call is not repeated. What this agent missed
    /// ([`Turn::missed`](crate::Turn::missed)) is given again with its next turn; an agent that can repeat its request
    /// within [`Turn::time_left`](crate::Turn::time_left) answers sooner. People are not told: a host does that, with
    /// [`Builder::on_agent_error`](crate::host::Builder::on_agent_error). `explain` and `/why` say that calls failed. The
    /// error's text is not logged, since it may hold a secret; [`failure_class`](Self::failure_class) says what may be.
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError>;

    /// What kind of failure an error of this agent is, in a few words that people may read: no key, no address, and nothing that
    /// was said. The log, `/why` and the control page show it, for example "the endpoint refuses the request (status 401)".
    /// It is shown as one line of at most 200 characters. The default says nothing, because an error's own text may hold anything.
    fn failure_class(&self, error: &AgentError) -> Option<String> {
        let _ = error;
        None
    }
}

/// Whatever went wrong inside an agent.
pub type AgentError = Box<dyn Error + Send + Sync>;

/// What an agent answers: a text, and if need be embeds, files, a reference to the message that it answers, and whom it
/// may ping. `Debug` shows no text.
///
/// A text beyond the chat's [longest message](crate::DiscordApi::longest_message) (Discord: 2,000 characters) becomes several messages.
/// The first of them answers the message that is referred to, the last one shows the embeds and has the files, and all of them
/// may ping the same users.
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
    /// This text, unless the silence policy takes it for silence.
    Say(String),
    /// This text, which may be empty, and more. A text that the silence policy takes for silence is not posted, its
    /// embeds and files are. Without any of them it is [`Reply::Pass`].
    Rich(String, Box<Extras>),
    /// Nothing to say.
    Pass,
}

impl Reply {
    /// A reply with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    /// The same with one more embed, at most 10. An embed needs no text: `Reply::Pass.embed(…)` is a reply, and no pass.
    #[must_use]
    pub fn embed(self, embed: Embed) -> Self {
        self.with(|extras| extras.embeds.push(embed))
    }

    /// The same with one more file, at most 10 with 10 MiB together. A file needs no text: `Reply::Pass.file(…)` is a reply,
    /// and no pass. How a name is made plain says [`ReplyFile::new`].
    ///
    /// The reply is posted whatever becomes of its files: a file beyond the limits is left out, and if the chat refuses the
    /// files or takes none, the message is posted without them. The bytes are kept in memory until the message is posted, and
    /// nowhere else, so after a restart the reply is posted without its files. Each is logged, and
    /// [`Turn::late_files`] names those files in the agent's next turn.
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

    /// The same in answer to this message, which is in the same channel. Where it does not exist there (any more), the
    /// reply is posted without the reference. The author of that message is pinged only if
    /// [`AllowedMentions::replied_user`] says so.
    #[must_use]
    pub fn to(self, message: MessageId) -> Self {
        self.with(|extras| extras.reply_to = Some(message))
    }

    /// The same, and this agent speaks next. A new cycle begins with it and the others follow, so two agents that hand over to
    /// each other reach the ceiling of cycles. Hourly caps hold.
    ///
    /// The library ignores it if the reply is not posted, if the other agent takes no turns in the channel now, or if a
    /// person or an operator asked for other agents meanwhile. It also ignores it in an orchestrator's answer, because that
    /// ends no turn.
    ///
    /// ```
    /// let reply = dirigent::Reply::text("Over to you, historian.").then("historian");
    /// assert_eq!(reply.check(), Ok(()));
    /// ```
    #[must_use]
    pub fn then(self, agent: impl Into<AgentId>) -> Self {
        self.with(|extras| extras.next = Some(agent.into()))
    }

    /// The same, which may ping these of the users and roles that its text names. By default a reply pings no account,
    /// whatever its text says.
    #[must_use]
    pub fn allowed_mentions(self, mentions: AllowedMentions) -> Self {
        self.with(|extras| extras.mentions = mentions)
    }

    /// Whether the chat can take it. The library asks this of every reply: one that exceeds a limit is not posted, not even
    /// in part; the agent's call counts as failed, and [`Builder::on_agent_error`](crate::host::Builder::on_agent_error)
    /// and listeners are told of the error. Only where a file exceeds a limit, the rest of the reply is posted, if there
    /// is any.
    ///
    /// # Errors
    ///
    /// The first limit that is exceeded. A text has none: it is split.
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

/// A [`Reply`] as it is written: no text is a pass.
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

/// A pass has no extras.
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
