//! A channel, with methods that set it up and read its permissions.

use std::fmt;
use std::sync::Arc;

use dirigent::ports::{Embed, ReplyFile};
use dirigent::{ChannelId, MessageId, UserId};

use super::embeds;
use super::emoji::Emoji;
use super::marking;
use super::permissions::Permissions;
use super::pings::Pings;
use super::role::RoleId;
use super::room::{Room, kind};
use super::rules::{Overwrite, Target};
use super::shared::SharedWorld;

/// A channel or a thread, with its audience and permissions. Clones are cheap, and calls do not count as requests.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let (person, bot) = (discord.add_human(), discord.add_bot());
/// let id = discord.add_channel(discord.add_guild(person), "round-table", &[bot]);
///
/// let channel = discord.channel(id);
/// let aside = discord.channel(channel.add_thread("aside", &[bot]));
/// assert_eq!(aside.audience(), [person, bot]);
/// ```
#[derive(Clone)]
pub struct MemoryChannel {
    world: SharedWorld,
    id: ChannelId,
}

impl MemoryChannel {
    pub(super) const fn new(world: SharedWorld, id: ChannelId) -> Self {
        Self { world, id }
    }

    /// Adds a private thread for those of these accounts that see the channel.
    pub fn add_thread(&self, name: &str, members: &[UserId]) -> ChannelId {
        self.add_thread_of(kind::PRIVATE_THREAD, name, members)
    }

    /// Adds a thread that everyone sees who sees the channel.
    pub fn add_public_thread(&self, name: &str) -> ChannelId {
        self.add_thread_of(kind::PUBLIC_THREAD, name, &[])
    }

    /// Deletes the channel with its threads. Returns true if it existed.
    pub fn delete(&self) -> bool {
        self.world.lock().delete_channel(self.id)
    }

    /// Takes away an account's permission to post in a channel that it sees, or gives it back. A thread has no
    /// permissions of its own, so this changes the permission to post in all threads of its channel.
    pub fn set_read_only(&self, user: UserId, is_read_only: bool) {
        let post = Permissions::SEND_MESSAGES | Permissions::SEND_MESSAGES_IN_THREADS;
        self.set_right(user, post, !is_read_only);
    }

    /// Locks a thread, or unlocks it. Only accounts that manage threads can post in a locked one. It has no effect on a
    /// channel.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent_testkit::{ManualClock, MemoryDiscord};
    ///
    /// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    /// let owner = discord.add_human();
    /// let channel = discord.add_channel(discord.add_guild(owner), "round-table", &[owner]);
    /// let thread = discord.channel(channel).add_public_thread("aside");
    /// discord.channel(thread).set_locked(true);
    /// ```
    pub fn set_locked(&self, is_locked: bool) {
        self.world.lock().change_room(self.id, |room| room.locked = is_locked && room.is_thread());
    }

    /// Takes away an account's permission to read the history, or gives it back. Discord then answers with an empty
    /// list, and not with an error.
    pub fn set_history_hidden(&self, user: UserId, is_hidden: bool) {
        self.set_right(user, Permissions::READ_MESSAGE_HISTORY, !is_hidden);
    }

    /// Sets which permissions the channel allows and denies a role. A thread has no overwrites.
    pub fn set_role_overwrite(&self, role: RoleId, allow: Permissions, deny: Permissions) {
        let overwrite = Some(Overwrite { allow, deny });
        self.world.lock().overwrite(self.id, Target::Role(role), overwrite);
    }

    /// Sets which permissions the channel allows and denies a member. A thread has no overwrites.
    pub fn set_member_overwrite(&self, user: UserId, allow: Permissions, deny: Permissions) {
        let overwrite = Some(Overwrite { allow, deny });
        self.world.lock().overwrite(self.id, Target::Member(user), overwrite);
    }

    /// Returns an account's permissions here. They are empty if it does not see the channel.
    pub fn permissions(&self, user: UserId) -> Permissions {
        self.world.lock().places.permissions(self.id, user)
    }

    /// Returns everyone who sees the channel, by id.
    pub fn audience(&self) -> Vec<UserId> {
        self.world.lock().places.audience(self.id)
    }

