//! What the benches share: options, meters, and a room full of agents.
#![allow(dead_code, reason = "each bench uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot start says so")]
#![allow(clippy::disallowed_methods, reason = "a bench measures real time")]

use std::sync::Arc;
use std::time::Instant;

use cpu_time::ProcessTime;
use dirigent::{
    Agent, ChannelId, Config, Dirigent, Driver, Identity, MemoryIdentities, Mode, Pacing, Settings,
    SystemClock, UserId,
};
use dirigent_testkit::MemoryDiscord;

/// The command line: `--name value` pairs; what cargo adds is passed over.
pub(crate) struct Options(Vec<String>);

impl Options {
    pub(crate) fn read() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// Whether cargo runs the bench as a test: then once, and small.
    pub(crate) fn is_test(&self) -> bool {
        self.0.iter().any(|argument| argument == "--test")
    }

    pub(crate) fn number(&self, name: &str, default: usize) -> usize {
        let value = self.0.iter().skip_while(|argument| *argument != name).nth(1);
        let given = value.map(|value| value.parse().expect("a number"));
        given.unwrap_or(if self.is_test() { default.min(200) } else { default })
    }
}

/// CPU time of the process, and wall time.
#[derive(Clone, Copy)]
pub(crate) struct Meter {
    cpu: ProcessTime,
    wall: Instant,
}

impl Meter {
    pub(crate) fn read() -> Self {
        Self { cpu: ProcessTime::now(), wall: Instant::now() }
    }

    pub(crate) fn cpu_us_since(&self, earlier: &Self) -> f64 {
        self.cpu.duration_since(earlier.cpu).as_secs_f64() * 1e6
    }

    pub(crate) fn wall_us_since(&self, earlier: &Self) -> f64 {
        self.wall.duration_since(earlier.wall).as_secs_f64() * 1e6
    }
}

/// A line of `/proc/self/status`, in megabytes; zero where there is none.
fn memory_mb(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let kilobytes = found.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1_024.0
}

pub(crate) fn peak_rss_mb() -> f64 {
    memory_mb("VmHWM:")
}

pub(crate) fn rss_mb() -> f64 {
    memory_mb("VmRSS:")
}

/// A channel with hosted agents and a person.
pub(crate) struct Room {
    pub(crate) discord: MemoryDiscord,
    pub(crate) dirigent: Dirigent,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
}

/// A Discord with a moderator, a person and agents; and a driver that is not running yet.
pub(crate) fn set_up<A: Agent>(
    agents: usize,
    agent: impl Fn(usize) -> A,
) -> (MemoryDiscord, Dirigent, Driver, UserId, Vec<UserId>) {
    let clock = SystemClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock)).with_history_max(20);
    let (moderator, person) = (discord.add_bot(), discord.add_human());
    let identities = MemoryIdentities::new();
    let mut settings = Settings::default();
    settings.pacing = Pacing::off();
    settings.calls_max = 100_000;
    let mut config = Config::default();
    (config.turns_max, config.cycles_max) = (None, None);
    let account = discord.account(moderator);
    let mut builder = Dirigent::builder(account, identities.clone(), clock);
    builder = builder.settings(settings).config(config);
    let mut users = vec![moderator, person];
    for number in 0..agents {
        let user = discord.add_bot();
        let name = format!("agent-{number}");
        let agent_id = name.as_str().into();
        let identity = Identity { discord_user_id: user, agent_id, agent_name: name.clone() };
        identities.add(identity).unwrap();
        builder = builder.host(name.as_str(), agent(number), discord.account(user));
        users.push(user);
    }
    let (dirigent, driver) = builder.build().unwrap();
    (discord, dirigent, driver, person, users)
}

impl Room {
    pub(crate) async fn open<A: Agent>(agents: usize, agent: impl Fn(usize) -> A) -> Self {
        let (discord, dirigent, driver, person, users) = set_up(agents, agent);
        tokio::spawn(driver.run());
        tokio::task::yield_now().await;
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "bench", &users);
        dirigent.set_mode(channel, Mode::Chat).await.unwrap();
        Self { discord, dirigent, channel, person }
    }

    /// Lets the round begin.
    pub(crate) async fn wake(&self) {
        self.dirigent.wake(self.channel, None).await.unwrap();
    }
}
