//! One of the processes.

use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::host::{Builder, RunError};
use dirigent::operate::{Cause, EventOrLag, Events};
use dirigent::ports::Identity;
use dirigent::prelude::*;
use dirigent::settings::{LostRuns, Pacing};
use dirigent_cluster::{Forwarding, Instance, Nats, PostgresOptions, PostgresStore};
use dirigent_discord::{DiscordAccount, Feed};
use dirigent_relay::{Client, HostId, Keyring, Secret, Server};
use futures_util::StreamExt as _;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing_subscriber::filter::LevelFilter;
use twilight_gateway::{ConfigBuilder, Intents, Message, Shard, ShardId};

use crate::Result;
use crate::agents::{CALLED, NAMES, Thinking, pause, say, speak};
use crate::ask::Asking;
use crate::gate::{Target, gate};
use crate::orders::Switches;

/// How long a run may last: an agent that asks and whose process is killed holds its channel no longer.
const RUN: Duration = Duration::from_secs(15);
/// How long turns may go on when the process ends.
const GRACE: Duration = Duration::from_secs(10);

/// What the process that started this one says, by environment variables.
fn given<T: FromStr>(name: &str) -> Result<T> {
    let text = env::var(name).map_err(|_| format!("{name} is not set"))?;
    text.parse().map_err(|_| format!("{name} is not understood").into())
}

fn all<T: FromStr>(name: &str) -> Result<Vec<T>> {
    let text: String = given(name)?;
    let parts = text.split(',').map(str::parse).collect::<std::result::Result<_, _>>();
    parts.map_err(|_| format!("{name} is not understood").into())
}

/// The name of the process with this number.
pub(crate) fn name(number: usize) -> String {
    format!("bot-{number}")
}

fn host(number: usize) -> Result<HostId> {
    Ok(name(number).parse()?)
}

fn account(token: &str) -> Result<Arc<DiscordAccount>> {
    // By default more than Discord allows, so that the processes are seen at work and not at waiting.
    // The first gives all channels their modes.
    let requests = if env::var("FIRST").is_ok() { 1_000 } else { given("REQUESTS")? };
    let account = DiscordAccount::builder(token, SystemClock::new()).requests_per_second(requests);
    Ok(Arc::new(account.proxy(format!("http://{}", given::<String>("DISCORD")?)).build()?))
}

fn identity(number: usize, user: UserId) -> Identity {
    let name = NAMES.get(number).copied().unwrap_or_default();
    Identity { discord_user_id: user, agent_id: name.into(), agent_name: name.to_owned() }
}

/// The store, through a gate.
async fn store(me: usize, switches: &Switches) -> Result<PostgresStore> {
    let socket = Target::Socket(given::<PathBuf>("DATABASE_SOCKET")?);
    let address = gate(0, socket, switches.database.clone()).await?;
    let address = format!("host={} port={} user=postgres dbname=d0", address.ip(), address.port());
    let options =
        PostgresOptions::new(address).process(name(me)).ttl(Duration::from_millis(given("TTL")?));
    let (store, link) = PostgresStore::open(options).await?;
    tokio::spawn(link.run());
    Ok(store)
}

/// The way to the others, through a gate.
async fn nats(me: usize, switches: &Switches) -> Result<Nats> {
    let server = Target::Tcp(given("NATS")?);
    let address = gate(0, server, switches.relay.clone()).await?;
    let connection = async_nats::ConnectOptions::new()
        .user_and_password(name(me), given("NATS_PASSWORD")?)
        .custom_inbox_prefix(format!("my-bot-answers.{}", name(me)))
        // So soon it notices that nothing comes through any more, and says that a question was not carried.
        .ping_interval(Duration::from_secs(1))
        .connect(format!("nats://{address}"))
        .await?;
    Ok(Nats::new(connection, &"my-bot".parse()?))
}

