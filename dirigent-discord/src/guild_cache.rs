//! Guilds as the gateway describes them: their members, and who sees which channel. While it is current, the
//! adapter reads it instead of asking Discord.

mod guild;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dirigent::ports::{Timestamp, WriteBar};
use dirigent::{ChannelId, ChatMessage, UserId};
use twilight_model::gateway::{Intents, ShardId};
use twilight_model::guild::Permissions;

use crate::permission::{GuildRules, Member};
use crate::persona::table::Home;
use crate::wire;
use crate::wire::pushed::{PushedGuild, PushedMember, ThreadMembers};
use guild::Guild;

/// The most members that are stored of guilds with a complete member list. Of the others, and of those beyond
/// this number, only requested accounts are stored.
const MEMBERS_MAX: usize = 200_000;

/// The data that is known without requests. It is empty until a gateway fills it, and is used only while that
/// is connected.
#[derive(Debug, Default)]
pub(crate) struct GuildCache(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    me: Option<UserId>,
    /// True if the gateway reports all changes of members.
    tells_members: bool,
    guilds: HashMap<u64, Guild>,
    /// The guild of each channel and thread.
    places: HashMap<u64, u64>,
    /// The numbers of the connected shards.
    live: HashSet<u32>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Exactly these accounts see it.
    Known(Vec<UserId>),
    /// To know it, ask for these accounts as members of this guild.
    WithMembers(u64, Vec<UserId>),
    /// To know it, ask which of these accounts were added to this thread.
    WithThread(Vec<UserId>),
    Unknown,
}

/// The accounts that began or stopped seeing channels, and the channels that this account can read again.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MembershipChanges {
    pub(crate) joined: Vec<(ChannelId, UserId)>,
    pub(crate) left: Vec<(ChannelId, UserId)>,
    /// Messages from while this account could not read these channels were not pushed.
    pub(crate) regained: Vec<ChannelId>,
}

/// The accounts and channels to watch for changes.
pub(crate) struct Watched<'a> {
    pub(crate) users: &'a [UserId],
    pub(crate) channels: &'a (dyn Fn(ChannelId) -> bool + Sync),
}

impl GuildCache {
    pub(crate) fn begin(&self, intents: Intents) {
        self.inner().tells_members = intents.contains(Intents::GUILD_MEMBERS);
    }

    /// Handles a new session of a shard. Earlier data may be outdated.
    pub(crate) fn session_began(&self, shard: ShardId, me: UserId) {
        let mut inner = self.inner();
        inner.me = Some(me);
        inner.live.insert(shard.number());
        for guild in inner.guilds.values_mut().filter(|guild| guild.shard == shard.number()) {
            guild.doubt();
        }
    }

    /// Handles a resumed session. Everything from the gap was pushed.
    pub(crate) fn session_resumed(&self, shard: ShardId) {
        self.inner().live.insert(shard.number());
    }

    /// Handles a broken connection. Events are not pushed, or not yet.
    pub(crate) fn interrupted(&self, shard: ShardId) {
        self.inner().live.remove(&shard.number());
    }

    /// Returns true if this shard reports the channel's events, as far as is known.
    pub(crate) fn is_told_by(&self, shard: ShardId, channel: ChannelId) -> bool {
        let inner = self.inner();
        let guild = inner.places.get(&channel.get()).and_then(|guild| inner.guilds.get(guild));
        shard.total() == 1 || guild.is_some_and(|guild| guild.shard == shard.number())
    }

    pub(crate) fn guild(&self, shard: ShardId, pushed: &PushedGuild, now: Timestamp) {
        let Some(rules) = pushed.rules() else {
            return self.guild_away(pushed.id.0);
        };
        let mut inner = self.inner();
        let inner = &mut *inner;
        let id = rules.guild;
        let mut guild = Guild::new(shard.number(), rules);
        for channel in pushed.channels.iter().chain(&pushed.threads) {
            guild.save_channel(channel);
            inner.places.insert(channel.id.0, id);
        }
        let whole = pushed.member_count.is_some_and(|count| count <= pushed.members.len() as u64);
        let mine = |member: &&wire::Member| whole || Some(member.user()) == inner.me;
        guild.take_members(pushed.members.iter().filter(mine), now);
        let kept: usize = inner.guilds.values().map(Guild::size).sum();
        if whole && kept + guild.size() <= MEMBERS_MAX {
            guild.is_whole_since(now, inner.tells_members);
        } else {
            guild.forget_members(inner.me);
        }
        if let Some(old) = inner.guilds.get(&id) {
            guild.follow(old);
            for gone in old.channels().filter(|channel| !guild.has(*channel)) {
                inner.places.remove(&gone);
            }
        }
        inner.guilds.insert(id, guild);
    }

