//! One process that decides, and a chat, a registry and a clock for it. The tests that name this also run with the fleet of
//! `dirigent-cluster`, in which each process is one of several.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{GuildId, Identity};
use dirigent::settings::LostRuns;
use dirigent::{
    AgentId, ChannelId, Clock, Dirigent, IdentityStore, MemoryIdentities, Mode, Settings, UserId,
};
use dirigent_relay::{HostId, InProcess, Keyring, Master, Relay, Secret, Server, Service};
use dirigent_testkit::{ManualClock, MemoryDiscord};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn host(name: &str) -> HostId {
    name.parse().unwrap()
}

pub(crate) fn secret(byte: u8) -> Secret {
    Secret::new(&[byte; 32]).unwrap()
}

/// The process.
pub(crate) struct Process {
    pub(crate) dirigent: Dirigent,
    /// What answers the rules of turns.
    pub(crate) answers: Arc<dyn Service>,
}

/// A guild with one channel of three agents that ask before they run.
pub(crate) struct Fleet {
    pub(crate) clock: ManualClock,
    pub(crate) discord: MemoryDiscord,
    pub(crate) relay: InProcess,
    pub(crate) registry: Arc<MemoryIdentities>,
    pub(crate) person: UserId,
    pub(crate) moderator: UserId,
    pub(crate) agents: Vec<(AgentId, UserId)>,
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
}

impl Fleet {
    pub(crate) async fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let [moderator, a, b, c] = [(); 4].map(|()| discord.add_bot());
        let person = discord.add_human();
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "table", &[moderator, a, b, c]);
        let registry = Arc::new(MemoryIdentities::new());
        let names = ["poet", "critic", "clerk"].map(AgentId::from);
        let agents: Vec<_> = names.into_iter().zip([a, b, c]).collect();
        for (agent, user) in &agents {
            let identity = Identity {
                discord_user_id: *user,
                agent_id: agent.clone(),
                agent_name: agent.as_str().to_owned(),
            };
            registry.register(identity).await.unwrap();
        }
        let relay = InProcess::new();
        Self { clock, discord, relay, registry, person, moderator, agents, guild, channel }
    }

    /// The keys of a process that acts for channels.
    pub(crate) fn keys(name: &str) -> Keyring {
        Keyring::of_cluster(host(name), &secret(1))
    }

    /// Starts the process, which asks no other.
    pub(crate) fn start_with(
        &mut self,
        _: &str,
        keys: Keyring,
        _: Arc<dyn Relay>,
        more: Vec<Arc<dyn Service>>,
    ) -> Process {
        let settings =
            Settings::default().with(|settings| settings.hooks.lost_runs = LostRuns::Keep);
        let clock: Arc<dyn Clock> = Arc::new(self.clock.clone());
        let (dirigent, driver) = Dirigent::builder(self.discord.account(self.moderator))
            .clock(clock)
            .identities(Arc::clone(&self.registry))
            .settings(settings)
            .build()
            .unwrap();
        let registry = Arc::clone(&self.registry) as Arc<dyn IdentityStore>;
        let answers: Arc<dyn Service> = Arc::new(Master::new(dirigent.clone(), registry));
        let server = Server::new(keys, secret(11)).with(Arc::clone(&answers));
        self.relay.connect(Arc::new(more.into_iter().fold(server, Server::with)));
        tokio::spawn(async move { driver.run().await.unwrap() });
        Process { dirigent, answers }
    }

    /// Lets the tasks run until all of them wait.
    pub(crate) async fn settle(&self) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }

    /// Lets time pass, moment by moment.
    pub(crate) async fn pass(&self, by: Duration) {
        let until = self.clock.now() + by;
        loop {
            self.settle().await;
            match self.clock.next_wake() {
                Some(at) if at <= until => self.clock.set(at),
                _ => break,
            }
        }
        self.clock.set(until);
        self.settle().await;
    }

    /// The channel takes turns from now on.
    pub(crate) async fn chat(&self, process: &Process) {
        self.settle().await;
        process.dirigent.channel(self.channel).set_mode(Mode::Chat).await.unwrap();
        self.settle().await;
    }

    /// A person writes.
    pub(crate) async fn say(&self, process: &Process, text: &str) {
        self.write(process, self.person, text).await;
    }

    /// An agent posts.
    pub(crate) async fn post(&self, process: &Process, agent: &str, text: &str) {
        let (_, user) = self.agents.iter().find(|(name, _)| name.as_str() == agent).unwrap();
        self.write(process, *user, text).await;
    }

    async fn write(&self, process: &Process, author: UserId, text: &str) {
        let id = self.discord.say(self.channel, author, text);
        let message = self.discord.message(self.channel, id).unwrap();
        process.dirigent.message_created(message).await.unwrap();
        self.settle().await;
    }
}
