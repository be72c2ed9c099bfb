//! The self-test against the loopback Discord: against a sound one, and against others that break one assumption each.

#![cfg(test)]

mod page;
mod program;
mod sound;
mod spoilt;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::ports::Timestamp;
use dirigent::{ChannelId, Clock, UserId};
use dirigent_loopback::{CommandError, LoopbackDiscord};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use practice::Token;
use self_test::{Report, Row, Seen, Settings};

/// How often tasks run before it is taken that all of them wait.
const YIELDS: usize = 100;

/// A guild with a person, its owner, and two bots in one channel; and the server over them.
pub(crate) struct Scene {
    pub(crate) clock: ManualClock,
    pub(crate) discord: MemoryDiscord,
    pub(crate) server: LoopbackDiscord,
    pub(crate) person: UserId,
    pub(crate) first: UserId,
    pub(crate) second: UserId,
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    /// How far the clock of the machine on which the self-test runs is ahead.
    pub(crate) ahead: Duration,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::over(|discord| discord).await
    }

    /// The same over a chat that is made otherwise.
    pub(crate) async fn over(change: impl FnOnce(MemoryDiscord) -> MemoryDiscord) -> Self {
        let clock = ManualClock::new();
        let discord = change(MemoryDiscord::new(Arc::new(clock.clone())));
        let (person, first, second) = (discord.add_human(), discord.add_bot(), discord.add_bot());
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "self-test", &[first, second]);
        discord.say(channel, person, "Good morning");
        let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
        let ahead = Duration::ZERO;
        Self { clock, discord, server, person, first, second, guild, channel, ahead }
    }

    /// The settings with one bot.
    pub(crate) fn settings(&self) -> Settings {
        let address = format!("http://{}", self.server.address());
        let gateway = format!("ws://{}", self.server.address());
        let token = Token::new(self.server.token(self.first));
        Settings::new(self.channel.get(), token).at(address, gateway)
    }

    /// The settings with both bots.
    pub(crate) fn both(&self) -> Settings {
        self.settings().with_second(Token::new(self.server.token(self.second)))
    }

    /// Runs the self-test with both bots. As soon as its command can be used, a person uses it.
    pub(crate) async fn try_all(&self) -> Report {
        self.run(self.both(), true).await.0
    }

    /// Runs the self-test; returns its result, and the lines that it said meanwhile.
    pub(crate) async fn run(&self, settings: Settings, has_person: bool) -> (Report, Vec<String>) {
        self.run_until(settings, has_person, std::future::pending()).await
    }

    /// The same, until it is interrupted.
    pub(crate) async fn run_until(
        &self,
        settings: Settings,
        has_person: bool,
        interrupted: impl Future<Output = ()> + Send + 'static,
    ) -> (Report, Vec<String>) {
        let clock = Arc::new(Ahead { clock: self.clock.clone(), by: self.ahead });
        let lines = Arc::new(std::sync::Mutex::new(Vec::new()));
        let said = Arc::clone(&lines);
        let task = tokio::spawn(async move {
            let say = move |line: &str| said.lock().unwrap().push(line.to_owned());
            self_test::run(settings, clock, interrupted, say).await
        });
        let mut has_used = !has_person;
        let is_over = async || {
            if !has_used {
                let (channel, person) = (self.channel, self.person);
                let used =
                    self.server.use_command(channel, person, self.first, "dirigent-self-test", &[]);
                has_used = !matches!(used, Err(CommandError::NoCommand));
                // The answer comes before the clock moves on.
                for _ in 0..YIELDS {
                    tokio::task::yield_now().await;
                }
            }
            task.is_finished()
        };
        self.clock.run_until(is_over).await;
        let report = task.await.unwrap();
        let lines = lines.lock().unwrap().clone();
        (report, lines)
    }

    /// Whether the self-test's command is there.
    pub(crate) fn has_command(&self) -> bool {
        let (channel, person) = (self.channel, self.person);
        self.server.use_command(channel, person, self.first, "dirigent-self-test", &[]).is_ok()
    }

    /// The texts of the messages in the channel.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.discord.messages(self.channel).iter().map(|it| it.content.to_string()).collect()
    }
}

/// A clock that is ahead of another.
#[derive(Debug)]
struct Ahead {
    clock: ManualClock,
    by: Duration,
}

#[dirigent::async_trait]
impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.clock.now() + self.by
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        let wait = deadline.since(self.now());
        self.clock.sleep_until(self.clock.now() + wait).await;
    }
}

/// The assumptions that were not tried.
pub(crate) fn not_tried(report: &Report) -> Vec<&'static str> {
    let is_so = |row: &&Row| matches!(row.seen, Seen::NotTried(_));
    report.rows.iter().filter(is_so).map(|row| row.assumption).collect()
}

/// The assumptions that differ.
pub(crate) fn differing(report: &Report) -> Vec<&'static str> {
    let differs = |row: &&Row| matches!(row.seen, Seen::Differs(_));
    report.rows.iter().filter(differs).map(|row| row.assumption).collect()
}

/// The row of an assumption.
pub(crate) fn row<'a>(report: &'a Report, assumption: &str) -> &'a Row {
    report.rows.iter().find(|row| row.assumption == assumption).unwrap()
}
