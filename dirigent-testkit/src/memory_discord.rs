//! A Discord that lives in memory: exact where turn keeping depends on it, and able to fail on
//! demand.
//!
//! It keeps no time and draws no chance of its own. The same clock, seed and requests give the same
//! ids, events and faults.

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
// more. `account`, `guild` and `channel` are what a test has in hand. `rules` and `role` compute rights apart from
// the adapter, so that a test can compare both. `event` is what the chat would push.

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

// The state itself, which `dirigent-loopback` puts behind HTTP; promised to no other crate.
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

/// An in-memory Discord. Clones share the same one.
///
/// Accounts act through [`account`](Self::account), with a token's rights; people and the test
/// itself act through the methods here and of [`guild`](Self::guild) and [`channel`](Self::channel),
/// which count as no request.
///
/// Ids rise and hold the clock's time; channels have access lists, owner and administrators see
/// all; a post with a known nonce makes no second message; contents are trimmed and 1 to 2,000
/// characters long, or empty beside embeds; history comes newest first in pages of 1 to 100; what happens is pushed to
/// [`events`](Self::events).
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

/// An empty Discord that takes its time from the system's clock.
impl Default for MemoryDiscord {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock::new()))
    }
}

impl MemoryDiscord {
    /// An empty Discord that takes its time from this clock. It keeps 1,000 messages a channel,
    /// remembers nonces for five minutes, and nothing goes wrong.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { shared: SharedWorld::new(clock) }
    }

    /// Keeps this many messages a channel, at least one; the oldest are forgotten.
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

    /// Remembers this many nonces at most (16,384 unless told), so that memory stays flat when the
    /// clock stands still.
    #[must_use]
    pub fn with_nonces_max(self, nonces: usize) -> Self {
        self.world().nonces.set_remembered_max(nonces);
        self
    }

    /// Logs this many of the newest posts; none are logged unless set.
    #[must_use]
    pub fn with_post_log(self, posts: usize) -> Self {
        self.world().ledger.keep_posts(posts);
        self
    }

    /// An account, and the chat as it may use it. An unknown account gets `Unauthorized` from every call.
    pub fn account(&self, user: UserId) -> MemoryAccount {
        MemoryAccount::new(self.shared.clone(), user)
    }

    /// A guild, to change who is in it and what roles allow.
    pub fn guild(&self, id: GuildId) -> MemoryGuild {
        MemoryGuild::new(self.shared.clone(), id)
    }

    /// A channel or a thread, to change and to look up who may do what there.
    pub fn channel(&self, id: ChannelId) -> MemoryChannel {
        MemoryChannel::new(self.shared.clone(), id)
    }

    /// Everything that happens from now on, in every channel.
    pub fn events(&self) -> GatewayEvents {
        self.world().subscribe(None, false)
    }

    /// How often each operation was asked for.
    pub fn calls(&self) -> Calls {
        self.world().ledger.calls()
    }

    /// The logged posts, oldest first; the log is empty afterwards.
    pub fn take_posts(&self) -> Vec<PostRecord> {
        self.world().ledger.take_posts()
    }

    /// Changes the plan of what goes wrong, for instance
    /// `discord.inject(|faults| *faults = Faults::hostile(42))`.
    pub fn inject(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.world().faults);
    }

    /// Lets the next post go wrong, or the one after those already planned.
    pub fn next_post(&self, fault: Fault) {
        self.inject(|faults| faults.next_post(fault));
    }

    /// Lets the next pushed event go wrong, or the one after those already planned.
    pub fn next_push(&self, fault: PushFault) {
        self.inject(|faults| faults.next_push(fault));
    }

    /// Lets an outage begin. It lasts until [`end_outages`](Self::end_outages).
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

    /// Lifts all outages: requests that hang are carried out. Posts that land late still do.
    pub fn end_outages(&self) {
        self.world().outages.end();
    }

    /// Lets posts that are under way ([`Fault::LandsLate`]) land at their time, for as long as it is
    /// polled. Without it they land with the next request or look at the chat.
    ///
    /// # Cancellation
    ///
    /// Dropping the future loses no post.
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

    /// Ends all faults, outages and rate limits, and lets delayed events arrive.
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
