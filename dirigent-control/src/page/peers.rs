//! The pages of other processes on the same store: what they are asked, and what they answer.

use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::ChannelRequest;
use dirigent::{AgentId, ChannelId};
use serde::{Deserialize, Serialize};

use crate::page::look::{AgentChannel, ChannelLook, Row};
use crate::page::post_text::PostText;
use crate::page::problem::Problem;

/// How long another process is waited for.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(2);
/// How long it is waited for where it posts: a little longer than it waits for the chat.
const POST_LIMIT: Duration = Duration::from_secs(10);
/// How long it is waited for where it replays a recording.
const REPLAY_LIMIT: Duration = Duration::from_secs(20);

/// The other processes on the same store, each of which acts for channels of its own; given to
/// [`ControlBuilder::peers`](crate::ControlBuilder::peers). `dirigent-cluster` has one.
///
/// At the other end [`Control::answer`](crate::Control::answer) answers. A peer is trusted with every channel: what a
/// visitor may do is judged where the visitor signed in.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_control::{Control, PageAnswer, PageQuestion, PeerError, Peers};
///
/// /// Two processes in one, for a test.
/// struct Neighbour(Control);
///
/// #[dirigent::async_trait]
/// impl Peers for Neighbour {
///     fn me(&self) -> String {
///         "bot-1".to_owned()
///     }
///
///     fn others(&self) -> Vec<String> {
///         vec!["bot-2".to_owned()]
///     }
///
///     fn owner(&self, _channel: dirigent::ChannelId) -> Option<String> {
///         Some("bot-2".to_owned())
///     }
///
///     async fn ask(&self, _peer: &str, question: &PageQuestion) -> Result<PageAnswer, PeerError> {
///         Ok(self.0.answer(question).await)
///     }
/// }
/// ```
#[async_trait]
pub trait Peers: Send + Sync + 'static {
    /// The name of this process.
    fn me(&self) -> String;

    /// The names of the other processes that act for channels.
    fn others(&self) -> Vec<String>;

    /// Which process acts for the channel, this one included, as far as is known from memory; `None` while none is known
    /// to.
    fn owner(&self, channel: ChannelId) -> Option<String>;

    /// Asks one of the others. The future is dropped when the question's [time](PageQuestion::time_limit) is over.
    ///
    /// # Errors
    ///
    /// Why there is no answer, and whether the question may have been carried out.
    async fn ask(&self, peer: &str, question: &PageQuestion) -> Result<PageAnswer, PeerError>;
}

/// Why another process did not answer.
///
/// ```
/// use dirigent_control::PeerError;
/// assert!(PeerError::NotReached.is_certain() && !PeerError::NoAnswer.is_certain());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// The question surely did not reach it: nothing was done.
    #[error("it cannot be reached")]
    NotReached,
    /// It did not answer in time, or the answer was lost: the question may have been carried out.
    #[error("it does not answer")]
    NoAnswer,
    /// It answered that it does not answer this: it has no page, or is of another version. Nothing was done.
    #[error("it has no page, or one of another version")]
    NoPage,
}

impl PeerError {
    /// Whether nothing was done.
    pub const fn is_certain(self) -> bool {
        match self {
            Self::NotReached | Self::NoPage => true,
            Self::NoAnswer => false,
        }
    }
}

/// What one process's page asks another's. Plain data, for a transport to carry.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent_control::PageQuestion;
///
/// let question = PageQuestion::Channel { channel: ChannelId::new(7) };
/// assert_eq!(question.channel(), Some(ChannelId::new(7)));
/// assert_eq!(question.time_limit().as_secs(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "few exist at a time, and each is carried at once")]
pub enum PageQuestion {
    /// The rows of the channels that it acts for, by id, some at once: those after this one.
    Rows {
        /// The last channel of the answer before.
        after: Option<ChannelId>,
    },
    /// One channel, with everything that explains it.
    Channel {
        /// Which channel.
        channel: ChannelId,
    },
    /// The channel's score, as a file.
    Score {
        /// Which channel.
        channel: ChannelId,
    },
    /// The channel's own recording, replayed.
    Replay {
        /// Which channel.
        channel: ChannelId,
    },
    /// An order for the channel.
    Order {
        /// Which channel.
        channel: ChannelId,
        /// The order.
        request: ChannelRequest,
        /// Who gave it, for people: `anna at bot-1`.
        by: String,
        /// Why, in the words of who gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A text that is to be posted in the channel as the moderator.
    Post {
        /// Which channel.
        channel: ChannelId,
        /// The text.
        text: PostText,
        /// Who posts it, for people: `anna at bot-1`.
        by: String,
        /// Why, in the words of who posts it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// One agent in the channels that it acts for.
    Agent {
        /// Which agent.
        agent: AgentId,
    },
    /// The registry of agents has changed.
    RegistryChanged,
}

impl PageQuestion {
    /// The channel that it is about.
    pub const fn channel(&self) -> Option<ChannelId> {
        match self {
            Self::Rows { .. } | Self::Agent { .. } | Self::RegistryChanged => None,
            Self::Channel { channel }
            | Self::Score { channel }
            | Self::Replay { channel }
            | Self::Post { channel, .. }
            | Self::Order { channel, .. } => Some(*channel),
        }
    }

    /// How long an answer is waited for: 2 s; for a post 10 s, for a replay 20 s.
    pub const fn time_limit(&self) -> Duration {
        match self {
            Self::Replay { .. } => REPLAY_LIMIT,
            Self::Post { .. } => POST_LIMIT,
            Self::Rows { .. }
            | Self::Channel { .. }
            | Self::Score { .. }
            | Self::Order { .. }
            | Self::Agent { .. }
            | Self::RegistryChanged => TIME_LIMIT,
        }
    }
}

/// What is answered to a [`PageQuestion`].
///
/// ```
/// use dirigent_control::PageAnswer;
/// assert_eq!(serde_json::to_string(&PageAnswer::Done)?, r#""done""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum PageAnswer {
    /// Rows of channels, by id.
    Rows {
        /// The rows.
        rows: Vec<Row>,
        /// Whether there are more after them.
        has_more: bool,
    },
    /// A channel.
    Channel(Box<ChannelSheet>),
    /// An agent in its channels, those first that changed last.
    Agent {
        /// At most 200 channels.
        channels: Vec<AgentChannel>,
        /// How many more there are.
        more: usize,
    },
    /// A file: an SVG, or a replay as JSON.
    File(String),
    /// It was carried out.
    Done,
    /// The process does not act for the channel: nothing was done.
    Elsewhere,
    /// It was refused, or failed.
    Problem(Problem),
}

/// What the page of a channel is drawn of.
///
/// ```
/// fn name(sheet: &dirigent_control::ChannelSheet) -> &str {
///     &sheet.look.channel.name
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChannelSheet {
    /// The channel, with everything that explains it.
    pub look: ChannelLook,
    /// Its score, as HTML.
    pub score: String,
    /// Whether its process keeps recordings.
    pub is_recorded: bool,
}

impl ChannelSheet {
    pub(crate) const fn new(look: ChannelLook, score: String, is_recorded: bool) -> Self {
        Self { look, score, is_recorded }
    }
}
