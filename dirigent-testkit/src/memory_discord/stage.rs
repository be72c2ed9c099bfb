//! Setting the stage: accounts, guilds, channels and who may do what.

use dirigent::{AuthorKind, ChannelId, GuildId, UserId};

use super::MemoryDiscord;
use super::event::Event;
use super::permissions::Permissions;
use super::places::{Guild, Member};
use super::role::{Role, RoleId};
use super::room::{Room, kind};
use super::rules::{Overwrite, Target, private_for};
use super::world::Account;

impl MemoryDiscord {
    /// Adds a person.
    pub fn add_human(&self) -> UserId {
        self.add_new(AuthorKind::Human)
    }

    /// Adds a bot's account: an agent's, the moderator's, or a stranger's.
    pub fn add_bot(&self) -> UserId {
        self.add_new(AuthorKind::Bot)
    }

    /// Adds a webhook, which may speak in every channel.
    pub fn add_webhook(&self) -> UserId {
        self.add_new(AuthorKind::Webhook)
    }

    /// Adds an account with an id of your choice, or changes what it is.
    pub fn add_account(&self, user: UserId, kind: AuthorKind) {
        let mut world = self.world();
        let number = world.accounts.len() + 1;
        let name = match kind {
            AuthorKind::Human => format!("person-{number}"),
            AuthorKind::Webhook => format!("webhook-{number}"),
            AuthorKind::Bot | _ => format!("bot-{number}"),
        };
        world.accounts.insert(user, Account::new(name, kind));
    }

    /// Changes what others call an account; each has a name from the beginning.
    pub fn set_name(&self, user: UserId, name: impl Into<String>) {
        if let Some(account) = self.world().accounts.get_mut(&user) {
            account.name = name.into();
        }
    }

