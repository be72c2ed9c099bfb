//! The bot inside the loopback Discord: a person gives the channel turns, asks, stops, and all of it works.

mod forgotten;
mod stage;

use std::process::Stdio;

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_loopback::GatewayFault;
use stage::{Inside, Result, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_quickstart");

#[tokio::test]
async fn the_quickstart_bot_talks_and_stops_inside_the_loopback_discord() -> Result {
    Inside::start(PROGRAM, &[]).await?.talks_and_stops().await
}

#[tokio::test]
async fn a_model_speaks_for_the_agents() -> Result {
    let model = LoopbackLlm::start().await?;
    let said = ["As a model I agree.", "As a model I doubt it.", "As a model I saw it all before."];
    model.script(said.map(ScriptedAnswer::text));
    model.cycle([ScriptedAnswer::text("NO_REPLY")]);
    let inside = Inside::start(PROGRAM, &["--llm", &model.url()]).await?;
    inside.ask("Who writes the parser?").await?;
    until("round of all three", || inside.words().len() >= 4).await?;
    assert_eq!(inside.words()[1..], said);
    Ok(())
}

/// WY14: whoever starts a bot again whenever it ends must learn that this is no use.
#[tokio::test]
async fn a_bot_that_the_gateway_turns_away_for_good_ends_with_an_error_and_says_why() -> Result {
    let inside = Inside::start_all(&[], &[]).await?;
    let bot = inside.command(PROGRAM).stderr(Stdio::piped()).spawn()?;
    let turned_away = GatewayFault::Close { code: 4014 };
    until("connection", || inside.server.break_gateway(inside.moderator, turned_away) > 0).await?;
    let ended = bot.wait_with_output().await?;
    let said = String::from_utf8(ended.stderr)?;
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.contains("Discord closed the gateway for good"), "{said}");
    assert!(last.contains("Privileged Gateway Intents"), "{said}");
    Ok(())
}

#[tokio::test]
async fn with_one_token_the_moderator_speaks_for_all_three() -> Result {
    let inside = Inside::start_all(&[], &[]).await?;
    let mut bot = inside.command(PROGRAM);
    for name in ["DEVELOPER_TOKEN", "REVIEWER_TOKEN", "TESTER_TOKEN"] {
        bot.env_remove(name);
    }
    let _bot = bot.spawn()?;
    inside.ask("Who writes the parser?").await?;
    until("round of all three", || inside.words().len() >= 4).await?;
    let mut words = inside.words().split_off(1);
    words.sort();
    assert_eq!(words, ["And I try it.", "I could write that.", "I would read it first."]);
    let said = inside.discord.messages(inside.channel);
    assert!(said.iter().all(|it| !inside.agents.contains(&it.author)));
    assert!(said.iter().any(|it| it.author_name.as_deref() == Some("Tester")));
    inside.status_says("a person's message begins a cycle").await?;
    let why = inside.answered("why", &[]).await?;
    assert!(why.contains("Developer may not speak: "), "{why}");
    Ok(())
}
