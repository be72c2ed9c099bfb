//! A bot on poise whose agents speak in turn, with a command of its own: that of `serenity-bot`, and what poise adds.
use std::{env, sync::Arc, time::Duration};

use dirigent::command::SlashCommand;
use dirigent::prelude::*;
use dirigent_discord::{DiscordAccount, Feed, ShardFeed, ShardId};
use poise::serenity_prelude::{
    ClientBuilder, ConnectionStage, Context, Event, EventHandler, GatewayIntents, HttpBuilder,
    RawEventHandler, ShardStageUpdateEvent, User,
};
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
fn framework(dirigent: Dirigent) -> Framework<Dirigent, AgentError> {
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

/// Answers a person. Ask your model here.
fn voice(words: &'static str) -> impl Agent {
    agent_fn(move |turn: Turn| async move {
        Ok(if turn.is_asked() { words.into() } else { Reply::Pass })
    })
}

fn account(name: &str) -> Result<Arc<DiscordAccount>, AgentError> {
    let token = env::var(name).map_err(|_| format!("{name} is not set"))?;
    let account = DiscordAccount::builder(token, SystemClock::new());
    let proxy = env::var("DISCORD_PROXY_URL"); // set by a Discord on this machine
    let account = if let Ok(address) = proxy { account.proxy(address) } else { account }.build();
    Ok(Arc::new(account.map_err(|error| format!("{name}: {error}"))?))
}

/// Tells Dirigent what serenity's connection hears, beside your own handlers.
#[derive(Clone)]
struct Relay(ShardFeed);

#[dirigent::async_trait]
impl RawEventHandler for Relay {
    async fn raw_event(&self, _: Context, event: Event) {
        let mut written = serde_json::to_value(&event).unwrap_or_default();
        let data = written.get_mut("d").and_then(|data| data.as_object_mut());
        if let (Event::InteractionCreate(used), Some(data)) = (event, data) {
            data.insert("type".to_owned(), u8::from(used.interaction.kind()).into()); // serenity drops it
        }
        self.0.text(&written.to_string());
    }
}

#[dirigent::async_trait]
impl EventHandler for Relay {
    async fn shard_stage_update(&self, _: Context, update: ShardStageUpdateEvent) {
        if update.old == ConnectionStage::Connected {
            let _ = self.0.closed(None); // nothing is heard until it is connected again
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init(); // what is wrong is said in the log
    let moderator = account("DISCORD_TOKEN")?;
    let (dirigent, driver) = Dirigent::builder(moderator.clone())
        .host("developer", voice("I could write that."), account("DEVELOPER_TOKEN")?)
        .host("reviewer", voice("I would read it first."), account("REVIEWER_TOKEN")?)
        .host("tester", voice("And I try it."), account("TESTER_TOKEN")?)
        .build()?;
    let (feed, work) = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS).build();
    let relay = Relay(feed.shard(ShardId::ONE));

    let http = HttpBuilder::new(env::var("DISCORD_TOKEN")?);
    let proxy = env::var("DISCORD_PROXY_URL").into_iter();
    let http = proxy.fold(http, |http, url| http.proxy(url).ratelimiter_disabled(true)).build();
    let intents = GatewayIntents::from_bits_retain(Feed::INTENTS.bits()); // and your own
    let client = ClientBuilder::new_with_http(http, intents).framework(framework(dirigent.clone()));
    let mut client = client.raw_event_handler(relay.clone()).event_handler(relay).await?;

    let (mut driver, _work) = (tokio::spawn(driver.run()), tokio::spawn(work.run()));
    tokio::select! {
        ended = client.start() => ended?, // Discord closed the connection for good
        _ = tokio::signal::ctrl_c() => {}
        ended = &mut driver => return Ok(ended??), // it could not start: a token is wrong, or used twice
    }
    dirigent.shutdown(Duration::from_secs(5)).await;
    Ok(driver.await??)
}
