//! Guilds and channels, and the permissions there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent::ports::{ApiError, ErrorKind, GuildId, Reader, WriteBar};
use dirigent::{ChannelId, Clock, UserId};

use super::event::HeardBy;
use super::hash::IdMap;
use super::permissions::Permissions;
use super::role::{Role, RoleId};
use super::room::Room;
use super::rules::{self, Allowed, Target};

/// The permissions of an account in a channel that it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// True if it may post.
    pub write: bool,
    /// True if it may read earlier messages. Otherwise Discord answers with an empty list, and not
    /// with an error (resources/message).
    pub(crate) read_history: bool,
}

/// An account in a guild.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its roles besides that of everyone.
    pub roles: BTreeSet<RoleId>,
    /// The end of its time-out.
    pub timed_out_until: Option<Timestamp>,
    pub joined_at: Timestamp,
}

impl Member {
    pub const fn new(joined_at: Timestamp) -> Self {
        Self { roles: BTreeSet::new(), timed_out_until: None, joined_at }
    }
}

/// A guild.
#[derive(Debug)]
pub struct Guild {
    pub name: String,
    /// The owner, who sees everything and may do everything.
    pub owner: UserId,
    /// All roles, including that of everyone.
    pub roles: BTreeMap<RoleId, Role>,
    /// All members, including the owner.
    pub members: BTreeMap<UserId, Member>,
    /// Its channels and threads, in the order of creation.
    pub channels: BTreeSet<ChannelId>,
    /// The names of its own emoji.
    pub emojis: BTreeMap<u64, String>,
}

/// The cached permissions of a channel, as long as no place changes.
#[derive(Debug, Default)]
pub(crate) struct ChannelAccess {
    /// The cache is valid only for this revision of all places.
    revision: u64,
    allowed: IdMap<UserId, (Allowed, Option<Timestamp>)>,
    /// The accounts that see it, unless that depends on a time-out.
    audience: Option<Vec<UserId>>,
}

/// All guilds and channels.
pub struct Places {
    pub guilds: BTreeMap<GuildId, Guild>,
    pub rooms: IdMap<ChannelId, Room>,
    clock: Arc<dyn Clock>,
    /// Rises with each change of any account's permissions.
    revision: u64,
}

