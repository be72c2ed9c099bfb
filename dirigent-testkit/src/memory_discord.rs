//! A Discord in memory. It is exact where turns depend on it, and fails on demand.
//!
//! It has no time and no chance of its own. With an equal clock, seed and requests you get equal ids, events and
//! faults.

#![expect(
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    reason = "dirigent-loopback, of the same version, reads the state and adds to it"
)]

use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, Clock, SystemClock, UserId};

// `world` has all state behind one lock, divided by data: `accounts`, `places`, `messages`, `limits`, `faults` and
// more. `account`, `guild` and `channel` are the handles of a test. `rules` and `role` compute permissions
// independently of the adapter, so that a test can compare both. `event` is what the chat would push.

mod account;
mod channel;
mod emoji;
mod events;
mod faults;
mod guild;
mod hash;
mod history;
mod ledger;
mod limits;
mod nonces;
mod outage;
mod people;
mod shared;
mod stage;

// The state itself, which `dirigent-loopback` puts behind HTTP. No other crate may rely on it.
#[doc(hidden)]
pub mod accounts;
#[doc(hidden)]
pub mod applications;
#[doc(hidden)]
pub mod attachment;
#[doc(hidden)]
pub mod details;
#[doc(hidden)]
pub mod embeds;
#[doc(hidden)]
pub mod event;
#[doc(hidden)]
pub mod marking;
#[doc(hidden)]
mod membership;
#[doc(hidden)]
mod messages;
#[doc(hidden)]
pub mod moment;
#[doc(hidden)]
pub mod outlets;
#[doc(hidden)]
pub mod permissions;
#[doc(hidden)]
pub mod pings;
#[doc(hidden)]
pub mod pins;
#[doc(hidden)]
pub mod places;
#[doc(hidden)]
pub mod reactions;
#[doc(hidden)]
pub mod role;
#[doc(hidden)]
mod roles;
#[doc(hidden)]
pub mod room;
#[doc(hidden)]
pub mod rules;
#[doc(hidden)]
pub mod snowflake;
#[doc(hidden)]
pub mod webhooks;
#[doc(hidden)]
pub mod world;

pub use account::MemoryAccount;
pub use channel::MemoryChannel;
pub use emoji::Emoji;
pub use event::Event;
pub use events::GatewayEvents;
pub use faults::{Fault, Faults, PushFault};
pub use guild::MemoryGuild;
pub use ledger::{Call, Calls, PostRecord};
pub use outage::Outage;
pub use permissions::Permissions;
pub use pings::Pings;
pub use role::RoleId;

use shared::SharedWorld;
use world::World;

/// A Discord in memory. Clones share it.
///
/// An account acts through [`account`](Self::account), with the permissions of its token. People and your test act
/// through the methods here, of [`guild`](Self::guild) and of [`channel`](Self::channel). Those calls do not count as
/// requests.
///
/// These rules of Discord apply, because turns depend on them:
///
/// - Ids rise, and contain the clock's time.
/// - Channels have access lists. The owner and administrators see all of them.
/// - A post with a known nonce creates no second message.
/// - Contents are trimmed, and have 1 to 2,000 characters, or are empty beside embeds.
/// - History comes newest first, in pages of 1 to 100.
/// - Everything that happens is pushed to [`events`](Self::events).
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let person = discord.add_human();
/// let agent = discord.add_bot();
/// let guild = discord.add_guild(person);
/// let channel = discord.add_channel(guild, "round-table", &[agent]);
///
/// let id = discord.say(channel, person, "Good morning");
/// assert_eq!(discord.message(channel, id).unwrap().author, person);
/// assert_eq!(discord.channel(channel).audience(), [person, agent]);
/// ```
#[derive(Clone)]
pub struct MemoryDiscord {
    shared: SharedWorld,
}

/// Creates an empty Discord with the system's clock.
impl Default for MemoryDiscord {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock::new()))
    }
}

