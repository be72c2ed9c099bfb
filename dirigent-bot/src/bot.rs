//! Builds the moderator from a configuration.

use std::collections::HashMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Identity;
use dirigent::store::{ChannelStore, MemoryChannels};
use dirigent::{
    Agent, AgentError, AgentId, Dirigent, DiscordApi, Driver, MemoryIdentities, SystemClock, UserId,
};
use dirigent_control::{Control, ControlBuilder, MemoryRecorder, RecordingFile};
use dirigent_discord::{
    AccountBuildError, AccountBuilder, DiscordAccount, Feed, Persona, ShardFeed, ShardId,
};
use dirigent_front::{Front, FrontBuilder, Seats};
use dirigent_llm::{ChatAgent, Endpoint};
use dirigent_store::{ChannelRecording, JsonChannels, OpenError, SqliteStore};
use futures_util::StreamExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use twilight_gateway::{ConfigBuilder, Intents, Message, Shard};

use crate::cluster::{self, Cluster};
use crate::config::{
    AgentConfig, BotConfig, DiscordConfig, HostConfig, ModelConfig, OperatorConfig, StoreConfig,
};
use crate::problem::{BadConfig, Text};
use crate::secret::Secret;

pub(crate) type Result<T = (), E = AgentError> = std::result::Result<T, E>;

/// The time that running agents have at the end.
const GRACE: Duration = Duration::from_secs(5);

/// Returns what speaks for an agent, if it is not the agent's model.
pub(crate) type Voice = dyn Fn(&AgentConfig) -> Option<Arc<dyn Agent>> + Send + Sync;

/// With typing, because agents may be observed.
const INTENTS: Intents = Feed::INTENTS_WITH_TYPING;

/// Everything that a configuration asks for.
pub(crate) struct Bot {
    pub(crate) config: BotConfig,
    pub(crate) dirigent: Dirigent,
    pub(crate) moderator: Arc<DiscordAccount>,
    pub(crate) identities: MemoryIdentities,
    /// Every agent's account. Discord does not know a persona's.
    pub(crate) accounts: Vec<(AgentId, UserId)>,
    /// The accounts of the agents that Dirigent posts for.
    pub(crate) faces: HashMap<AgentId, Arc<dyn DiscordApi>>,
    pub(crate) front: Option<Front>,
    page: Option<Control>,
    cluster: Option<Box<Cluster>>,
    /// `None` once it runs.
    pub(crate) driver: Option<Driver>,
    /// The addresses of the page and the front.
    pub(crate) listening: Vec<(&'static str, SocketAddr)>,
    work: JoinSet<Result>,
}

impl Bot {
    /// Builds it. Asks Discord only for the accounts of agents that have a token of their own.
    pub(crate) async fn new(
        config: BotConfig,
        text: &Text,
        stored: Stored,
        voice: &Voice,
    ) -> Result<Self, BadConfig> {
        let bad = |key: &str, what: &dyn Display| text.bad([(key.to_owned(), what.to_string())]);
        let moderator = account(&config, &config.discord.token);
        let moderator = moderator.map_err(|what| bad("discord", &what))?;
        let (identities, recorder) = (MemoryIdentities::new(), MemoryRecorder::default());
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|what| bad("", &what))?;
        let mut builder = Dirigent::builder(Arc::clone(&moderator))
            .identities(identities.clone())
            .channels(stored.channels)
            .recorder(recorder.clone())
            .config(config.rules.config.clone())
            .settings(config.rules.settings.clone())
            .seed(u64::from_le_bytes(seed))
            .on_agent_error(|failed| tracing::warn!("{failed}"));
        let cluster = stored.cluster;
        builder = cluster.iter().fold(builder, |builder, cluster| cluster.builder(builder));
        let (seats, mut faces, mut accounts) = (Seats::new(), HashMap::new(), Vec::new());
        for (at, agent) in config.agents.iter().enumerate() {
            let bad = |key: &str, what: &dyn Display| bad(&format!("agents[{at}].{key}"), what);
            let (face, user) =
                face(&config, &moderator, agent).await.map_err(|(key, what)| bad(key, &what))?;
            accounts.push((agent.id(), user));
            if agent.persona.is_none() {
                let (agent_id, agent_name) = (agent.id(), agent.name.clone());
                let identity = Identity { discord_user_id: user, agent_id, agent_name };
                identities.add(identity).map_err(|what| bad("account", &what))?;
            }
            if let Some(bot) = agent.observed() {
                builder = builder.observe(agent.id(), bot);
            }
            let Some(face) = face else { continue };
            faces.insert(agent.id(), Arc::clone(&face));
            builder = match speaker(agent, voice) {
                Some(speaks) => builder.host(agent.id(), speaks, face),
                None => builder.host(agent.id(), seats.seat(agent.id()), face),
            };
        }
        let (dirigent, driver) = builder.build().map_err(|what| bad("rules", &what))?;
        let front = config.front.as_ref().map(|it| {
            let front = Front::builder(dirigent.clone(), Arc::clone(&moderator) as _);
            let front = front.seats(seats);
            let front = if it.behind_tls { front.behind_tls() } else { front };
            let host = |front: FrontBuilder, it: &HostConfig| {
                front.host(&it.name, &it.secret.value, it.agents.iter().map(String::as_str))
            };
            it.hosts.iter().fold(front, host).build()
        });
        let front = front.transpose().map_err(|what| bad("front.hosts", &what))?;
        let page = config.page.as_ref().map(|it| {
            let chat = Arc::clone(&moderator) as _;
            let page = Control::builder(dirigent.clone(), chat, identities.clone());
            let page = page
                .recorder(recorder)
                .recordings(recording)
                .what_if(dirigent_lab::program::compare);
            let page = cluster.iter().fold(page, |page, cluster| cluster.page(page));
            let operator = |page: ControlBuilder, it: &OperatorConfig| {
                page.operator(&it.name, &it.token.value)
            };
            it.operators.iter().fold(page, operator).build()
        });
        let page = page.transpose().map_err(|what| bad("page", &what))?;
        let (driver, listening, work) = (Some(driver), Vec::new(), JoinSet::new());
        #[rustfmt::skip]
        let bot = Self { config, dirigent, moderator, identities, accounts, faces, front, page, cluster, driver, listening, work };
        Ok(bot)
    }

