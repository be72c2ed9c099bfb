//! The database, the Discord, the processes, and the people.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{ChannelId, Clock, SystemClock, UserId};
use dirigent_loopback::{LoopbackDiscord, ServerLimits};
use dirigent_testkit::MemoryDiscord;
use dirigent_verify::database::Database;
use dirigent_verify::processes::{Line, Lines, Process};

use super::Result;
use super::runs::Runs;

/// How long anything may take that must happen.
const LIMIT: Duration = Duration::from_secs(60);

/// What happens to the process that has the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Kill,
    Pause,
    RestartDatabase,
    /// The database is killed, and its synchronous standby takes its place.
    FailOver,
}

impl How {
    /// Whether it is the database that it happens to, while the processes live.
    fn is_of_database(self) -> bool {
        matches!(self, Self::RestartDatabase | Self::FailOver)
    }
}

/// Two processes, and all that they need.
pub(super) struct Fleet {
    clock: SystemClock,
    ttl: Duration,
    database: Database,
    address: String,
    loopback: LoopbackDiscord,
    person: UserId,
    accounts: [UserId; 4],
    channels: Vec<ChannelId>,
    /// What people said.
    words: Vec<(ChannelId, String)>,
    /// Those that live, by the number of their start.
    processes: Vec<(usize, Process)>,
    starts: usize,
    runs: Runs,
    lines: Lines,
}

