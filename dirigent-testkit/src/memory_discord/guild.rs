//! A guild, with methods that set up its members and their roles.

use std::fmt;
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, UserId};

use super::event::Event;
use super::permissions::Permissions;
use super::role::RoleId;
use super::shared::SharedWorld;

/// A guild, with its members and roles. Clones are cheap, and calls do not count as requests.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::memory_discord::Permissions;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let (owner, bot) = (discord.add_human(), discord.add_bot());
/// let id = discord.add_guild(owner);
/// let channel = discord.add_channel(id, "round-table", &[owner]);
///
/// let guild = discord.guild(id);
/// guild.add_member(bot);
/// let talkers = guild.add_role("talkers", Permissions::NONE);
/// guild.set_role(bot, talkers, true);
/// discord.channel(channel).set_role_overwrite(talkers, Permissions::TALK, Permissions::NONE);
/// assert_eq!(discord.channel(channel).audience(), [owner, bot]);
/// ```
#[derive(Clone)]
pub struct MemoryGuild {
    world: SharedWorld,
    id: GuildId,
}

impl MemoryGuild {
    pub(super) const fn new(world: SharedWorld, id: GuildId) -> Self {
        Self { world, id }
    }

    /// Adds an account. Returns true if the guild exists.
    pub fn add_member(&self, user: UserId) -> bool {
        let mut world = self.world.lock();
        world.join_guild(self.id, user);
        world.places.guilds.contains_key(&self.id)
    }

    /// Removes an account from the guild and all its channels. Returns true if it was a member. The
    /// owner stays.
    pub fn remove_member(&self, user: UserId) -> bool {
        self.world.lock().leave_guild(self.id, user)
    }

    /// Adds a role. No member has it yet.
    pub fn add_role(&self, name: impl Into<String>, permissions: Permissions) -> RoleId {
        self.world.lock().add_role(self.id, name.into(), permissions)
    }

    /// Changes a role's permissions in the whole guild. [`RoleId::everyone`] is the role that every
    /// member has.
    pub fn set_role_permissions(&self, role: RoleId, permissions: Permissions) {
        let mut world = self.world.lock();
        world.change_guild(self.id, |guild| {
            if let Some(role) = guild.roles.get_mut(&role) {
                role.permissions = permissions;
            }
        });
        world.publish(Event::RoleChanged { guild: self.id, role });
    }

    /// Deletes a role. The role of everyone stays.
    pub fn delete_role(&self, role: RoleId) {
        if role == RoleId::everyone(self.id) {
            return;
        }
        let mut world = self.world.lock();
        world.change_guild(self.id, |guild| {
            guild.roles.remove(&role);
            for member in guild.members.values_mut() {
                member.roles.remove(&role);
            }
        });
        world.publish(Event::RoleDeleted { guild: self.id, role });
    }

    /// Adds an emoji to the guild. Returns its id.
    pub fn add_emoji(&self, name: impl Into<String>) -> u64 {
        let mut world = self.world.lock();
        let id = world.next_id();
        if let Some(guild) = world.places.guilds.get_mut(&self.id) {
            guild.emojis.insert(id, name.into());
        }
        id
    }

    /// Gives a member a role, or takes it.
    pub fn set_role(&self, user: UserId, role: RoleId, has_it: bool) {
        let mut world = self.world.lock();
        world.change_guild(self.id, |guild| {
            if let Some(member) = guild.members.get_mut(&user) {
                if has_it {
                    member.roles.insert(role);
                } else {
                    member.roles.remove(&role);
                }
            }
        });
        world.publish(Event::GuildMemberChanged { guild: self.id, user });
    }

    /// Puts a member into a time-out from now on, or ends it.
    pub fn set_timed_out(&self, user: UserId, time: Option<Duration>) {
        let mut world = self.world.lock();
        let now = world.clock.now();
        world.change_guild(self.id, |guild| {
            if let Some(member) = guild.members.get_mut(&user) {
                member.timed_out_until = time.map(|time| now + time);
            }
        });
        world.publish(Event::GuildMemberChanged { guild: self.id, user });
    }

    /// Makes an account an administrator, or ends that. No event says that it sees more channels.
    pub fn set_administrator(&self, user: UserId, is_administrator: bool) {
        self.set_special(user, "administrators", Permissions::ADMINISTRATOR, is_administrator);
    }

    /// Lets an account create, delete and open channels, or ends that. It does not see more channels
    /// because of this.
    pub fn set_channel_manager(&self, user: UserId, is_manager: bool) {
        let rights = Permissions::MANAGE_CHANNELS | Permissions::MANAGE_ROLES;
        self.set_special(user, "channel managers", rights, is_manager);
    }

    /// Returns the guild's channels and threads with their names, in the order of creation.
    pub fn channel_names(&self) -> Vec<(ChannelId, String)> {
        let world = self.world.lock();
        let channels = world.places.guilds.get(&self.id).into_iter().flat_map(|it| &it.channels);
        let rooms = channels.filter_map(|id| world.places.rooms.get(id));
        rooms.map(|room| (room.id, room.name.clone())).collect()
    }

    /// Gives or takes a role that exists for one purpose.
    fn set_special(&self, user: UserId, name: &str, permissions: Permissions, has_it: bool) {
        let mut world = self.world.lock();
        if has_it {
            world.join_guild(self.id, user);
        }
        let Some(found) = world.places.guilds.get(&self.id) else { return };
        let known = found.roles.iter().find(|(_, role)| role.name == name).map(|(id, _)| *id);
        let role = known.unwrap_or_else(|| world.add_role(self.id, name.to_owned(), permissions));
        world.set_role(self.id, user, role, has_it);
    }
}

impl fmt::Debug for MemoryGuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryGuild").field("id", &self.id).finish_non_exhaustive()
    }
}
