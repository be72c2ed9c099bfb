//! A bot with three hosted agents inside the loopback Discord, which can be started again; and what its agents hear.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::snapshot::PhaseKind;
use dirigent::store::{ChannelStore as _, MemoryChannels};
use dirigent::{
    Agent, AgentError, ChannelId, Config, Dirigent, Mode, Reply, Settings, Turn, UserId,
};
use dirigent_discord::{BanGuard, DiscordAccount, Feed, Persona};
use dirigent_loopback::{AlteredFile, LoopbackDiscord};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use tokio::sync::watch;
use tokio::task::JoinSet;
use twilight_gateway::{ConfigBuilder, Intents, Message, Shard, ShardId};

use crate::soak::line::{Line, NoQueue};

pub(crate) const NAMES: [&str; 3] = ["poet", "sceptic", "critic"];

/// How often nothing must have changed while everybody had the chance to go on.
const QUIET: u32 = 60;

/// One call of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) agent: &'static str,
    /// The lines of what it was handed.
    pub(crate) missed: Vec<String>,
    /// The lines of the transcript.
    pub(crate) transcript: Vec<String>,
}

/// How the bot hears of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The gateway pushes it.
    Pushed,
    /// It was said while the bot was away, and is in the history.
    Read,
}

pub(crate) const WAYS: [Way; 2] = [Way::Pushed, Way::Read];

/// What agents share: what they were asked, and what they say next.
#[derive(Clone, Default)]
struct Stage {
    called: Arc<Mutex<Vec<Called>>>,
    next: Arc<Mutex<HashMap<&'static str, Reply>>>,
}

struct Ear {
    name: &'static str,
    stage: Stage,
}

#[dirigent::async_trait]
impl Agent for Ear {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let transcript = turn.transcript(50).await?;
        let (mut lines, mut earlier) = (turn.lines(), turn.lines());
        self.stage.called.lock().unwrap().push(Called {
            agent: self.name,
            missed: turn.missed().iter().map(|message| lines.line(message)).collect(),
            transcript: transcript.iter().map(|message| earlier.line(message)).collect(),
        });
        let next = self.stage.next.lock().unwrap().remove(self.name).unwrap_or(Reply::Pass);
        if let Reply::Say(text) = &next {
            return Ok(Reply::Say(turn.with_mentions(text).into_owned()));
        }
        Ok(next)
    }
}

pub(crate) struct World {
    pub(crate) clock: ManualClock,
    pub(crate) discord: MemoryDiscord,
    pub(crate) server: LoopbackDiscord,
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
    pub(crate) moderator: UserId,
    /// A bot that is no agent.
    pub(crate) monitor: UserId,
    agents: Vec<UserId>,
    /// From where the bot reads files.
    pub(crate) file_host: String,
    pub(crate) intents: Intents,
    pub(crate) settings: Settings,
    pub(crate) config: Config,
    /// Whether the gateway is reached only some time after a start.
    pub(crate) is_gateway_late: bool,
    /// The agents that have no accounts of their own: the moderator's webhooks post for them.
    pub(crate) personas: &'static [&'static str],
    /// The files that were asked for.
    asked_files: Arc<Mutex<Vec<String>>>,
    store: Arc<MemoryChannels>,
    stage: Stage,
    pub(crate) dirigent: Option<Dirigent>,
    connects: watch::Sender<bool>,
    running: JoinSet<()>,
}

impl World {
    /// The channel of a bot that runs takes turns.
    pub(crate) async fn new() -> Self {
        let mut world = Self::silent().await;
        world.start().await;
        world
    }

