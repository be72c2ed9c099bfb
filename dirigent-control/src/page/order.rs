//! The orders of an operator, as values.

use dirigent::host::plain::is_visible;
use dirigent::ports::ChannelRequest;
use dirigent::{AgentId, Mode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::channel_id::channel_id;
use crate::page::look::Row;
use crate::page::post_text::PostText;
use crate::page::problem::Problem;
use crate::page::question::Question;

/// The longest reason, in characters.
const REASON_MAX: usize = 200;

/// An order that an operator gives to a channel.
///
/// ```
/// use dirigent_control::Order;
/// let order: Order = serde_json::from_str(r#"{ "order": "mute", "agent": "poet" }"#)?;
/// assert_eq!(order, Order::Mute { agent: "poet".to_owned() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(tag = "order", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// Sets another mode: `none`, `chat` or `report`. A work or discussion channel keeps its mode, and you cannot set
    /// these two modes.
    SetMode {
        /// The mode: `none`, `chat` or `report`.
        mode: String,
    },
    /// Denies every agent at once, until you resume the channel.
    Stop,
    /// Pauses the channel and keeps its order.
    Hold,
    /// Ends a stop, a hold or a finish.
    Resume,
    /// Marks the work in the channel as done.
    Finish,
    /// Wakes the channel without a message.
    Wake {
        /// The agent that speaks first. By default it is the first one in the list.
        #[serde(default)]
        first: Option<String>,
    },
    /// Chooses the agent that speaks next.
    SpeakNext {
        /// The agent that speaks next.
        agent: String,
    },
    /// Mutes an agent, so that it gets no turns in the channel.
    Mute {
        /// The agent that is muted.
        agent: String,
    },
    /// Unmutes an agent, so that it gets turns again.
    Unmute {
        /// The agent that is unmuted.
        agent: String,
    },
    /// Gives turns again to an agent that came back.
    Assign {
        /// The agent that came back.
        agent: String,
    },
    /// Resets the channel's budgets to zero.
    ResetBudget,
    /// Closes the channel for good.
    Archive,
    /// Posts the parts of a discussion that could not be delivered again, at once.
    RetryPosts,
    /// Drops a discussion's result that could not be delivered.
    DismissResult,
    /// Posts a discussion's result that could not be delivered in another channel of its guild.
    SendResult {
        /// The id of the other channel.
        to: String,
    },
    /// Posts a text as the moderator. It pings no account, and the log of orders does not show it.
    Post {
        /// The text, at most 2,000 characters in Discord.
        text: PostText,
    },
}

/// An order in the form in which it is performed: a request to the driver, or a message.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "few exist at a time, and each is carried at once")]
pub(crate) enum Told {
    Request(ChannelRequest),
    Post(PostText),
}

impl Told {
    /// Returns the order's name.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Request(request) => request.name(),
            Self::Post(_) => "post",
        }
    }
}

/// An order with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
pub(crate) struct GivenOrder {
    #[serde(flatten)]
    pub(crate) order: Order,
    /// The reason, at most 200 characters. The log of orders and the channel's page show it.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// Returns the reason as it is logged, in one line, or `None` if there is none.
pub(crate) fn reason_of(text: Option<&str>) -> Result<Option<String>, Problem> {
    let words: Vec<_> = text.unwrap_or_default().split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() > REASON_MAX {
        let detail = format!("a reason must be at most {REASON_MAX} characters");
        return Err(Problem::invalid(detail));
    }
    if line.chars().any(char::is_control) {
        return Err(Problem::invalid("a reason must have no control characters"));
    }
    Ok(Some(line).filter(|line| is_visible(line)))
}

impl Order {
    /// Returns the question that is asked before the order is performed, if the order costs money, cuts a turn or
    /// cannot be undone.
    pub(crate) fn question(&self, row: &Row) -> Option<Question> {
        let name = &row.name;
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others can be taken back")]
        match self {
            // An order that will be refused needs no answer first.
            Self::SetMode { .. } if row.is_locked => None,
            Self::SetMode { .. } | Self::Archive if row.turns == "archived" => None,
            Self::Archive => Some(Question::of(format!("Archive {name}? That is for good."))),
            Self::DismissResult => Some(Question::of(format!(
                "Dismiss the result of {name}? It is posted nowhere, and its text is lost."
            ))),
            Self::SetMode { .. } if row.turns == "unknown" => {
                Some(Question::of(format!("Begin {name} anew? What it stood at is lost.")))
            }
            Self::SetMode { mode } if *mode != row.mode => {
                let speaker = row.speaker.as_deref().filter(|_| row.is_live);
                let cuts = speaker
                    .map(|speaker| format!(" {speaker} has the floor, and its turn is cut."));
                let costs = (mode == "chat")
                    .then_some(" In chat its agents take turns by themselves, which costs money.");
                let from = &row.mode;
                (cuts.is_some() || costs.is_some()).then(|| {
                    // The agent with the cut turn changes from moment to moment, so it is left out.
                    let what = (name, from, mode, cuts.is_some());
                    let (cuts, costs) = (cuts.unwrap_or_default(), costs.unwrap_or_default());
                    let words = format!("Change {name} from {from} to {mode}?{cuts}{costs}");
                    Question::about(&what, words)
                })
            }
            _ => None,
        }
    }

    /// Returns true if a question may come first. The state of the channel decides.
    pub(crate) const fn may_ask(&self) -> bool {
        matches!(
            self,
            Self::Archive | Self::SetMode { .. } | Self::DismissResult | Self::SendResult { .. }
        )
    }

    /// Returns the order in the form in which it is performed.
    pub(crate) fn told(self) -> Result<Told, Problem> {
        let agent = |name: String| AgentId::from(name);
        Ok(Told::Request(match self {
            Self::Post { text } => return Ok(Told::Post(text)),
            Self::RetryPosts => ChannelRequest::RetryPosts,
            Self::DismissResult => ChannelRequest::DismissResult,
            Self::SendResult { to } => ChannelRequest::SendResult { to: channel_id(&to)? },
            Self::SetMode { mode } => {
                let mode: Mode = mode.parse().map_err(|_| {
                    Problem::invalid("there is no such mode; none, chat and report can be given")
                })?;
                ChannelRequest::SetMode { mode }
            }
            Self::Stop => ChannelRequest::Stop,
            Self::Hold => ChannelRequest::Hold,
            Self::Resume => ChannelRequest::Resume,
            Self::Finish => ChannelRequest::Finish,
            Self::Wake { first } => {
                let first = first.filter(|first| !first.is_empty()).map(agent);
                ChannelRequest::Wake { first }
            }
            Self::SpeakNext { agent: name } => ChannelRequest::SpeakNext { agent: agent(name) },
            Self::Mute { agent: name } => ChannelRequest::Mute { agent: agent(name) },
            Self::Unmute { agent: name } => ChannelRequest::Unmute { agent: agent(name) },
            Self::Assign { agent: name } => ChannelRequest::Assign { agent: agent(name) },
            Self::ResetBudget => ChannelRequest::ResetBudget,
            Self::Archive => ChannelRequest::Archive,
        }))
    }
}
