//! The chatting half.

use std::collections::{BTreeSet, HashMap};
use std::error::Error as _;

use async_trait::async_trait;
use dirigent::ports::{
    ApiError, Attachment, ErrorKind, HistoryRequest, Mentions, Post, Posted, Timestamp, WriteBar,
    snowflake_time,
};
use dirigent::{ChannelId, ChatMessage, DiscordApi, MessageId, UserId};
use serde::Serialize;
use twilight_http::routing::Route;
use twilight_model::channel::message::Embed;
use twilight_model::guild::Permissions;

use crate::embed::discord_embed;
use crate::guild_cache::{ROLE, with_bots};
use crate::message::read_message;
use crate::route::Ask;
use crate::{DiscordAccount, NeededPermission, RestError, wire};

/// The longest content that Discord takes, in characters.
const CONTENT_CHARS_MAX: usize = 2_000;

/// The longest page of messages.
const PAGE_MAX: u8 = 100;

/// A post's body. It is written here and not by twilight's builder, which knows no `enforce_nonce`: a
/// post whose answer was lost would be made twice.
#[derive(Serialize)]
struct PostBody<'a> {
    content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    embeds: Vec<Embed>,
    nonce: &'a str,
    enforce_nonce: bool,
    allowed_mentions: AllowedMentions,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_reference: Option<MessageReference>,
}

/// Nothing in the text pings anybody by itself.
#[derive(Default, Serialize)]
struct AllowedMentions {
    parse: Vec<&'static str>,
    users: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    roles: Vec<String>,
    replied_user: bool,
}

impl AllowedMentions {
    fn new(mentions: &Mentions) -> Self {
        match mentions {
            Mentions::User(user) => Self { users: vec![user.to_string()], ..Self::default() },
            Mentions::Allowed(chosen) => Self {
                parse: if chosen.everyone { vec!["everyone"] } else { Vec::new() },
                users: each_once(&chosen.users),
                roles: each_once(&chosen.roles),
                replied_user: chosen.replied_user,
            },
            Mentions::None | _ => Self::default(),
        }
    }
}

/// Discord refuses a list that names one twice.
fn each_once<T: Copy + Ord + ToString>(ids: &[T]) -> Vec<String> {
    let ids: BTreeSet<T> = ids.iter().copied().collect();
    ids.iter().map(T::to_string).collect()
}

#[derive(Serialize)]
struct MessageReference {
    message_id: String,
    fail_if_not_exists: bool,
}

impl<'a> PostBody<'a> {
    /// `None` where an embed cannot be written.
    fn new(post: &'a Post) -> Option<Self> {
        let reference = |id: MessageId| MessageReference {
            message_id: id.get().to_string(),
            fail_if_not_exists: false,
        };
        Some(Self {
            content: &post.content,
            embeds: post.embeds.iter().map(discord_embed).collect::<Option<_>>()?,
            nonce: post.nonce.as_str(),
            enforce_nonce: true,
            allowed_mentions: AllowedMentions::new(&post.mentions),
            message_reference: post.reply_to.map(reference),
        })
    }
}

/// Files that are refused for their size, by Discord or by what stands before it, are refused again.
fn for_its_size(error: ApiError) -> ApiError {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<RestError>()).copied();
    match cause {
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
        let length = post.content.chars().count();
        let is_bare = post.embeds.is_empty() && post.files.is_empty();
        let shows_nothing = is_bare && post.content.trim().is_empty();
        let body = PostBody::new(&post).filter(|_| length <= CONTENT_CHARS_MAX && !shows_nothing);
        let body = body.ok_or_else(|| RestError::NotAcceptable.report())?;
        let channel_id = post.channel.get();
        let route = Route::CreateMessage { channel_id };
        let ask = if post.files.is_empty() {
            Ask::with_body("create message", channel_id, &route, &body, None)?
        } else {
            Ask::with_files("create message", channel_id, &route, &body, &post.files)?
        };
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

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        if !(1..=PAGE_MAX).contains(&request.limit) {
            return Err(RestError::NotAcceptable.report());
        }
        if self.reads_history(request.channel) == Some(false) {
            // Discord would show an empty one.
            return Err(RestError::Lacks(NeededPermission::ReadMessageHistory).report());
        }
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
        // After a start the history is read before the gateway has told of the guilds.
        let bots = if names_role && !self.guild_cache.knows_roles(request.channel) {
            self.bots_by_role(request.channel).await
        } else {
            HashMap::new()
        };
        let named = |message| if bots.is_empty() { message } else { with_bots(message, &bots) };
        Ok(read.into_iter().map(|message| self.told(named(message))).collect())
    }

    /// Known only while a [`Feed`](crate::Feed) tells of the channel.
    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        let wanted = Permissions::VIEW_CHANNEL | Permissions::READ_MESSAGE_HISTORY;
        self.guild_cache.may(channel, wanted, self.clock().now())
    }

    /// Known only while a [`Feed`](crate::Feed) tells of the channel, and of what was asked of the accounts: for an hour with the
    /// Server Members Intent, else for a minute.
    fn write_bars(&self, channel: ChannelId, among: &[UserId]) -> Vec<(UserId, WriteBar)> {
        self.guild_cache.write_bars(channel, among, self.clock().now())
    }

    fn rights_changed(&self, channels: &[ChannelId]) {
        self.ask_again_in(channels);
    }

    /// Up to 64 accounts are asked for one by one, as far as the gateway has not told of them; that takes no
    /// privileged intent. For more of them the guild's list is read, which takes the Server Members Intent.
    async fn members(
        &self,
        channel: ChannelId,
        mut among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        among.sort_unstable();
        among.dedup();
        self.audience(channel, &among).await
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
