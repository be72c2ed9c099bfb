//! Guilds and channels, and who sees what.

use std::collections::{BTreeMap, BTreeSet};

use dirigent::{ApiError, ChannelId, ChannelInfo, ChannelKind, ErrorKind, GuildId, UserId};

use super::event::Earshot;
use super::hash::IdMap;
use super::history::History;

/// What an account may do in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rights {
    /// Whether it sees the channel; without that the others count for nothing.
    pub(crate) see: bool,
    /// Whether it may post.
    pub(crate) write: bool,
    /// Whether it may read what was posted. Without it Discord answers with an empty list, and no
    /// error (resources/message).
    pub(crate) read_history: bool,
}

impl Rights {
    /// Everything.
    pub(crate) const FULL: Self = Self { see: true, write: true, read_history: true };

    /// Nothing, also where everybody else sees the channel.
    pub(crate) const NONE: Self = Self { see: false, write: false, read_history: false };
}

/// A guild.
#[derive(Debug)]
pub(crate) struct Guild {
    /// Sees all and may do all.
    pub(crate) owner: UserId,
    /// See all and may do all.
    pub(crate) administrators: BTreeSet<UserId>,
    /// May create and delete channels and say who sees them.
    pub(crate) channel_managers: BTreeSet<UserId>,
    /// Everybody in it, the owner too.
    pub(crate) members: BTreeSet<UserId>,
    /// Its channels and threads, in the order of creation.
    pub(crate) channels: BTreeSet<ChannelId>,
}

impl Guild {
    pub(crate) fn is_administrator(&self, user: UserId) -> bool {
        self.owner == user || self.administrators.contains(&user)
    }

    pub(crate) fn may_manage_channels(&self, user: UserId) -> bool {
        self.is_administrator(user) || self.channel_managers.contains(&user)
    }
}

/// A channel with what is kept of its messages.
#[derive(Debug)]
pub(crate) struct Room {
    /// What the chat tells about it.
    pub(crate) info: ChannelInfo,
    /// Who sees it by name, or is kept out by name.
    pub(crate) access: BTreeMap<UserId, Rights>,
    /// The newest messages.
    pub(crate) messages: History,
}

impl Room {
    /// Discord's number for its kind.
    pub(crate) fn kind(&self) -> u8 {
        match self.info.kind {
            ChannelKind::Text => 0,
            ChannelKind::Direct => 1,
            ChannelKind::Announcement => 5,
            ChannelKind::Thread => {
                if self.info.private {
                    12
                } else {
                    11
                }
            }
            _ => 2,
        }
    }
}

/// All guilds and channels.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) guilds: BTreeMap<GuildId, Guild>,
    pub(crate) rooms: IdMap<ChannelId, Room>,
}

impl Places {
    /// What the account may do in a channel; none when it does not see it.
    pub(crate) fn rights(&self, channel: ChannelId, user: UserId) -> Option<Rights> {
        let room = self.rooms.get(&channel)?;
        let named = room.access.get(&user).copied();
        let is_thread = room.info.kind == ChannelKind::Thread;
        if named == Some(Rights::FULL) && !is_thread {
            return named;
        }
        let Some(guild) = self.guild_of(room) else {
            return named.filter(|rights| rights.see);
        };
        if guild.is_administrator(user) {
            return Some(Rights::FULL);
        }
        let by_default = if is_thread {
            Some(room.info.parent.and_then(|parent| self.rights(parent, user))?)
        } else {
            guild.members.contains(&user).then_some(Rights::FULL)
        };
        named.or(by_default.filter(|_| !room.info.private)).filter(|rights| rights.see)
    }

    /// Whether an account may hear of what happens there.
    pub(crate) fn hears(&self, earshot: Earshot, user: UserId) -> bool {
        let is_in = |guild| self.joined(guild, user).is_ok();
        match earshot {
            Earshot::Sight(channel) => self.rights(channel, user).is_some(),
            Earshot::Guild(guild) => is_in(guild),
            Earshot::GuildAnd(guild, other) => other == user || is_in(guild),
            Earshot::Account(account) => account == user,
        }
    }

    /// A channel that the account sees, and what it may do there.
    pub(crate) fn seen(
        &self,
        channel: ChannelId,
        user: UserId,
    ) -> Result<(&Room, Rights), ApiError> {
        let room = self.rooms.get(&channel).ok_or(ApiError::new(ErrorKind::Gone))?;
        match self.rights(channel, user) {
            Some(rights) => Ok((room, rights)),
            None => Err(ApiError::new(ErrorKind::Forbidden)),
        }
    }

    /// A guild in which the account is.
    pub(crate) fn joined(&self, guild: GuildId, user: UserId) -> Result<&Guild, ApiError> {
        let found = self.guilds.get(&guild).filter(|guild| guild.members.contains(&user));
        found.ok_or(ApiError::new(ErrorKind::Gone))
    }

    /// Everybody who sees a channel, by id.
    pub(crate) fn audience(&self, channel: ChannelId) -> Vec<UserId> {
        let Some(room) = self.rooms.get(&channel) else {
            return Vec::new();
        };
        let mut candidates: BTreeSet<UserId> = room.access.keys().copied().collect();
        if let Some(guild) = self.guild_of(room) {
            candidates.insert(guild.owner);
            candidates.extend(&guild.administrators);
            if !room.info.private {
                candidates.extend(&guild.members);
            }
        }
        candidates.into_iter().filter(|user| self.rights(channel, *user).is_some()).collect()
    }

    /// Adds a channel, which its guild then lists.
    pub(crate) fn add(&mut self, info: ChannelInfo, access: BTreeMap<UserId, Rights>) {
        if let Some(guild) = info.guild.and_then(|guild| self.guilds.get_mut(&guild)) {
            guild.channels.insert(info.id);
        }
        self.rooms.insert(info.id, Room { info, access, messages: History::default() });
    }

    /// Takes a channel away, with the threads that hang from it; says which went.
    pub(crate) fn remove(&mut self, channel: ChannelId) -> Vec<ChannelId> {
        let Some(room) = self.rooms.remove(&channel) else {
            return Vec::new();
        };
        let mut removed = vec![channel];
        if let Some(guild) = room.info.guild.and_then(|guild| self.guilds.get_mut(&guild)) {
            guild.channels.remove(&channel);
            let rooms = &mut self.rooms;
            guild.channels.retain(|thread| {
                let hangs = rooms.get(thread).is_some_and(|room| room.info.parent == Some(channel));
                if hangs {
                    rooms.remove(thread);
                    removed.push(*thread);
                }
                !hangs
            });
        }
        removed
    }

    fn guild_of(&self, room: &Room) -> Option<&Guild> {
        room.info.guild.and_then(|guild| self.guilds.get(&guild))
    }
}