impl Places {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { guilds: BTreeMap::new(), rooms: IdMap::default(), clock, revision: 1 }
    }

    /// Returns a guild, to change it.
    pub(crate) fn guild_mut(&mut self, guild: GuildId) -> Option<&mut Guild> {
        self.revision += 1;
        self.guilds.get_mut(&guild)
    }

    /// Returns a channel, to change its permissions.
    pub(crate) fn room_mut(&mut self, channel: ChannelId) -> Option<&mut Room> {
        self.revision += 1;
        self.rooms.get_mut(&channel)
    }

    /// Returns the account's permissions in a guild. They are empty if it is not a member.
    pub fn in_guild(&self, guild: GuildId, user: UserId) -> Permissions {
        let Some(found) = self.guilds.get(&guild) else { return Permissions::NONE };
        if found.owner == user {
            return Permissions::ALL;
        }
        found.members.get(&user).map_or(Permissions::NONE, |member| {
            let allowed = rules::in_guild(guild, &found.roles, &member.roles);
            let is_free = allowed.contains(Permissions::ADMINISTRATOR)
                || member.timed_out_until.is_none_or(|until| until <= self.clock.now());
            let kept = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
            if is_free { allowed } else { allowed.within(kept) }
        })
    }

    /// Returns the account's permissions in a channel. They are empty if it does not see the
    /// channel.
    pub fn permissions(&self, channel: ChannelId, user: UserId) -> Permissions {
        self.rooms.get(&channel).map_or(Permissions::NONE, |room| self.permissions_in(room, user))
    }

    fn permissions_in(&self, room: &Room, user: UserId) -> Permissions {
        let (allowed, timed_out_until) = self.allowed(room, user);
        match timed_out_until {
            Some(until) if self.clock.now() < until => allowed.timed_out,
            Some(_) | None => allowed.free,
        }
    }

    /// Returns the permissions without regard to time, from the cache or computed.
    fn allowed(&self, room: &Room, user: UserId) -> (Allowed, Option<Timestamp>) {
        let known = self.known(room).allowed.get(&user).copied();
        known.unwrap_or_else(|| {
            let found = self.find_allowed(room, user);
            self.known(room).allowed.insert(user, found);
            found
        })
    }

    fn known<'a>(&self, room: &'a Room) -> std::cell::RefMut<'a, ChannelAccess> {
        let mut known = RefCell::borrow_mut(&room.known);
        if known.revision != self.revision {
            *known = ChannelAccess { revision: self.revision, ..ChannelAccess::default() };
        }
        known
    }

    fn find_allowed(&self, room: &Room, user: UserId) -> (Allowed, Option<Timestamp>) {
        const NOTHING: (Allowed, Option<Timestamp>) = (Allowed::NOTHING, None);
        if room.is_thread() {
            let parent = room.parent.and_then(|parent| self.rooms.get(&parent));
            let Some(parent) = parent else { return NOTHING };
            let (mut allowed, until) = self.allowed(parent, user);
            if room.is_private_thread() && !room.added.contains_key(&user) {
                for permissions in [&mut allowed.free, &mut allowed.timed_out] {
                    if !permissions.contains(Permissions::MANAGE_THREADS) {
                        *permissions = Permissions::NONE;
                    }
                }
            }
            return (allowed, until);
        }
        let Some(guild) = room.guild else {
            let is_in = room.added.contains_key(&user);
            let all = if is_in { Permissions::OF_A_DIRECT_MESSAGE } else { Permissions::NONE };
            return (Allowed::of_sight(room.own_overwrite(user, all)), None);
        };
        let Some(found) = self.guilds.get(&guild) else { return NOTHING };
        let Some(member) = found.members.get(&user) else { return NOTHING };
        let base = if found.owner == user {
            Permissions::ALL
        } else {
            rules::in_guild(guild, &found.roles, &member.roles)
        };
        let allowed = rules::in_channel(guild, base, user, &member.roles, &room.overwrites);
        (allowed, member.timed_out_until)
    }

    /// Returns the account's rights in a channel, or `None` if it does not see the channel.
    pub fn rights(&self, channel: ChannelId, user: UserId) -> Option<Rights> {
        self.rights_in(self.rooms.get(&channel)?, user)
    }

    fn rights_in(&self, room: &Room, user: UserId) -> Option<Rights> {
        let allowed = self.permissions_in(room, user);
        let is_shut = room.locked && !allowed.contains(Permissions::MANAGE_THREADS);
        allowed.contains(Permissions::VIEW_CHANNEL).then(|| Rights {
            write: allowed.contains(room.right_to_post()) && !is_shut,
            read_history: allowed.contains(Permissions::READ_MESSAGE_HISTORY),
        })
    }

    /// Returns the roles that see a channel by themselves, without that of everyone.
    pub fn roles_that_see(&self, channel: ChannelId) -> Vec<Reader> {
        let Some((room, guild)) = self.room_of_guild(channel) else { return Vec::new() };
        let Some(found) = self.guilds.get(&guild) else { return Vec::new() };
        let sees = |role: &RoleId| {
            let held = BTreeSet::from([*role]);
            let base = rules::in_guild(guild, &found.roles, &held);
            let stranger = UserId::new(0);
            let allowed = rules::in_channel(guild, base, stranger, &held, &room.overwrites);
            allowed.free.contains(Permissions::VIEW_CHANNEL)
        };
        let roles = found.roles.iter();
        let roles = roles.filter(|(id, _)| **id != RoleId::everyone(guild) && sees(id));
        roles.map(|(_, role)| Reader { user: None, name: role.name.clone() }).collect()
    }

    /// Returns the owner of a channel's guild, and the members to whom the channel was opened.
    pub fn added_to(&self, channel: ChannelId) -> Vec<UserId> {
        let Some((room, guild)) = self.room_of_guild(channel) else { return Vec::new() };
        let owner = self.guilds.get(&guild).map(|guild| guild.owner);
        let added = room.overwrites.iter().filter_map(|(target, overwrite)| match target {
            Target::Member(user) if overwrite.allow.contains(Permissions::VIEW_CHANNEL) => {
                Some(*user)
            }
            Target::Member(_) | Target::Role(_) => None,
        });
        owner.into_iter().chain(added.filter(|user| Some(*user) != owner)).collect()
    }

    /// Returns the room that has the overwrites of a channel, and its guild.
    fn room_of_guild(&self, channel: ChannelId) -> Option<(&Room, GuildId)> {
        let room = self.rooms.get(&channel)?;
        let room = room.parent.and_then(|parent| self.rooms.get(&parent)).unwrap_or(room);
        Some((room, room.guild?))
    }

    /// Returns why an account may not write in a channel.
    pub fn write_bar(&self, channel: ChannelId, user: UserId) -> Option<WriteBar> {
        let room = self.rooms.get(&channel)?;
        let member = self.guilds.get(&room.guild?).map(|guild| guild.members.get(&user));
        let Some(member) = member? else { return Some(WriteBar::NotInGuild) };
        match self.rights_in(room, user) {
            None => Some(WriteBar::NoView),
            Some(rights) if rights.write => None,
            Some(_) if room.locked => Some(WriteBar::Locked),
            Some(_) => Some(match member.timed_out_until {
                Some(until) => WriteBar::TimedOut { until },
                None if room.is_thread() => WriteBar::NoSendInThreads,
                None => WriteBar::NoSend,
            }),
        }
    }

    /// Returns true if an account may get events with this audience.
    pub fn hears(&self, earshot: HeardBy, user: UserId) -> bool {
        let is_in = |guild| self.joined(guild, user).is_ok();
        match earshot {
            HeardBy::EventsSeen(channel) => self.rights(channel, user).is_some(),
            HeardBy::SightAnd(channel, other) => {
                other == user || self.rights(channel, user).is_some()
            }
            HeardBy::Guild(guild) => is_in(guild),
            HeardBy::GuildAnd(guild, other) => other == user || is_in(guild),
            HeardBy::Account(account) => account == user,
        }
    }

    /// Returns a channel that the account sees, and its rights there.
    pub fn seen(&self, channel: ChannelId, user: UserId) -> Result<(&Room, Rights), ApiError> {
        let room = self.rooms.get(&channel).ok_or(ApiError::new(ErrorKind::Gone))?;
        match self.rights_in(room, user) {
            Some(rights) => Ok((room, rights)),
            None => Err(ApiError::new(ErrorKind::Forbidden)),
        }
    }

    /// Returns a guild that the account is in.
    pub fn joined(&self, guild: GuildId, user: UserId) -> Result<&Guild, ApiError> {
        let found = self.guilds.get(&guild).filter(|guild| guild.members.contains_key(&user));
        found.ok_or(ApiError::new(ErrorKind::Gone))
    }

    /// Returns true if the account owns the guild or is an administrator.
    pub fn is_administrator(&self, guild: GuildId, user: UserId) -> bool {
        self.in_guild(guild, user).contains(Permissions::ADMINISTRATOR)
    }

    /// Returns true if the everyone role does not see a channel.
    pub fn is_private(&self, room: &Room) -> bool {
        let Some(guild) = room.guild else { return true };
        if room.is_private_thread() {
            return true;
        }
        if room.is_thread() {
            let parent = room.parent.and_then(|parent| self.rooms.get(&parent));
            return parent.is_none_or(|parent| self.is_private(parent));
        }
        let no_roles = BTreeSet::new();
        let Some(found) = self.guilds.get(&guild) else { return true };
        let base = rules::in_guild(guild, &found.roles, &no_roles);
        let stranger = UserId::new(0);
        rules::in_channel(guild, base, stranger, &no_roles, &room.overwrites).free.is_empty()
    }

    /// Returns everyone who sees a channel, by id.
    pub fn audience(&self, channel: ChannelId) -> Vec<UserId> {
        let Some(room) = self.rooms.get(&channel) else {
            return Vec::new();
        };
        let Some(guild) = room.guild.and_then(|guild| self.guilds.get(&guild)) else {
            return room.added.keys().copied().filter(|user| self.sees(room, *user)).collect();
        };
        if let Some(audience) = &self.known(room).audience {
            return audience.clone();
        }
        let everybody = guild.members.keys().copied();
        let audience: Vec<UserId> = everybody.filter(|user| self.sees(room, *user)).collect();
        if guild.members.values().all(|member| member.timed_out_until.is_none()) {
            self.known(room).audience = Some(audience.clone());
        }
        audience
    }

    fn sees(&self, room: &Room, user: UserId) -> bool {
        self.permissions_in(room, user).contains(Permissions::VIEW_CHANNEL)
    }

    /// Adds a channel, also to its guild's list.
    pub fn add(&mut self, room: Room) {
        if let Some(guild) = room.guild.and_then(|guild| self.guilds.get_mut(&guild)) {
            guild.channels.insert(room.id);
        }
        self.rooms.insert(room.id, room);
    }

    /// Removes a channel and its threads. Returns those that were removed.
    pub fn remove(&mut self, channel: ChannelId) -> Vec<ChannelId> {
        let Some(room) = self.rooms.remove(&channel) else {
            return Vec::new();
        };
        let mut removed = vec![channel];
        if let Some(guild) = room.guild.and_then(|guild| self.guilds.get_mut(&guild)) {
            guild.channels.remove(&channel);
            let rooms = &mut self.rooms;
            guild.channels.retain(|thread| {
                let hangs = rooms
                    .get(thread)
                    .is_some_and(|room| room.is_thread() && room.parent == Some(channel));
                if hangs {
                    rooms.remove(thread);
                    removed.push(*thread);
                }
                !hangs
            });
        }
        removed
    }
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places")
            .field("guilds", &self.guilds.len())
            .field("rooms", &self.rooms.len())
            .finish_non_exhaustive()
    }
}
