//! Who can see a channel.

use std::collections::HashSet;

use dirigent::{ApiError, ChannelId, ErrorKind, UserId};
use twilight_http::routing::Route;

use crate::permission::GuildRules;
use crate::picture::Sight;
use crate::route::Ask;
use crate::{DiscordAccount, RestError, wire};

/// How many members of a thread a page has.
const THREAD_PAGE: u32 = 100;

/// The number of a private thread among the kinds of channels.
pub(crate) const PRIVATE_THREAD: u8 = 12;

/// Whether a channel of this kind hangs from another one.
pub(crate) const fn is_thread(kind: u8) -> bool {
    matches!(kind, 10 | 11 | PRIVATE_THREAD)
}

/// A read of a guild's members for the picture. However it ends, that is told.
struct Learning<'a> {
    account: &'a DiscordAccount,
    guild: u64,
    members: Option<Vec<wire::Member>>,
}

impl Drop for Learning<'_> {
    fn drop(&mut self) {
        let now = self.account.clock().now();
        self.account.picture.end_reading(self.guild, self.members.as_deref(), now);
    }
}

impl DiscordAccount {
    /// Everybody who sees the channel. A thread is seen by those who see its parent; a
    /// private one only by those of them who were added to it or keep its threads.
    ///
    /// What the gateway keeps true is not asked for.
    pub(crate) async fn audience(&self, channel: ChannelId) -> Result<Vec<UserId>, ApiError> {
        // The members, then those of the thread, then it is known.
        for _ in 0..3 {
            match self.picture.sight(channel, self.clock().now()) {
                Sight::Known(people) => return Ok(people),
                Sight::WithMembersOf(guild) => self.learn_members(guild).await?,
                Sight::WithThread => {
                    let added = self.thread_members(channel.get()).await?;
                    self.picture.install_thread(channel, added, self.clock().now());
                }
                Sight::Unknown => break,
            }
        }
        self.ask_audience(channel).await
    }

    async fn learn_members(&self, guild: u64) -> Result<(), ApiError> {
        let mut learning = Learning { account: self, guild, members: None };
        self.picture.begin_reading(guild);
        learning.members = Some(self.guild_members(guild).await?);
        Ok(())
    }

    /// The same, with nothing known before.
    async fn ask_audience(&self, channel: ChannelId) -> Result<Vec<UserId>, ApiError> {
        let asked = self.wire_channel(channel.get()).await?;
        let Some(guild) = asked.guild_id else {
            let recipients = asked.recipients.unwrap_or_default().into_iter();
            let mut people: Vec<UserId> = recipients.map(|user| user.id.user()).collect();
            let me = self.known_me().await?;
            if !people.contains(&me) {
                people.push(me);
            }
            return Ok(people);
        };
        let added = match asked.kind {
            PRIVATE_THREAD => Some(self.thread_members(asked.id.0).await?),
            _ => None,
        };
        let overwrites = self.overwritten(asked).await?.overwrites();
        let rules = self.rules(guild.0).await?;
        let members = self.guild_members(guild.0).await?;
        let now = self.clock().now();
        let members: Vec<_> = members.iter().map(|member| member.read(now)).collect();
        Ok(rules.audience(&overwrites, added.as_ref(), &members))
    }

    /// Whether one account sees the channel. It takes no list of the guild's members, which needs an
    /// intent.
    pub(crate) async fn is_in_audience(
        &self,
        channel: ChannelId,
        user: UserId,
    ) -> Result<bool, ApiError> {
        if let Sight::Known(people) = self.picture.sight(channel, self.clock().now()) {
            return Ok(people.contains(&user));
        }
        let asked = self.wire_channel(channel.get()).await?;
        let Some(guild) = asked.guild_id else {
            let recipients = asked.recipients.unwrap_or_default();
            let is_recipient = recipients.iter().any(|recipient| recipient.id.user() == user);
            return Ok(is_recipient || self.known_me().await? == user);
        };
        let added = match asked.kind {
            PRIVATE_THREAD => Some(self.thread_members(asked.id.0).await?),
            _ => None,
        };
        let overwrites = self.overwritten(asked).await?.overwrites();
        let rules = self.rules(guild.0).await?;
        match self.member(guild.0, user).await {
            Ok(member) => {
                let member = [member.read(self.clock().now())];
                Ok(!rules.audience(&overwrites, added.as_ref(), &member).is_empty())
            }
            Err(error) if error.kind() == ErrorKind::Gone => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn wire_channel(&self, channel_id: u64) -> Result<wire::Channel, ApiError> {
        let route = Route::GetChannel { channel_id };
        self.read(Ask::bare("get channel", channel_id, &route)).await
    }

    /// The channel whose overwrites count: a thread's are its parent's.
    pub(crate) async fn overwritten(
        &self,
        channel: wire::Channel,
    ) -> Result<wire::Channel, ApiError> {
        match channel.parent_id {
            Some(parent) if is_thread(channel.kind) => self.wire_channel(parent.0).await,
            Some(_) | None => Ok(channel),
        }
    }

    /// A guild's owner and roles. Every account may read those of its own guilds: who may not, is not
    /// in the guild.
    pub(crate) async fn rules(&self, guild_id: u64) -> Result<GuildRules, ApiError> {
        let route = Route::GetGuild { guild_id, with_counts: false };
        let asked = self.read::<wire::Guild>(Ask::bare("get guild", guild_id, &route)).await;
        asked.map(|guild| guild.rules()).map_err(not_in_guild)
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

/// Discord forbids foreign guilds; to the caller they do not exist.
pub(crate) fn not_in_guild(error: ApiError) -> ApiError {
    if error.kind() != ErrorKind::Forbidden {
        return error;
    }
    let gone = ApiError::new(ErrorKind::Gone);
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref());
    match cause {
        Some(cause) => gone.with_source(RestError::clone(cause)),
        None => gone,
    }
}
