//! A chat, a registry, a clock and a relay for the processes of a test, be they one or several.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{GuildId, Identity};
use dirigent::{
    AgentId, ChannelId, Clock, Dirigent, IdentityStore, MemoryIdentities, Mode, UserId,
};
use dirigent_relay::{HostId, InProcess, Keyring, Secret};
use dirigent_testkit::{ManualClock, MemoryDiscord};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const AGENTS: [&str; 3] = ["poet", "critic", "clerk"];

pub(crate) fn host(name: &str) -> HostId {
    name.parse().unwrap()
}

pub(crate) fn secret(byte: u8) -> Secret {
    Secret::new(&[byte; 32]).unwrap()
}

/// A guild with one channel of three agents that ask before they run.
pub(crate) struct Place {
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

impl Place {
    pub(crate) async fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let [moderator, a, b, c] = [(); 4].map(|()| discord.add_bot());
        let person = discord.add_human();
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "table", &[moderator, a, b, c]);
        let registry = Arc::new(MemoryIdentities::new());
        let agents: Vec<_> = AGENTS.into_iter().map(AgentId::from).zip([a, b, c]).collect();
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
    pub(crate) async fn chat(&self, process: &(impl AsRef<Dirigent> + Sync)) {
        self.settle().await;
        process.as_ref().channel(self.channel).set_mode(Mode::Chat).await.unwrap();
        self.settle().await;
    }

    /// A person writes, and this process hears of it.
    pub(crate) async fn say(&self, process: &(impl AsRef<Dirigent> + Sync), text: &str) {
        self.write(process.as_ref(), self.person, text).await;
    }

    /// An agent posts, and this process hears of it.
    pub(crate) async fn post(
        &self,
        process: &(impl AsRef<Dirigent> + Sync),
        agent: &str,
        text: &str,
    ) {
        let (_, user) = self.agents.iter().find(|(name, _)| name.as_str() == agent).unwrap();
        self.write(process.as_ref(), *user, text).await;
    }

    async fn write(&self, dirigent: &Dirigent, author: UserId, text: &str) {
        let id = self.discord.say(self.channel, author, text);
        let message = self.discord.message(self.channel, id).unwrap();
        dirigent.message_created(message).await.unwrap();
        self.settle().await;
    }
}