    /// Connects and listens.
    pub(crate) async fn start(&mut self, text: &Text) -> Result<(), BadConfig> {
        if let Some(cluster) = &mut self.cluster {
            let page = self.page.as_ref();
            cluster.start(&self.dirigent, &self.identities, page, &mut self.work);
        }
        if let Some((page, config)) = self.page.take().zip(self.config.page.as_ref()) {
            let listener = listen(config.listen, "page.listen", text).await?;
            self.listening.extend(listener.local_addr().ok().map(|address| ("page", address)));
            self.work.spawn(async move { Ok(page.serve(listener).await?) });
        }
        if let Some((front, config)) = self.front.clone().zip(self.config.front.as_ref()) {
            let listener = listen(config.listen, "front.listen", text).await?;
            self.listening.extend(listener.local_addr().ok().map(|address| ("front", address)));
            self.work.spawn(async move { Ok(front.serve(listener).await?) });
        }
        if let Some(driver) = self.driver.take() {
            self.work.spawn(async move { Ok(driver.run().await?) });
        }
        let feed = Feed::builder(self.dirigent.clone(), Arc::clone(&self.moderator), INTENTS);
        let (feed, feeding) = feed.build();
        self.work.spawn(async move {
            feeding.run().await;
            Ok(())
        });
        self.work.spawn(hear(shard(&self.config.discord), feed.shard(ShardId::ONE)));
        Ok(())
    }

    /// Waits until something ends that should not: the driver, the gateway or a listener.
    pub(crate) async fn ended(&mut self) -> Result {
        self.work.join_next().await.unwrap_or(Ok(Ok(())))?
    }

    /// Lets running agents end, and stops.
    pub(crate) async fn shut_down(mut self) {
        let store = self.cluster.map(|cluster| cluster.store);
        if let Some(store) = &store {
            store.resign();
        }
        self.dirigent.shutdown(GRACE).await;
        if let Some(store) = &store {
            store.close().await;
        }
        self.work.shutdown().await;
    }
}

/// Returns the account that posts for an agent, if Dirigent does, and the agent's user id.
async fn face(
    config: &BotConfig,
    moderator: &Arc<DiscordAccount>,
    agent: &AgentConfig,
) -> Result<(Option<Arc<dyn DiscordApi>>, UserId), (&'static str, String)> {
    let face: Arc<dyn DiscordApi> = match (&agent.persona, &agent.token, agent.account) {
        (Some(persona), ..) => {
            let face = persona.avatar.iter().fold(Persona::new(&persona.name), Persona::avatar);
            Arc::new(moderator.persona(face).map_err(|what| ("persona", what.to_string()))?)
        }
        (_, Some(token), _) => {
            account(config, token).map_err(|what| ("token", what.to_string()))?
        }
        (.., account) => return Ok((None, UserId::new(account.map_or(0, |id| id.0)))),
    };
    let user = face.me().await.map_err(|what| ("token", what.to_string()))?;
    Ok((Some(face), user))
}

