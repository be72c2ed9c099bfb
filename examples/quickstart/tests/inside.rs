//! The bot inside the loopback Discord: a person gives the channel turns, asks, stops, and all of it works.

use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{ChannelId, Clock, SystemClock, UserId};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
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

/// The bot in a server of the loopback Discord, with a person.
struct Inside {
    discord: MemoryDiscord,
    server: LoopbackDiscord,
    channel: ChannelId,
    person: UserId,
    moderator: UserId,
    /// Ends with this.
    _bot: tokio::process::Child,
    _folder: tempfile::TempDir,
}

impl Inside {
    async fn start(arguments: &[&str]) -> Result<Self> {
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
        bot.args(arguments)
            .env("DISCORD_PROXY_URL", format!("http://{}", server.address()))
            .env("DISCORD_GATEWAY_URL", format!("ws://{}", server.gateway_address()))
            .env("DISCORD_TOKEN", server.token(moderator))
            .current_dir(&folder)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        for (name, agent) in ["DEVELOPER", "REVIEWER", "TESTER"].into_iter().zip(&agents) {
            bot.env(format!("{name}_TOKEN"), server.token(*agent));
        }
        let bot = bot.spawn()?;
        Ok(Self { discord, server, channel, person, moderator, _bot: bot, _folder: folder })
    }

    /// Gives a slash command, and returns what is answered.
    async fn answered(
        &self,
        command: &str,
        options: &[(&str, serde_json::Value)],
    ) -> Result<String> {
        let mut used = Err(CommandError::NoCommand);
        until("command", || {
            used = self.server.use_command(
                self.channel,
                self.person,
                self.moderator,
                command,
                options,
            );
            !matches!(used, Err(CommandError::NoCommand))
        })
        .await?;
        let (used, server) = (used?, &self.server);
        until("answer", || server.answers(used).iter().any(|answer| !answer.content.is_empty()))
            .await?;
        Ok(server.answers(used).remove(0).content)
    }

    /// Gives `/status` until it says this: a turn ends a moment after its reply was posted, once that is stored.
    async fn status_says(&self, words: &str) -> Result {
        let clock = SystemClock::new();
        let patience = clock.now() + PATIENCE;
        loop {
            let status = self.answered("status", &[]).await?;
            if status.contains(words) {
                return Ok(());
            }
            if clock.now() > patience {
                return Err(status.into());
            }
        }
    }

    /// The channel begins to take turns, and a person says this.
    async fn ask(&self, words: &str) -> Result {
        let mode = self.answered("set-channel-mode", &[("mode", "chat".into())]).await?;
        assert_eq!(mode, "The mode of this channel is now chat.");
        self.discord.say(self.channel, self.person, words);
        Ok(())
    }

    fn words(&self) -> Vec<String> {
        self.discord.messages(self.channel).iter().map(|m| m.content.to_string()).collect()
    }
}

#[tokio::test]
async fn the_quickstart_bot_talks_and_stops_inside_the_loopback_discord() -> Result {
    let inside = Inside::start(&[]).await?;
    inside.ask("Who writes the parser?").await?;
    until("round of all three", || inside.words().len() >= 4).await?;
    let expected = [
        "Who writes the parser?",
        "I could write that.",
        "I would read it first.",
        "And I try it.",
    ];
    assert_eq!(inside.words(), expected);
    inside.status_says("a person's message begins a cycle").await?;
    let why = inside.answered("why", &[]).await?;
    assert!(why.contains("developer may not speak: "), "{why}");
    assert!(inside.answered("stop", &[]).await?.starts_with("Stopped"));
    inside.discord.say(inside.channel, inside.person, "And who writes the docs?");
    assert!(inside.answered("status", &[]).await?.contains("Stopped"));
    assert!(inside.answered("resume", &[]).await?.starts_with("Resumed"));
    until("round about the docs", || inside.words().len() >= 8).await?;
    Ok(())
}

#[tokio::test]
async fn a_model_speaks_for_the_agents() -> Result {
    let model = LoopbackLlm::start().await?;
    let said = ["As a model I agree.", "As a model I doubt it.", "As a model I saw it all before."];
    model.script(said.map(ScriptedAnswer::text));
    model.cycle([ScriptedAnswer::text("NO_REPLY")]);
    let inside = Inside::start(&["--llm", &model.url()]).await?;
    inside.ask("Who writes the parser?").await?;
    until("round of all three", || inside.words().len() >= 4).await?;
    assert_eq!(inside.words()[1..], said);
    Ok(())
}
