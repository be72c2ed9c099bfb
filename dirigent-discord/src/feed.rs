//! Reads the gateway shard by shard and reports it to the driver.
//!
//! Messages go to the driver at once; everything else goes into the guild cache, and whoever sees more or less by
//! that joins or leaves channels. `channel_queues` keeps events of one channel in order while they wait for the
//! store. `task_queue` is a future of the host that asks and answers Discord, because the feed itself must never
//! wait.

mod channel_event;
mod channel_queues;
mod log_limit;
mod shard;
mod task_queue;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::ports::GuildId;
use dirigent::{Dirigent, UserId};
use twilight_model::gateway::{Intents, ShardId};

use crate::DiscordAccount;
use crate::setup_issue::NEEDED_INTENTS;
use channel_queues::ChannelQueues;
use log_limit::LogLimit;
use task_queue::TaskQueue;

pub use shard::ShardFeed;
pub use task_queue::FeedWork;

type MaySetMode = dyn Fn(GuildId, UserId, u64) -> Option<bool> + Send + Sync;

/// Takes in what any number of gateway shards push: tells the library, keeps the account's guild cache of
/// who sees what, and has the slash commands registered and answered.
///
/// Events may come twice, late, in another order or not at all: what is missed is read from the history
/// after a new session, and now and then by the driver. While a shard is connected and tells of members
/// ([`Feed::INTENTS_WITH_MEMBERS`]), [`members`](dirigent::DiscordApi::members) asks Discord for each agent of a guild
/// once an hour; without that intent an answer is believed for a minute (of more than twelve agents, for 5 s each), and
/// without a feed never.
///
/// Clones are the same feed. What it has to ask of Discord, and to answer, is done by its [`FeedWork`], which
/// the host runs beside the driver.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{Dirigent, MemoryIdentities, SystemClock};
/// use dirigent_discord::{DiscordAccount, Feed};
/// use twilight_model::gateway::ShardId;
///
/// # async fn next_text() -> Option<String> { None }
/// # async fn bot(token: String) -> Result<(), Box<dyn std::error::Error>> {
/// let clock = SystemClock::new();
/// let account = Arc::new(DiscordAccount::builder(token, clock).build()?);
/// let built = Dirigent::builder(account.clone()).clock(clock).build()?;
/// let (dirigent, driver) = built;
/// let (feed, work) = Feed::builder(dirigent, account, Feed::INTENTS).build();
/// tokio::spawn(driver.run());
/// tokio::spawn(work.run());
/// let shard = feed.shard(ShardId::ONE);
/// while let Some(text) = next_text().await {
///     shard.text(&text);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Feed {
    shared: Arc<FeedParts>,
}

struct FeedParts {
    dirigent: Dirigent,
    account: Arc<DiscordAccount>,
    intents: Intents,
    tasks: Arc<TaskQueue>,
    queues: Arc<ChannelQueues>,
    /// What could not be read.
    unreadable: LogLimit,
    may_set_mode: Option<Box<MaySetMode>>,
    stop_reaction: Option<String>,
    registers: bool,
    /// The guilds whose permissions were looked through.
    diagnosed: Mutex<HashSet<u64>>,
}

impl Drop for FeedParts {
    fn drop(&mut self) {
        self.tasks.close();
    }
}

/// Sets up a [`Feed`].
///
/// ```no_run
/// # fn example(dirigent: dirigent::Dirigent, account: std::sync::Arc<dirigent_discord::DiscordAccount>) {
/// use dirigent_discord::Feed;
///
/// let feed = Feed::builder(dirigent, account, Feed::INTENTS).without_commands().build();
/// # let _ = feed;
/// # }
/// ```
#[must_use = "nothing is set up until it is built"]
pub struct FeedBuilder {
    dirigent: Dirigent,
    account: Arc<DiscordAccount>,
    intents: Intents,
    may_set_mode: Option<Box<MaySetMode>>,
    stop_reaction: Option<String>,
    registers: bool,
}

