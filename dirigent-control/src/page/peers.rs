//! The pages of other processes on the same store: what they are asked, and what they answer.

use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::ChannelRequest;
use dirigent::{AgentId, ChannelId};
use serde::{Deserialize, Serialize};

use crate::page::look::{AgentChannel, ChannelLook, Row};
use crate::page::post_text::PostText;
use crate::page::problem::Problem;

/// The longest wait for another process.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(2);
/// The longest wait for a post of another process, a little longer than it waits for the chat.
const POST_LIMIT: Duration = Duration::from_secs(10);
/// The longest wait for a replay of another process.
const REPLAY_LIMIT: Duration = Duration::from_secs(20);

/// The other processes on the same store. Each acts for its own channels. Give them to
/// [`ControlBuilder::peers`](crate::ControlBuilder::peers), for example with the implementation in `dirigent-cluster`.
///
/// At the other end [`Control::answer`](crate::Control::answer) answers. You trust a peer with every channel, because a
/// visitor's rights are checked in the process of the sign-in.
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
    /// Returns the name of this process.
    fn me(&self) -> String;

    /// Returns the names of the other processes that act for channels.
    fn others(&self) -> Vec<String>;

    /// Returns the process that acts for the channel, which may be this one. It answers from memory. `None` if the process is
    /// unknown.
    fn owner(&self, channel: ChannelId) -> Option<String>;

    /// Asks one of the others. The future is dropped when the question's [time](PageQuestion::time_limit) is over.
    ///
    /// # Errors
    ///
    /// A [`PeerError`] says why there is no answer, and whether the question may have been carried out.
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
    /// The question surely did not reach it, and was not carried out.
    #[error("it cannot be reached")]
    NotReached,
    /// It did not answer in time, or the answer was lost: the question may have been carried out.
    #[error("it does not answer")]
    NoAnswer,
    /// It does not know the question, because it has no page or another version. The question was not carried out.
    #[error("it has no page, or one of another version")]
    NoPage,
}

impl PeerError {
    /// Returns true if the question surely was not carried out.
    pub const fn is_certain(self) -> bool {
        match self {
            Self::NotReached | Self::NoPage => true,
            Self::NoAnswer => false,
        }
    }
}

/// A question of one process's page to another's. It is plain data for your transport.
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
    /// Some rows of its channels after this one, by id.
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
    /// One agent in its channels.
    Agent {
        /// Which agent.
        agent: AgentId,
    },
    /// The registry of agents has changed.
    RegistryChanged,
}

impl PageQuestion {
    /// Returns the channel that it is about.
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

    /// Returns the longest wait for an answer: 2 s, for a post 10 s, for a replay 20 s.
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

/// The answer to a [`PageQuestion`].
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
        /// True if there are more after them.
        has_more: bool,
    },
    /// A channel.
    Channel(Box<ChannelSheet>),
    /// An agent in its channels. The channel that changed last comes first.
    Agent {
        /// At most 200 channels.
        channels: Vec<AgentChannel>,
        /// The number of further channels.
        more: usize,
    },
    /// A file: an SVG, or a replay as JSON.
    File(String),
    /// It was carried out.
    Done,
    /// The process does not act for the channel, so it did not carry out the question.
    Elsewhere,
    /// It was refused, or failed.
    Problem(Problem),
}

/// The data of a channel's page.
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
    /// True if its process keeps recordings.
    pub is_recorded: bool,
}

impl ChannelSheet {
    pub(crate) const fn new(look: ChannelLook, score: String, is_recorded: bool) -> Self {
        Self { look, score, is_recorded }
    }
}
