//! The slash commands: registering them, and reading and answering their uses.

use std::time::Duration;

use dirigent::command::{self, Invoker, OptionKind, SlashCommand};
use dirigent::ports::Timestamp;
use dirigent::ports::{ApiError, ErrorKind, GuildId};
use dirigent::{ChannelId, UserId};
use serde::{Deserialize, Serialize};
use twilight_http::routing::Route;
use twilight_model::channel::message::{AllowedMentions, MessageFlags};
use twilight_model::http::interaction::{
    InteractionResponse, InteractionResponseData, InteractionResponseType,
};

use crate::DiscordAccount;
use crate::route::Ask;
use crate::wire::pushed::Interaction;

/// The number of slash commands among the kinds of commands.
const CHAT_INPUT: u8 = 1;
/// The number of text among the kinds of options.
const TEXT_OPTION: u8 = 3;
/// The number of an account among the kinds of options. Its value is the account's id.
const USER_OPTION: u8 = 6;
/// The number of a command's use among the kinds of interactions.
const COMMAND_USED: u8 = 2;
/// Discord's code for an answer that was already given.
const ANSWERED_BEFORE: u64 = 40_060;
/// The wait before an answer is tried again, if Discord names none.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// A command as it is registered. Reading it back shows whether it has changed.
#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Command {
    name: String,
    #[serde(rename = "type", default = "chat_input")]
    kind: u8,
    #[serde(default)]
    description: String,
    default_member_permissions: Option<String>,
    #[serde(default)]
    options: Vec<CommandOption>,
}

#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
struct CommandOption {
    #[serde(rename = "type")]
    kind: u8,
    name: String,
    description: String,
    #[serde(default)]
    required: bool,
    // Only options of text and numbers may have choices. Others must not have the field, not even empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    choices: Vec<Choice>,
}

#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Choice {
    name: String,
    value: serde_json::Value,
}

const fn chat_input() -> u8 {
    CHAT_INPUT
}

impl Command {
    /// A command that is registered in a guild is not offered in direct messages.
    fn of(command: SlashCommand) -> Self {
        Self {
            name: command.name().to_owned(),
            kind: CHAT_INPUT,
            description: command.description().to_owned(),
            default_member_permissions: Some(command.default_permissions().to_string()),
            options: command.option().as_ref().map(CommandOption::of).into_iter().collect(),
        }
    }
}

impl CommandOption {
    fn of(option: &command::CommandOption) -> Self {
        let choice = |mode: &dirigent::Mode| Choice {
            name: mode.as_str().to_owned(),
            value: mode.as_str().into(),
        };
        let (kind, choices) = match option.kind {
            OptionKind::Mode => (TEXT_OPTION, SlashCommand::MODES.iter().map(choice).collect()),
            OptionKind::Agent => (USER_OPTION, Vec::new()),
            // This kind belongs to a newer version, so its words are taken as given.
            _ => (TEXT_OPTION, Vec::new()),
        };
        Self {
            kind,
            name: option.name.to_owned(),
            description: option.description.to_owned(),
            required: option.is_required,
            choices,
        }
    }
}

impl DiscordAccount {
    /// Registers the [`SlashCommand`]s in a guild, unless they are already correct there. Returns true if any were
    /// new or changed. Other commands of the application are left alone.
    ///
    /// A [`Feed`](crate::Feed) does this by itself.
    ///
    /// # Errors
    ///
    /// Returns `Forbidden` if the bot was invited without the scope `applications.commands`, or an error of the
    /// transport.
    pub async fn register_commands(&self, guild: GuildId) -> Result<bool, ApiError> {
        let application_id = self.application().await?.id.0;
        let guild_id = guild.get();
        let with_localizations = Some(false);
        let route = Route::GetGuildCommands { application_id, guild_id, with_localizations };
        // A command that cannot be read was not registered here.
        let known: Vec<serde_json::Value> =
            self.read(Ask::bare("get guild commands", guild_id, &route)).await?;
        let known = known.into_iter().filter_map(|one| serde_json::from_value(one).ok());
        let known: Vec<Command> = known.collect();
        let ours = SlashCommand::ALL.map(Command::of);
        let mut is_any_new = false;
        for command in ours.iter().filter(|command| !known.contains(command)) {
            // A command with this name is replaced.
            let route = Route::CreateGuildCommand { application_id, guild_id };
            let ask = Ask::with_body("create guild command", guild_id, &route, command, None)?;
            self.ask(ask).await?;
            is_any_new = true;
        }
        Ok(is_any_new)
    }
}