impl Fleet {
    pub(super) async fn start(ttl: Duration, channels: u32, has_standby: bool) -> Result<Self> {
        let database =
            Database::start()?.ok_or("no PostgreSQL is installed: apt-get install postgresql")?;
        let mut address = database.create()?;
        if has_standby {
            database.add_standby()?;
            address = database.address_of_both("d0");
        }
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new())).with_history_max(1_000_000);
        let (person, moderator) = (discord.add_human(), discord.add_bot());
        let guild = discord.add_guild(person);
        let accounts = [moderator, discord.add_bot(), discord.add_bot(), discord.add_bot()];
        let all: Vec<_> = accounts.into_iter().chain([person]).collect();
        let channels = (0..channels.max(1))
            .map(|number| discord.add_channel(guild, &format!("room-{number}"), &all));
        let channels = channels.collect();
        let loopback = LoopbackDiscord::start(discord).await?;
        // People type faster here than Discord lets bots answer.
        loopback.set_limits(ServerLimits::generous());
        let mut fleet = Self {
            clock: SystemClock::new(),
            ttl,
            database,
            address,
            loopback,
            person,
            accounts,
            channels,
            words: Vec::new(),
            processes: Vec::new(),
            starts: 0,
            runs: Runs::default(),
            lines: Lines::default(),
        };
        for _ in 0..2 {
            fleet.add_process().await?;
        }
        Ok(fleet)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) async fn wait(&self, time: Duration) {
        self.clock.sleep_until(self.clock.now() + time).await;
    }

    pub(super) fn words(&self) -> &[(ChannelId, String)] {
        &self.words
    }

    /// What agents said, by channel.
    pub(super) fn replies(&self, channel: ChannelId) -> Vec<(UserId, String)> {
        let messages = self.loopback.discord().messages(channel).into_iter();
        let by_agents = messages.filter(|message| self.accounts[1..].contains(&message.author));
        by_agents.map(|message| (message.author, message.content.to_string())).collect()
    }

    /// Each run that began while another process had one in the same channel, in words.
    pub(super) fn overlapping(&mut self) -> Vec<String> {
        self.catch_up();
        self.runs.overlapping(self.clock.now())
    }

    pub(super) fn channels(&self) -> &[ChannelId] {
        &self.channels
    }

    /// Starts a process, and waits until it runs.
    async fn add_process(&mut self) -> Result<()> {
        let number = self.starts;
        self.starts += 1;
        let channels: Vec<_> = self.channels.iter().map(ToString::to_string).collect();
        let mut variables = vec![
            ("DATABASE", self.address.clone()),
            ("CHANNELS", channels.join(",")),
            ("TTL", self.ttl.as_millis().to_string()),
            ("PROXY", format!("http://{}", self.loopback.address())),
            ("GATEWAY", format!("ws://{}", self.loopback.address())),
        ];
        let tokens = self.accounts.iter().map(|account| self.loopback.token(*account));
        variables.extend(["MODERATOR", "AGENT0", "AGENT1", "AGENT2"].into_iter().zip(tokens));
        if number == 0 {
            variables.push(("FIRST", "1".to_owned()));
        }
        self.processes.push((number, Process::start(number, &variables, &self.lines)?));
        self.until(|line| line.from == number && line.text == "ready").await?;
        Ok(())
    }

    /// Waits for a line.
    async fn until(&mut self, wanted: impl Fn(&Line) -> bool + Send + Sync) -> Result<Line> {
        let runs = &mut self.runs;
        let wanted = |line: &Line| {
            runs.heard(line);
            wanted(line)
        };
        Ok(self.lines.until(LIMIT, wanted).await?)
    }

    /// Reads what was said by now.
    fn catch_up(&mut self) {
        while let Some(line) = self.lines.arrived() {
            self.runs.heard(&line);
        }
    }

    /// A person says something in each channel.
    fn talk(&mut self) {
        for channel in self.channels.clone() {
            let word = format!("w{}", self.words.len());
            self.loopback.discord().say(channel, self.person, word.clone());
            self.words.push((channel, word));
        }
    }

    /// Has people talk until an agent speaks in the first channel, strikes, and has them talk on. Returns how long it took until
    /// an agent of another process spoke there.
    pub(super) async fn strike(&mut self, how: How) -> Result<Duration> {
        let first = self.channels.first().ok_or("there is no channel")?;
        let speaks = format!("speaking {first} ");
        // What was said before does not tell who has the floor now.
        self.catch_up();
        self.talk();
        let owner = self.until(|line| line.text.starts_with(&speaks)).await?.from;
        let at = self.clock.now();
        let place = self.processes.iter().position(|(number, _)| *number == owner);
        let place = place.ok_or("a process that has ended spoke")?;
        match how {
            How::Kill => {
                let (_, mut process) = self.processes.remove(place);
                process.kill().await?;
            }
            How::Pause => self.process(place)?.pause().await?,
            How::RestartDatabase => {
                self.database.stop("immediate")?;
                self.talk();
                self.database.start_again("")?;
            }
            How::FailOver => {
                self.database.stop("immediate")?;
                self.talk();
                self.database.promote()?;
            }
        }
        if !how.is_of_database() {
            let now = self.clock.now();
            eprintln!("{how:?} of process {owner} at {}", now.as_millis());
            self.runs.stopped(owner, now);
        }
        self.talk();
        let is_next = |line: &Line| {
            line.text.starts_with(&speaks) && (line.from != owner || how.is_of_database())
        };
        self.until(is_next).await?;
        let took = self.clock.now().since(at);
        match how {
            How::Kill => self.add_process().await?,
            How::Pause => {
                self.process(place)?.resume().await?;
                eprintln!("process {owner} goes on at {}", self.clock.now().as_millis());
                self.talk();
                // It finds out, and takes its share again.
                self.wait(self.ttl).await;
            }
            How::RestartDatabase => {}
            How::FailOver => self.database.add_standby()?,
        }
        Ok(took)
    }

    fn process(&mut self, place: usize) -> Result<&mut Process> {
        let process = self.processes.get_mut(place).map(|(_, process)| process);
        process.ok_or_else(|| "a process has ended".into())
    }

    pub(super) async fn end(mut self) -> Result<()> {
        for (_, process) in &mut self.processes {
            process.kill().await?;
        }
        self.loopback.shutdown().await;
        Ok(())
    }
}
