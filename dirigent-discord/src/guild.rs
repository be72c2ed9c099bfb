//! The account as a [`GuildApi`](dirigent::ports::GuildApi).

use async_trait::async_trait;
use dirigent::ports::{
    Access, ApiError, ChannelInfo, ChannelKind, ErrorKind, GuildApi, GuildId, NewChannel, Reader,
};
use dirigent::{ChannelId, DiscordApi as _, UserId};
use serde_json::{Value, json};
use twilight_http::routing::Route;
use twilight_model::guild::Permissions;

use crate::audience::not_in_guild;
use crate::permission::{GuildRules, Member, Target};
use crate::persona::table::is_persona;
use crate::route::Ask;
use crate::wire::{PRIVATE_THREAD, is_thread};
use crate::{DiscordAccount, RestError, wire};

const NAME_CHARS_MAX: usize = 100;

/// The most overwrites of a channel, which limits the members besides everyone and this account.
const OVERWRITES_MAX: usize = 100;

/// The most members to request a name for. The others are shown by id.
const NAMES_MAX: usize = 20;

const GUILD_PAGE: u16 = 200;

/// The permissions of a participant.
const FULL: Permissions = Permissions::VIEW_CHANNEL
    .union(Permissions::SEND_MESSAGES)
    .union(Permissions::READ_MESSAGE_HISTORY);

/// The number of a role among the kinds of overwrites.
const ROLE: u8 = 0;

/// The number of a member among the kinds of overwrites.
const MEMBER: u8 = 1;

/// Returns the overwrite for a role or a member. Without an id it is for the one in the route.
fn overwrite(id: Option<u64>, kind: u8, allow: Permissions, deny: Permissions) -> Value {
    let (allow, deny) = (allow.bits().to_string(), deny.bits().to_string());
    let mut body = json!({ "type": kind, "allow": allow, "deny": deny });
    if let (Some(id), Some(fields)) = (id, body.as_object_mut()) {
        fields.insert("id".to_owned(), id.to_string().into());
    }
    body
}

#[async_trait]
impl GuildApi for DiscordAccount {
    async fn guilds(&self) -> Result<Vec<GuildId>, ApiError> {
        let mut guilds: Vec<GuildId> = Vec::new();
        let mut after = None;
        loop {
            let limit = Some(GUILD_PAGE);
            let route = Route::GetGuilds { after, before: None, limit, shard: None };
            let page: Vec<wire::WithId> =
                self.read(Ask::bare("get current user guilds", 0, &route)).await?;
            guilds.extend(page.iter().map(|guild| GuildId::new(guild.id.0)));
            let highest = page.iter().map(|guild| guild.id.0).max();
            if page.len() < usize::from(GUILD_PAGE) {
                return Ok(guilds);
            }
            if highest <= after {
                return Err(RestError::Unreadable.report());
            }
            after = highest;
        }
    }

    async fn guild_name(&self, guild: GuildId) -> Result<Option<String>, ApiError> {
        Ok(self.wire_guild(guild.get()).await?.name)
    }

    async fn channel(&self, channel: ChannelId) -> Result<ChannelInfo, ApiError> {
        let asked = self.wire_channel(channel.get()).await?;
        let Some(guild) = asked.guild_id else {
            return Ok(info(&asked, None, true));
        };
        let rules = self.rules(guild.0).await?;
        let decisive = self.overwritten(asked.clone()).await?;
        let is_private = is_private(&asked, &decisive, &rules);
        Ok(info(&asked, Some(guild.0), is_private))
    }

    async fn channels(&self, guild: GuildId) -> Result<Vec<ChannelInfo>, ApiError> {
        let guild_id = guild.get();
        let rules = self.rules(guild_id).await?;
        let route = Route::GetChannels { guild_id };
        let channels: Vec<wire::Channel> =
            self.read(Ask::bare("get guild channels", guild_id, &route)).await?;
        let channels = channels.iter().filter(|channel| !is_thread(channel.kind));
        Ok(channels
            .map(|channel| info(channel, Some(guild_id), is_private(channel, channel, &rules)))
            .collect())
    }

