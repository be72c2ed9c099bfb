//! Joining and leaving: which accounts begin or stop seeing a channel.

use std::collections::BTreeSet;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, UserId};

use super::event::Event;
use super::permissions::Permissions;
use super::places::Member;
use super::room::Room;
use super::rules::{Overwrite, Target};
use super::world::World;

impl World {
    /// Lets an account see a channel. Returns true if it did not before.
    pub fn join(&mut self, channel: ChannelId, user: UserId) -> bool {
        let Some(room) = self.places.rooms.get(&channel) else {
            return false;
        };
        if let Some(guild) = room.guild {
            self.join_guild(guild, user);
        }
        let now = self.clock.now();
        self.change_room(channel, |room| {
            if room.is_thread() || room.guild.is_none() {
                room.added.entry(user).or_insert(now);
            } else {
                let open = Overwrite { allow: Permissions::TALK, deny: Permissions::NONE };
                room.overwrites.insert(Target::Member(user), open);
            }
        })
        .came
        .contains(&user)
    }

    /// Hides a channel from an account. Returns true if the account no longer sees it.
    /// Administrators still do.
    pub fn leave(&mut self, channel: ChannelId, user: UserId) -> bool {
        let guild = self.places.rooms.get(&channel).and_then(|room| room.guild);
        if guild.is_some_and(|guild| self.places.is_administrator(guild, user)) {
            return false;
        }
        self.change_room(channel, |room| {
            room.added.remove(&user);
            room.overwrites.remove(&Target::Member(user));
            if !room.is_thread() && room.guild.is_some() {
                let closed =
                    Overwrite { allow: Permissions::NONE, deny: Permissions::VIEW_CHANNEL };
                room.overwrites.insert(Target::Member(user), closed);
            }
        })
        .went
        .contains(&user)
    }

    /// Changes a channel, and pushes the consequences. Returns the accounts that begin or stop
    /// seeing it.
    pub fn change_room(&mut self, channel: ChannelId, change: impl FnOnce(&mut Room)) -> Changed {
        let before = self.places.audience(channel);
        let Some(room) = self.places.room_mut(channel) else {
            return Changed::default();
        };
        let added: Vec<UserId> = room.added.keys().copied().collect();
        change(room);
        let (guild, is_thread) = (room.guild, room.is_thread());
        let now_added: Vec<UserId> = room.added.keys().copied().collect();
        let after = self.places.audience(channel);
        let missing = |of: &[UserId], from: &[UserId]| -> Vec<UserId> {
            of.iter().copied().filter(|user| !from.contains(user)).collect()
        };
        if let (Some(guild), true, true) = (guild, is_thread, added != now_added) {
            let (added, removed) = (missing(&now_added, &added), missing(&added, &now_added));
            self.publish(Event::ThreadMembersChanged { thread: channel, guild, added, removed });
        } else {
            self.publish(Event::ChannelChanged { channel, guild });
        }
        let changed = Changed { came: missing(&after, &before), went: missing(&before, &after) };
        for user in &changed.came {
            self.publish(Event::MemberJoined { channel, user: *user });
        }
        for user in &changed.went {
            self.publish(Event::MemberLeft { channel, user: *user });
        }
        changed
    }

    /// Adds an account to a guild. Returns true if it was no member.
    pub(crate) fn join_guild(&mut self, guild: GuildId, user: UserId) -> bool {
        let now = self.clock.now();
        let is_in = |found: &super::places::Guild| found.members.contains_key(&user);
        if self.places.guilds.get(&guild).is_none_or(is_in) {
            return false;
        }
        if let Some(joined) = self.places.guild_mut(guild) {
            joined.members.insert(user, Member::new(now));
        }
        self.publish(Event::GuildMemberAdded { guild, user });
        true
    }

    /// Removes an account from a guild and all its channels. Returns true if it was a member. The
    /// owner stays.
    pub(crate) fn leave_guild(&mut self, guild: GuildId, user: UserId) -> bool {
        let Some(left) = self.places.guilds.get(&guild) else {
            return false;
        };
        if left.owner == user || !left.members.contains_key(&user) {
            return false;
        }
        let channels: Vec<ChannelId> = left.channels.iter().copied().collect();
        let seen = channels.iter().copied();
        let seen: Vec<_> =
            seen.filter(|channel| self.places.rights(*channel, user).is_some()).collect();
        if let Some(left) = self.places.guild_mut(guild) {
            left.members.remove(&user);
        }
        for channel in &channels {
            if let Some(room) = self.places.room_mut(*channel) {
                room.added.remove(&user);
                room.overwrites.remove(&Target::Member(user));
            }
        }
        for channel in seen {
            self.publish(Event::MemberLeft { channel, user });
        }
        self.publish(Event::GuildMemberRemoved { guild, user });
        true
    }

    /// Adds a channel, and pushes the event.
    pub fn add_room(&mut self, room: Room) {
        let (channel, guild) = (room.id, room.guild);
        self.places.add(room);
        self.publish(Event::ChannelCreated { channel, guild });
    }

    /// Deletes a channel and its threads. Returns true if it existed.
    pub fn delete_channel(&mut self, channel: ChannelId) -> bool {
        if let Some(room) = self.places.rooms.get(&channel) {
            let (guild, kind, parent) = (room.guild, room.kind, room.parent);
            self.publish(Event::ChannelDeleted { channel, guild, kind, parent });
        }
        self.webhooks.by_id.retain(|_, webhook| webhook.channel != channel);
        !self.places.remove(channel).is_empty()
    }

    /// Changes the permissions of a guild, and pushes who then sees which channel.
    pub fn change_guild(&mut self, guild: GuildId, change: impl FnOnce(&mut super::places::Guild)) {
        let Some(found) = self.places.guilds.get(&guild) else {
            return;
        };
        let channels: Vec<ChannelId> = found.channels.iter().copied().collect();
        let before: Vec<_> =
            channels.iter().map(|channel| self.places.audience(*channel)).collect();
        if let Some(found) = self.places.guild_mut(guild) {
            change(found);
        }
        for (channel, before) in channels.into_iter().zip(before) {
            let after: BTreeSet<UserId> = self.places.audience(channel).into_iter().collect();
            let before: BTreeSet<UserId> = before.into_iter().collect();
            for user in after.difference(&before) {
                self.publish(Event::MemberJoined { channel, user: *user });
            }
            for user in before.difference(&after) {
                self.publish(Event::MemberLeft { channel, user: *user });
            }
        }
    }
}

/// The accounts that began or stopped seeing a channel.
#[derive(Debug, Default)]
pub struct Changed {
    came: Vec<UserId>,
    went: Vec<UserId>,
}
