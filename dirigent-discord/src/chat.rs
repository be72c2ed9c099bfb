//! The account as a [`DiscordApi`](dirigent::DiscordApi).

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use dirigent::ports::{
    self, ApiError, Attachment, ErrorKind, HistoryRequest, Mentions, Post, Posted, Timestamp,
    WriteBar, snowflake_time,
};
use dirigent::{ChannelId, ChatMessage, DiscordApi, MessageId, UserId};
use serde::Serialize;
use twilight_http::routing::Route;
use twilight_model::channel::message::Embed;
use twilight_model::guild::Permissions;

use crate::embed::discord_embed;
use crate::guild_cache::{ROLE, with_bots};
use crate::message::read_message;
use crate::persona::Persona;
use crate::persona::table::{Personas, is_persona};
use crate::route::Ask;
use crate::wire::is_short;
use crate::{DiscordAccount, NeededPermission, RestError, wire};

pub(crate) const PAGE_MAX: u8 = 100;

/// The body of a post, or of a change of it. It is not written by twilight's builder, because that knows no
/// `enforce_nonce`. Without it a post with a lost answer would be made twice.
#[derive(Serialize)]
pub(crate) struct PostBody<'a> {
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    embeds: Vec<Embed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    enforce_nonce: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar_url: Option<&'a str>,
    allowed_mentions: AllowedMentions,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_reference: Option<MessageReference>,
}

#[derive(Serialize)]
struct AllowedMentions {
    parse: Vec<&'static str>,
    users: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    roles: Vec<String>,
    replied_user: bool,
}

#[derive(Serialize)]
struct MessageReference {
    message_id: String,
    fail_if_not_exists: bool,
}

fn allowed(mentions: &Mentions) -> AllowedMentions {
    let chosen = match mentions {
        Mentions::User(user) => ports::AllowedMentions { users: vec![*user], ..Default::default() },
        Mentions::Allowed(chosen) => ports::AllowedMentions::clone(chosen),
        Mentions::None | _ => ports::AllowedMentions::default(),
    };
    AllowedMentions {
        parse: if chosen.everyone { vec!["everyone"] } else { Vec::new() },
        users: each_once(&accounts(&chosen.users)),
        roles: each_once(&chosen.roles),
        replied_user: chosen.replied_user,
    }
}

/// Returns each id once, because Discord refuses a list that names one twice.
fn each_once<T: Copy + Ord + ToString>(ids: &[T]) -> Vec<String> {
    let ids: BTreeSet<T> = ids.iter().copied().collect();
    ids.iter().map(T::to_string).collect()
}

/// Returns the accounts that Discord knows, without personas.
fn accounts(users: &[UserId]) -> Vec<UserId> {
    users.iter().copied().filter(|user| !is_persona(*user)).collect()
}

impl<'a> PostBody<'a> {
    /// Fails if Discord would not accept the text and the embeds.
    fn bare(post: &'a Post, personas: &Personas) -> Result<Self, ApiError> {
        let is_bare = post.embeds.is_empty() && post.files.is_empty();
        let shows_nothing = is_bare && post.content.trim().is_empty();
        let embeds: Option<Vec<_>> = post.embeds.iter().map(discord_embed).collect();
        let embeds = embeds.filter(|_| is_short(&post.content) && !shows_nothing);
        Ok(Self {
            content: personas.posted(&post.content),
            embeds: embeds.ok_or_else(|| RestError::NotAcceptable.report())?,
            allowed_mentions: allowed(&post.mentions),
            nonce: None,
            enforce_nonce: false,
            message_reference: None,
            username: None,
            avatar_url: None,
        })
    }

    /// Creates the body of a post by this account.
    fn own(post: &'a Post, personas: &Personas) -> Result<Self, ApiError> {
        let reference = |id: MessageId| MessageReference {
            message_id: id.get().to_string(),
            fail_if_not_exists: false,
        };
        Ok(Self {
            nonce: Some(post.nonce.as_str()),
            enforce_nonce: true,
            message_reference: post.reply_to.map(reference),
            ..Self::bare(post, personas)?
        })
    }

    /// Creates the body of a post by a persona's webhook, or of a change of it.
    pub(crate) fn of_webhook(
        post: &'a Post,
        personas: &Personas,
        persona: Option<&'a Persona>,
    ) -> Result<Self, ApiError> {
        Ok(Self {
            username: persona.map(Persona::name),
            avatar_url: persona.and_then(Persona::picture),
            ..Self::bare(post, personas)?
        })
    }
}

