//! Slash commands on their way to the process that acts for their channel.

use std::time::Duration;

use dirigent::ChannelId;
use dirigent::command::{CommandAnswer, CommandCarried, CommandUse, Invoker, SlashCommand};
use dirigent::ports::GuildId;
use dirigent_relay::parts::WAY;
use dirigent_relay::{Refused, RelayError, RelayQuestion};
use serde::{Deserialize, Serialize};

use super::request::not_carried;

/// The use of a command, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UseCommand {
    channel_id: ChannelId,
    command: String,
    #[serde(default)]
    guild_id: Option<GuildId>,
    /// The person's permissions in the channel: Discord's bits.
    permissions: u64,
    #[serde(default)]
    host_word: Option<bool>,
    input: String,
    within_ms: u64,
}

/// What the person reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommandText {
    text: String,
    changed: bool,
}

impl RelayQuestion for UseCommand {
    const RULE: &'static str = "slash-command";
    type Answer = CommandText;
}

impl UseCommand {
    pub(super) fn new(used: &CommandUse, within: Duration) -> Self {
        let within = within.saturating_sub(WAY);
        Self {
            channel_id: used.channel,
            command: used.command.name().to_owned(),
            guild_id: used.invoker.guild,
            permissions: used.invoker.permissions,
            host_word: used.invoker.host_word,
            input: used.input.clone(),
            within_ms: u64::try_from(within.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// What is used, and how long it may take.
    pub(super) fn read(self) -> Result<(CommandUse, Duration), Refused> {
        let unknown = || Refused::BadQuestion { why: "the command is not known here".to_owned() };
        let command = SlashCommand::named(&self.command).ok_or_else(unknown)?;
        let Self { guild_id: guild, permissions, host_word, .. } = self;
        let invoker = Invoker { guild, permissions, host_word };
        let used = CommandUse { channel: self.channel_id, command, invoker, input: self.input };
        Ok((used, Duration::from_millis(self.within_ms)))
    }
}

impl From<CommandAnswer> for CommandText {
    fn from(answer: CommandAnswer) -> Self {
        Self { text: answer.text, changed: answer.changed }
    }
}

/// What came of it.
pub(super) fn carried(answer: Result<CommandText, RelayError>) -> CommandCarried {
    match answer {
        Ok(CommandText { text, changed }) => {
            CommandCarried::Answered(CommandAnswer { text, changed })
        }
        Err(error) => {
            tracing::debug!(%error, "a slash command could not be carried");
            not_carried(&error)
        }
    }
}
