//! The bot inside the loopback Discord: a person gives the channel turns, asks, stops, and all of it works.

use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{Clock, SystemClock, UserId};
use dirigent_loopback::{CommandError, LoopbackDiscord};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::Permissions;

/// How long the bot may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Waits until it is so.
async fn until(what: &str, mut is_so: impl FnMut() -> bool) -> Result {
    let clock = SystemClock::new();
    let patience = clock.now() + PATIENCE;
    while !is_so() {
        if clock.now() > patience {
            return Err(format!("no {what}").into());
        }
        clock.sleep_until(clock.now() + Duration::from_millis(20)).await;
    }
    Ok(())
}

#[tokio::test]
async fn the_quickstart_bot_talks_and_stops_inside_the_loopback_discord() -> Result {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let (moderator, person) = (discord.add_bot(), discord.add_human());
    let agents: Vec<UserId> = (0..3).map(|_| discord.add_bot()).collect();
    let guild = discord.add_guild(person);
    let members = [&[moderator, person][..], &agents].concat();
    let channel = discord.add_channel(guild, "round-table", &members);
    let manager = discord.guild(guild).add_role("moderators", Permissions::MANAGE_MESSAGES);
    discord.guild(guild).set_role(moderator, manager, true);
    let server = LoopbackDiscord::start(discord.clone()).await?;
    let folder = tempfile::tempdir()?;
    let mut bot = tokio::process::Command::new(env!("CARGO_BIN_EXE_quickstart"));
    bot.env("DISCORD_PROXY_URL", format!("http://{}", server.address()))
        .env("DISCORD_GATEWAY_URL", format!("ws://{}", server.gateway_address()))
        .env("DISCORD_TOKEN", server.token(moderator))
        .current_dir(&folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for (name, agent) in ["DEVELOPER", "REVIEWER", "TESTER"].into_iter().zip(&agents) {
        bot.env(format!("{name}_TOKEN"), server.token(*agent));
    }
    let mut bot = bot.spawn()?;

    let answered = async |command: &str, options: &[(&str, serde_json::Value)]| {
        let mut used = Err(CommandError::NoCommand);
        until("command", || {
            used = server.use_command(channel, person, moderator, command, options);
            !matches!(used, Err(CommandError::NoCommand))
        })
        .await?;
        let used = used?;
        until("answer", || server.answers(used).iter().any(|answer| !answer.content.is_empty()))
            .await?;
        Result::Ok(server.answers(used).remove(0).content)
    };
    let mode = answered("set-channel-mode", &[("mode", "chat".into())]).await?;
    assert_eq!(mode, "The mode of this channel is now chat.");
    discord.say(channel, person, "Who writes the parser?");
    let words =
        || discord.messages(channel).iter().map(|m| m.content.to_string()).collect::<Vec<_>>();
    until("round of all three", || words().len() >= 4).await?;
    let expected = [
        "Who writes the parser?",
        "I could write that.",
        "I would read it first.",
        "And I try it.",
    ];
    assert_eq!(words(), expected);
    let status = answered("status", &[]).await?;
    assert!(status.contains("a person's message begins a cycle"), "{status}");
    let why = answered("why", &[]).await?;
    assert!(why.contains("developer may not speak: "), "{why}");
    assert!(answered("stop", &[]).await?.starts_with("Stopped"));
    discord.say(channel, person, "And who writes the docs?");
    assert!(answered("status", &[]).await?.contains("Stopped"));
    assert!(answered("resume", &[]).await?.starts_with("Resumed"));
    until("round about the docs", || words().len() >= 8).await?;
    bot.kill().await?;
    Ok(())
}
