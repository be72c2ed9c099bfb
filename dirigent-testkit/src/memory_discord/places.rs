//! Guilds and channels, and who sees what.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dirigent::{ApiError, ChannelId, ChannelInfo, ChannelKind, ChatMessage, ErrorKind, GuildId};
use dirigent::{MessageId, UserId};

/// What an account that sees a channel may do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rights {
    /// Whether it may post.
    pub(super) write: bool,
    /// Whether it may read what was posted. Without it Discord answers with an empty list, and no
    /// error (resources/message).
    pub(super) read_history: bool,
}

impl Rights {
    /// Everything.
    pub(super) const FULL: Self = Self { write: true, read_history: true };
}

/// A guild.
#[derive(Debug)]
pub(super) struct Guild {
    /// Sees all and may do all.
    pub(super) owner: UserId,
    /// See all and may do all.
    pub(super) administrators: BTreeSet<UserId>,
    /// May create and delete channels and say who sees them.
    pub(super) channel_managers: BTreeSet<UserId>,
    /// Everybody in it, the owner too.
    pub(super) members: BTreeSet<UserId>,
    /// Its channels and threads, in the order of creation.
    pub(super) channels: BTreeSet<ChannelId>,
}

impl Guild {
    pub(super) fn is_administrator(&self, user: UserId) -> bool {
        self.owner == user || self.administrators.contains(&user)
    }

    pub(super) fn may_manage_channels(&self, user: UserId) -> bool {
        self.is_administrator(user) || self.channel_managers.contains(&user)
    }
}

/// A channel with what is kept of its messages.
#[derive(Debug)]
pub(super) struct Room {
    /// What the chat tells about it.
    pub(super) info: ChannelInfo,
    /// Who sees it by name.
    pub(super) access: BTreeMap<UserId, Rights>,
    /// The newest messages.
    pub(super) messages: BTreeMap<MessageId, ChatMessage>,
}

impl Room {
    /// Adds a message and forgets the oldest ones beyond the limit.
    pub(super) fn keep(&mut self, message: ChatMessage, history_max: usize) {
        self.messages.insert(message.id, message);
        while self.messages.len() > history_max {
            self.messages.pop_first();
        }
    }

    /// A page of messages, newest first: the newest ones, or those right after one.
    pub(super) fn page(&self, after: Option<MessageId>, limit: usize) -> Vec<&ChatMessage> {
        let Some(after) = after else {
            return self.messages.values().rev().take(limit).collect();
        };
        let later = (std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded);
        let mut page: Vec<_> = self.messages.range(later).map(|entry| entry.1).take(limit).collect();
        page.reverse();
        page
    }
}

/// All guilds and channels.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) guilds: BTreeMap<GuildId, Guild>,
    pub(super) rooms: HashMap<ChannelId, Room>,
}

impl Places {
    /// What the account may do in a channel; none when it does not see it.
    pub(super) fn rights(&self, channel: ChannelId, user: UserId) -> Option<Rights> {
        let room = self.rooms.get(&channel)?;
        let named = room.access.get(&user).copied();
        let is_thread = room.info.kind == ChannelKind::Thread;
        if named == Some(Rights::FULL) && !is_thread {
            return named;
        }
        if let Some(guild) = self.guild_of(room) {
            if guild.is_administrator(user) {
                return Some(Rights::FULL);
            }
            if is_thread {
                let parent = room.info.parent.and_then(|parent| self.rights(parent, user))?;
                return if room.info.private { named } else { Some(named.unwrap_or(parent)) };
            }
            if !room.info.private && guild.members.contains(&user) {
                return Some(named.unwrap_or(Rights::FULL));
            }
        }
        named
    }

    /// A channel that the account sees, and what it may do there.
    pub(super) fn seen(
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
    pub(super) fn joined(&self, guild: GuildId, user: UserId) -> Result<&Guild, ApiError> {
        let found = self.guilds.get(&guild).filter(|guild| guild.members.contains(&user));
        found.ok_or(ApiError::new(ErrorKind::Gone))
    }

    /// Everybody who sees a channel, by id.
    pub(super) fn audience(&self, channel: ChannelId) -> Vec<UserId> {
        let Some(room) = self.rooms.get(&channel) else { return Vec::new() };
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
    pub(super) fn add(&mut self, info: ChannelInfo, access: BTreeMap<UserId, Rights>) {
        if let Some(guild) = info.guild.and_then(|guild| self.guilds.get_mut(&guild)) {
            guild.channels.insert(info.id);
        }
        self.rooms.insert(info.id, Room { info, access, messages: BTreeMap::new() });
    }

    /// Takes a channel away, with the threads that hang from it; says which went.
    pub(super) fn remove(&mut self, channel: ChannelId) -> Vec<ChannelId> {
        let Some(room) = self.rooms.remove(&channel) else { return Vec::new() };
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