    /// Returns the accounts that a message pings, if the message exists.
    pub fn pings(&self, message: MessageId) -> Option<Pings> {
        self.world.lock().places.rooms.get(&self.id)?.pings(message)
    }

    /// Returns the embeds of a message, if it exists.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use dirigent::DiscordApi;
    /// use dirigent::ports::{Embed, Nonce, Post};
    /// # use dirigent_testkit::{ManualClock, MemoryDiscord};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dirigent::ports::ApiError> {
    /// # let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    /// # let bot = discord.add_bot();
    /// # let channel = discord.add_channel(discord.add_guild(discord.add_human()), "round-table", &[bot]);
    /// let embed = Embed::new().title("Build 214").field("Duration", "6 min", true);
    /// let post = Post { embeds: [embed.clone()].into(), ..Post::new(channel, "", Nonce::from_parts(1, 2, 3)) };
    /// let posted = discord.account(bot).post(post).await?;
    /// assert_eq!(discord.channel(channel).embeds(posted.id), Some(vec![embed]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn embeds(&self, message: MessageId) -> Option<Vec<Embed>> {
        let world = self.world.lock();
        let details = world.places.rooms.get(&self.id)?.messages.details(message)?;
        let shown = details.rare.iter().flat_map(|rare| &rare.media.embeds);
        Some(shown.map(embeds::read).collect())
    }

    /// Returns the files of a message, if it exists.
    pub fn files(&self, message: MessageId) -> Option<Vec<ReplyFile>> {
        let world = self.world.lock();
        let details = world.places.rooms.get(&self.id)?.messages.details(message)?;
        let attached = details.rare.iter().flat_map(|rare| &rare.media.attachments);
        Some(attached.map(|file| ReplyFile::new(&file.filename, Arc::clone(&file.bytes))).collect())
    }

    /// Adds an account's reaction to a message. Returns true if it is new.
    pub fn react(&self, user: UserId, message: MessageId, emoji: &Emoji) -> bool {
        marking::react(&mut self.world.lock(), (self.id, message), user, emoji)
    }

    /// Removes an account's reaction. Returns true if it existed.
    pub fn take_reaction(&self, user: UserId, message: MessageId, emoji: &Emoji) -> bool {
        marking::take_reaction(&mut self.world.lock(), (self.id, message), user, emoji)
    }

    fn add_thread_of(&self, kind: u8, name: &str, members: &[UserId]) -> ChannelId {
        let mut world = self.world.lock();
        let guild = world.places.rooms.get(&self.id).and_then(|room| room.guild);
        for (guild, user) in
            guild.iter().flat_map(|guild| members.iter().map(|user| (*guild, *user)))
        {
            world.join_guild(guild, user);
        }
        let id = ChannelId::new(world.next_id());
        let now = world.clock.now();
        let mut room = Room::new(id, guild, kind, name.to_owned());
        room.parent = Some(self.id);
        // Every thread has a creator.
        let guild = guild.and_then(|guild| world.places.guilds.get(&guild));
        room.creator = guild.map(|guild| guild.owner);
        room.added = members.iter().map(|user| (*user, now)).collect();
        world.add_room(room);
        id
    }

    /// Gives or takes permissions by the account's own overwrite, which otherwise opens the channel to it.
    fn set_right(&self, user: UserId, right: Permissions, has_it: bool) {
        let mut world = self.world.lock();
        let Some(room) = world.places.rooms.get(&self.id) else { return };
        let decisive = if room.is_thread() { room.parent.unwrap_or(self.id) } else { self.id };
        world.change_room(decisive, |room| {
            let open = Overwrite { allow: Permissions::TALK, deny: Permissions::NONE };
            let own = room.overwrites.entry(Target::Member(user)).or_insert(open);
            own.allow = if has_it { own.allow.with(right) } else { own.allow.without(right) };
            own.deny = if has_it { own.deny.without(right) } else { own.deny.with(right) };
        });
    }
}

impl fmt::Debug for MemoryChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryChannel").field("id", &self.id).finish_non_exhaustive()
    }
}
