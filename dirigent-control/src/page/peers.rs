//! The pages of other processes on the same store: the questions to them, and their answers.

use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::ChannelRequest;
use dirigent::{AgentId, ChannelId};
use serde::{Deserialize, Serialize};

use crate::drawing::WhatIfAsked;
use crate::page::auth::EndedSession;
use crate::page::look::{AgentChannel, ChannelLook, Row};
use crate::page::post_text::PostText;
use crate::page::problem::Problem;

/// The longest wait for another process.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(2);
/// The longest wait for a post of another process. It is a little longer than the other process waits for the chat.
const POST_LIMIT: Duration = Duration::from_secs(10);
/// The longest wait for a replay of another process.
const REPLAY_LIMIT: Duration = Duration::from_secs(20);

/// The other processes on the same store. Each acts for its own channels. Pass them to
/// [`ControlBuilder::peers`](crate::ControlBuilder::peers), for example with the implementation in `dirigent-cluster`.
///
/// The other process answers with [`Control::answer`](crate::Control::answer). You trust a peer with every channel,
/// because the process of the sign-in checks the visitor's role.
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

    /// Returns the process that acts for the channel, which may be this one, or `None` if the process is unknown.
    /// Answer from memory.
    fn owner(&self, channel: ChannelId) -> Option<String>;

    /// Asks another process. The future is dropped when the question's [time](PageQuestion::time_limit) is over.
    ///
    /// # Errors
    ///
    /// Return a [`PeerError`] that says why there is no answer, and if the question may have been performed.
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
    /// The question did not reach the process, so it was certainly not performed.
    #[error("it cannot be reached")]
    NotReached,
    /// The process did not answer in time, or its answer was lost. The question may have been performed.
    #[error("it does not answer")]
    NoAnswer,
    /// The process does not know the question, because it has no page or another version. The question was not
    /// performed.
    #[error("it has no page, or one of another version")]
    NoPage,
}

impl PeerError {
    /// Returns true if the question was certainly not performed.
    pub const fn is_certain(self) -> bool {
        match self {
            Self::NotReached | Self::NoPage => true,
            Self::NoAnswer => false,
        }
    }
}

/// A question from the page of one process to the page of another. It is plain data for your transport.
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
    /// Asks for some rows of its channels after this one, ordered by id.
    Rows {
        /// The last channel of the previous answer.
        after: Option<ChannelId>,
    },
    /// Asks for one channel with the reasons for its state.
    Channel {
        /// The channel of the question.
        channel: ChannelId,
    },
    /// Asks for the channel's score as a file.
    Score {
        /// The channel of the question.
        channel: ChannelId,
    },
    /// Asks for a replay of the channel's own recording.
    Replay {
        /// The channel of the question.
        channel: ChannelId,
    },
    /// Asks for the channel's own recording under other rules.
    WhatIf {
        /// The channel of the question.
        channel: ChannelId,
        /// The rules to try.
        asked: WhatIfAsked,
    },
    /// Gives the channel an order.
    Order {
        /// The channel of the order.
        channel: ChannelId,
        /// The order.
        request: ChannelRequest,
        /// The name of the operator, for example `anna at bot-1`.
        by: String,
        /// The reason in the operator's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Posts a text in the channel as the moderator.
    Post {
        /// The channel of the post.
        channel: ChannelId,
        /// The text of the post.
        text: PostText,
        /// The name of the operator, for example `anna at bot-1`.
        by: String,
        /// The reason in the operator's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Asks for one agent in the channels of the process.
    Agent {
        /// The id of the agent.
        agent: AgentId,
    },
    /// Reports that the registry of agents has changed.
    RegistryChanged,
    /// Reports sessions that visitors ended, and asks for those that the process knows.
    SignOuts {
        /// The sessions that ended just now. Empty for a question only.
        ended: Vec<EndedSession>,
    },
}

impl PageQuestion {
    /// Returns the channel that the question is about.
    pub const fn channel(&self) -> Option<ChannelId> {
        match self {
            Self::Rows { .. }
            | Self::Agent { .. }
            | Self::RegistryChanged
            | Self::SignOuts { .. } => None,
            Self::Channel { channel }
            | Self::Score { channel }
            | Self::Replay { channel }
            | Self::WhatIf { channel, .. }
            | Self::Post { channel, .. }
            | Self::Order { channel, .. } => Some(*channel),
        }
    }

    /// Returns the longest wait for an answer. It is 2 s, but 10 s for a post and 20 s for a replay.
    pub const fn time_limit(&self) -> Duration {
        match self {
            Self::Replay { .. } | Self::WhatIf { .. } => REPLAY_LIMIT,
            Self::Post { .. } => POST_LIMIT,
            Self::Rows { .. }
            | Self::Channel { .. }
            | Self::Score { .. }
            | Self::Order { .. }
            | Self::Agent { .. }
            | Self::RegistryChanged
            | Self::SignOuts { .. } => TIME_LIMIT,
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
    /// Rows of channels, ordered by id.
    Rows {
        /// The rows.
        rows: Vec<Row>,
        /// True if there are more after them.
        has_more: bool,
    },
    /// The data of a channel's page.
    Channel(Box<ChannelSheet>),
    /// An agent in its channels. The channel that changed last comes first.
    Agent {
        /// The agent in its channels, at most 200.
        channels: Vec<AgentChannel>,
        /// The number of further channels.
        more: usize,
    },
    /// A file: an SVG, or as JSON a replay or an evening under other rules.
    File(String),
    /// The sessions that visitors ended before they expired, in any process that this one has heard.
    SignOuts {
        /// The sessions.
        ended: Vec<EndedSession>,
    },
    /// The question was performed.
    Done,
    /// The process does not act for the channel, so it did not perform the question.
    Elsewhere,
    /// The question was refused, or it failed.
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
    /// The channel, with the reasons for its state.
    pub look: ChannelLook,
    /// The channel's score, as HTML.
    pub score: String,
    /// True if the process of the channel has recordings.
    pub is_recorded: bool,
}

impl ChannelSheet {
    pub(crate) const fn new(look: ChannelLook, score: String, is_recorded: bool) -> Self {
        Self { look, score, is_recorded }
    }
}
