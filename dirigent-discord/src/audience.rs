//! The accounts that see a channel.

use std::collections::{HashMap, HashSet};

use dirigent::ports::{ApiError, ErrorKind};
use dirigent::{ChannelId, UserId};
use twilight_http::routing::Route;

use crate::guild_cache::Visibility;
use crate::permission::GuildRules;
use crate::route::Ask;
use crate::wire::{PRIVATE_THREAD, is_thread};
use crate::{DiscordAccount, RestError, wire};

const THREAD_PAGE: u32 = 100;

/// The members on a page of a guild. Discord's default is one.
const GUILD_PAGE: u16 = 1_000;

/// The most accounts to ask for one by one. Beyond that, reading the list of all members is faster.
const ASKED_SINGLY_MAX: usize = 64;

/// Discord's codes for a channel and a guild that it does not show.
const UNKNOWN_PLACES: [u64; 2] = [10_003, 10_004];

/// A read of members for the guild cache. Its end is always reported, even if it is dropped.
struct Learning<'a> {
    account: &'a DiscordAccount,
    guild: u64,
}

impl<'a> Learning<'a> {
    fn begin(account: &'a DiscordAccount, guild: u64) -> Self {
        account.guild_cache.begin_reading(guild);
        Self { account, guild }
    }

    fn learn(&self, user: UserId, member: Option<&wire::Member>) {
        let now = self.account.clock().now();
        self.account.guild_cache.install_member(self.guild, user, member, now);
    }
}

impl Drop for Learning<'_> {
    fn drop(&mut self) {
        self.account.guild_cache.end_reading(self.guild);
    }
}

impl DiscordAccount {
    /// Returns those of the accounts that see the channel. Whoever sees the parent sees a thread. A private
    /// thread is only for those of them who were added to it or manage its threads.
    ///
    /// Data that the gateway keeps current is not requested. The rest is requested one account at a time,
    /// which needs no intent. For more than [`ASKED_SINGLY_MAX`] accounts the whole list is read, which needs
    /// one.
    pub(crate) async fn audience(
        &self,
        channel: ChannelId,
        among: &[UserId],
    ) -> Result<Vec<UserId>, ApiError> {
        // First the members, then those of the thread, and then the answer is known.
        for _ in 0..3 {
            match self.guild_cache.visibility(channel, among, self.clock().now()) {
                Visibility::Known(people) => return Ok(people),
                Visibility::WithMembers(guild, unknown) => {
                    self.learn_members(guild, &unknown).await?;
                }
                Visibility::WithThread(unknown) => self.learn_thread(channel, &unknown).await?,
                Visibility::Unknown => break,
            }
        }
        self.ask_audience(channel, among).await
    }

    async fn learn_members(&self, guild: u64, users: &[UserId]) -> Result<(), ApiError> {
        // One channel of a guild asks at a time, and the others find the answers in the guild cache.
        let _one_at_a_time = self.unfinished.members.resume(guild).await;
        let learning = Learning::begin(self, guild);
        let is_unknown =
            |user: &UserId| !self.guild_cache.knows_member(guild, *user, self.clock().now());
        if users.len() > ASKED_SINGLY_MAX && users.iter().any(is_unknown) {
            let members = self.guild_members(guild).await?;
            let members: HashMap<_, _> =
                members.iter().map(|member| (member.user(), member)).collect();
            for user in users {
                learning.learn(*user, members.get(user).copied());
            }
            return Ok(());
        }
        for user in users.iter().copied() {
            if is_unknown(&user) {
                learning.learn(user, self.member_if_any(guild, user).await?.as_ref());
            }
        }
        Ok(())
    }

    async fn learn_thread(&self, thread: ChannelId, users: &[UserId]) -> Result<(), ApiError> {
        let added = self.added_to_thread(thread.get(), users).await?;
        let users = users.iter().map(|user| (*user, added.contains(user)));
        self.guild_cache.install_thread(thread, users, self.clock().now());
        Ok(())
    }

    /// Returns the audience from requests alone, without the cache.
    async fn ask_audience(
        &self,
        channel: ChannelId,
        among: &[UserId],
    ) -> Result<Vec<UserId>, ApiError> {
        let asked = self.wire_channel(channel.get()).await?;
        let Some(guild) = asked.guild_id else {
            let recipients = asked.recipients.unwrap_or_default().into_iter();
            let mut people: HashSet<UserId> = recipients.map(|user| user.id.user()).collect();
            people.insert(self.known_me().await?);
            return Ok(among.iter().copied().filter(|user| people.contains(user)).collect());
        };
        let added = match asked.kind {
            PRIVATE_THREAD => Some(self.added_to_thread(asked.id.0, among).await?),
            _ => None,
        };
        let overwrites = self.overwritten(asked).await?.overwrites();
        let rules = self.rules(guild.0).await?;
        let members = self.members_among(guild.0, among).await?;
        let now = self.clock().now();
        let members: Vec<_> = members.iter().map(|member| member.read(now)).collect();
        Ok(rules.audience(&overwrites, added.as_ref(), &members))
    }

    async fn members_among(
        &self,
        guild: u64,
        among: &[UserId],
    ) -> Result<Vec<wire::Member>, ApiError> {
        if among.len() > ASKED_SINGLY_MAX {
            let among: HashSet<_> = among.iter().copied().collect();
            let mut members = self.guild_members(guild).await?;
            members.retain(|member| among.contains(&member.user()));
            return Ok(members);
        }
        let mut reading = self.unfinished.members.resume(guild).await;
        for user in among {
            if !reading.at(self.clock().now()).contains_key(user) {
                let member = self.member_if_any(guild, *user).await?;
                reading.at(self.clock().now()).insert(*user, member);
            }
        }
        let mut asked = reading.finish();
        Ok(among.iter().filter_map(|user| asked.remove(user).flatten()).collect())
    }

