//! The bot inside the loopback Discord: a person gives the channel turns, asks, stops, and all of it works.

mod stage;

use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
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