/// Makes an error permanent if files were too large for Discord or its proxy, because they would be refused again.
pub(crate) fn for_its_size(error: ApiError) -> ApiError {
    match RestError::of(&error) {
        Some(cause @ RestError::Refused { status: 413, .. }) => {
            ApiError::new(ErrorKind::Invalid).with_source(cause)
        }
        _ => error,
    }
}

#[async_trait]
impl DiscordApi for DiscordAccount {
    fn sent_at(&self, message: MessageId) -> Timestamp {
        snowflake_time(message)
    }

    async fn me(&self) -> Result<UserId, ApiError> {
        self.ask_me().await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        let body = PostBody::own(&post, &self.personas)?;
        let channel_id = post.channel.get();
        let route = Route::CreateMessage { channel_id };
        let ask = Ask::posting("create message", channel_id, &route, &body, &post.files, true)?;
        let posted = self.read::<wire::WithId>(ask).await;
        let posted =
            posted.map_err(|error| if post.files.is_empty() { error } else { for_its_size(error) });
        let id = MessageId::new(posted?.id.0);
        Ok(Posted { id, deduplicated: self.was_posted(id) })
    }

    fn sends_files(&self) -> bool {
        true
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        let (channel_id, message_id) = (channel.get(), message.get());
        let route = Route::DeleteMessage { channel_id, message_id };
        self.ask(Ask::bare("delete message", channel_id, &route)).await.map(drop)
    }

    async fn delete_of_other(
        &self,
        channel: ChannelId,
        message: MessageId,
    ) -> Result<(), ApiError> {
        self.delete(channel, message).await
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        if !(1..=PAGE_MAX).contains(&request.limit) {
            return Err(RestError::NotAcceptable.report());
        }
        if self.reads_history(request.channel) == Some(false) {
            // Discord would show an empty one.
            return Err(RestError::Lacks(NeededPermission::ReadMessageHistory).report());
        }
        self.authors_known(request.channel).await?;
        let channel_id = request.channel.get();
        let route = Route::GetMessages {
            channel_id,
            after: request.after.map(MessageId::get),
            around: None,
            before: None,
            limit: Some(u16::from(request.limit)),
        };
        let page: Vec<wire::Message> =
            self.read(Ask::bare("get messages", channel_id, &route)).await?;
        let read: Vec<_> = page.into_iter().filter_map(read_message).collect();
        let names_role = read.iter().any(|message| message.content.contains(ROLE));
        // After a start the history is read before the gateway has sent the guilds.
        let bots = if names_role && !self.guild_cache.knows_roles(request.channel) {
            self.bots_by_role(request.channel).await
        } else {
            HashMap::new()
        };
        let named = |message| if bots.is_empty() { message } else { with_bots(message, &bots) };
        Ok(read.into_iter().map(|message| self.told(named(message))).collect())
    }

    /// Known only while a [`Feed`](crate::Feed) covers the channel.
    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        let wanted = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
        self.guild_cache.may(channel, wanted, self.clock().now())
    }

    /// Known only while a [`Feed`](crate::Feed) covers the channel. What was requested about accounts is valid for an
    /// hour with the Server Members Intent, and otherwise for a minute.
    fn write_bars(&self, channel: ChannelId, among: &[UserId]) -> Vec<(UserId, WriteBar)> {
        let accounts: Vec<_> = accounts(among);
        let mut bars = self.guild_cache.write_bars(channel, &accounts, self.clock().now());
        bars.extend(self.persona_bars(channel, among));
        bars
    }

    fn rights_changed(&self, channels: &[ChannelId]) {
        self.ask_again_in(channels);
    }

    /// Up to 64 accounts are requested one by one, unless the gateway has reported them. This needs no privileged
    /// intent. For more of them the guild's list is read, which needs the Server Members Intent.
    async fn members(
        &self,
        channel: ChannelId,
        mut among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        among.sort_unstable();
        among.dedup();
        let (personas, accounts): (Vec<_>, Vec<_>) =
            among.into_iter().partition(|user| is_persona(*user));
        let mut seen = self.personas_in(channel, &personas).await?;
        // A persona that is there proves that the channel exists.
        if seen.is_empty() || !accounts.is_empty() {
            seen.extend(self.audience(channel, &accounts).await?);
        }
        Ok(seen)
    }

    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        self.read_file(&file, max).await
    }

    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        let channel_id = channel.get();
        let route = Route::CreateTypingTrigger { channel_id };
        self.ask(Ask::bare("trigger typing", channel_id, &route)).await.map(drop)
    }
}
