//! Commands of applications, and interactions with their answers.

use std::collections::BTreeMap;
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::ports::Timestamp;
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use serde_json::Value;

use super::details::Details;

/// The longest time for an application's first answer (interactions/receiving-and-responding).
pub const FIRST_ANSWER: Duration = Duration::from_secs(3);

/// The lifetime of an interaction's token once it was answered.
pub(crate) const TOKEN_LIFE: Duration = Duration::from_secs(15 * 60);

/// The state of an interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It was not answered yet.
    Not,
    /// It was answered or deferred, with this message.
    With(MessageId),
}

/// A message that only the user of a command sees.
#[derive(Clone, Debug)]
pub struct Whisper {
    pub message: ChatMessage,
    pub details: Details,
}

/// A use of a command.
#[derive(Clone, Debug)]
pub struct Interaction {
    pub application: UserId,
    pub token: String,
    pub made_at: Timestamp,
    pub channel: ChannelId,
    pub user: UserId,
    /// The name of the command.
    pub command: String,
    /// The interaction as it is pushed.
    pub written: Value,
    pub answered: Answered,
    /// Answers that only the user sees.
    pub whispers: Vec<Whisper>,
    /// Answers that everyone sees, including the first.
    pub messages: Vec<MessageId>,
}

/// All commands and interactions.
#[derive(Debug, Default)]
pub struct Applications {
    /// Commands as they are written, by application and guild. Without a guild they are global.
    pub commands: BTreeMap<(UserId, Option<GuildId>), Vec<Value>>,
    pub interactions: BTreeMap<u64, Interaction>,
}

impl Applications {
    /// Returns an interaction as it is pushed.
    pub fn written(&self, interaction: u64) -> Option<Value> {
        self.interactions.get(&interaction).map(|found| found.written.clone())
    }

    /// Returns a command by its name, if it can be used in a guild.
    pub fn command(
        &self,
        application: UserId,
        guild: Option<GuildId>,
        name: &str,
    ) -> Option<&Value> {
        let scopes = [guild, None].into_iter();
        let mut commands =
            scopes.filter_map(|scope| self.commands.get(&(application, scope))).flatten();
        commands.find(|command| command.get("name").and_then(Value::as_str) == Some(name))
    }

    /// Returns the interaction with this token, if its application may still answer.
    pub fn by_token(
        &mut self,
        now: Timestamp,
        application: UserId,
        token: &str,
    ) -> Option<(u64, &mut Interaction)> {
        let mut all = self.interactions.iter_mut();
        let (id, found) =
            all.find(|(_, known)| known.token == token && known.application == application)?;
        (now.since(found.made_at) < TOKEN_LIFE).then_some((*id, found))
    }
}