/// Reads a recording that an operator opens on the page.
fn recording(text: &str) -> Result<RecordingFile, String> {
    let recording = ChannelRecording::parse(text).map_err(|error| error.to_string())?;
    Ok(RecordingFile { agents: recording.agents, recorded: recording.recorded })
}

/// Returns what speaks for a configured agent; `None` for one that asks.
pub(crate) fn speaker(agent: &AgentConfig, voice: &Voice) -> Option<Arc<dyn Agent>> {
    voice(agent).or_else(|| {
        let model = agent.model.as_ref()?;
        Some(Arc::new(ChatAgent::new(endpoint(model)).persona(&agent.briefing)))
    })
}

pub(crate) fn endpoint(model: &ModelConfig) -> Endpoint {
    let endpoint = Endpoint::new(&model.url, &model.name);
    model.key.iter().fold(endpoint, |endpoint, key| endpoint.key(&key.value))
}

/// The store of the channels, and the other processes that share it.
pub(crate) struct Stored {
    pub(crate) channels: Arc<dyn ChannelStore>,
    pub(crate) cluster: Option<Box<Cluster>>,
}

impl Default for Stored {
    fn default() -> Self {
        Self { channels: Arc::new(MemoryChannels::default()), cluster: None }
    }
}

impl Stored {
    /// Opens the store that the configuration names.
    pub(crate) async fn open(config: &BotConfig, text: &Text) -> Result<Self, BadConfig> {
        let bad = |key: &'static str, what: String| text.bad([(key.to_owned(), what)]);
        let StoreConfig { sqlite, json, postgres } = &config.store;
        if let Some(address) = postgres {
            let joined = Box::pin(Cluster::join(&address.value, config.cluster.as_ref())).await;
            let cluster = joined.map_err(|(key, what)| bad(key, what))?;
            return Ok(Self {
                channels: Arc::new(cluster.store.clone()),
                cluster: Some(Box::new(cluster)),
            });
        }
        let open = |key, what: OpenError| bad(key, what.to_string());
        let channels: Arc<dyn ChannelStore> = match (sqlite, json) {
            (Some(file), _) => {
                Arc::new(SqliteStore::open(file.as_path()).map_err(|it| open("store.sqlite", it))?)
            }
            (_, Some(folder)) => {
                Arc::new(JsonChannels::open(folder.as_path()).map_err(|it| open("store.json", it))?)
            }
            (None, None) => return Ok(Self::default()),
        };
        Ok(Self { channels, cluster: None })
    }
}

fn account(config: &BotConfig, token: &Secret) -> Result<Arc<DiscordAccount>, AccountBuildError> {
    let builder = DiscordAccount::builder(token.value.as_str(), SystemClock::new());
    let mut builder = config.discord.address.iter().fold(builder, AccountBuilder::proxy);
    if config.cluster.is_some() {
        builder = builder.requests_per_second(cluster::REQUESTS_PER_SECOND);
    }
    Ok(Arc::new(builder.build()?))
}

pub(crate) fn shard(discord: &DiscordConfig) -> Shard {
    // It fails if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = ConfigBuilder::new(discord.token.value.clone(), INTENTS);
    let address = discord.address.iter().map(|address| address.replacen("http", "ws", 1));
    Shard::with_config(ShardId::ONE, address.fold(config, ConfigBuilder::proxy_url).build())
}

/// Feeds the library with the gateway's events. It ends only if a new connection would not help.
pub(crate) async fn hear(mut shard: Shard, feed: ShardFeed) -> Result {
    while let Some(message) = shard.next().await {
        match message {
            Ok(Message::Text(text)) => feed.text(&text),
            Ok(Message::Close(frame)) => {
                if let Some(why) = feed.closed(frame.map(|frame| frame.code)) {
                    return Err(why.to_string().into());
                }
            }
            // The shard connects again by itself.
            Err(error) => {
                tracing::warn!(%error, "the gateway's connection failed");
                let _ = feed.closed(None);
            }
        }
    }
    Err("the gateway's connection ended".into())
}

pub(crate) async fn listen(
    address: SocketAddr,
    key: &str,
    text: &Text,
) -> Result<TcpListener, BadConfig> {
    TcpListener::bind(address).await.map_err(|error| {
        let what = format!("{address} cannot be listened at ({error}): end what listens there, or write another port");
        text.bad([(key.to_owned(), what)])
    })
}
