//! The chat as one account sees it through its token.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::ports::{
    Access, ApiError, Attachment, AuthorKind, ChannelInfo, ErrorKind, GuildApi, GuildId,
    HistoryRequest, NewChannel, Post, Posted, Reader, WriteBar,
};
use dirigent::{ChannelId, ChatMessage, DiscordApi, MessageId, UserId};

use super::accounts::Account;
use super::event::Event;
use super::events::GatewayEvents;
use super::faults::Fault;
use super::ledger::Call;
use super::outage::Regime;
use super::permissions::Permissions;
use super::room::{Room, kind};
use super::rules::private_for;
use super::shared::SharedWorld;
use super::world::World;

/// The longest name of a channel (resources/channel).
pub(crate) const NAME_CHARS_MAX: usize = 100;

/// One account. It is a [`DiscordApi`] and a [`GuildApi`] with a token. It also has settings for your test, which do
/// not count as requests. Clones are cheap.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::DiscordApi;
/// use dirigent::ports::{Nonce, Post};
/// use dirigent_testkit::{ManualClock, MemoryDiscord};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dirigent::ports::ApiError> {
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let bot = discord.add_bot();
/// let guild = discord.add_guild(discord.add_human());
/// let channel = discord.add_channel(guild, "round-table", &[bot]);
///
/// let post = Post::new(channel, "hello", Nonce::from_parts(channel.get(), 0, 1));
/// let first = discord.account(bot).post(post.clone()).await?;
/// let second = discord.account(bot).post(post).await?;
/// assert_eq!(first.id, second.id);
/// assert!(second.deduplicated);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryAccount {
    world: SharedWorld,
    user: UserId,
}

impl MemoryAccount {
    pub(super) const fn new(world: SharedWorld, user: UserId) -> Self {
        Self { world, user }
    }

    /// Returns the account's id.
    pub const fn user(&self) -> UserId {
        self.user
    }

    /// Returns the events of the channels that this account sees, from now on.
    pub fn events(&self) -> GatewayEvents {
        self.world.lock().subscribe(Some(self.user), false)
    }

    /// Returns all events that Discord's gateway would push to this account from now on. Beside those of its channels,
    /// these are events of its guilds and used commands.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent_testkit::memory_discord::Event;
    /// use dirigent_testkit::{ManualClock, MemoryDiscord};
    ///
    /// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    /// let (bot, newcomer) = (discord.add_bot(), discord.add_human());
    /// let guild = discord.add_guild(bot);
    /// let mut events = discord.account(bot).gateway_events();
    /// discord.guild(guild).add_member(newcomer);
    /// assert_eq!(events.try_next(), Some(Event::GuildMemberAdded { guild, user: newcomer }));
    /// ```
    pub fn gateway_events(&self) -> GatewayEvents {
        self.world.lock().subscribe(Some(self.user), true)
    }

    /// Returns the account's name, if there is such an account.
    pub fn name(&self) -> Option<String> {
        self.world.lock().accounts.get(self.user).map(|account| account.name.to_string())
    }

    /// Changes the account's name. Each account has one from the beginning.
    pub fn set_name(&self, name: impl Into<Arc<str>>) {
        self.change(|account| account.name = name.into());
    }

    /// Takes away a bot's message-content intent, or gives it back. Without it the texts of others' messages are empty,
    /// both pushed and read, unless they mention the bot.
    pub fn set_content_hidden(&self, is_hidden: bool) {
        self.change(|account| account.content_hidden = is_hidden);
    }

    /// Takes away a bot's guild-members intent, or gives it back. Without it the bot cannot list the members of a guild
    /// or a thread through the loopback server, and gets no events of members that join or leave.
    pub fn set_members_hidden(&self, is_hidden: bool) {
        self.change(|account| account.members_hidden = is_hidden);
    }

    /// Lets the account know without a request who may not write in a channel, and why
    /// ([`write_bars`](DiscordApi::write_bars)), like an adapter that follows the gateway. By default it does not know.
    /// Report changes to the driver with [`Dirigent::rights_changed`](dirigent::Dirigent::rights_changed).
    pub fn set_rights_known(&self, is_known: bool) {
        self.change(|account| account.rights_known = is_known);
    }

    /// Makes the account's token invalid, or valid again.
    pub fn set_revoked(&self, is_revoked: bool) {
        self.world.lock().set_revoked(self.user, is_revoked);
    }

    fn change(&self, change: impl FnOnce(&mut Account)) {
        if let Some(account) = self.world.lock().accounts.get_mut(self.user) {
            change(account);
        }
    }

    /// Makes one attempt of a request. A fault may prevent it.
    async fn ask<T, F>(
        &self,
        call: Call,
        channel: Option<ChannelId>,
        apply: F,
    ) -> Result<T, ApiError>
    where
        T: Send,
        F: FnOnce(&mut World, UserId) -> Result<T, ApiError> + Send,
    {
        self.attempt(call, channel, |world, me, fault| {
            match fault.filter(|fault| !fault.is_applied()).and_then(Fault::error) {
                Some(error) => Err(error),
                None => apply(world, me),
            }
        })
        .await
    }

