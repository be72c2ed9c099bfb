//! Roles and overwrites, from which permissions are computed.

use dirigent::ports::GuildId;
use dirigent::{ChannelId, UserId};

use super::event::Event;
use super::permissions::Permissions;
use super::role::{Role, RoleId};
use super::rules::{Overwrite, Target};
use super::world::World;

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

    /// Gives or takes a role, without an event for subscribers of channels.
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

    /// Sets or removes an overwrite of a channel.
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
