//! The bot inside the loopback Discord, through poise as it is.
#![cfg(test)]

#[path = "../../quickstart/tests/stage/mod.rs"]
mod stage;

/// EZ3: the bot's own command has an option that names an account.
#[tokio::test]
async fn the_bot_talks_stops_and_has_a_command_of_its_own_over_poise() -> stage::Result {
    let inside = stage::Inside::start(env!("CARGO_BIN_EXE_poise-bot"), &[]).await?;
    inside.talks_and_stops().await?;
    let whom = inside.discord.account(inside.person).name().unwrap();
    let greeted = inside.answered("greet", &[("whom", format!("@{whom}").into())]).await?;
    assert_eq!(greeted, format!("Hello, {whom}!"));
    Ok(())
}