    /// Hides the channel from everyone, and shows it to this account and the members.
    async fn create_channel(&self, channel: NewChannel) -> Result<ChannelInfo, ApiError> {
        let NewChannel { guild, name, mut members } = channel;
        // A persona has no account to let in. Its webhook is created there later.
        members.retain(|member| !is_persona(*member));
        members.sort_unstable();
        members.dedup();
        let length = name.chars().count();
        if !(1..=NAME_CHARS_MAX).contains(&length) || members.len() + 2 > OVERWRITES_MAX {
            return Err(RestError::NotAcceptable.report());
        }
        let me = self.known_me().await?;
        members.retain(|member| *member != me);
        let guild_id = guild.get();
        let nothing = Permissions::empty();
        let everyone = overwrite(Some(guild_id), ROLE, nothing, Permissions::VIEW_CHANNEL);
        let invited = std::iter::once(me).chain(members);
        let invited = invited.map(|user| overwrite(Some(user.get()), MEMBER, FULL, nothing));
        let overwrites: Vec<_> = std::iter::once(everyone).chain(invited).collect();
        let body = json!({ "name": name, "type": 0, "permission_overwrites": overwrites });
        let route = Route::CreateChannel { guild_id };
        let reason = Some("Dirigent: a channel was asked for");
        let ask = Ask::with_body("create guild channel", guild_id, &route, &body, reason)?;
        let created: wire::Channel = self.read(ask).await?;
        Ok(info(&created, Some(guild_id), true))
    }

    async fn delete_channel(&self, channel: ChannelId) -> Result<(), ApiError> {
        let channel_id = channel.get();
        let route = Route::DeleteChannel { channel_id };
        let reason = "Dirigent: the channel is no longer needed";
        let ask = Ask::because("delete channel", channel_id, &route, reason)?;
        self.ask(ask).await.map(drop)
    }

    /// Taking access also denies sight, so that a role cannot give it either.
    async fn set_access(
        &self,
        channel: ChannelId,
        user: UserId,
        access: Access,
    ) -> Result<(), ApiError> {
        let (allow, deny) = match access {
            Access::Full => (FULL, Permissions::empty()),
            Access::None => (Permissions::empty(), Permissions::VIEW_CHANNEL),
            _ => return Err(ApiError::new(ErrorKind::Unsupported)),
        };
        if self.personas.name(user).is_some() {
            let full = (access == Access::Full).then_some(());
            return full.ok_or_else(|| ApiError::new(ErrorKind::Unsupported));
        }
        let channel_id = channel.get();
        let asked = self.wire_channel(channel_id).await?;
        // Threads have no overwrites of their own, and direct messages have none at all.
        let guild = asked.guild_id.filter(|_| !is_thread(asked.kind));
        let guild = guild.ok_or_else(|| RestError::NotAcceptable.report())?;
        // Discord would accept an overwrite for any account, but only a member can gain access.
        self.member(guild.0, user).await?;
        let body = overwrite(None, MEMBER, allow, deny);
        let route = Route::UpdatePermissionOverwrite { channel_id, target_id: user.get() };
        let reason = Some("Dirigent: who takes part has changed");
        let ask = Ask::with_body("edit channel permissions", channel_id, &route, &body, reason)?;
        self.ask(ask).await.map(drop)
    }