    /// Forgets a guild that is unavailable or was left.
    pub(crate) fn guild_away(&self, guild: u64) {
        let mut inner = self.inner();
        inner.guilds.remove(&guild);
        inner.places.retain(|_, of| *of != guild);
    }

    pub(crate) fn rules(&self, rules: GuildRules, watched: &Watched<'_>) -> MembershipChanges {
        self.changing(rules.guild, None, watched, |guild, _| guild.rules = rules)
    }

    pub(crate) fn role(
        &self,
        guild: u64,
        role: &wire::Role,
        watched: &Watched<'_>,
    ) -> MembershipChanges {
        self.changing(guild, None, watched, |guild, _| {
            guild.rules.roles.insert(role.id.0, role.allowed());
            if let Some(bot) = role.bot() {
                guild.rules.bots.insert(role.id.0, bot);
            }
        })
    }

    pub(crate) fn role_gone(
        &self,
        guild: u64,
        role: u64,
        watched: &Watched<'_>,
    ) -> MembershipChanges {
        self.changing(guild, None, watched, |guild, _| {
            guild.rules.roles.remove(&role);
            guild.rules.bots.remove(&role);
        })
    }

    /// Turns the mention of a role that Discord manages for a bot into a mention of the bot.
    pub(crate) fn name_bots(&self, message: ChatMessage) -> ChatMessage {
        if !message.content.contains(ROLE) {
            return message;
        }
        let inner = self.inner();
        // A mention of another guild's role names nothing here.
        let guild = inner.places.get(&message.channel.get());
        let bots = guild.and_then(|guild| inner.guilds.get(guild)).map(|guild| &guild.rules.bots);
        match bots {
            Some(bots) => with_bots(message, bots),
            None => message,
        }
    }

    /// Returns true if the guild of the channel is known, and with it the owners of its roles.
    pub(crate) fn knows_roles(&self, channel: ChannelId) -> bool {
        self.inner().places.contains_key(&channel.get())
    }

    pub(crate) fn channel(
        &self,
        channel: &wire::Channel,
        watched: &Watched<'_>,
    ) -> MembershipChanges {
        let Some(guild) = channel.guild_id else {
            return MembershipChanges::default();
        };
        let mut inner = self.inner();
        if inner.guilds.contains_key(&guild.0) {
            inner.places.insert(channel.id.0, guild.0);
        }
        drop(inner);
        self.changing(guild.0, None, watched, |guild, _| guild.save_channel(channel))
    }

    /// Forgets a channel or thread. Returns it and the threads that went with it.
    pub(crate) fn channel_gone(&self, channel: u64) -> Vec<u64> {
        let mut inner = self.inner();
        let guild = inner.places.get(&channel).copied();
        let gone = match guild.and_then(|guild| inner.guilds.get_mut(&guild)) {
            Some(guild) => guild.remove_channel(channel),
            None => vec![channel],
        };
        for gone in &gone {
            inner.places.remove(gone);
        }
        gone
    }

    pub(crate) fn member(
        &self,
        pushed: &PushedMember,
        now: Timestamp,
        watched: &Watched<'_>,
    ) -> MembershipChanges {
        self.changing(pushed.guild_id.0, Some(pushed.member.user()), watched, |guild, me| {
            guild.save_member(&pushed.member, now, me);
        })
    }

    pub(crate) fn member_gone(
        &self,
        guild: u64,
        user: UserId,
        watched: &Watched<'_>,
    ) -> MembershipChanges {
        self.changing(guild, Some(user), watched, |guild, _| guild.remove_member(user))
    }