    async fn added_to_thread(
        &self,
        thread: u64,
        among: &[UserId],
    ) -> Result<HashSet<UserId>, ApiError> {
        if among.len() > ASKED_SINGLY_MAX {
            return self.thread_members(thread).await;
        }
        let mut reading = self.unfinished.threads.resume(thread).await;
        for user in among {
            if !reading.at(self.clock().now()).contains_key(user) {
                let added = self.is_added(thread, *user).await?;
                reading.at(self.clock().now()).insert(*user, added);
            }
        }
        let asked = reading.finish();
        Ok(among.iter().copied().filter(|user| asked.get(user) == Some(&true)).collect())
    }

    async fn member_if_any(
        &self,
        guild: u64,
        user: UserId,
    ) -> Result<Option<wire::Member>, ApiError> {
        match self.member(guild, user).await {
            Ok(member) => Ok(Some(member)),
            Err(error) if is_account_unknown(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn is_added(&self, channel_id: u64, user: UserId) -> Result<bool, ApiError> {
        let route = Route::GetThreadMember { channel_id, user_id: user.get() };
        match self.ask(Ask::bare("get thread member", channel_id, &route)).await {
            Ok(_) => Ok(true),
            Err(error) if is_account_unknown(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the bots of the roles that Discord manages in a channel's guild. The map is empty if the guild
    /// cannot be read.
    pub(crate) async fn bots_by_role(&self, channel: ChannelId) -> HashMap<u64, UserId> {
        let asked = self.wire_channel(channel.get()).await.ok();
        let Some(guild) = asked.and_then(|channel| channel.guild_id) else {
            return HashMap::new();
        };
        self.rules(guild.0).await.map(|rules| rules.bots).unwrap_or_default()
    }

    pub(crate) async fn wire_channel(&self, channel_id: u64) -> Result<wire::Channel, ApiError> {
        let route = Route::GetChannel { channel_id };
        self.read(Ask::bare("get channel", channel_id, &route)).await
    }

    /// Returns the channel with the overwrites, which for a thread is its parent.
    pub(crate) async fn overwritten(
        &self,
        channel: wire::Channel,
    ) -> Result<wire::Channel, ApiError> {
        match channel.parent_id {
            Some(parent) if is_thread(channel.kind) => self.wire_channel(parent.0).await,
            Some(_) | None => Ok(channel),
        }
    }

    /// Returns a guild's owner and roles. Every account may read those of its own guilds, so a refusal means
    /// that it is not in the guild.
    pub(crate) async fn rules(&self, guild_id: u64) -> Result<GuildRules, ApiError> {
        self.wire_guild(guild_id).await.map(|guild| guild.rules())
    }

    pub(crate) async fn wire_guild(&self, guild_id: u64) -> Result<wire::Guild, ApiError> {
        let route = Route::GetGuild { guild_id, with_counts: false };
        self.read(Ask::bare("get guild", guild_id, &route)).await.map_err(not_in_guild)
    }

    /// Reads all members of a guild. It needs the members intent; without it Discord forbids this. A guild
    /// of many pages does not fit into the limits of one call. If you repeat the call, it goes on where it
    /// stopped, however long the list is.
    async fn guild_members(&self, guild: u64) -> Result<Vec<wire::Member>, ApiError> {
        let mut reading = self.unfinished.lists.resume(guild).await;
        loop {
            let after = reading.at(self.clock().now()).after;
            let route = Route::GetGuildMembers { guild_id: guild, after, limit: Some(GUILD_PAGE) };
            let ask = Ask::bare("list guild members", guild, &route);
            let page: Vec<wire::Member> = self.read(ask).await?;
            let is_last = page.len() < usize::from(GUILD_PAGE);
            let highest = page.iter().map(|member| member.user().get()).max();
            let pages = reading.at(self.clock().now());
            pages.members.extend(page);
            if is_last {
                return Ok(reading.finish().members);
            }
            if highest <= after {
                // A page that leads nowhere would be read for ever.
                drop(reading.finish());
                return Err(RestError::Unreadable.report());
            }
            pages.after = highest;
        }
    }

    async fn thread_members(&self, channel_id: u64) -> Result<HashSet<UserId>, ApiError> {
        let mut added = HashSet::new();
        let mut after = None;
        loop {
            let limit = Some(THREAD_PAGE);
            let route =
                Route::GetThreadMembers { after, channel_id, limit, with_member: Some(true) };
            let page: Vec<wire::ThreadMember> =
                self.read(Ask::bare("list thread members", channel_id, &route)).await?;
            let ids = page.iter().filter_map(|member| member.user_id);
            added.extend(ids.clone().map(wire::Number::user));
            let highest = ids.map(|id| id.0).max();
            if page.len() < THREAD_PAGE as usize {
                return Ok(added);
            }
            if highest <= after {
                return Err(RestError::Unreadable.report());
            }
            after = highest;
        }
    }
}

/// Returns true if Discord does not know the account, rather than the guild or the thread.
fn is_account_unknown(error: &ApiError) -> bool {
    let code = error.post_failure().code;
    error.kind() == ErrorKind::Gone && !code.is_some_and(|code| UNKNOWN_PLACES.contains(&code))
}

/// Reports a forbidden guild as gone, because Discord forbids foreign guilds.
pub(crate) fn not_in_guild(error: ApiError) -> ApiError {
    if error.kind() != ErrorKind::Forbidden {
        return error;
    }
    let gone = ApiError::new(ErrorKind::Gone);
    RestError::of(&error).into_iter().fold(gone, ApiError::with_source)
}
