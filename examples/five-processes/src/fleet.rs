//! The database, the Discord, and the processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{ChannelId, ChatMessage, Clock, SystemClock, UserId};
use dirigent_loopback::{LoopbackDiscord, ServerLimits};
use dirigent_testkit::MemoryDiscord;
use dirigent_verify::database::Database;
use dirigent_verify::nats::NatsServer;
use dirigent_verify::processes::{Line, Lines, Process};

use crate::agents::{CALLED, NAMES};
use crate::ledger::Ledger;
use crate::orders::Order;
use crate::people::{Habits, People, Word};
use crate::strike::Strike;
use crate::{Result, bot};

/// How many processes there are; as many gateway shards and agents.
const COUNT: usize = NAMES.len();
/// Of each process at the NATS server.
const PASSWORD: &str = "among-ourselves";
/// How long anything may take that must happen.
const LIMIT: Duration = Duration::from_secs(300);

/// What the program was told.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) ttl: Duration,
    pub(crate) channels: u32,
    /// How many further channels are silent.
    pub(crate) resting: u32,
    /// How many a second each process sends.
    pub(crate) requests: u32,
    /// In how many of them agents ask for themselves.
    pub(crate) asking: u32,
    /// How many runs there are to one that is longer than a lease; 0: none is.
    pub(crate) long: u32,
    pub(crate) habits: Habits,
}

pub(crate) struct Fleet {
    clock: SystemClock,
    ttl: Duration,
    _database: Database,
    nats: NatsServer,
    loopback: LoopbackDiscord,
    channels: Vec<ChannelId>,
    agents: [UserId; COUNT],
    people: People,
    variables: Vec<(&'static str, String)>,
    processes: Vec<Process>,
    lines: Lines,
    ledger: Ledger,
}

/// Who is in the chat.
struct Cast {
    discord: MemoryDiscord,
    person: UserId,
    moderator: UserId,
    agents: [UserId; COUNT],
    channels: Vec<ChannelId>,
}

impl Cast {
    /// As many channels, in guilds of all shards.
    fn new(channels: u32, asking: u32) -> Self {
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new())).with_history_max(1_000_000);
        let (person, moderator) = (discord.add_human(), discord.add_bot());
        let agents = [(); COUNT].map(|()| discord.add_bot());
        // A guild's number decides its shard.
        let mut guilds = std::iter::repeat_with(|| discord.add_guild(person));
        let guilds: Vec<_> = (0..COUNT as u64)
            .filter_map(|shard| guilds.find(|guild| (guild.get() >> 22) % COUNT as u64 == shard))
            .collect();
        let channels = guilds.iter().cycle().zip(0..channels).map(|(guild, number)| {
            let count = if number < asking { COUNT } else { CALLED };
            let mut all = vec![moderator, person];
            all.extend(agents.iter().take(count));
            discord.add_channel(*guild, &format!("room-{number}"), &all)
        });
        let channels = channels.collect();
        Self { discord, person, moderator, agents, channels }
    }
}

fn joined(values: impl IntoIterator<Item = impl ToString>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// Each process may hear its own questions and the answers to what it asked, and may ask all.
fn permissions() -> String {
    let user = |number| {
        let name = bot::name(number);
        format!(
            "{{ user: {name}, password: {PASSWORD}, permissions: {{
                publish: [\"my-bot.>\"], allow_responses: true
                subscribe: [\"my-bot.*.{name}\", \"my-bot.*.{name} {name}\", \"my-bot-answers.{name}.>\"]
            }} }}"
        )
    };
    let users: Vec<_> = (0..COUNT).map(user).collect();
    format!("max_payload: 8MB\nauthorization {{ users: [{}] }}", users.join("\n"))
}

impl Fleet {
    pub(crate) async fn start(setting: Setting) -> Result<Self> {
        let database =
            Database::start()?.ok_or("no PostgreSQL is installed: apt-get install postgresql")?;
        database.create()?;
        let cast = Cast::new(setting.channels + setting.resting, setting.asking);
        let loopback = LoopbackDiscord::start(cast.discord.clone()).await?;
        // People type faster here than Discord lets bots answer.
        loopback.set_limits(ServerLimits::generous());
        let nats = NatsServer::start(&permissions())?
            .ok_or("no NATS server is installed: apt-get install nats-server")?;
        let socket = database.folder().join(".s.PGSQL.5432");
        // Too many for a variable.
        let all_channels = database.folder().join("channels");
        std::fs::write(&all_channels, joined(&cast.channels))?;
        let mut talking = cast.channels;
        talking.truncate(usize::try_from(setting.channels)?);
        let variables = vec![
            ("DATABASE_SOCKET", socket.display().to_string()),
            ("DISCORD", loopback.address().to_string()),
            ("MODERATOR", loopback.token(cast.moderator)),
            ("AGENTS", joined(cast.agents)),
            ("CHANNELS", all_channels.display().to_string()),
            ("REQUESTS", setting.requests.to_string()),
            ("ASKING", setting.asking.to_string()),
            ("LONG", setting.long.to_string()),
            ("TTL", setting.ttl.as_millis().to_string()),
            ("NATS", nats.socket().to_string()),
            ("NATS_PASSWORD", PASSWORD.to_owned()),
            ("TOKENS", joined(cast.agents.iter().map(|agent| loopback.token(*agent)))),
            ("CLUSTER", "what all of the five know, and no other".to_owned()),
        ];
        let mut fleet = Self {
            clock: SystemClock::new(),
            ttl: setting.ttl,
            _database: database,
            nats,
            loopback,
            channels: talking.clone(),
            agents: cast.agents,
            people: People::silent(),
            variables,
            processes: Vec::new(),
            lines: Lines::default(),
            ledger: Ledger::default(),
        };
        for number in 0..COUNT {
            let process = fleet.begin(number)?;
            fleet.processes.push(process);
            fleet.until_ready(number).await?;
        }
        fleet.people = People::talk(cast.discord, cast.person, talking, setting.habits);
        Ok(fleet)
    }

