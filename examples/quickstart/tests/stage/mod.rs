//! A bot of three agents inside the loopback Discord, and a person who gives the channel turns, asks and stops.

use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use dirigent::{ChannelId, Clock, SystemClock, UserId};
use dirigent_loopback::{CommandError, LoopbackDiscord};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::Permissions;

/// How long the bot may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Waits until it is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) -> Result {
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
pub(crate) struct Inside {
    pub(crate) discord: MemoryDiscord,
    pub(crate) server: LoopbackDiscord,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
    pub(crate) moderator: UserId,
    pub(crate) agents: Vec<UserId>,
    pub(crate) guild: dirigent::ports::GuildId,
    /// They end with this.
    bots: Vec<tokio::process::Child>,
    folder: tempfile::TempDir,
}

impl Inside {
    /// The program, run as a bot of this server.
    pub(crate) async fn start(program: &str, arguments: &[&str]) -> Result<Self> {
        Self::start_all(&[(program, arguments)], &[]).await
    }

    /// Several programs, run as one bot of this server, with these variables besides those that the program `loopback-discord` sets.
    pub(crate) async fn start_all(
        programs: &[(&str, &[&str])],
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let agents: Vec<UserId> = (0..3).map(|_| discord.add_bot()).collect();
        let guild = discord.add_guild(person);
        let members = [&[moderator, person][..], &agents].concat();
        let channel = discord.add_channel(guild, "round-table", &members);
        let server = LoopbackDiscord::start(discord.clone()).await?;
        let folder = tempfile::tempdir()?;
        let mut inside = Self {
            discord,
            server,
            channel,
            person,
            moderator,
            agents,
            guild,
            bots: Vec::new(),
            folder,
        };
        let guild = inside.discord.guild(inside.guild);
        let manager = guild
            .add_role("moderators", Permissions::MANAGE_MESSAGES | Permissions::MANAGE_WEBHOOKS);
        guild.set_role(moderator, manager, true);
        for (program, arguments) in programs {
            let mut bot = inside.command(program);
            bot.args(*arguments).envs(variables.iter().copied());
            inside.bots.push(bot.spawn()?);
        }
        Ok(inside)
    }

    /// A program with what a bot of this server must know.
    pub(crate) fn command(&self, program: &str) -> tokio::process::Command {
        let mut bot = tokio::process::Command::new(program);
        bot.env("DISCORD_PROXY_URL", format!("http://{}", self.server.address()))
            .env("DISCORD_GATEWAY_URL", format!("ws://{}", self.server.address()))
            .env("DISCORD_TOKEN", self.server.token(self.moderator));
        for (name, agent) in ["DEVELOPER", "REVIEWER", "TESTER"].into_iter().zip(&self.agents) {
            bot.env(format!("{name}_TOKEN"), self.server.token(*agent))
                .env(format!("{name}_APPLICATION_ID"), agent.to_string());
        }
        bot.current_dir(&self.folder).stdin(Stdio::null()).kill_on_drop(true);
        bot
    }

    /// Gives a slash command, and returns what is answered.
    pub(crate) async fn answered(
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
    pub(crate) async fn status_says(&self, words: &str) -> Result {
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
    pub(crate) async fn ask(&self, words: &str) -> Result {
        let mode = self.answered("set-channel-mode", &[("mode", "chat".into())]).await?;
        assert!(mode.starts_with("The mode of this channel is now chat."), "{mode}");
        self.discord.say(self.channel, self.person, words);
        Ok(())
    }

    pub(crate) fn words(&self) -> Vec<String> {
        self.discord.messages(self.channel).iter().map(|m| m.content.to_string()).collect()
    }

    /// All three answer in turn, stop and go on.
    pub(crate) async fn talks_and_stops(&self) -> Result {
        self.ask("Who writes the parser?").await?;
        until("round of all three", || self.words().len() >= 4).await?;
        let expected = [
            "Who writes the parser?",
            "I could write that.",
            "I would read it first.",
            "And I try it.",
        ];
        assert_eq!(self.words(), expected);
        self.status_says("a person's message begins a cycle").await?;
        let why = self.answered("why", &[]).await?;
        assert!(why.contains("developer may not speak: "), "{why}");
        assert!(self.answered("stop", &[]).await?.starts_with("Stopped"));
        self.discord.say(self.channel, self.person, "And who writes the docs?");
        assert!(self.answered("status", &[]).await?.contains("Stopped"));
        assert!(self.answered("resume", &[]).await?.starts_with("Resumed"));
        until("round about the docs", || self.words().len() >= 8).await?;
        Ok(())
    }
}