    /// Adds a guild with only its owner in it. Every member may see, read and write what no channel
    /// forbids.
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
        };
        world.places.guilds.insert(id, guild);
        world.publish(Event::GuildMemberAdded { guild: id, user: owner });
        id
    }

    /// Adds an account to a guild; says whether there is such a guild.
    pub fn add_member(&self, guild: GuildId, user: UserId) -> bool {
        let mut world = self.world();
        world.join_guild(guild, user);
        world.places.guilds.contains_key(&guild)
    }

    /// Takes an account out of a guild with all its channels; says whether it was in it. The owner
    /// stays.
    pub fn remove_member(&self, guild: GuildId, user: UserId) -> bool {
        self.world().leave_guild(guild, user)
    }

    /// Adds a private text channel for these accounts, who join the guild if need be. The owner and
    /// the administrators see it too.
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

    /// Adds a text channel that everybody in the guild sees.
    pub fn add_open_channel(&self, guild: GuildId, name: &str) -> ChannelId {
        let mut world = self.world();
        let id = ChannelId::new(world.next_id());
        world.add_room(Room::new(id, Some(guild), kind::TEXT, name.to_owned()));
        id
    }

    /// Adds a private thread to a channel, for those of these accounts who see the channel.
    pub fn add_thread(&self, parent: ChannelId, name: &str, members: &[UserId]) -> ChannelId {
        self.add_thread_of(parent, kind::PRIVATE_THREAD, name, members)
    }

    /// Adds a thread to a channel that everybody sees who sees the channel.
    pub fn add_public_thread(&self, parent: ChannelId, name: &str) -> ChannelId {
        self.add_thread_of(parent, kind::PUBLIC_THREAD, name, &[])
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

    /// Deletes a channel with its threads; says whether there was one.
    pub fn delete_channel(&self, channel: ChannelId) -> bool {
        self.world().delete_channel(channel)
    }

    /// Makes an account an administrator of a guild, or ends that. No event says that it sees more.
    pub fn set_administrator(&self, guild: GuildId, user: UserId, is_administrator: bool) {
        self.set_special(
            guild,
            user,
            "administrators",
            Permissions::ADMINISTRATOR,
            is_administrator,
        );
    }

    /// Lets an account create, delete and open channels, or ends that. It sees no more for it.
    pub fn set_channel_manager(&self, guild: GuildId, user: UserId, is_manager: bool) {
        let rights = Permissions::MANAGE_CHANNELS | Permissions::MANAGE_ROLES;
        self.set_special(guild, user, "channel managers", rights, is_manager);
    }

    /// Takes an account's right to post in a channel that it sees, or gives it back. A thread has no
    /// rights of its own: the right to post in all threads of its channel is meant.
    pub fn set_read_only(&self, channel: ChannelId, user: UserId, is_read_only: bool) {
        let post = Permissions::SEND_MESSAGES | Permissions::SEND_MESSAGES_IN_THREADS;
        self.set_right(channel, user, post, !is_read_only);
    }

    /// Takes an account's right to read a channel's history, or gives it back. Discord then answers
    /// with an empty list and no error.
    pub fn set_history_hidden(&self, channel: ChannelId, user: UserId, is_hidden: bool) {
        self.set_right(channel, user, Permissions::READ_MESSAGE_HISTORY, !is_hidden);
    }

    /// Takes a bot's message-content intent, or gives it back. Without it the text of others'
    /// messages is empty, pushed and read, unless they mention it.
    pub fn set_content_hidden(&self, user: UserId, is_hidden: bool) {
        if let Some(account) = self.world().accounts.get_mut(&user) {
            account.content_hidden = is_hidden;
        }
    }

    /// Takes a bot's guild-members intent, or gives it back. Without it a bot cannot list the members
    /// of a guild or a thread through the loopback server, and hears of no comings and goings.
    pub fn set_members_hidden(&self, user: UserId, is_hidden: bool) {
        if let Some(account) = self.world().accounts.get_mut(&user) {
            account.members_hidden = is_hidden;
        }
    }

    /// Makes an account's token invalid, or valid again.
    pub fn set_revoked(&self, user: UserId, is_revoked: bool) {
        self.world().set_revoked(user, is_revoked);
    }

    fn add_thread_of(
        &self,
        parent: ChannelId,
        kind: u8,
        name: &str,
        members: &[UserId],
    ) -> ChannelId {
        let mut world = self.world();
        let guild = world.places.rooms.get(&parent).and_then(|room| room.guild);
        for (guild, user) in
            guild.iter().flat_map(|guild| members.iter().map(|user| (*guild, *user)))
        {
            world.join_guild(guild, user);
        }
        let id = ChannelId::new(world.next_id());
        let now = world.clock.now();
        let mut room = Room::new(id, guild, kind, name.to_owned());
        room.parent = Some(parent);
        // Every thread has a maker.
        let guild = guild.and_then(|guild| world.places.guilds.get(&guild));
        room.creator = guild.map(|guild| guild.owner);
        room.added = members.iter().map(|user| (*user, now)).collect();
        world.add_room(room);
        id
    }

    /// Gives or takes a role that is made for one purpose.
    fn set_special(
        &self,
        guild: GuildId,
        user: UserId,
        name: &str,
        permissions: Permissions,
        has_it: bool,
    ) {
        let mut world = self.world();
        if has_it {
            world.join_guild(guild, user);
        }
        let Some(found) = world.places.guilds.get(&guild) else { return };
        let known = found.roles.iter().find(|(_, role)| role.name == name).map(|(id, _)| *id);
        let role = known.unwrap_or_else(|| world.add_role(guild, name.to_owned(), permissions));
        world.set_role(guild, user, role, has_it);
    }

    /// Gives or takes rights by the account's own overwrite, which otherwise opens the channel to it.
    fn set_right(&self, channel: ChannelId, user: UserId, right: Permissions, has_it: bool) {
        let mut world = self.world();
        let Some(room) = world.places.rooms.get(&channel) else { return };
        let decisive = if room.is_thread() { room.parent.unwrap_or(channel) } else { channel };
        world.change_room(decisive, |room| {
            let open = Overwrite { allow: Permissions::TALK, deny: Permissions::NONE };
            let own = room.overwrites.entry(Target::Member(user)).or_insert(open);
            own.allow = if has_it { own.allow.with(right) } else { own.allow.without(right) };
            own.deny = if has_it { own.deny.without(right) } else { own.deny.with(right) };
        });
    }

    fn add_new(&self, kind: AuthorKind) -> UserId {
        let user = UserId::new(self.world().next_id());
        self.add_account(user, kind);
        user
    }
}
