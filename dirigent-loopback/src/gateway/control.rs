//! The controls of the gateway for tests.

use std::sync::Arc;

use dirigent::UserId;
use dirigent::ports::GuildId;
use serde_json::Value;

use super::faults::{GatewayFault, GatewayFaults};
use super::line::News;
use super::subscriber::Subscriber;
use crate::LoopbackDiscord;
use dirigent_testkit::memory_discord::PushFault;

/// A session of the gateway, as your test sees it.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_loopback::LoopbackDiscord;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let bot = discord.add_bot();
/// let server = LoopbackDiscord::start(discord).await?;
/// assert!(server.sessions(bot).is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The id that a client resumes it by.
    pub id: String,
    /// The account of the session.
    pub user: UserId,
    /// The number of the shard, and the number of all shards.
    pub shard: [u64; 2],
    /// The intents that the session asked for.
    pub intents: u64,
    /// The number of its newest event.
    pub seq: u64,
    /// True if the session has a connection.
    pub connected: bool,
}

impl LoopbackDiscord {
    /// Returns the sessions of an account that can still be used or resumed.
    pub fn sessions(&self, user: UserId) -> Vec<SessionInfo> {
        let info = |subscriber: Arc<Subscriber>| {
            let session = subscriber.session();
            SessionInfo {
                id: session.id.clone(),
                user: session.user,
                shard: session.shard.pair(),
                intents: session.intents.bits(),
                seq: session.seq(),
                connected: session.is_connected(),
            }
        };
        self.subscribers(user).into_iter().map(info).collect()
    }

    /// Returns how many sessions an account has begun with IDENTIFY. Discord allows 1,000 a day.
    pub fn identified(&self, user: UserId) -> u64 {
        self.state.gateway.begun(user)
    }

    /// Breaks the account's connections in this way, after the events so far. Returns the number of
    /// sessions that it hits. If a session has no connection, its next one breaks.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent_loopback::GatewayFault;
    /// use dirigent_loopback::LoopbackDiscord;
    /// use dirigent_testkit::{ManualClock, MemoryDiscord};
    /// use twilight_gateway::{
    ///     ConfigBuilder, Event, EventTypeFlags, Intents, Shard, ShardId, StreamExt,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    /// let (person, bot) = (discord.add_human(), discord.add_bot());
    /// let guild = discord.add_guild(person);
    /// let channel = discord.add_channel(guild, "round-table", &[bot]);
    /// let server = LoopbackDiscord::start(discord.clone()).await?;
    ///
    /// let config = ConfigBuilder::new(server.token(bot), Intents::GUILD_MESSAGES)
    ///     .proxy_url(format!("ws://{}", server.address()))
    ///     .build();
    /// let mut shard = Shard::with_config(ShardId::ONE, config);
    /// let wanted = EventTypeFlags::READY | EventTypeFlags::MESSAGE_CREATE | EventTypeFlags::RESUMED;
    /// let ready = shard.next_event(wanted).await.unwrap().unwrap();
    /// assert!(matches!(ready, Event::Ready(_)));
    ///
    /// // What is said while the bot is not connected arrives when it has resumed.
    /// assert_eq!(server.break_gateway(bot, GatewayFault::Cut), 1);
    /// discord.say(channel, person, "Are you there?");
    /// let message = shard.next_event(wanted).await.unwrap().unwrap();
    /// assert!(matches!(message, Event::MessageCreate(_)));
    /// let resumed = shard.next_event(wanted).await.unwrap().unwrap();
    /// assert!(matches!(resumed, Event::Resumed));
    /// # Ok(())
    /// # }
    /// ```
    pub fn break_gateway(&self, user: UserId, fault: GatewayFault) -> usize {
        self.each(user, |subscriber| subscriber.session().order(fault))
    }

    /// Plans a fault for the next event of the account's sessions, after those already planned.
    /// Returns the number of sessions that it hits. A duplicated event keeps its one number. A
    /// dropped event gets no number, so only the history contains it.
    pub fn next_event(&self, user: UserId, fault: PushFault) -> usize {
        self.each(user, |subscriber| subscriber.session().plan(fault))
    }

    /// Replaces the plan of random faults on the gateway.
    pub fn set_gateway_faults(&self, faults: GatewayFaults) {
        self.state.gateway.set_faults(faults);
    }

    /// Ends all faults of the gateway, and sends events that were held back. Connections that were
    /// silenced stay silent.
    pub fn stop_gateway_faults(&self) {
        self.state.gateway.set_faults(GatewayFaults::default());
        for subscriber in self.state.gateway.sessions(self.state.discord.clock().now()) {
            subscriber.session().stop_faults();
        }
    }

    /// Pushes an event of your own to the account's sessions, whatever their intents. Returns the
    /// number of sessions that get it. `guild` decides which shard gets it.
    pub fn push(
        &self,
        user: UserId,
        guild: Option<GuildId>,
        name: &'static str,
        data: &Value,
    ) -> usize {
        let now = self.state.discord.clock().now();
        let told = self.subscribers(user).into_iter().filter(|subscriber| {
            let mut session = subscriber.session();
            let hears = session.shard.hears(guild);
            if hears {
                session.push(News { name, data: data.clone() }, None, now);
            }
            hears
        });
        told.count()
    }

    fn each(&self, user: UserId, act: impl Fn(&Subscriber)) -> usize {
        let subscribers = self.subscribers(user);
        for subscriber in &subscribers {
            act(subscriber);
        }
        subscribers.len()
    }

    fn subscribers(&self, user: UserId) -> Vec<Arc<Subscriber>> {
        let now = self.state.discord.clock().now();
        let all = self.state.gateway.sessions(now).into_iter();
        all.filter(|subscriber| subscriber.user() == user).collect()
    }
}
