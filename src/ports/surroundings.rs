//! The data that an agent can look at during its turn, besides the messages that it gets.

use std::fmt::Write;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;

use super::identity::Identity;
use crate::settings::IdentityLine;
use crate::text::plain::{NAME_CHARS_MAX, shown};
use crate::values::error::ApiError;
use crate::values::message::Attachment;
use crate::{AgentId, ChannelId, ChatMessage};

/// The most messages of a transcript, which is one page of Discord's history.
pub(crate) const TRANSCRIPT_MAX: usize = 100;

/// Looks up who is here, and what was said.
#[async_trait]
pub(crate) trait Surroundings: Send + Sync {
    fn identity(&self, agent: &AgentId) -> Option<Identity>;

    /// Returns whether the library calls the agent, and the agent has an account that can be mentioned.
    fn is_mentionable(&self, agent: &AgentId) -> bool;

    /// Returns the agents that take turns in the channel, in their speaking order.
    fn present(&self, channel: ChannelId) -> Vec<Identity>;

    /// Returns the topic of the channel, if it is a discussion with a guide.
    fn guide(&self, channel: ChannelId) -> Option<String>;

    /// Returns the newest messages of the channel, oldest first.
    async fn transcript(
        &self,
        channel: ChannelId,
        limit: usize,
    ) -> Result<Vec<Arc<ChatMessage>>, ApiError>;

    /// Returns the beginning of a file of a message.
    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError>;

    /// Returns the time until the run of this agent is cut off, if it has an end. It is zero if the agent no longer has
    /// the floor.
    fn time_left(&self, channel: ChannelId, agent: &AgentId) -> Option<Duration>;

    /// Reports the cost of agents in the channel, in the unit of its budget.
    fn report_cost(&self, channel: ChannelId, cost: u64);
}

/// The source of a turn's surroundings.
#[derive(Clone)]
pub(super) enum SurroundingsSource {
    /// The driver that gave the turn.
    Driver(Weak<dyn Surroundings>),
    /// The data that a test gave.
    Given(Arc<Given>),
}

impl SurroundingsSource {
    /// Returns the data of a test with a change.
    pub(super) fn given(&self, change: impl FnOnce(&mut Given)) -> Self {
        let mut given = match self {
            Self::Given(given) => Given::clone(given),
            Self::Driver(_) => Given::default(),
        };
        change(&mut given);
        Self::Given(Arc::new(given))
    }
}

/// The surroundings of a turn that no driver gave.
#[derive(Clone, Default)]
pub(super) struct Given {
    pub(super) agents: Vec<Identity>,
    pub(super) history: Vec<Arc<ChatMessage>>,
    pub(super) guide: Option<String>,
}

/// Writes the text that tells an agent about itself and its turn. Only its last line changes from turn to turn, because
/// endpoints read only the part that differs from the prompt before. For this reason `others` are in the order of their
/// ids, and not in their speaking order.
pub(super) fn briefing(
    me: &Identity,
    mut others: Vec<Identity>,
    guide: Option<&str>,
    (is_reminded, is_repeated): (bool, bool),
) -> String {
    let mut text = IdentityLine::english().render(me);
    text.push_str(", an agent in a chat channel.");
    others.sort_unstable_by(|one, other| one.agent_id.cmp(&other.agent_id));
    for (at, other) in others.iter().enumerate() {
        let between = if at == 0 { " The other agents here:" } else { "," };
        let name = shown(&other.agent_name, NAME_CHARS_MAX);
        // A write to a string cannot fail.
        let _ = write!(text, "{between} {name} (<@{}>)", other.discord_user_id);
    }
    text.push_str(if others.is_empty() {
        " Only people are here besides you."
    } else {
        ". People may be here, too."
    });
    if let Some(guide) = guide {
        let _ = write!(text, "\nThis channel is a discussion with this guide: {guide}");
    }
    text.push_str(if is_reminded {
        "\nNo agent has anything to add. You opened this discussion: summarise it, and conclude it."
    } else {
        "\nOne agent speaks at a time, and it is your turn. What you answer is posted as your message: write it in your own \
         name, without a name in front, and write no lines for others. Of a message you see what its line says: files, pictures \
         and links that are only named there you cannot see. If you have nothing to add, answer only NO_REPLY."
    });
    if is_repeated {
        text.push_str("\nYour newest answer was not posted, since it repeated what was said: say something new, or pass.");
    }
    text
}
