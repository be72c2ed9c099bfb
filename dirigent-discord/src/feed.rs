//! Reads the gateway shard by shard and reports it to the driver.
//!
//! Messages go to the driver at once. All other events go into the guild cache, and accounts that then see more or
//! fewer channels join or leave them. `channel_queues` keeps events of one channel in order while they wait for the
//! store. `task_queue` is a future that your program runs. It makes requests to Discord, because the feed itself must
//! never wait.

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
use task_queue::{Task, TaskSender};

pub use shard::ShardFeed;
pub use task_queue::FeedWork;

type MaySetMode = dyn Fn(GuildId, UserId, u64) -> Option<bool> + Send + Sync;

/// Reads the events of any number of gateway shards. It reports them to the library, keeps a guild cache of who sees
/// which channel, and registers and answers the slash commands.
///
/// Events may come twice, late, out of order or not at all. Missed messages are read from the history after a new
/// session, and now and then by the driver.
///
/// While a shard is connected and reports members ([`Feed::INTENTS_WITH_MEMBERS`]),
/// [`members`](dirigent::DiscordApi::members) asks Discord for each agent of a guild once an hour. Without that intent
/// an answer is valid for a minute (with more than twelve agents, for 5 s each), and without a feed it is never reused.
///
/// All clones are one feed. Its requests and answers to Discord are made by its [`FeedWork`], which you run beside the
/// driver.
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
    tasks: TaskSender,
    queues: Arc<ChannelQueues>,
    /// Limits warnings about unreadable events.
    unreadable: LogLimit,
    may_set_mode: Option<Box<MaySetMode>>,
    stop_reaction: Option<String>,
    registers: bool,
    /// The guilds with checked permissions.
    diagnosed: Mutex<HashSet<u64>>,
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
    /// The intents that you must ask the gateway for. Message content is privileged, so switch it on in the developer
    /// portal.
    pub const INTENTS: Intents = NEEDED_INTENTS;

    /// [`INTENTS`](Self::INTENTS) and the members of guilds, which is privileged, too. With it, agents that join, leave
    /// or change their roles are noticed at once, and are requested once an hour instead of once a minute. You need it
    /// for more than 64 registered agents.
    pub const INTENTS_WITH_MEMBERS: Intents = Self::INTENTS.union(Intents::GUILD_MEMBERS);

    /// [`INTENTS`](Self::INTENTS) and typing. Use it for observed agents
    /// ([`Builder::observe`](dirigent::host::Builder::observe)), so that an agent that types for a long time does not
    /// count as silent.
    pub const INTENTS_WITH_TYPING: Intents = Self::INTENTS.union(Intents::GUILD_MESSAGE_TYPING);

    /// Begins to set up a feed. `account` must be the one that you built `dirigent` with, and `intents` those that you
    /// ask the gateway for.
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

    /// Returns the entrance for this shard's events.
    pub fn shard(&self, id: ShardId) -> ShardFeed {
        ShardFeed::new(Arc::clone(&self.shared), id)
    }
}

impl FeedBuilder {
    /// Does not register or answer the slash commands, for example because your bot has its own.
    pub const fn without_commands(mut self) -> Self {
        self.registers = false;
        self
    }

    /// Lets you decide who may set a channel's mode, from the guild, the user, and the user's permissions in the
    /// channel as Discord's bits. Return `None` to allow those who may manage channels. To stop and resume a channel,
    /// people always need only permission to write there.
    pub fn may_set_mode(
        mut self,
        decide: impl Fn(GuildId, UserId, u64) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        self.may_set_mode = Some(Box::new(decide));
        self
    }

    /// Stops a channel when a person reacts to an agent's message with this emoji, for example `🛑`. Without it
    /// reactions have no effect. Ask the gateway for `GUILD_MESSAGE_REACTIONS` in addition to [`Feed::INTENTS`].
    pub fn stop_reaction(mut self, emoji: impl Into<String>) -> Self {
        self.stop_reaction = Some(emoji.into());
        self
    }

    /// Returns the feed, and the work that you must run. It starts no task.
    pub fn build(self) -> (Feed, FeedWork) {
        self.account.guild_cache.begin(self.intents);
        let queues = Arc::new(ChannelQueues::default());
        let (tasks, work) = FeedWork::new(
            Arc::clone(&queues),
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
    /// Returns true if this guild was not checked before.
    fn is_new(&self, guild: u64) -> bool {
        self.diagnosed.lock().unwrap_or_else(PoisonError::into_inner).insert(guild)
    }

    /// Forgets a guild that the account has left, so that all begins anew if it returns.
    fn left(&self, guild: u64) {
        self.diagnosed.lock().unwrap_or_else(PoisonError::into_inner).remove(&guild);
        let _ = self.tasks.send(Task::Forget(guild));
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