    /// Stores the accounts that joined or left a thread. They matter only for a private one.
    pub(crate) fn thread_members(
        &self,
        update: &ThreadMembers,
        watched: &Watched<'_>,
    ) -> MembershipChanges {
        let thread = ChannelId::new(update.id.0);
        let mut inner = self.inner();
        let me = inner.me;
        let guild = inner.guilds.get_mut(&update.guild_id.0);
        let is_private = guild.and_then(|guild| guild.update_thread(update));
        drop(inner);
        let is_watched = |user: &UserId| watched.users.contains(user) && (watched.channels)(thread);
        let added = update.added_members.iter().filter_map(|member| member.user_id);
        let added = added.map(wire::Number::user);
        let is_mine = |user: UserId| Some(user) == me && (watched.channels)(thread);
        let regained = added.clone().any(is_mine).then_some(thread).into_iter().collect();
        let added = added.filter(is_watched);
        let removed = update.removed_member_ids.iter().map(|id| id.user()).filter(is_watched);
        MembershipChanges {
            joined: added.map(|user| (thread, user)).collect(),
            left: match is_private {
                Some(true) => removed.map(|user| (thread, user)).collect(),
                // A member who sees the parent still sees it.
                Some(false) | None => Vec::new(),
            },
            regained,
        }
    }

    pub(crate) fn visibility(
        &self,
        channel: ChannelId,
        among: &[UserId],
        now: Timestamp,
    ) -> Visibility {
        let mut inner = self.inner();
        let inner = &mut *inner;
        match inner.believed(channel.get()) {
            Some(guild) => guild.visibility(channel.get(), among, now),
            None => Visibility::Unknown,
        }
    }

    /// Begins a read of a guild's members. Anything pushed during it counts more.
    pub(crate) fn begin_reading(&self, guild: u64) {
        if let Some(guild) = self.inner().guilds.get_mut(&guild) {
            guild.begin_reading();
        }
    }

    pub(crate) fn end_reading(&self, guild: u64) {
        let mut inner = self.inner();
        let me = inner.me;
        if let Some(guild) = inner.guilds.get_mut(&guild) {
            guild.end_reading(me);
        }
    }

    pub(crate) fn knows_member(&self, guild: u64, user: UserId, now: Timestamp) -> bool {
        let inner = self.inner();
        let guild = inner.guilds.get(&guild).filter(|guild| inner.live.contains(&guild.shard));
        guild.is_some_and(|guild| guild.is_true && guild.knows(user, now))
    }

    /// Stores an answer about an account in the guild. `None` means that it is not a member.
    pub(crate) fn install_member(
        &self,
        guild: u64,
        user: UserId,
        member: Option<&wire::Member>,
        now: Timestamp,
    ) {
        let mut inner = self.inner();
        let inner = &mut *inner;
        if let Some(guild) = inner.guilds.get_mut(&guild) {
            let is_kept = inner.live.contains(&guild.shard) && inner.tells_members;
            guild.install_member(user, member, now, is_kept);
        }
    }

    pub(crate) fn install_thread(
        &self,
        thread: ChannelId,
        added: impl Iterator<Item = (UserId, bool)>,
        now: Timestamp,
    ) {
        let mut inner = self.inner();
        let guild = inner.places.get(&thread.get()).copied();
        if let Some(guild) = guild.and_then(|guild| inner.guilds.get_mut(&guild)) {
            guild.install_thread(thread.get(), added, now);
        }
    }

    /// Returns whether this cache's own account may do this in the channel, if that is known.
    pub(crate) fn may(
        &self,
        channel: ChannelId,
        wanted: Permissions,
        now: Timestamp,
    ) -> Option<bool> {
        let mut inner = self.inner();
        let me = inner.me?;
        inner.believed(channel.get())?.may(channel.get(), me, wanted, now)
    }

