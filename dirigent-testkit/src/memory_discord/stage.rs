//! Adds accounts, guilds and channels.

use dirigent::ports::Timestamp;
use dirigent::ports::{AuthorKind, GuildId};
use dirigent::{ChannelId, UserId};

use super::MemoryDiscord;
use super::event::Event;
use super::permissions::Permissions;
use super::places::{Guild, Member};
use super::role::{Role, RoleId};
use super::room::{Room, kind};
use super::rules::private_for;

impl MemoryDiscord {
    /// Adds a person.
    pub fn add_human(&self) -> UserId {
        add_new(self, AuthorKind::Human)
    }

    /// Adds a bot's account, for an agent, the moderator or a stranger.
    pub fn add_bot(&self) -> UserId {
        add_new(self, AuthorKind::Bot)
    }

    /// Adds a webhook, which may post in every channel.
    pub fn add_webhook(&self) -> UserId {
        add_new(self, AuthorKind::Webhook)
    }

    /// Adds an account with an id of your choice, or changes its kind.
    pub fn add_account(&self, user: UserId, kind: AuthorKind) {
        self.world().accounts.add(user, kind);
    }

    /// Adds a guild with only its owner. Every member may see, read and write unless a channel
    /// forbids it.
    pub fn add_guild(&self, owner: UserId) -> GuildId {
        let mut world = self.world();
        let id = GuildId::new(world.next_id());
        let everyone = Role {
            name: "@everyone".to_owned(),
            permissions: Permissions::OF_A_NEW_GUILD,
            position: 0,
        };
        let guild = Guild {
            name: format!("guild-{}", world.places.guilds.len() + 1),
            owner,
            roles: [(RoleId::everyone(id), everyone)].into(),
            members: [(owner, Member::new(world.clock.now()))].into(),
            channels: std::collections::BTreeSet::new(),
            emojis: std::collections::BTreeMap::new(),
        };
        world.places.guilds.insert(id, guild);
        world.publish(Event::GuildMemberAdded { guild: id, user: owner });
        id
    }

    /// Adds a private text channel for these accounts, which join the guild if necessary. The owner
    /// and the administrators see it, too.
    pub fn add_channel(&self, guild: GuildId, name: &str, members: &[UserId]) -> ChannelId {
        let mut world = self.world();
        for user in members {
            world.join_guild(guild, *user);
        }
        let id = ChannelId::new(world.next_id());
        let mut room = Room::new(id, Some(guild), kind::TEXT, name.to_owned());
        room.overwrites = private_for(guild, members.iter().copied());
        world.add_room(room);
        id
    }

    /// Adds a text channel that everyone in the guild sees.
    pub fn add_open_channel(&self, guild: GuildId, name: &str) -> ChannelId {
        let mut world = self.world();
        let id = ChannelId::new(world.next_id());
        world.add_room(Room::new(id, Some(guild), kind::TEXT, name.to_owned()));
        id
    }

    /// Adds a direct message between these accounts.
    pub fn add_direct(&self, members: &[UserId]) -> ChannelId {
        let mut world = self.world();
        let id = ChannelId::new(world.next_id());
        let now = world.clock.now();
        let mut room = Room::new(id, None, kind::DIRECT, String::new());
        room.added = members.iter().map(|user| (*user, now)).collect();
        world.add_room(room);
        id
    }

    /// Makes all ids that `setup` creates contain this time instead of the clock's, so that accounts,
    /// guilds and channels have equal ids at each start. The time must be in the past, because ids
    /// only rise.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent::SystemClock;
    /// use dirigent::ports::Timestamp;
    /// use dirigent_testkit::MemoryDiscord;
    ///
    /// let moment = Timestamp::from_millis(1_500_000_000_000);
    /// let start = || {
    ///     let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    ///     discord.with_ids_of(moment, MemoryDiscord::add_bot)
    /// };
    /// assert_eq!(start(), start());
    /// ```
    pub fn with_ids_of<T>(&self, moment: Timestamp, setup: impl FnOnce(&Self) -> T) -> T {
        self.world().ids.fix(Some(moment));
        let made = setup(self);
        self.world().ids.fix(None);
        made
    }
}

fn add_new(discord: &MemoryDiscord, kind: AuthorKind) -> UserId {
    let mut world = discord.world();
    let user = UserId::new(world.next_id());
    world.accounts.add(user, kind);
    user
}