    /// Makes one attempt of a request. `apply` gets the fault, if there is one.
    async fn attempt<T, F>(
        &self,
        call: Call,
        channel: Option<ChannelId>,
        apply: F,
    ) -> Result<T, ApiError>
    where
        T: Send,
        F: FnOnce(&mut World, UserId, Option<Fault>) -> Result<T, ApiError> + Send,
    {
        let hangs = {
            let mut world = self.world.lock();
            world.ledger.count(call);
            world.outages.regime(self.user, call) == Some(Regime::Hanging)
        };
        if hangs {
            self.outlast(call).await;
        }
        let (fault, apply) = {
            let mut world = self.world.lock();
            match world.admit(self.user, call, channel)? {
                None => return apply(&mut world, self.user, None),
                Some(fault) => (fault, apply),
            }
        };
        if let Fault::SlowRequest { by } = fault {
            self.wait(by).await;
        }
        let answer = apply(&mut self.world.lock(), self.user, Some(fault));
        if let Fault::SlowAnswer { by } = fault {
            self.wait(by).await;
        }
        fault.error().map_or(answer, Err)
    }

    /// Waits until no outage makes this request hang.
    async fn outlast(&self, call: Call) {
        loop {
            let lifted = {
                let world = self.world.lock();
                if world.outages.regime(self.user, call) != Some(Regime::Hanging) {
                    return;
                }
                Arc::clone(&world.outages.lifted)
            };
            let mut lifting = std::pin::pin!(lifted.notified());
            lifting.as_mut().enable();
            // The outage may have ended before the wait began.
            let hangs = self.world.lock().outages.regime(self.user, call);
            if hangs == Some(Regime::Hanging) {
                lifting.await;
            }
        }
    }

    async fn wait(&self, by: std::time::Duration) {
        let clock = self.world.clock();
        let due = clock.now() + by;
        clock.sleep_until(due).await;
    }
}

impl fmt::Debug for MemoryAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryAccount").field("user", &self.user).finish_non_exhaustive()
    }
}