    /// Starts the process with this number.
    fn begin(&self, number: usize) -> Result<Process> {
        let mut variables = self.variables.clone();
        variables.push(("PROCESS", number.to_string()));
        if number == 0 && self.processes.is_empty() {
            variables.push(("FIRST", "1".to_owned()));
        }
        Ok(Process::start(number, &variables, &self.lines)?)
    }

    pub(crate) async fn wait(&mut self, time: Duration) {
        self.clock.sleep_until(self.clock.now() + time).await;
        while let Some(line) = self.lines.arrived() {
            self.ledger.note(&line.text);
        }
    }

    /// Waits for a line.
    async fn until(&mut self, wanted: impl Fn(&Line) -> bool + Send + Sync) -> Result<Line> {
        let ledger = &mut self.ledger;
        let wanted = |line: &Line| {
            ledger.note(&line.text);
            wanted(line)
        };
        Ok(self.lines.until(LIMIT, wanted).await?)
    }

    async fn until_ready(&mut self, number: usize) -> Result<()> {
        self.until(|line| line.from == number && line.text == "ready").await.map(drop)
    }

    /// Waits until an agent is called; every other time it is its process that is struck, otherwise one after the other.
    async fn victim(&mut self, number: usize) -> Result<usize> {
        // What was said before does not tell who speaks now.
        self.wait(Duration::ZERO).await;
        let called = self.until(|line| line.text.starts_with("called")).await?.from;
        Ok(if number.is_multiple_of(2) { called } else { number / 2 % COUNT })
    }

    fn process(&mut self, number: usize) -> Result<&mut Process> {
        self.processes.get_mut(number).ok_or_else(|| "there is no such process".into())
    }

    pub(crate) async fn strike(&mut self, strike: Strike, number: usize) -> Result<()> {
        let victim = self.victim(number).await?;
        match strike {
            Strike::Kill => {
                self.process(victim)?.kill().await?;
                self.wait(self.ttl * 2).await;
                *self.process(victim)? = self.begin(victim)?;
                self.until_ready(victim).await?;
            }
            Strike::Pause(time) => {
                self.process(victim)?.pause().await?;
                self.wait(time).await;
                self.process(victim)?.resume().await?;
            }
            Strike::Cut(way, time) => {
                self.process(victim)?.order(Order::Cut(way).line()).await?;
                self.wait(time).await;
                self.process(victim)?.order(Order::Heal.line()).await?;
            }
            Strike::Nats(time) => {
                self.nats.stop()?;
                self.wait(time).await;
                self.nats.begin()?;
            }
            Strike::Roll => {
                for number in 0..COUNT {
                    self.restart(number).await?;
                }
            }
        }
        // They find out, and each takes its share again.
        self.wait(self.ttl * 2).await;
        Ok(())
    }

    /// Ends a process as for an upgrade, and starts it again.
    async fn restart(&mut self, number: usize) -> Result<()> {
        let ordered = self.now();
        self.process(number)?.order(Order::End.line()).await?;
        self.process(number)?.ended().await?;
        let ended = self.now();
        *self.process(number)? = self.begin(number)?;
        self.until_ready(number).await?;
        let (ending, starting) = (ended.since(ordered), self.now().since(ended));
        eprintln!("  {} ended in {ending:?} and started in {starting:?}", bot::name(number));
        Ok(())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The people say nothing more.
    pub(crate) fn hush(&self) {
        self.people.hush();
    }

    pub(crate) fn words(&self) -> Vec<Word> {
        self.people.words()
    }

    /// Those that are there, open threads included.
    pub(crate) fn channels(&self) -> Vec<ChannelId> {
        let threads = self.people.threads();
        self.channels.iter().copied().chain(threads).collect()
    }

    pub(crate) const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What agents said, in order.
    pub(crate) fn replies(&self, channel: ChannelId) -> Vec<ChatMessage> {
        let mut messages = self.loopback.discord().messages(channel);
        messages.retain(|message| self.agents.contains(&message.author));
        messages
    }

    /// All that was said, in the order in which it was said in each channel.
    pub(crate) fn transcript(&self) -> String {
        let mut lines = Vec::new();
        for channel in self.channels() {
            lines.push(format!("channel {channel}\n"));
            for message in self.loopback.discord().messages(channel) {
                let agent = self.agents.iter().position(|agent| *agent == message.author);
                let who = agent.and_then(|agent| NAMES.get(agent)).unwrap_or(&"person");
                lines.push(format!(
                    "  {} {who}: {}\n",
                    message.sent_at.as_millis(),
                    message.content
                ));
            }
        }
        lines.concat()
    }

    /// Writes what was judged into a file: what the processes said of their agents, and the transcript.
    pub(crate) fn keep(&self) -> Result<PathBuf> {
        let path = std::env::temp_dir().join(format!("five-processes-{}.txt", std::process::id()));
        let ledger = self.ledger.lines.join("\n");
        std::fs::write(&path, format!("{ledger}\n\n{}", self.transcript()))?;
        Ok(path)
    }

    pub(crate) async fn end(mut self) -> Result<()> {
        for process in &mut self.processes {
            process.kill().await?;
        }
        self.loopback.shutdown().await;
        Ok(())
    }
}
