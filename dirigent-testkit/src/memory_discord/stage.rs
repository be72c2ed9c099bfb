//! Setting the stage: accounts, guilds, channels and who may do what.

use std::collections::BTreeMap;

use dirigent::{AuthorKind, ChannelId, ChannelInfo, ChannelKind, GuildId, UserId};

use super::MemoryDiscord;
use super::event::Event;
use super::places::{Guild, Rights};
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
        let account =
            Account { kind, revoked: false, content_hidden: false, members_hidden: false };
        self.world().accounts.insert(user, account);
    }

    /// Adds a guild with nobody in it but its owner.
    pub fn add_guild(&self, owner: UserId) -> GuildId {
        let mut world = self.world();
        let id = GuildId::new(world.next_id());
        let guild = Guild {
            owner,
            administrators: std::collections::BTreeSet::new(),
            channel_managers: std::collections::BTreeSet::new(),
            members: [owner].into(),
            channels: std::collections::BTreeSet::new(),
        };
        world.places.guilds.insert(id, guild);
        id
    }

    /// Adds an account to a guild; says whether there is such a guild.
    pub fn add_member(&self, guild: GuildId, user: UserId) -> bool {
        let mut world = self.world();
        let Some(joined) = world.places.guilds.get_mut(&guild) else {
            return false;
        };
        if joined.members.insert(user) {
            world.publish(Event::GuildMemberAdded { guild, user });
        }
        true
    }

    /// Takes an account out of a guild with all its channels; says whether it was in it. The owner
    /// stays.
    pub fn remove_member(&self, guild: GuildId, user: UserId) -> bool {
        self.world().leave_guild(guild, user)
    }

    /// Adds a private text channel for these accounts, who join the guild if need be. The owner and
    /// the administrators see it too.
    pub fn add_channel(&self, guild: GuildId, name: &str, members: &[UserId]) -> ChannelId {
        self.add_room(Some(guild), None, ChannelKind::Text, name, Some(members))
    }

    /// Adds a text channel that everybody in the guild sees.
    pub fn add_open_channel(&self, guild: GuildId, name: &str) -> ChannelId {
        self.add_room(Some(guild), None, ChannelKind::Text, name, None)
    }

    /// Adds a private thread to a channel, for those of these accounts who see the channel.
    pub fn add_thread(&self, parent: ChannelId, name: &str, members: &[UserId]) -> ChannelId {
        let guild = self.world().places.rooms.get(&parent).and_then(|room| room.info.guild);
        self.add_room(guild, Some(parent), ChannelKind::Thread, name, Some(members))
    }

    /// Adds a direct message between these accounts.
    pub fn add_direct(&self, members: &[UserId]) -> ChannelId {
        self.add_room(None, None, ChannelKind::Direct, "", Some(members))
    }

    /// Deletes a channel with its threads; says whether there was one.
    pub fn delete_channel(&self, channel: ChannelId) -> bool {
        self.world().delete_channel(channel)
    }

    /// Makes an account an administrator of a guild, or ends that. Pushes nothing.
    pub fn set_administrator(&self, guild: GuildId, user: UserId, is_administrator: bool) {
        if let Some(guild) = self.world().places.guilds.get_mut(&guild) {
            if is_administrator {
                guild.members.insert(user);
                guild.administrators.insert(user);
            } else {
                guild.administrators.remove(&user);
            }
        }
    }

    /// Lets an account create, delete and open channels, or ends that. It sees no more for it.
    pub fn set_channel_manager(&self, guild: GuildId, user: UserId, is_manager: bool) {
        if let Some(guild) = self.world().places.guilds.get_mut(&guild) {
            if is_manager {
                guild.members.insert(user);
                guild.channel_managers.insert(user);
            } else {
                guild.channel_managers.remove(&user);
            }
        }
    }

    /// Takes an account's right to post in a channel that it sees, or gives it back.
    pub fn set_read_only(&self, channel: ChannelId, user: UserId, is_read_only: bool) {
        self.world().change_rights(channel, user, |rights| rights.write = !is_read_only);
    }

    /// Takes an account's right to read a channel's history, or gives it back. Discord then answers
    /// with an empty list and no error.
    pub fn set_history_hidden(&self, channel: ChannelId, user: UserId, is_hidden: bool) {
        self.world().change_rights(channel, user, |rights| rights.read_history = !is_hidden);
    }

    /// Takes a bot's message-content intent, or gives it back. Without it the text of others'
    /// messages is empty, pushed and read, unless they mention it.
    pub fn set_content_hidden(&self, user: UserId, is_hidden: bool) {
        if let Some(account) = self.world().accounts.get_mut(&user) {
            account.content_hidden = is_hidden;
        }
    }

    /// Makes an account's token invalid, or valid again.
    pub fn set_revoked(&self, user: UserId, is_revoked: bool) {
        if let Some(account) = self.world().accounts.get_mut(&user) {
            account.revoked = is_revoked;
        }
    }

    fn add_new(&self, kind: AuthorKind) -> UserId {
        let user = UserId::new(self.world().next_id());
        self.add_account(user, kind);
        user
    }

    /// Adds a channel: private for these members, or open without a list.
    fn add_room(
        &self,
        guild: Option<GuildId>,
        parent: Option<ChannelId>,
        kind: ChannelKind,
        name: &str,
        members: Option<&[UserId]>,
    ) -> ChannelId {
        let mut world = self.world();
        let id = ChannelId::new(world.next_id());
        let private = members.is_some();
        let name = name.to_owned();
        let members = members.unwrap_or_default();
        let access: BTreeMap<_, _> = members.iter().map(|user| (*user, Rights::FULL)).collect();
        if let Some(guild) = guild.and_then(|guild| world.places.guilds.get_mut(&guild)) {
            guild.members.extend(members);
        }
        world.places.add(ChannelInfo { id, guild, parent, kind, name, private }, access);
        id
    }
}
