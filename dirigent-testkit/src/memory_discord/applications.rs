//! Commands of applications, and interactions: who used which, and what was answered.

use std::collections::BTreeMap;
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::ports::Timestamp;
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use serde_json::Value;

use super::details::Details;

/// How long an application may take for its first answer (interactions/receiving-and-responding).
pub const FIRST_ANSWER: Duration = Duration::from_secs(3);

/// How long an interaction's token works once it was answered.
pub(crate) const TOKEN_LIFE: Duration = Duration::from_secs(15 * 60);

/// What happened to an interaction so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It was not answered yet.
    Not,
    /// It was answered, or an answer was promised: with this message.
    With(MessageId),
}

/// A message that only the user of a command sees.
#[derive(Clone, Debug)]
pub struct Whisper {
    pub message: ChatMessage,
    pub details: Details,
}

/// A command was used.
#[derive(Clone, Debug)]
pub struct Interaction {
    pub application: UserId,
    pub token: String,
    pub made_at: Timestamp,
    pub channel: ChannelId,
    pub user: UserId,
    /// The name of the command.
    pub command: String,
    /// As it is pushed.
    pub written: Value,
    pub answered: Answered,
    /// Answers that only the user sees.
    pub whispers: Vec<Whisper>,
    /// Answers that all see, the first included.
    pub messages: Vec<MessageId>,
}

/// All commands and interactions.
#[derive(Debug, Default)]
pub struct Applications {
    /// As they are written, by application and guild; without a guild they are everywhere.
    pub commands: BTreeMap<(UserId, Option<GuildId>), Vec<Value>>,
    pub interactions: BTreeMap<u64, Interaction>,
}

impl Applications {
    /// An interaction as it is pushed.
    pub fn written(&self, interaction: u64) -> Option<Value> {
        self.interactions.get(&interaction).map(|found| found.written.clone())
    }

    /// A command that can be used in a guild, by its name.
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

    /// The interaction with this token, if its application may still answer.
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
