//! Coming and going: who gets sight of a channel and who loses it.

use dirigent::{ChannelId, GuildId, UserId};

use super::event::Event;
use super::places::Rights;
use super::world::World;

impl World {
    /// Gives sight of a channel; says whether the account had none before.
    pub(crate) fn join(&mut self, channel: ChannelId, user: UserId) -> bool {
        let saw = self.places.rights(channel, user).is_some();
        let Some(room) = self.places.rooms.get_mut(&channel) else {
            return false;
        };
        room.access.insert(user, Rights::FULL);
        if let Some(guild) = room.info.guild.and_then(|guild| self.places.guilds.get_mut(&guild)) {
            guild.members.insert(user);
        }
        let joined = !saw && self.places.rights(channel, user).is_some();
        if joined {
            self.publish(Event::MemberJoined { channel, user });
        }
        joined
    }

    /// Takes sight of a channel; says whether the account sees it no more. Administrators see it
    /// all the same. The event goes out first, so that who leaves hears of it.
    pub(crate) fn leave(&mut self, channel: ChannelId, user: UserId) -> bool {
        let Some(room) = self.places.rooms.get(&channel) else {
            return false;
        };
        let private = room.info.private;
        let guild = room.info.guild.and_then(|guild| self.places.guilds.get(&guild));
        let stays = guild.is_some_and(|guild| guild.is_administrator(user));
        let leaves = !stays && self.places.rights(channel, user).is_some();
        if leaves {
            self.publish(Event::MemberLeft { channel, user });
        }
        if let Some(room) = self.places.rooms.get_mut(&channel) {
            room.access.remove(&user);
            if !private {
                room.access.insert(user, Rights::NONE);
            }
        }
        leaves
    }

    /// Takes an account out of a guild with all its channels; says whether it was in it. The owner
    /// stays.
    pub(crate) fn leave_guild(&mut self, guild: GuildId, user: UserId) -> bool {
        let Some(left) = self.places.guilds.get_mut(&guild) else {
            return false;
        };
        if left.owner == user || !left.members.contains(&user) {
            return false;
        }
        left.administrators.remove(&user);
        left.channel_managers.remove(&user);
        let channels: Vec<ChannelId> = left.channels.iter().copied().collect();
        for channel in &channels {
            if self.places.rights(*channel, user).is_some() {
                self.publish(Event::MemberLeft { channel: *channel, user });
            }
        }
        for channel in &channels {
            if let Some(room) = self.places.rooms.get_mut(channel) {
                room.access.remove(&user);
            }
        }
        if let Some(left) = self.places.guilds.get_mut(&guild) {
            left.members.remove(&user);
        }
        true
    }

    /// Deletes a channel and its threads; says whether there was one.
    pub(crate) fn delete_channel(&mut self, channel: ChannelId) -> bool {
        if let Some(room) = self.places.rooms.get(&channel) {
            let (guild, parent) = (room.info.guild, room.info.parent);
            self.publish(Event::ChannelDeleted { channel, guild, kind: room.kind(), parent });
        }
        !self.places.remove(channel).is_empty()
    }

    /// Changes what an account may do in a channel that names it, or opens it to it.
    pub(crate) fn change_rights(
        &mut self,
        channel: ChannelId,
        user: UserId,
        change: impl FnOnce(&mut Rights),
    ) {
        if let Some(room) = self.places.rooms.get_mut(&channel) {
            change(room.access.entry(user).or_insert(Rights::FULL));
        }
    }
}
