//! Guilds and channels, and who may do what there.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent::ports::{ApiError, ErrorKind, GuildId, Reader, WriteBar};
use dirigent::{ChannelId, Clock, UserId};

use super::event::Earshot;
use super::hash::IdMap;
use super::permissions::Permissions;
use super::role::{Role, RoleId};
use super::room::Room;
use super::rules::{self, Allowed, Target};

/// What an account may do in a channel that it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Whether it may post.
    pub write: bool,
    /// Whether it may read what was posted. Without it Discord answers with an empty list, and no
    /// error (resources/message).
    pub(crate) read_history: bool,
}

/// An account in a guild.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its roles besides the one of everyone.
    pub roles: BTreeSet<RoleId>,
    /// Until when it is in a time-out.
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
    /// Sees all and may do all.
    pub owner: UserId,
    /// All roles, the one of everyone too.
    pub roles: BTreeMap<RoleId, Role>,
    /// Everybody in it, the owner too.
    pub members: BTreeMap<UserId, Member>,
    /// Its channels and threads, in the order of creation.
    pub channels: BTreeSet<ChannelId>,
    /// The names of its own emoji.
    pub emojis: BTreeMap<u64, String>,
}

/// What was found out about a channel, as long as nothing changes.
#[derive(Debug, Default)]
pub(crate) struct ChannelAccess {
    /// For which state of all places it holds.
    revision: u64,
    allowed: IdMap<UserId, (Allowed, Option<Timestamp>)>,
    /// Who sees it, where no time-out plays a part.
    audience: Option<Vec<UserId>>,
}

/// All guilds and channels.
pub struct Places {
    pub guilds: BTreeMap<GuildId, Guild>,
    pub rooms: IdMap<ChannelId, Room>,
    clock: Arc<dyn Clock>,
    /// Rises with each change of what any account may do.
    revision: u64,
}

impl Places {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { guilds: BTreeMap::new(), rooms: IdMap::default(), clock, revision: 1 }
    }

    /// A guild, to change something about it.
    pub(crate) fn guild_mut(&mut self, guild: GuildId) -> Option<&mut Guild> {
        self.revision += 1;
        self.guilds.get_mut(&guild)
    }

    /// A channel, to change who may do what there.
    pub(crate) fn room_mut(&mut self, channel: ChannelId) -> Option<&mut Room> {
        self.revision += 1;
        self.rooms.get_mut(&channel)
    }

    /// What the account may do in a guild; nothing where it is no member.
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

    /// What the account may do in a channel; nothing where it does not see it.
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

    /// The same without the time, as it was found out before or is now.
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

    /// What the account may do in a channel; none when it does not see it.
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

    /// The roles that see a channel by themselves, without the one of everyone.
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

    /// The owner of a channel's guild, and the members to whom the channel was opened.
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

    /// The room whose overwrites count for a channel, and its guild.
    fn room_of_guild(&self, channel: ChannelId) -> Option<(&Room, GuildId)> {
        let room = self.rooms.get(&channel)?;
        let room = room.parent.and_then(|parent| self.rooms.get(&parent)).unwrap_or(room);
        Some((room, room.guild?))
    }

    /// What keeps an account from writing in a channel.
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

    /// Whether an account may hear of what happens there.
    pub fn hears(&self, earshot: Earshot, user: UserId) -> bool {
        let is_in = |guild| self.joined(guild, user).is_ok();
        match earshot {
            Earshot::Sight(channel) => self.rights(channel, user).is_some(),
            Earshot::SightAnd(channel, other) => {
                other == user || self.rights(channel, user).is_some()
            }
            Earshot::Guild(guild) => is_in(guild),
            Earshot::GuildAnd(guild, other) => other == user || is_in(guild),
            Earshot::Account(account) => account == user,
        }
    }

    /// A channel that the account sees, and what it may do there.
    pub fn seen(&self, channel: ChannelId, user: UserId) -> Result<(&Room, Rights), ApiError> {
        let room = self.rooms.get(&channel).ok_or(ApiError::new(ErrorKind::Gone))?;
        match self.rights_in(room, user) {
            Some(rights) => Ok((room, rights)),
            None => Err(ApiError::new(ErrorKind::Forbidden)),
        }
    }

    /// A guild in which the account is.
    pub fn joined(&self, guild: GuildId, user: UserId) -> Result<&Guild, ApiError> {
        let found = self.guilds.get(&guild).filter(|guild| guild.members.contains_key(&user));
        found.ok_or(ApiError::new(ErrorKind::Gone))
    }

    /// Whether the account owns the guild or is an administrator.
    pub fn is_administrator(&self, guild: GuildId, user: UserId) -> bool {
        self.in_guild(guild, user).contains(Permissions::ADMINISTRATOR)
    }

    /// Whether the everyone role cannot see a channel.
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

    /// Everybody who sees a channel, by id.
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

    /// Adds a channel, which its guild then lists.
    pub fn add(&mut self, room: Room) {
        if let Some(guild) = room.guild.and_then(|guild| self.guilds.get_mut(&guild)) {
            guild.channels.insert(room.id);
        }
        self.rooms.insert(room.id, room);
    }

    /// Takes a channel away, with the threads that hang from it; says which went.
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
