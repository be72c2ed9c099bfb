//! The slash commands.

use dirigent::command::{CommandOption, Invoker, OptionKind, SlashCommand};
use dirigent::ports::GuildId;
use dirigent::{ChannelId, Dirigent};
use serenity::all as discord;
use serenity::client::{Context, EventHandler};

/// How long the library may take once Discord was told to wait.
const WITHIN: std::time::Duration = std::time::Duration::from_secs(10);

/// Registers the commands in the bot's guilds, and carries them out.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a bot builds it")]
pub struct SlashCommands(pub Dirigent);

#[dirigent::async_trait]
impl EventHandler for SlashCommands {
    async fn ready(&self, context: Context, ready: discord::Ready) {
        for guild in ready.guilds {
            for command in SlashCommand::ALL {
                let made = guild.id.create_command(&context, to_register(command)).await;
                if let Err(error) = made {
                    tracing::warn!(guild = %guild.id, %error, "a command could not be registered");
                }
            }
        }
    }

    async fn interaction_create(&self, context: Context, interaction: discord::Interaction) {
        if let discord::Interaction::Command(used) = interaction
            && let Err(error) = answer(&self.0, &context, &used).await
        {
            tracing::warn!(%error, "the command could not be answered");
        }
    }
}

/// The command in the form that Discord takes.
fn to_register(command: SlashCommand) -> discord::CreateCommand {
    let permissions = discord::Permissions::from_bits_retain(command.default_permissions());
    let registered = discord::CreateCommand::new(command.name())
        .description(command.description())
        .default_member_permissions(permissions);
    match command.option() {
        Some(option) => registered.add_option(option_of(option)),
        None => registered,
    }
}

fn option_of(option: CommandOption) -> discord::CreateCommandOption {
    let choices: &[_] = if option.kind == OptionKind::Mode { &SlashCommand::MODES } else { &[] };
    let is_account = option.kind == OptionKind::Agent;
    let kind = if is_account {
        discord::CommandOptionType::User
    } else {
        discord::CommandOptionType::String
    };
    let made = discord::CreateCommandOption::new(kind, option.name, option.description);
    choices.iter().fold(made.required(option.is_required), |made, mode| {
        made.add_string_choice(mode.as_str(), mode.as_str())
    })
}

/// The word that was given for the option.
fn word(option: &discord::CommandDataOption) -> Option<String> {
    let account = option.value.as_user_id().map(|user| user.to_string());
    account.or_else(|| option.value.as_str().map(str::to_owned))
}

/// Carries it out. Answers at once that the result will follow, since Discord gives up after three seconds.
async fn answer(
    dirigent: &Dirigent,
    context: &Context,
    used: &discord::CommandInteraction,
) -> serenity::Result<()> {
    let Some(command) = SlashCommand::named(&used.data.name) else {
        return Ok(());
    };
    used.defer_ephemeral(context).await?;
    let word = used.data.options.iter().find_map(word);
    let permissions = used.member.as_ref().and_then(|member| member.permissions);
    let invoker = Invoker {
        guild: used.guild_id.map(|guild| GuildId::new(guild.get())),
        permissions: permissions.map_or(0, |permissions| permissions.bits()),
        host_word: None,
    };
    let channel = ChannelId::new(used.channel_id.get());
    let word = word.unwrap_or_default();
    let answer = dirigent.channel(channel).command(command, invoker, &word, WITHIN).await;
    let edit = discord::EditInteractionResponse::new().content(answer.text);
    used.edit_response(context, edit).await.map(drop)
}