/// Answers the others from now on, until `stop` is sent or dropped.
fn serve(nats: Nats, server: Server) -> oneshot::Sender<()> {
    let (stop, stopped) = oneshot::channel();
    let stopped = async { _ = stopped.await };
    tokio::spawn(nats.serve_until(Arc::new(server), stopped));
    stop
}

/// Tells what the gateway says.
async fn hear(feed: Feed, mut shard: Shard) {
    let events = feed.shard(shard.id());
    while let Some(message) = shard.next().await {
        match message {
            Ok(Message::Text(text)) => events.text(&text),
            Ok(Message::Close(frame)) => _ = events.closed(frame.map(|frame| frame.code)),
            Err(_) => _ = events.closed(None),
        }
    }
}

/// Says when a person's word takes the floor from an agent whose reply is on its way. The word may have been said long before.
async fn tell_interruptions(mut events: Events) {
    while let Some(event) = events.next().await {
        if let EventOrLag::Transition(event) = event
            && event.transition.cause == Cause::Interrupted
        {
            say(&format!("interrupted {} {}", event.channel, event.transition.at.as_millis()));
        }
    }
}

/// How the five take turns: a run in one process goes on when another ends, and an agent that comes back speaks again.
fn rules() -> (Settings, Config) {
    let mut settings = Settings::default();
    settings.hooks.lost_runs = LostRuns::Keep;
    // The agents say the same all the time, and people talk fast.
    settings.reading.skip_repetitions = false;
    settings.inherit_parent_mode = true;
    settings.limits.pacing = Pacing::off();
    let config = Config::default().with(|config| {
        config.order.auto_requeue = true;
        config.deadlines.run = Some(RUN);
    });
    (settings, config)
}

/// What this process has, and what must end before it does.
struct Bot {
    me: usize,
    store: PostgresStore,
    dirigent: Dirigent,
    driver: JoinHandle<std::result::Result<(), RunError>>,
    asking: Arc<Asking>,
    moderator: Arc<DiscordAccount>,
    _serving: oneshot::Sender<()>,
}

impl Bot {
    async fn start(me: usize, switches: &Switches) -> Result<Self> {
        let store = store(me, switches).await?;
        let nats = nats(me, switches).await?;
        let secret = Secret::new(given::<String>("CLUSTER")?.as_bytes())?;
        let keys = Keyring::of_cluster(host(me)?, &secret);
        let clock = Arc::new(SystemClock::new());
        let client = Client::new(keys.clone(), Arc::new(nats.clone()), clock);
        let owners = Arc::new(store.clone());
        let (forwarding, forwarding_link) = Forwarding::new(client.clone(), owners.clone());
        let moderator = account(&given::<String>("MODERATOR")?)?;
        let accounts = all::<String>("TOKENS")?;
        let accounts = accounts.iter().map(|token| account(token)).collect::<Result<Vec<_>>>()?;
        let mine = accounts.get(me).cloned().ok_or("there is no agent here")?;
        let (settings, config) = rules();
        let builder = Dirigent::builder(moderator.clone())
            .channels(store.clone())
            .identities(store.clone())
            .ownership(store.clone())
            .neighbours(forwarding)
            .settings(settings.clone())
            .config(config);
        let users = all::<u64>("AGENTS")?.into_iter().map(UserId::new).enumerate();
        let identities: Vec<_> = users.map(|(number, user)| identity(number, user)).collect();
        for identity in &identities {
            store.register(identity.clone()).await?;
        }
        let thinking =
            Thinking { long: given("LONG")?, lease: Duration::from_millis(given("TTL")?) };
        let (dirigent, driver) = host_agents(builder, thinking, accounts).build()?;
        let instance =
            Instance::new(dirigent.clone(), Arc::new(store.clone()), client, owners, settings);
        let serving = serve(nats, Server::new(keys)?.with(Arc::new(instance.clone())));
        tokio::spawn(tell_interruptions(dirigent.events()));
        let driver = tokio::spawn(driver.run());
        tokio::spawn(forwarding_link.run(dirigent.clone()));
        let identity = identities.into_iter().nth(me).ok_or("there is no agent here")?;
        let asking = Asking {
            agent: identity.agent_id,
            me: identity.discord_user_id,
            moderator: moderator.me().await?,
            account: mine,
            instance,
            thinking,
            turns: Mutex::default(),
        };
        let asking = Arc::new(asking);
        Ok(Self { me, store, dirigent, driver, asking, moderator, _serving: serving })
    }