impl MemoryDiscord {
    /// Creates an empty Discord with this clock and without faults. It stores 1,000 messages a channel, and remembers
    /// nonces for five minutes.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { shared: SharedWorld::new(clock) }
    }

    /// Stores this many messages a channel, at least one. The oldest are forgotten.
    #[must_use]
    pub fn with_history_max(self, messages: usize) -> Self {
        self.world().history_max = messages.max(1);
        self
    }

    /// Remembers a nonce for this long.
    #[must_use]
    pub fn with_nonce_window(self, window: Duration) -> Self {
        self.world().nonces.set_window(window);
        self
    }

    /// Remembers at most this many nonces, so that memory stays flat even if the clock stands still. Default 16,384.
    #[must_use]
    pub fn with_nonces_max(self, nonces: usize) -> Self {
        self.world().nonces.set_remembered_max(nonces);
        self
    }

    /// Logs this many of the newest posts. By default no post is logged.
    #[must_use]
    pub fn with_post_log(self, posts: usize) -> Self {
        self.world().ledger.keep_posts(posts);
        self
    }

    /// Returns an account, with the chat as that account may use it. An unknown account gets `Unauthorized` from every
    /// call.
    pub fn account(&self, user: UserId) -> MemoryAccount {
        MemoryAccount::new(self.shared.clone(), user)
    }

    /// Returns a guild, so that you can change its members and roles.
    pub fn guild(&self, id: GuildId) -> MemoryGuild {
        MemoryGuild::new(self.shared.clone(), id)
    }

    /// Returns a channel or a thread, so that you can change and read the permissions there.
    pub fn channel(&self, id: ChannelId) -> MemoryChannel {
        MemoryChannel::new(self.shared.clone(), id)
    }

    /// Returns all events of all channels from now on.
    pub fn events(&self) -> GatewayEvents {
        self.world().subscribe(None, false)
    }

    /// Returns how often each operation was requested.
    pub fn calls(&self) -> Calls {
        self.world().ledger.calls()
    }

    /// Returns the logged posts, oldest first, and empties the log.
    pub fn take_posts(&self) -> Vec<PostRecord> {
        self.world().ledger.take_posts()
    }

    /// Changes the plan of faults, for example with `discord.inject(|faults| *faults = Faults::hostile(42))`.
    pub fn inject(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.world().faults);
    }

    /// Plans a fault for the next post, after those already planned.
    pub fn next_post(&self, fault: Fault) {
        self.inject(|faults| faults.next_post(fault));
    }

    /// Plans a fault for the next pushed event, after those already planned.
    pub fn next_push(&self, fault: PushFault) {
        self.inject(|faults| faults.next_push(fault));
    }

    /// Begins an outage. It lasts until [`end_outages`](Self::end_outages).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use dirigent::DiscordApi;
    /// use dirigent_testkit::memory_discord::{Call, Outage};
    /// # use dirigent_testkit::{ManualClock, MemoryDiscord};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    /// let bot = discord.add_bot();
    /// discord.begin_outage(Outage::refused().only(Call::Me));
    /// assert!(discord.account(bot).me().await.is_err());
    /// discord.end_outages();
    /// assert!(discord.account(bot).me().await.is_ok());
    /// # }
    /// ```
    pub fn begin_outage(&self, outage: Outage) {
        self.world().outages.begin(outage);
    }

    /// Ends all outages, and performs requests that hang. Late posts are still late.
    pub fn end_outages(&self) {
        self.world().outages.end();
    }

    /// Lets late posts ([`Fault::LandsLate`]) arrive at their time, as long as you poll it. Without it they arrive
    /// with the next request, or when you next look at the chat.
    ///
    /// # Cancellation
    ///
    /// You can drop the future without losing a post.
    pub async fn land_late_posts(&self) {
        let posted = Arc::clone(&self.world().outages.posted_late);
        loop {
            let next = self.world().outages.next_landing();
            match next {
                None => posted.notified().await,
                Some(at) => tokio::select! {
                    biased;
                    () = posted.notified() => {}
                    () = self.shared.clock().sleep_until(at) => {}
                },
            }
        }
    }

    /// Ends all faults, outages and rate limits, and delivers delayed events.
    pub fn stop_faults(&self) {
        let mut world = self.world();
        world.outages.end();
        world.faults.stop();
        world.limits.lift();
        world.outlets.flush();
    }

    #[doc(hidden)]
    pub fn clock(&self) -> &dyn Clock {
        self.shared.clock()
    }

    #[doc(hidden)]
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.shared.lock()
    }
}

impl fmt::Debug for MemoryDiscord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let world = self.world();
        f.debug_struct("MemoryDiscord")
            .field("accounts", &world.accounts.len())
            .field("guilds", &world.places.guilds.len())
            .field("channels", &world.places.rooms.len())
            .field("requests", &world.ledger.calls().total())
            .finish_non_exhaustive()
    }
}