    async fn is_administrator(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError> {
        if self.personas.name(user).is_some() {
            return Ok(false);
        }
        let rules = self.rules(guild.get()).await?;
        let member = self.member(guild.get(), user).await?;
        Ok(rules.is_administrator(&member.read(self.clock().now())))
    }

    async fn is_bot(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError> {
        let member = self.member(guild.get(), user).await;
        member.map(|member| member.is_bot()).map_err(not_in_guild)
    }

    async fn readers(
        &self,
        channel: ChannelId,
        known: &[UserId],
    ) -> Result<Option<Vec<Reader>>, ApiError> {
        let asked = self.wire_channel(channel.get()).await?;
        // Roles do not decide who was added to a private thread.
        let guild_id = asked.guild_id.filter(|_| asked.kind != PRIVATE_THREAD);
        let Some(wire::Number(guild_id)) = guild_id else { return Ok(None) };
        let overwrites = self.overwritten(asked).await?.overwrites();
        let guild = self.wire_guild(guild_id).await?;
        let rules = guild.rules();
        let sees = |role: &wire::Role| {
            let held = Member { user: UserId::new(0), roles: vec![role.id.0], timed_out: false };
            rules.in_channel(&overwrites, &held).contains(Permissions::VIEW_CHANNEL)
        };
        let is_new = |user: &UserId| !known.contains(user);
        let told = guild.roles.into_iter().filter(|role| role.id.0 != guild_id && sees(role));
        let told = told.map(|role| Reader { user: role.bot(), name: role.name });
        let mut readers: Vec<_> = told.filter(|it| it.user.as_ref().is_none_or(is_new)).collect();
        let added = overwrites.iter().filter(|it| it.allow.contains(Permissions::VIEW_CHANNEL));
        let added = added.filter_map(|overwrite| match overwrite.target {
            Target::Member(user) if user != rules.owner => Some(user),
            Target::Member(_) | Target::Role(_) => None,
        });
        let bots: Vec<_> = readers.iter().filter_map(|reader| reader.user).collect();
        let people = std::iter::once(rules.owner).chain(added).filter(is_new);
        for (at, user) in people.filter(|user| !bots.contains(user)).enumerate() {
            let asked = match at {
                0..NAMES_MAX => self.member(guild_id, user).await.map(wire::Member::into_name),
                _ => Ok(None),
            };
            match asked {
                Ok(name) => {
                    let name = name.unwrap_or_else(|| user.to_string());
                    readers.push(Reader { user: Some(user), name });
                }
                // It has left the guild.
                Err(error) if error.kind() == ErrorKind::Gone => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(readers))
    }

    async fn can_see(&self, channel: ChannelId, user: UserId) -> Result<bool, ApiError> {
        Ok(self.members(channel, vec![user]).await?.contains(&user))
    }
}

impl DiscordAccount {
    pub(crate) async fn member(
        &self,
        guild_id: u64,
        user: UserId,
    ) -> Result<wire::Member, ApiError> {
        let route = Route::GetMember { guild_id, user_id: user.get() };
        self.read(Ask::bare("get guild member", guild_id, &route)).await
    }
}

/// Returns true if everyone cannot see the channel, because of its own overwrites or its parent's, or
/// because it is a private thread.
fn is_private(channel: &wire::Channel, decisive: &wire::Channel, rules: &GuildRules) -> bool {
    channel.kind == PRIVATE_THREAD || !rules.is_open(&decisive.overwrites())
}

fn info(channel: &wire::Channel, guild: Option<u64>, private: bool) -> ChannelInfo {
    let parent = channel.parent_id.filter(|_| is_thread(channel.kind));
    ChannelInfo {
        id: ChannelId::new(channel.id.0),
        guild: guild.map(GuildId::new),
        parent: parent.map(|parent| ChannelId::new(parent.0)),
        kind: match channel.kind {
            0 => ChannelKind::Text,
            5 => ChannelKind::Announcement,
            1 | 3 => ChannelKind::Direct,
            kind if is_thread(kind) => ChannelKind::Thread,
            _ => ChannelKind::Other,
        },
        name: channel.name.clone().unwrap_or_default(),
        topic: channel.topic.clone().filter(|topic| !topic.is_empty()),
        private,
    }
}