#[async_trait]
impl DiscordApi for MemoryAccount {
    fn sent_at(&self, message: MessageId) -> dirigent::ports::Timestamp {
        dirigent::ports::snowflake_time(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        self.ask(Call::Me, None, |_, me| Ok(me)).await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        let channel = Some(post.channel);
        let applied = |world: &mut World, me, fault| {
            if let Some(Fault::LandsLate { by }) = fault {
                let at = world.clock.now() + by;
                world.outages.land_later(at, me, post.clone());
            }
            world.post(me, post, fault)
        };
        self.attempt(Call::Post, channel, applied).await
    }

    fn sends_files(&self) -> bool {
        true
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        self.ask(Call::Delete, Some(channel), |world, me| world.delete(me, channel, message)).await
    }

    async fn delete_of_other(
        &self,
        channel: ChannelId,
        message: MessageId,
    ) -> Result<(), ApiError> {
        self.delete(channel, message).await
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        let channel = Some(request.channel);
        self.ask(Call::History, channel, |world, me| world.history(me, request)).await
    }

    fn write_bars(&self, channel: ChannelId, among: &[UserId]) -> Vec<(UserId, WriteBar)> {
        let world = self.world.lock();
        if !world.accounts.get(self.user).is_some_and(|account| account.rights_known) {
            return Vec::new();
        }
        let bar = |user: &UserId| Some((*user, world.places.write_bar(channel, *user)?));
        among.iter().filter_map(bar).collect()
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        self.ask(Call::Members, Some(channel), move |world, me| {
            world.places.seen(channel, me)?;
            let mut audience = world.places.audience(channel);
            audience.retain(|user| among.contains(user));
            Ok(audience)
        })
        .await
    }

    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        self.ask(Call::File, None, |world, _| {
            let kept = world.files.get(&*file.url).ok_or_else(|| ApiError::new(ErrorKind::Gone))?;
            Ok(kept.iter().take(max).copied().collect())
        })
        .await
    }

    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        self.ask(Call::Typing, Some(channel), |world, me| {
            let (_, rights) = world.places.seen(channel, me)?;
            if !rights.write {
                return Err(ApiError::new(ErrorKind::Forbidden));
            }
            world.publish(Event::TypingStarted { channel, user: me });
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl GuildApi for MemoryAccount {
    async fn guilds(&self) -> Result<Vec<GuildId>, ApiError> {
        self.ask(Call::Guilds, None, |world, me| {
            let guilds = world.places.guilds.iter();
            let joined = guilds.filter(|(_, guild)| guild.members.contains_key(&me));
            Ok(joined.map(|(id, _)| *id).collect())
        })
        .await
    }

    async fn guild_name(&self, guild: GuildId) -> Result<Option<String>, ApiError> {
        self.ask(Call::Guilds, None, |world, me| {
            world.places.joined(guild, me).map(|guild| Some(guild.name.clone()))
        })
        .await
    }

    async fn channel(&self, channel: ChannelId) -> Result<ChannelInfo, ApiError> {
        self.ask(Call::Channel, Some(channel), |world, me| {
            world.places.seen(channel, me).map(|(room, _)| room.info(&world.places))
        })
        .await
    }

    async fn channels(&self, guild: GuildId) -> Result<Vec<ChannelInfo>, ApiError> {
        self.ask(Call::Channels, None, |world, me| {
            let listed = world.places.joined(guild, me)?.channels.iter();
            let rooms = listed.filter_map(|channel| world.places.rooms.get(channel));
            let channels = rooms.filter(|room| !room.is_thread());
            Ok(channels.map(|room| room.info(&world.places)).collect())
        })
        .await
    }

    async fn create_channel(&self, channel: NewChannel) -> Result<ChannelInfo, ApiError> {
        self.ask(Call::CreateChannel, None, |world, me| create_channel(world, me, channel)).await
    }

    async fn delete_channel(&self, channel: ChannelId) -> Result<(), ApiError> {
        self.ask(Call::DeleteChannel, Some(channel), |world, me| {
            check_may_manage(world, me, channel)?;
            world.delete_channel(channel);
            Ok(())
        })
        .await
    }

    async fn set_access(
        &self,
        channel: ChannelId,
        user: UserId,
        access: Access,
    ) -> Result<(), ApiError> {
        self.ask(Call::SetAccess, Some(channel), |world, me| {
            let guild = check_may_manage(world, me, channel)?;
            world.places.joined(guild, user)?;
            match access {
                Access::Full => world.join(channel, user),
                Access::None => world.leave(channel, user),
                _ => return Err(ApiError::new(ErrorKind::Unsupported)),
            };
            Ok(())
        })
        .await
    }

    async fn is_administrator(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError> {
        self.ask(Call::IsAdministrator, None, |world, me| {
            world.places.joined(guild, me)?;
            world.places.joined(guild, user)?;
            Ok(world.places.is_administrator(guild, user))
        })
        .await
    }

    async fn is_bot(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError> {
        self.ask(Call::IsBot, None, |world, me| {
            world.places.joined(guild, me)?;
            world.places.joined(guild, user)?;
            Ok(world.accounts.kind_of(user) == AuthorKind::Bot)
        })
        .await
    }

    async fn readers(
        &self,
        channel: ChannelId,
        known: &[UserId],
    ) -> Result<Option<Vec<Reader>>, ApiError> {
        self.ask(Call::Members, Some(channel), |world, me| {
            let (room, _) = world.places.seen(channel, me)?;
            if room.guild.is_none() || room.is_private_thread() {
                return Ok(None);
            }
            let mut readers: Vec<_> = world.places.roles_that_see(channel);
            let people = world.places.added_to(channel).into_iter();
            for user in people.filter(|user| !known.contains(user)) {
                let name = world.accounts.get(user).map(|account| account.name.to_string());
                readers.push(Reader { user: Some(user), name: name.unwrap_or_default() });
            }
            Ok(Some(readers))
        })
        .await
    }

    async fn can_see(&self, channel: ChannelId, user: UserId) -> Result<bool, ApiError> {
        self.ask(Call::CanSee, Some(channel), |world, me| {
            world.places.seen(channel, me)?;
            Ok(world.places.rights(channel, user).is_some())
        })
        .await
    }
}

/// Creates a private channel for the acting account and the named ones.
fn create_channel(
    world: &mut World,
    me: UserId,
    channel: NewChannel,
) -> Result<ChannelInfo, ApiError> {
    let guild = world.places.joined(channel.guild, me)?;
    if !may_manage(world, channel.guild, me) {
        return Err(ApiError::new(ErrorKind::Forbidden));
    }
    let length = channel.name.chars().count();
    let all_inside = channel.members.iter().all(|user| guild.members.contains_key(user));
    if !(1..=NAME_CHARS_MAX).contains(&length) || !all_inside {
        return Err(ApiError::new(ErrorKind::Invalid));
    }
    let everybody: BTreeSet<UserId> = channel.members.into_iter().chain([me]).collect();
    let id = ChannelId::new(world.next_id());
    let mut room = Room::new(id, Some(channel.guild), kind::TEXT, channel.name);
    room.overwrites = private_for(channel.guild, everybody);
    let info = room.info(&world.places);
    world.add_room(room);
    Ok(info)
}

fn may_manage(world: &World, guild: GuildId, user: UserId) -> bool {
    world.places.in_guild(guild, user).contains(Permissions::MANAGE_CHANNELS)
}

/// Returns the guild of a channel that the account sees and may change.
fn check_may_manage(world: &World, me: UserId, channel: ChannelId) -> Result<GuildId, ApiError> {
    let (room, _) = world.places.seen(channel, me)?;
    let guild = room.guild.ok_or(ApiError::new(ErrorKind::Forbidden))?;
    if may_manage(world, guild, me) { Ok(guild) } else { Err(ApiError::new(ErrorKind::Forbidden)) }
}
