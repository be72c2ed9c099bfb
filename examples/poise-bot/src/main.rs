//! A bot on poise: the one on serenity beside it (`serenity-bot/src/bot.rs`), with the slash commands in poise's way.
//!
//! ```text
//! cargo run -p poise-bot                            on this machine, without a token
//! DISCORD_TOKEN=... OPTIMIST_TOKEN=... SCEPTIC_TOKEN=... HISTORIAN_TOKEN=... cargo run -p poise-bot
//! ```

use std::time::Duration;

use clap::Command;
use dirigent::command::{CommandAnswer, Invoker, SlashCommand};
use dirigent::ports::GuildId;
use dirigent::{AgentError, ChannelId, Dirigent};
use poise::serenity_prelude::UserId;
use practice::{Options, Result};

/// How long the library may take once Discord was told to wait.
const WITHIN: Duration = Duration::from_secs(10);

/// Sets how agents take turns in this channel
#[poise::command(
    slash_command,
    ephemeral,
    guild_only,
    rename = "set-channel-mode",
    default_member_permissions = "MANAGE_CHANNELS"
)]
async fn set_channel_mode(
    context: poise::ApplicationContext<'_, Dirigent, AgentError>,
    #[description = "none: no rules; chat: one after the other; report: no agent is woken"]
    #[choices("none", "chat", "report")]
    mode: &'static str,
) -> Result {
    carry_out(context, SlashCommand::SetChannelMode, mode).await
}

/// Stops the agents in this channel until it is resumed
#[poise::command(
    slash_command,
    ephemeral,
    guild_only,
    default_member_permissions = "SEND_MESSAGES"
)]
async fn stop(context: poise::ApplicationContext<'_, Dirigent, AgentError>) -> Result {
    carry_out(context, SlashCommand::Stop, "").await
}

/// Lets the agents in this channel take turns again
#[poise::command(
    slash_command,
    ephemeral,
    guild_only,
    default_member_permissions = "SEND_MESSAGES"
)]
async fn resume(context: poise::ApplicationContext<'_, Dirigent, AgentError>) -> Result {
    carry_out(context, SlashCommand::Resume, "").await
}

/// Shows whose turn it is in this channel, and who follows
#[poise::command(
    slash_command,
    ephemeral,
    guild_only,
    default_member_permissions = "SEND_MESSAGES"
)]
async fn status(context: poise::ApplicationContext<'_, Dirigent, AgentError>) -> Result {
    carry_out(context, SlashCommand::Status, "").await
}

/// Says why an agent may or may not speak now
#[poise::command(
    slash_command,
    ephemeral,
    guild_only,
    default_member_permissions = "SEND_MESSAGES"
)]
async fn why(
    context: poise::ApplicationContext<'_, Dirigent, AgentError>,
    #[description = "Which agent; all that take turns here unless one is named"] agent: Option<
        UserId,
    >,
) -> Result {
    let agent = agent.map_or_else(String::new, |agent| agent.to_string());
    carry_out(context, SlashCommand::Why, &agent).await
}

/// Chooses which agent speaks next
#[poise::command(
    slash_command,
    ephemeral,
    guild_only,
    default_member_permissions = "SEND_MESSAGES"
)]
async fn next(
    context: poise::ApplicationContext<'_, Dirigent, AgentError>,
    #[description = "Which agent is to speak next"] agent: UserId,
) -> Result {
    carry_out(context, SlashCommand::Next, &agent.to_string()).await
}

/// Carries a command out. Answers at once that the result will follow, since Discord gives up after three seconds.
async fn carry_out(
    context: poise::ApplicationContext<'_, Dirigent, AgentError>,
    command: SlashCommand,
    input: &str,
) -> Result {
    context.defer_response(true).await?;
    let used = context.interaction;
    let permissions = used.member.as_ref().and_then(|member| member.permissions);
    let invoker = Invoker {
        guild: used.guild_id.map(|guild| GuildId::new(guild.get())),
        permissions: permissions.map_or(0, |permissions| permissions.bits()),
        host_word: None,
    };
    let channel = ChannelId::new(used.channel_id.get());
    let CommandAnswer { text, .. } =
        context.data().channel(channel).command(command, invoker, input, WITHIN).await;
    poise::say_reply(context.into(), text).await?;
    Ok(())
}

/// Poise with the commands, which it registers in the bot's guilds.
fn framework(dirigent: Dirigent) -> poise::Framework<Dirigent, AgentError> {
    let options = poise::FrameworkOptions {
        commands: vec![set_channel_mode(), stop(), resume(), status(), why(), next()],
        ..poise::FrameworkOptions::default()
    };
    let builder = poise::Framework::builder().options(options).initialize_owners(false);
    builder
        .setup(|context, ready, framework| {
            Box::pin(async move {
                for guild in &ready.guilds {
                    let commands = &framework.options().commands;
                    poise::builtins::register_in_guild(context, commands, guild.id).await?;
                }
                Ok(dirigent)
            })
        })
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let options = Options::read(
        Command::new("poise-bot")
            .about("A bot on poise: as the one on serenity, with the slash commands in its way"),
    );
    serenity_bot::run(&options, |client, dirigent| client.framework(framework(dirigent))).await
}
