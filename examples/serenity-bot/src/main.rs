//! A bot on serenity: a moderator, and three agents that speak in turn.
//!
//! ```text
//! cargo run -p serenity-bot                         on this machine, without a token
//! DISCORD_TOKEN=... OPTIMIST_TOKEN=... SCEPTIC_TOKEN=... HISTORIAN_TOKEN=... cargo run -p serenity-bot
//! ```
//!
//! `bot.rs` is the bot from top to bottom.

use clap::Command;
use practice::{Options, Result};
use serenity_bot::SlashCommands;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let options = Options::read(
        Command::new("serenity-bot")
            .about("A bot on serenity: a moderator, and three agents that speak in turn"),
    );
    serenity_bot::run(&options, |client, dirigent| client.event_handler(SlashCommands(dirigent)))
        .await
}