impl Feed {
    /// What a gateway must be asked for. Message content is privileged: it must be switched on in the developer
    /// portal.
    pub const INTENTS: Intents = NEEDED_INTENTS;

    /// The same with the members of guilds, which is privileged too: agents that come, go or change their roles
    /// are noticed at once, and asked for once an hour and not once a minute. More than 64 registered agents
    /// need it.
    pub const INTENTS_WITH_MEMBERS: Intents = Self::INTENTS.union(Intents::GUILD_MEMBERS);

    /// [`INTENTS`](Self::INTENTS), and who types: for observed agents
    /// ([`Builder::observe`](dirigent::host::Builder::observe)), so that one that types for long does not count as silent.
    pub const INTENTS_WITH_TYPING: Intents = Self::INTENTS.union(Intents::GUILD_MESSAGE_TYPING);

    /// Begins to set up a feed. `account` is the one that `dirigent` was built with; `intents` is what
    /// the gateway is asked for.
    pub fn builder(
        dirigent: Dirigent,
        account: Arc<DiscordAccount>,
        intents: Intents,
    ) -> FeedBuilder {
        FeedBuilder {
            dirigent,
            account,
            intents,
            may_set_mode: None,
            stop_reaction: None,
            registers: true,
        }
    }

    /// Where this shard's events go in.
    pub fn shard(&self, id: ShardId) -> ShardFeed {
        ShardFeed::new(Arc::clone(&self.shared), id)
    }
}

impl FeedBuilder {
    /// Neither registers the slash commands nor answers them.
    pub const fn without_commands(mut self) -> Self {
        self.registers = false;
        self
    }

    /// Lets the host decide who may set a channel's mode: by guild, user, and the user's permissions in the
    /// channel as Discord's bits. `None`: who may manage channels. To stop and to resume a channel takes the
    /// right to write there, whatever the host decides here.
    pub fn may_set_mode(
        mut self,
        decide: impl Fn(GuildId, UserId, u64) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        self.may_set_mode = Some(Box::new(decide));
        self
    }

    /// Stops a channel when a person reacts to a message of an agent with this emoji, for example `🛑`. Without it reactions do
    /// nothing. The gateway must be asked for `GUILD_MESSAGE_REACTIONS` besides [`Feed::INTENTS`].
    pub fn stop_reaction(mut self, emoji: impl Into<String>) -> Self {
        self.stop_reaction = Some(emoji.into());
        self
    }

    /// The feed, and the work that the host runs. Starts nothing.
    pub fn build(self) -> (Feed, FeedWork) {
        self.account.guild_cache.begin(self.intents);
        let tasks = Arc::new(TaskQueue::default());
        let queues = Arc::new(ChannelQueues::default());
        let work = FeedWork::new(
            (Arc::clone(&tasks), Arc::clone(&queues)),
            self.dirigent.clone(),
            Arc::clone(&self.account),
            self.intents,
        );
        let shared = FeedParts {
            dirigent: self.dirigent,
            account: self.account,
            intents: self.intents,
            tasks,
            queues,
            unreadable: LogLimit::default(),
            may_set_mode: self.may_set_mode,
            stop_reaction: self.stop_reaction,
            registers: self.registers,
            diagnosed: Mutex::default(),
        };
        (Feed { shared: Arc::new(shared) }, work)
    }
}

impl FeedParts {
    /// Whether this guild was not looked through before.
    fn is_new(&self, guild: u64) -> bool {
        self.diagnosed.lock().unwrap_or_else(PoisonError::into_inner).insert(guild)
    }

    /// The account is not in this guild any more; when it comes back, everything begins anew.
    fn left(&self, guild: u64) {
        self.diagnosed.lock().unwrap_or_else(PoisonError::into_inner).remove(&guild);
        self.tasks.forget(guild);
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("intents", &self.shared.intents).finish_non_exhaustive()
    }
}

impl fmt::Debug for FeedBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeedBuilder").field("intents", &self.intents).finish_non_exhaustive()
    }
}