    /// The bot does not run yet.
    pub(crate) async fn silent() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let (person, moderator) = (discord.add_human(), discord.add_bot());
        let (monitor, agents) = (discord.add_bot(), NAMES.map(|_| discord.add_bot()).to_vec());
        discord.account(person).set_name("Ann");
        discord.account(monitor).set_name("Monit");
        discord.account(moderator).set_name("Dirigent");
        let guild = discord.add_guild(person);
        let members = [&[person, moderator, monitor][..], &agents].concat();
        let channel = discord.add_channel(guild, "round-table", &members);
        let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
        let asked_files = Arc::<Mutex<Vec<String>>>::default();
        let asked = Arc::clone(&asked_files);
        server.alter().files(move |file| asked.lock().unwrap().push(file.path.clone()));
        let file_host = server.file_host();
        #[rustfmt::skip]
        let world = Self {
            clock, discord, server, guild, channel, person, moderator, monitor, agents, file_host, asked_files,
            intents: Feed::INTENTS, settings: Settings::default().with(|it| it.inherit_parent_mode = true),
            config: Config::default(), is_gateway_late: false, personas: &[], store: Arc::default(), stage: Stage::default(), dirigent: None,
            connects: watch::Sender::new(true), running: JoinSet::new(),
        };
        world
    }

    pub(crate) fn account(&self, bot: UserId) -> Arc<DiscordAccount> {
        let builder = DiscordAccount::builder(self.server.token(bot), self.clock.clone());
        let builder = builder.proxy(format!("http://{}", self.server.address()));
        let builder = builder.files(&self.file_host).ban_guard(&BanGuard::new(1_000));
        Arc::new(builder.build().unwrap())
    }

    /// Starts the bot, as it is after a crash if it ran before.
    pub(crate) async fn start(&mut self) {
        let moderator = self.account(self.moderator);
        let mut builder = Dirigent::builder(Arc::clone(&moderator))
            .settings(self.settings.clone())
            .config(self.config.clone())
            .clock(self.clock.clone())
            .channels(Arc::clone(&self.store));
        for (name, bot) in NAMES.into_iter().zip(self.agents.clone()) {
            let ear = Ear { name, stage: self.stage.clone() };
            builder = if self.personas.contains(&name) {
                builder.host(name, ear, moderator.persona(Persona::new(shown_name(name))).unwrap())
            } else {
                builder.host(name, ear, self.account(bot))
            };
        }
        let (dirigent, driver) = builder.build().unwrap();
        self.running.spawn(async move { driver.run().await.unwrap() });
        let (feed, work) = Feed::builder(dirigent.clone(), moderator, self.intents).build();
        self.running.spawn(work.run());
        let config = ConfigBuilder::new(self.server.token(self.moderator), self.intents);
        let config = config.proxy_url(format!("ws://{}", self.server.address()));
        let shard = Shard::with_config(ShardId::ONE, config.queue(NoQueue).build());
        if self.is_gateway_late {
            self.settle().await;
            self.clock.advance(Duration::from_secs(5));
            self.settle().await;
        }
        let mut line = Line::new(shard, self.clock.clone(), self.connects.subscribe());
        self.running.spawn(async move {
            let feed = feed.shard(ShardId::ONE);
            while let Some(message) = line.next().await {
                match message {
                    Ok(Message::Text(text)) => feed.text(&text),
                    Ok(Message::Close(frame)) => _ = feed.closed(frame.map(|frame| frame.code)),
                    Err(_) => _ = feed.closed(None),
                }
            }
        });
        self.dirigent = Some(dirigent.clone());
        self.settle().await;
        dirigent.channel(self.channel).set_mode(Mode::Chat).await.unwrap();
        self.settle().await;
    }

    /// Ends the bot from one moment to the next.
    pub(crate) async fn crash(&mut self) {
        self.dirigent = None;
        self.running.shutdown().await;
        self.settle().await;
    }

    pub(crate) fn agent(&self, name: &str) -> UserId {
        let at = NAMES.iter().position(|known| *known == name).unwrap();
        self.agents[at]
    }

    /// What this agent says in its next turn.
    pub(crate) fn next(&self, agent: &'static str, reply: impl Into<Reply>) {
        self.stage.next.lock().unwrap().insert(agent, reply.into());
    }

    pub(crate) fn calls(&self) -> Vec<Called> {
        self.stage.called.lock().unwrap().clone()
    }

    pub(crate) fn asked_files(&self) -> usize {
        self.asked_files.lock().unwrap().len()
    }

    pub(crate) fn alter_files(&self, change: impl Fn(&mut AlteredFile) + Send + Sync + 'static) {
        self.server.alter().files(change);
    }

    /// The agents that are called because of this, in order, and what they hear.
    pub(crate) async fn asked(&mut self, way: Way, say: impl FnOnce(&Self)) -> Vec<Called> {
        self.asked_in(self.channel, way, say).await
    }

    pub(crate) async fn asked_in(
        &mut self,
        channel: ChannelId,
        way: Way,
        say: impl FnOnce(&Self),
    ) -> Vec<Called> {
        let before = self.calls().len();
        if way == Way::Read {
            self.crash().await;
        }
        say(self);
        if way == Way::Read {
            self.start().await;
        }
        self.rest(channel).await;
        self.calls().split_off(before)
    }

    /// Something that the person says is asked about, and an agent answers with these words.
    pub(crate) async fn talk(&mut self, agent: &'static str, words: &str) {
        self.next(agent, words);
        self.discord.say(self.channel, self.person, "Good morning");
        self.rest(self.channel).await;
    }

    /// Time passes until the channel is at rest.
    pub(crate) async fn rest(&self, channel: ChannelId) {
        self.settle().await;
        let dirigent = self.dirigent.clone().unwrap();
        for _ in 0..100 {
            self.settle().await;
            let status = dirigent.channel(channel).status().await.unwrap();
            if status.is_none_or(|status| status.phase == PhaseKind::Dormant) {
                return;
            }
            self.clock.advance_to_next_wake().unwrap();
        }
        panic!("the channel does not come to rest: {:?}", dirigent.channel(channel).status().await);
    }

    /// So much time passes.
    pub(crate) async fn pass(&self, time: Duration) {
        self.settle().await;
        self.clock.advance(time);
        self.settle().await;
    }

    /// Lets everything happen that needs no time: see the soak.
    async fn settle(&self) {
        let (mut seen, mut quiet) = (None, 0);
        while quiet < QUIET {
            tokio::task::yield_now().await;
            let calls = self.stage.called.lock().unwrap().len();
            let now = (self.clock.waiting(), self.clock.next_wake(), calls);
            quiet = if seen == Some(now) { quiet + 1 } else { 0 };
            seen = Some(now);
        }
    }

    /// What is stored of the channel.
    pub(crate) async fn stored(&self) -> String {
        format!("{:?}", self.store.load(self.channel).await.unwrap())
    }

    /// What `/why` says to the person.
    pub(crate) async fn why(&self) -> String {
        self.used(self.person, "why").await
    }

    /// What this command without an option says to the person.
    pub(crate) async fn used(&self, person: UserId, command: &str) -> String {
        let (channel, bot) = (self.channel, self.moderator);
        let used = self.server.use_command(channel, person, bot, command, &[]).unwrap();
        self.settle().await;
        let answers = self.server.answers(used);
        answers.first().map(|answer| answer.content.clone()).unwrap_or_default()
    }
}

/// The name of an agent that is a persona.
pub(crate) fn shown_name(agent: &str) -> String {
    let mut name = agent.to_owned();
    name.get_mut(..1).unwrap().make_ascii_uppercase();
    name
}

/// Whom these calls were made to.
pub(crate) fn names(called: &[Called]) -> Vec<&'static str> {
    called.iter().map(|called| called.agent).collect()
}

/// The newest line that the first of them was handed.
pub(crate) fn line(called: &[Called]) -> &str {
    called.first().and_then(|called| called.missed.last()).map_or("", String::as_str)
}