    /// Hears one of the five shards of the gateway, and what an agent that asks hears.
    async fn hear(&self, switches: &Switches) -> Result<()> {
        let discord = Target::Tcp(given("DISCORD")?);
        let url = format!("ws://{}", gate(0, discord, switches.gateway.clone()).await?);
        let builder = Feed::builder(self.dirigent.clone(), self.moderator.clone(), Feed::INTENTS);
        let (feed, work) = builder.build();
        tokio::spawn(work.run());
        let id = ShardId::new(u32::try_from(self.me)?, u32::try_from(NAMES.len())?);
        let config = ConfigBuilder::new(given("MODERATOR")?, Feed::INTENTS).proxy_url(url.clone());
        tokio::spawn(hear(feed, Shard::with_config(id, config.build())));
        if self.me >= CALLED {
            let token = all::<String>("TOKENS")?.into_iter().nth(self.me);
            let token = token.ok_or("there is no agent here")?;
            let intents = Intents::GUILDS | Intents::GUILD_MESSAGES | Intents::MESSAGE_CONTENT;
            let config = ConfigBuilder::new(token, intents).proxy_url(url);
            let shard = Shard::with_config(ShardId::ONE, config.build());
            let mut channels = channels()?;
            channels.truncate(given("ASKING")?);
            tokio::spawn(Arc::clone(&self.asking).run(shard, channels));
        }
        Ok(())
    }

    /// Lets end what is under way, and gives its channels to the others.
    async fn end(self) -> Result<()> {
        self.asking.drain().await;
        self.store.resign();
        self.dirigent.shutdown(GRACE).await;
        self.store.close().await;
        Ok(self.driver.await??)
    }
}

/// The agents that are called, in whichever process acts for the channel.
fn host_agents(
    builder: Builder,
    thinking: Thinking,
    accounts: Vec<Arc<DiscordAccount>>,
) -> Builder {
    let called = NAMES.into_iter().zip(accounts).take(CALLED);
    called.fold(builder, |builder, (name, account)| {
        builder.host(name, agent_fn(move |turn| speak(turn, thinking)), account)
    })
}

fn channels() -> Result<Vec<ChannelId>> {
    let all = std::fs::read_to_string(given::<PathBuf>("CHANNELS")?)?;
    Ok(all
        .split(',')
        .map(str::parse)
        .map(|id| id.map(ChannelId::new))
        .collect::<std::result::Result<_, _>>()?)
}

/// Gives each channel its mode. To be called where no other process is yet: this one acts for all channels, a moment after the start.
async fn set_modes(dirigent: &Dirigent) -> Result<()> {
    let modes = channels()?.into_iter().map(|channel| async move {
        while dirigent.channel(channel).set_mode(Mode::Chat).await.is_err() {
            pause(Duration::from_millis(50)).await;
        }
    });
    futures_util::stream::iter(modes).buffer_unordered(32).collect::<()>().await;
    Ok(())
}

pub(crate) async fn run() -> Result<()> {
    let level = env::var("LOG").ok().and_then(|level| level.parse().ok());
    let level = level.unwrap_or(LevelFilter::OFF);
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).init();
    let switches = Switches::new();
    let bot = Bot::start(given("PROCESS")?, &switches).await?;
    bot.hear(&switches).await?;
    if env::var("FIRST").is_ok() {
        set_modes(&bot.dirigent).await?;
    }
    say("ready");
    switches.obey().await;
    bot.end().await
}
