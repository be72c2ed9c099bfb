//! The bot inside the loopback Discord, through serenity as it is.
#![cfg(test)]

#[path = "../../quickstart/tests/stage/mod.rs"]
mod stage;

/// EZ3
#[tokio::test]
async fn the_bot_talks_and_stops_over_serenity() -> stage::Result {
    stage::Inside::start(env!("CARGO_BIN_EXE_serenity-bot"), &[]).await?.talks_and_stops().await
}
