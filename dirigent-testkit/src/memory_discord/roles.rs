//! Roles, overwrites and time-outs: what rights are made of.

use std::time::Duration;

use dirigent::{ChannelId, GuildId, UserId};

use super::MemoryDiscord;
use super::event::Event;
use super::permissions::Permissions;
use super::role::{Role, RoleId};
use super::rules::{Overwrite, Target};
use super::world::World;

impl MemoryDiscord {
    /// Adds a role to a guild, which no member has yet.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent_testkit::memory_discord::Permissions;
    /// use dirigent_testkit::{ManualClock, MemoryDiscord};
    ///
    /// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    /// let (owner, bot) = (discord.add_human(), discord.add_bot());
    /// let guild = discord.add_guild(owner);
    /// let channel = discord.add_channel(guild, "round-table", &[owner]);
    /// discord.add_member(guild, bot);
    /// let talkers = discord.add_role(guild, "talkers", Permissions::NONE);
    /// discord.set_role(guild, bot, talkers, true);
    /// discord.set_role_overwrite(channel, talkers, Permissions::TALK, Permissions::NONE);
    /// assert_eq!(discord.audience(channel), [owner, bot]);
    /// ```
    pub fn add_role(
        &self,
        guild: GuildId,
        name: impl Into<String>,
        permissions: Permissions,
    ) -> RoleId {
        self.world().add_role(guild, name.into(), permissions)
    }

    /// Changes what a role allows in the whole guild; [`RoleId::everyone`] is the role that all have.
    pub fn set_role_permissions(&self, guild: GuildId, role: RoleId, permissions: Permissions) {
        let mut world = self.world();
        world.change_guild(guild, |guild| {
            if let Some(role) = guild.roles.get_mut(&role) {
                role.permissions = permissions;
            }
        });
        world.publish(Event::RoleChanged { guild, role });
    }

    /// Deletes a role; the one of everyone stays.
    pub fn delete_role(&self, guild: GuildId, role: RoleId) {
        if role == RoleId::everyone(guild) {
            return;
        }
        let mut world = self.world();
        world.change_guild(guild, |guild| {
            guild.roles.remove(&role);
            for member in guild.members.values_mut() {
                member.roles.remove(&role);
            }
        });
        world.publish(Event::RoleDeleted { guild, role });
    }

    /// Gives a member a role, or takes it.
    pub fn set_role(&self, guild: GuildId, user: UserId, role: RoleId, has_it: bool) {
        let mut world = self.world();
        world.change_guild(guild, |guild| {
            if let Some(member) = guild.members.get_mut(&user) {
                if has_it {
                    member.roles.insert(role);
                } else {
                    member.roles.remove(&role);
                }
            }
        });
        world.publish(Event::GuildMemberChanged { guild, user });
    }

    /// Puts a member into a time-out from now on, or ends it.
    pub fn set_timed_out(&self, guild: GuildId, user: UserId, time: Option<Duration>) {
        let mut world = self.world();
        let now = world.clock.now();
        world.change_guild(guild, |guild| {
            if let Some(member) = guild.members.get_mut(&user) {
                member.timed_out_until = time.map(|time| now + time);
            }
        });
        world.publish(Event::GuildMemberChanged { guild, user });
    }

    /// Sets what a channel allows a role and denies it. A thread has no overwrites.
    pub fn set_role_overwrite(
        &self,
        channel: ChannelId,
        role: RoleId,
        allow: Permissions,
        deny: Permissions,
    ) {
        self.world().overwrite(channel, Target::Role(role), Some(Overwrite { allow, deny }));
    }

    /// Sets what a channel allows a member and denies it. A thread has no overwrites.
    pub fn set_member_overwrite(
        &self,
        channel: ChannelId,
        user: UserId,
        allow: Permissions,
        deny: Permissions,
    ) {
        self.world().overwrite(channel, Target::Member(user), Some(Overwrite { allow, deny }));
    }
}

impl World {
    pub fn add_role(&mut self, guild: GuildId, name: String, permissions: Permissions) -> RoleId {
        let id = RoleId::new(self.next_id());
        if let Some(found) = self.places.guild_mut(guild) {
            let position = u32::try_from(found.roles.len()).unwrap_or(u32::MAX);
            found.roles.insert(id, Role { name, permissions, position });
        }
        self.publish(Event::RoleCreated { guild, role: id });
        id
    }

    /// Gives or takes a role, without a word to those who listen to channels.
    pub fn set_role(&mut self, guild: GuildId, user: UserId, role: RoleId, has_it: bool) {
        let found = self.places.guild_mut(guild);
        let Some(member) = found.and_then(|guild| guild.members.get_mut(&user)) else { return };
        if has_it {
            member.roles.insert(role);
        } else {
            member.roles.remove(&role);
        }
        self.publish(Event::GuildMemberChanged { guild, user });
    }

    /// Sets or takes away an overwrite of a channel.
    pub fn overwrite(&mut self, channel: ChannelId, target: Target, overwrite: Option<Overwrite>) {
        self.change_room(channel, |room| {
            if room.is_thread() {
                return;
            }
            match overwrite {
                Some(overwrite) => room.overwrites.insert(target, overwrite),
                None => room.overwrites.remove(&target),
            };
        });
    }
}
