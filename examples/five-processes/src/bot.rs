//! One of the processes.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::host::{Builder, RunError};
use dirigent::ports::Identity;
use dirigent::prelude::*;
use dirigent::settings::{LostRuns, Pacing};
use dirigent_cluster::http::{AddressBook, ClientTls, HttpRelay, HttpServer, ServerTls};
use dirigent_cluster::{Forwarding, Guests, Hosting, Instance};
use dirigent_cluster::{PostgresOptions, PostgresStore};
use dirigent_discord::{DiscordAccount, Feed};
use dirigent_relay::{Client, HostId, Keyring, Secret, Server};
use futures_util::StreamExt as _;
use tokio::net::TcpListener;
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
    // This Discord does not limit bots, so that the processes are seen at work and not at waiting.
    let account = DiscordAccount::builder(given::<String>(token)?, SystemClock::new())
        .requests_per_second(1_000);
    Ok(Arc::new(account.proxy(format!("http://{}", given::<String>("DISCORD")?)).build()?))
}

fn identity(number: usize, user: UserId) -> Identity {
    let name = NAMES.get(number).copied().unwrap_or_default();
    Identity { discord_user_id: user, agent_id: name.into(), agent_name: name.to_owned() }
}

/// 32 random bytes, new at each start.
fn random() -> Result<Secret> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(Secret::new(&bytes)?)
}

/// The ways to the other processes, all through gates of this one.
async fn addresses(me: usize, ports: &[u16], switches: &Switches) -> Result<AddressBook> {
    let book = AddressBook::new();
    for (number, port) in ports.iter().enumerate().filter(|(number, _)| *number != me) {
        let there = Target::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, *port)));
        let address = gate(0, there, switches.relay.clone()).await?;
        book.set(host(number)?, address.into());
    }
    Ok(book)
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

/// Asks the others, and answers them.
fn client(me: usize, book: AddressBook) -> Result<(Client, Keyring)> {
    let (chain, key): (String, String) = (given("CHAIN")?, given("KEY")?);
    let tls = ClientTls::trusting(given::<String>("AUTHORITY")?.as_bytes())?
        .with_certificate(chain.as_bytes(), key.as_bytes())?;
    let (relay, link) = HttpRelay::builder(book, tls).build();
    tokio::spawn(link.run());
    let keys =
        Keyring::of_cluster(host(me)?, &Secret::new(given::<String>("CLUSTER")?.as_bytes())?);
    Ok((Client::new(keys.clone(), Arc::new(relay), Arc::new(SystemClock::new())), keys))
}

/// Answers the others from now on, until `stop` is sent or dropped.
async fn serve(port: u16, server: Server, switches: &Switches) -> Result<oneshot::Sender<()>> {
    let (chain, key): (String, String) = (given("CHAIN")?, given("KEY")?);
    let tls = ServerTls::new(chain.as_bytes(), key.as_bytes())?
        .with_client_authorities(given::<String>("AUTHORITY")?.as_bytes())?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    gate(port, Target::Tcp(listener.local_addr()?), switches.relay.clone()).await?;
    let (stop, stopped) = oneshot::channel();
    let stopped = async { _ = stopped.await };
    tokio::spawn(HttpServer::builder(Arc::new(server), tls).build().serve_until(listener, stopped));
    Ok(stop)
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
    hosting: Hosting,
    asking: Arc<Asking>,
    moderator: Arc<DiscordAccount>,
    _serving: oneshot::Sender<()>,
}

impl Bot {
    async fn start(me: usize, switches: &Switches) -> Result<Self> {
        let ports = all::<u16>("PORTS")?;
        let store = store(me, switches).await?;
        let (client, keys) = client(me, addresses(me, &ports, switches).await?)?;
        let owners = Arc::new(store.clone());
        let (forwarding, forwarding_link) = Forwarding::new(client.clone(), owners.clone());
        let (guests, guests_link) = Guests::new(client.clone());
        let (hosting, hosting_link) = Hosting::new(client.clone(), owners.clone());
        let (moderator, mine) = (account("MODERATOR")?, account("AGENT")?);
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
        let builder = host_agents(builder, me, thinking, &hosting, &guests, &mine);
        let (dirigent, driver) = builder.build()?;
        let instance =
            Instance::new(dirigent.clone(), Arc::new(store.clone()), client, owners, settings);
        let server = Server::new(keys, random()?)
            .with(Arc::new(instance.clone()))
            .with(Arc::new(guests))
            .with(Arc::new(hosting.clone()));
        let port = ports.get(me).copied().ok_or("there is no port for this process")?;
        let serving = serve(port, server, switches).await?;
        let driver = tokio::spawn(driver.run());
        tokio::spawn(forwarding_link.run(dirigent.clone()));
        tokio::spawn(guests_link.run(dirigent.clone()));
        tokio::spawn(hosting_link.run());
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
        Ok(Self { me, store, dirigent, driver, hosting, asking, moderator, _serving: serving })
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
            let intents = Intents::GUILDS | Intents::GUILD_MESSAGES | Intents::MESSAGE_CONTENT;
            let config = ConfigBuilder::new(given("AGENT")?, intents).proxy_url(url);
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
        self.hosting.drain().await;
        Ok(self.driver.await??)
    }
}

/// The agent that lives here, and those that live elsewhere; none for those that ask.
fn host_agents(
    mut builder: Builder,
    me: usize,
    thinking: Thinking,
    hosting: &Hosting,
    guests: &Guests,
    mine: &Arc<DiscordAccount>,
) -> Builder {
    for (number, name) in NAMES.into_iter().take(CALLED).enumerate() {
        builder = if number == me {
            let agent = || agent_fn(move |turn| speak(turn, thinking));
            hosting.host(name, agent(), mine.clone());
            builder.host(name, agent(), mine.clone())
        } else {
            builder.host(name, guests.agent(name), guests.account(name))
        };
    }
    builder
}

fn channels() -> Result<Vec<ChannelId>> {
    Ok(all("CHANNELS")?.into_iter().map(ChannelId::new).collect())
}

/// Gives each channel its mode. To be called where no other process is yet: this one acts for all channels, a moment after the start.
async fn set_modes(dirigent: &Dirigent) -> Result<()> {
    for channel in channels()? {
        while dirigent.channel(channel).set_mode(Mode::Chat).await.is_err() {
            pause(Duration::from_millis(50)).await;
        }
    }
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
