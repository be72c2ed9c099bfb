//! What the bot has of its own: poise, and a command.
use dirigent::command::SlashCommand;
use dirigent::prelude::*;
use poise::serenity_prelude::User;
use poise::{Framework, FrameworkError, FrameworkOptions, builtins};

/// Greets an account
#[poise::command(slash_command)]
async fn greet(
    context: poise::Context<'_, Dirigent, AgentError>,
    #[description = "Whom"] whom: User,
) -> Result<(), AgentError> {
    context.say(format!("Hello, {}!", whom.name)).await?;
    Ok(())
}

/// Poise with the bot's own commands. Dirigent registers and answers `/stop`, `/why` and so on by itself.
pub(crate) fn framework(dirigent: Dirigent) -> Framework<Dirigent, AgentError> {
    let options = FrameworkOptions {
        commands: vec![greet()],
        on_error: |error| {
            Box::pin(async move {
                if let FrameworkError::UnknownInteraction { interaction, .. } = &error
                    && SlashCommand::named(&interaction.data.name).is_some()
                {
                    return; // Dirigent answers it
                }
                let _ = builtins::on_error(error).await;
            })
        },
        ..FrameworkOptions::default()
    };
    let builder = Framework::builder().options(options);
    builder
        .setup(|context, _, framework| {
            Box::pin(async move {
                // In all guilds: to register in one replaces what Dirigent has there.
                builtins::register_globally(context, &framework.options().commands).await?;
                Ok(dirigent)
            })
        })
        .build()
}