    /// Returns why these accounts cannot write in a channel, for each that surely cannot.
    pub(crate) fn write_bars(
        &self,
        channel: ChannelId,
        among: &[UserId],
        now: Timestamp,
    ) -> Vec<(UserId, WriteBar)> {
        let mut inner = self.inner();
        let me = inner.me;
        let Some(guild) = inner.believed(channel.get()) else {
            return Vec::new();
        };
        let bar = |user: &UserId| Some((*user, guild.write_bar(channel.get(), *user, me, now)?));
        among.iter().filter_map(bar).collect()
    }

    pub(crate) fn is_me(&self, user: UserId) -> bool {
        self.inner().me == Some(user)
    }

    /// Returns the channels and threads of a guild, or only one channel and its threads.
    pub(crate) fn channels_of(&self, guild: u64, channel: Option<u64>) -> Vec<ChannelId> {
        let inner = self.inner();
        let guild = inner.guilds.get(&guild);
        guild.map(|guild| guild.channels_at(channel)).unwrap_or_default()
    }

    /// Returns the rules of a guild and this cache's own account in it, for a diagnosis.
    pub(crate) fn own_rules(&self, guild: u64) -> Option<(GuildRules, Member)> {
        let inner = self.inner();
        let me = inner.me?;
        let guild = inner.guilds.get(&guild)?;
        Some((guild.rules.clone(), guild.member(me)?))
    }

    /// Returns the channel of a thread.
    pub(crate) fn parent(&self, channel: ChannelId) -> Option<ChannelId> {
        let inner = self.inner();
        let guild = inner.places.get(&channel.get())?;
        inner.guilds.get(guild)?.parent(channel.get()).map(ChannelId::new)
    }

    /// Returns the channel with the webhooks, which for a thread is its parent.
    pub(crate) fn home(&self, channel: ChannelId) -> Option<Home> {
        let inner = self.inner();
        let guild = *inner.places.get(&channel.get())?;
        let parent = inner.guilds.get(&guild)?.parent(channel.get());
        Some(Home { channel: parent.unwrap_or(channel.get()), guild })
    }

    /// Changes a guild. With `of`, only this account changes.
    fn changing(
        &self,
        guild: u64,
        of: Option<UserId>,
        watched: &Watched<'_>,
        change: impl FnOnce(&mut Guild, Option<UserId>),
    ) -> MembershipChanges {
        let mut inner = self.inner();
        let me = inner.me;
        let Some(guild) = inner.guilds.get_mut(&guild) else {
            return MembershipChanges::default();
        };
        // Members change often, and each change concerns one account.
        let reader = me.filter(|me| of.is_none_or(|user| user == *me));
        let (before, read_before) = (guild.watch(watched), guild.read_by(reader, watched));
        change(guild, me);
        let (after, read_after) = (guild.watch(watched), guild.read_by(reader, watched));
        let regained = match (read_before, read_after) {
            (Some(before), Some(after)) => after.difference(&before).copied().collect(),
            // The state of this account in the guild is unknown.
            _ => Vec::new(),
        };
        MembershipChanges {
            joined: after.difference(&before).copied().collect(),
            left: before.difference(&after).copied().collect(),
            regained,
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) const ROLE: &str = "<@&";

/// Returns the message with mentions of bots in place of the roles that Discord manages for them.
pub(crate) fn with_bots(mut message: ChatMessage, bots: &HashMap<u64, UserId>) -> ChatMessage {
    let mut pieces = message.content.split(ROLE);
    let mut mentioned = std::mem::take(&mut message.mentioned_bots).into_vec();
    let mut named = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let role = piece
            .split_once('>')
            .and_then(|(role, rest)| Some((bots.get(&role.parse::<u64>().ok()?)?, rest)));
        match role {
            Some((bot, rest)) => {
                named.extend([&format!("<@{bot}>"), rest]);
                mentioned.push(*bot);
            }
            None => named.extend([ROLE, piece]),
        }
    }
    (message.content, message.mentioned_bots) = (named.into(), mentioned.into());
    message
}

impl Inner {
    /// Returns the guild of a channel, if its data is current.
    fn believed(&mut self, channel: u64) -> Option<&mut Guild> {
        let guild = self.guilds.get_mut(self.places.get(&channel)?)?;
        (guild.is_true && self.live.contains(&guild.shard)).then_some(guild)
    }
}