/// One use of a command. It has no `Debug`, because its token is a secret.
pub(crate) struct Use {
    pub(crate) id: u64,
    pub(crate) command: SlashCommand,
    application: u64,
    token: String,
    pub(crate) at: Timestamp,
    pub(crate) channel: ChannelId,
    pub(crate) user: Option<UserId>,
    pub(crate) invoker: Invoker,
    pub(crate) input: String,
}

impl Use {
    /// Reads an interaction. Returns `None` for a command of another name, and for anything that is no command.
    pub(crate) fn read(interaction: Interaction, at: Timestamp) -> Option<Self> {
        let used = interaction
            .data
            .filter(|_| interaction.kind.is_none_or(|kind| kind == COMMAND_USED))?;
        let name = used.name.filter(|_| used.kind.is_none_or(|kind| kind == CHAT_INPUT))?;
        let command = SlashCommand::named(&name)?;
        let channel = interaction.channel_id.or(interaction.channel.map(|channel| channel.id));
        let (channel, member) = (channel?, interaction.member);
        let wanted = command.option().map(|option| option.name);
        let option = used.options.into_iter().find(|given| Some(given.name.as_str()) == wanted);
        let input = option.and_then(|option| option.value?.as_str().map(str::to_owned));
        let permissions = member.as_ref().and_then(|member| member.permissions);
        let permissions = permissions.map_or(0, |permissions| permissions.0);
        let guild = interaction.guild_id.map(|guild| GuildId::new(guild.0));
        Some(Self {
            id: interaction.id.0,
            command,
            application: interaction.application_id.0,
            token: interaction.token,
            at,
            channel: ChannelId::new(channel.0),
            user: member.and_then(|member| member.user).map(|user| user.id.user()),
            invoker: Invoker { guild, permissions, host_word: None },
            input: input.unwrap_or_default(),
        })
    }
}

/// Returns an answer with these words, which pings no account. Without words it only promises an answer.
fn says(words: Option<&str>) -> InteractionResponseData {
    InteractionResponseData {
        allowed_mentions: Some(AllowedMentions::default()),
        content: words.map(str::to_owned),
        ..InteractionResponseData::default()
    }
}

impl DiscordAccount {
    /// Answers with words, or with a promise. Only the person who asked sees it.
    pub(crate) async fn answer(
        &self,
        used: &Use,
        words: Option<&str>,
        until: Timestamp,
    ) -> Result<(), ApiError> {
        let kind = match words {
            Some(_) => InteractionResponseType::ChannelMessageWithSource,
            None => InteractionResponseType::DeferredChannelMessageWithSource,
        };
        let flags = SlashCommand::EPHEMERAL.then_some(MessageFlags::EPHEMERAL);
        let data = InteractionResponseData { flags, ..says(words) };
        let body = InteractionResponse { kind, data: Some(data) };
        let route = Route::InteractionCallback {
            interaction_id: used.id,
            interaction_token: &used.token,
            with_response: false,
        };
        self.insist(until, || {
            Ask::posting("answer an interaction", used.id, &route, &body, &[], false)
        })
        .await
    }

    /// Adds the words to an answer that was only promised.
    pub(crate) async fn answer_later(
        &self,
        used: &Use,
        words: &str,
        until: Timestamp,
    ) -> Result<(), ApiError> {
        let route = Route::UpdateInteractionOriginal {
            application_id: used.application,
            interaction_token: &used.token,
        };
        let body = says(Some(words));
        self.insist(until, || Ask::posting("edit an answer", used.id, &route, &body, &[], false))
            .await
    }

    /// Retries while there is time, because the person who used the command waits. An answer that arrived earlier is
    /// not given twice. The interaction's token is the only one that is sent, and only the interaction's own limit
    /// applies.
    async fn insist(
        &self,
        until: Timestamp,
        ask: impl Fn() -> Result<Ask, ApiError>,
    ) -> Result<(), ApiError> {
        let mut wait = AGAIN_AFTER;
        loop {
            let error = match self.ask_apart(ask()?, until).await {
                Ok(_) => return Ok(()),
                Err(error) if error.post_failure().code == Some(ANSWERED_BEFORE) => return Ok(()),
                Err(error) => error,
            };
            let next = self.clock().now() + error.retry_after().unwrap_or(wait);
            let is_worth_it = matches!(
                error.kind(),
                ErrorKind::RateLimited | ErrorKind::Unavailable | ErrorKind::NoAnswer
            );
            if !is_worth_it || next >= until {
                return Err(error);
            }
            wait *= 2;
            self.clock().sleep_until(next).await;
        }
    }
}
