//! The traits that an adapter of a chat implements.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::ports::write_bar::WriteBar;
use crate::text::split::LIMIT;
use crate::values::embed::Embed;
use crate::values::error::{ApiError, ErrorKind};
use crate::values::extras::AllowedMentions;
use crate::values::id::GuildId;
use crate::values::message::{Attachment, DISCORD_EPOCH, Nonce, TIME_SHIFT};
use crate::values::reply_file::ReplyFile;
use crate::{ChannelId, ChatMessage, UserId};

/// The chat functions. They are all that turns need, so a chat that is not Discord implements only this trait.
///
/// An implementation makes **one attempt for each call**. Its error says how long to wait, and whether the request was
/// surely not carried out. The driver does the retries. Methods take owned values, so that you can queue a call. The
/// library may call them from several tasks at once.
///
/// # Cancellation
///
/// If the returned future is dropped, the request may be carried out or not. The driver treats this as
/// [`Certainty::Unknown`](crate::ports::Certainty::Unknown).
#[async_trait]
pub trait DiscordApi: Send + Sync + 'static {
    /// Returns the account that this value acts as.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::Unauthorized`](crate::ports::ErrorKind::Unauthorized) for a bad token, or with an error
    /// of the transport.
    async fn me(&self) -> Result<UserId, ApiError>;

    /// Returns the number and the name of a persona. A persona is an agent that another account posts for, because the
    /// chat has no account for it. Your adapter makes up the number. If you pass the value to
    /// [`Builder::host`](crate::host::Builder::host), its agent has this name, and needs no entry in the registry. The
    /// default returns `None`, which means no persona.
    fn persona(&self) -> Option<(UserId, String)> {
        None
    }

    /// Posts a message. The text has 1 to [`longest_message`](Self::longest_message) characters that are not all white
    /// space. With embeds or files it may be empty. If the library posts with the same nonce again within a few
    /// minutes, return the first message instead of a second one. The message pings only accounts that
    /// [`Post::mentions`] allows.
    ///
    /// Discord, Matrix and Mattermost support a nonce, so send [`Post::nonce`] as that. IRC, Telegram and Slack do not.
    /// An adapter of such a chat remembers two things for ten minutes: each nonce that it tried, and the newest message
    /// before its first attempt. If Dirigent repeats a nonce, the adapter first looks for the text in the history,
    /// among this account's messages after that one, and returns the message that it finds. If it finds none, the
    /// earlier attempt may still arrive, so for some seconds it returns `Unavailable` with a retry time.
    ///
    /// After a restart Dirigent itself looks for replies in the history. A trigger or a discussion's guide from the
    /// last seconds before a kill may be posted twice, unless the adapter keeps its nonces.
    ///
    /// # Errors
    ///
    /// Fails with `Invalid`, `Gone`, `Forbidden` or `RateLimited`, or with `Unsupported` for embeds in a chat that has
    /// none. If the answer was lost, the error has [`Certainty::Unknown`](crate::ports::Certainty::Unknown).
    async fn post(&self, post: Post) -> Result<Posted, ApiError>;

    /// Returns whether [`post`](Self::post) takes files. This is optional, and the default is `false`. In that case the
    /// library posts the replies of this account's agent without their files, and tells the agent.
    fn sends_files(&self) -> bool {
        false
    }

    /// Deletes a message of this account.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if the message does not exist. The driver counts this as success.
    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError>;

    /// Deletes a message of another account, for example a pass word or a notice of an observed agent
    /// ([`ObservedBot::removes`](crate::settings::ObservedBot::removes)). This is optional, and the default deletes no
    /// message.
    ///
    /// # Errors
    ///
    /// The default fails with `Unsupported`. Otherwise it fails with `Forbidden` if the permission is missing, and like
    /// [`delete`](Self::delete).
    async fn delete_of_other(
        &self,
        channel: ChannelId,
        message: MessageId,
    ) -> Result<(), ApiError> {
        let _ = (channel, message);
        Err(ApiError::new(ErrorKind::Unsupported))
    }

    /// Reads messages. They may have any order, for example newest first, because the driver sorts them by id.
    ///
    /// # Errors
    ///
    /// Fails with `Gone`, `Forbidden` or `RateLimited`, or with an error of the transport.
    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError>;

    /// Returns whether this account may read the history of the channel, if this is known without a request. The
    /// default returns `None`, which means that it is unknown.
    ///
    /// Implement it if your chat shows an empty history to accounts that may not read it, like Discord. The library
    /// trusts an empty history only after `Some(true)`.
    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        let _ = channel;
        None
    }

    /// Returns what keeps these accounts from writing in the channel, for each account that surely may not write. An
    /// account that is not in the answer may write, or its permissions are unknown. Answer at once, without a request.
    /// The default returns an empty list.
    ///
    /// An agent in the answer that sees the channel gets no turns there, because a model should not be called for a
    /// reply that cannot be posted. The driver calls this when it loads a channel and when it has read the member list.
    /// It also calls it when you report that permissions changed
    /// ([`Dirigent::rights_changed`](crate::Dirigent::rights_changed)).
    fn write_bars(&self, channel: ChannelId, among: &[UserId]) -> Vec<(UserId, WriteBar)> {
        let _ = (channel, among);
        Vec::new()
    }

    /// Reports that this account's permissions in these channels may have changed, according to the gateway of another
    /// account. If your implementation stops asking for a while after refusals, it asks again. It must return at once.
    /// The default has no effect.
    fn rights_changed(&self, channels: &[ChannelId]) {
        let _ = channels;
    }

    /// Returns the accounts among these that can see the channel, each once and in any order. An account that is not
    /// there or does not exist is left out, and is no error. The driver asks about the accounts of its registry.
    ///
    /// # Errors
    ///
    /// Fails with `Gone`, `Forbidden` or `RateLimited`, or with an error of the transport. If your adapter needs
    /// several requests, it may keep partial results after a failure, and continue from them at the next call.
    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError>;

    /// Returns the time when a message was posted, without a request. If your chat has Discord's ids, use
    /// [`snowflake_time`](crate::ports::snowflake_time). For another chat, keep the times of the messages that you have
    /// shown. If you no longer know an id, the message is old, so return `Timestamp::default()`. Such a message wakes
    /// no agent.
    fn sent_at(&self, message: MessageId) -> Timestamp;

    /// Returns the length of the longest message that the chat takes, in UTF-16 code units. Longer replies become
    /// several messages. The default is Discord's 2,000, and a value below 100 counts as 100. The value of the
    /// moderator's account counts for all accounts.
    fn longest_message(&self) -> usize {
        LIMIT
    }

    /// Returns the highest id that a message from before this moment may have. Later messages must have higher ids. The
    /// library reads a channel from this id on if the channel got its mode at this moment.
    ///
    /// The default computes Discord's snowflake. It returns `None` if [`DiscordApi::sent_at`] reads ids in another way.
    /// With `None`, the library reads only the newest 100 of the messages that it missed before it heard the first one.
    fn id_before(&self, moment: Timestamp) -> Option<MessageId> {
        let first = moment.as_millis().checked_sub(DISCORD_EPOCH)?.checked_mul(1 << TIME_SHIFT)?;
        let is_snowflake = self.sent_at(MessageId::new(first)) == moment;
        first.checked_sub(1).filter(|_| is_snowflake).map(MessageId::new)
    }

    /// Reads the beginning of a file of a message, at most `max` bytes. This is optional. Without it long pastes stay
    /// files, and pictures are only names.
    ///
    /// A message may contain any address, and its author may be malicious. For this reason request only the chat's own
    /// file host, follow no redirect, send no token, and set a time limit.
    ///
    /// # Errors
    ///
    /// The default fails with `Unsupported`, because it cannot read files. Otherwise it fails with `Invalid` for an
    /// address that is not the chat's, with `Gone`, or with an error of the transport.
    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        let _ = (file, max);
        Err(ApiError::new(ErrorKind::Unsupported))
    }

    /// Shows for some seconds that this account is typing. This is optional, and the default has no effect. The library
    /// calls it again and again while a hosted agent runs, if [`Settings::typing`](crate::Settings::typing) says so.
    ///
    /// # Errors
    ///
    /// Fails with an error of the transport. The driver ignores it.
    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        let _ = channel;
        Ok(())
    }
}

/// The administration functions: channels, access and permissions of guilds.
#[async_trait]
pub trait GuildApi: DiscordApi {
    /// Returns the guilds that this account is in.
    ///
    /// # Errors
    ///
    /// Fails with an error of the transport.
    async fn guilds(&self) -> Result<Vec<GuildId>, ApiError>;

    /// Returns the name of a guild, for people. This is optional, and the default returns `None`, which means that the
    /// name is unknown.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if this account is not in the guild.
    async fn guild_name(&self, guild: GuildId) -> Result<Option<String>, ApiError> {
        let _ = guild;
        Ok(None)
    }

    /// Returns one channel.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if the channel does not exist, and with `Forbidden` if this account cannot see it.
    async fn channel(&self, channel: ChannelId) -> Result<ChannelInfo, ApiError>;

    /// Returns all channels of a guild without its threads.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if this account is not in the guild.
    async fn channels(&self, guild: GuildId) -> Result<Vec<ChannelInfo>, ApiError>;

    /// Creates a private text channel that only this account and the members in `channel` can see.
    ///
    /// # Errors
    ///
    /// Fails with `Forbidden` without the permission to manage channels, and with `Invalid` for a bad name.
    async fn create_channel(&self, channel: NewChannel) -> Result<ChannelInfo, ApiError>;

    /// Deletes a channel.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` or `Forbidden`.
    async fn delete_channel(&self, channel: ChannelId) -> Result<(), ApiError>;

    /// Lets an account see a channel, or takes that away.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` or `Forbidden`.
    async fn set_access(
        &self,
        channel: ChannelId,
        user: UserId,
        access: Access,
    ) -> Result<(), ApiError>;

    /// Returns whether the account has administrator rights in the guild.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if the guild or the member does not exist.
    async fn is_administrator(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError>;

    /// Returns whether a member of the guild is a bot and not a person. An account that a person uses is not a bot,
    /// whatever the client.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if the guild or the member does not exist.
    async fn is_bot(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError>;

    /// Returns who can see a channel that not everyone in its guild sees, as names for people. The answer contains
    /// roles, the owner, and accounts that were added. It does not list the people who see the channel through such a
    /// role, and it leaves out the accounts in `known`, because the caller can name them. The default returns `None`,
    /// which means that it is unknown.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if the channel does not exist, and with `Forbidden` if this account cannot see it.
    async fn readers(
        &self,
        channel: ChannelId,
        known: &[UserId],
    ) -> Result<Option<Vec<Reader>>, ApiError> {
        let _ = (channel, known);
        Ok(None)
    }

    /// Returns whether an account can see a channel or thread. The answer is `false` for an account that is not in the
    /// channel's guild.
    ///
    /// # Errors
    ///
    /// Fails with `Gone` if the channel does not exist, and with `Forbidden` if the acting account cannot see it.
    async fn can_see(&self, channel: ChannelId, user: UserId) -> Result<bool, ApiError>;
}

/// A role or an account that can see a channel.
///
/// ```
/// use dirigent::UserId;
/// use dirigent::ports::Reader;
/// let role = Reader { user: None, name: "friends".to_owned() };
/// assert_ne!(role, Reader { user: Some(UserId::new(7)), ..role.clone() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name and whose it is")]
pub struct Reader {
    /// The account. `None` for a role that people have.
    pub user: Option<UserId>,
    /// The name for people.
    pub name: String,
}

/// A message to post.
///
/// ```
/// use dirigent::{ChannelId, MessageId};
/// use dirigent::ports::{Nonce, Post};
///
/// let post = Post {
///     reply_to: Some(MessageId::new(9)),
///     ..Post::new(ChannelId::new(1), "hello", Nonce::from_parts(1, 2, 3))
/// };
/// assert!(!format!("{post:?}").contains("hello"));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "a request that callers and adapters build")]
pub struct Post {
    /// The channel to post in.
    pub channel: ChannelId,
    /// The text, with at most [`DiscordApi::longest_message`] characters. It may be empty only with embeds or files.
    pub content: Arc<str>,
    /// The nonce, which makes a repetition harmless.
    pub nonce: Nonce,
    /// The accounts that the message may ping.
    pub mentions: Mentions,
    /// The message that it answers, if any. If that message does not exist in the channel, the post is made without the
    /// reference.
    #[serde(default, with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// The embeds, at most 10. [`Reply::check`](crate::Reply::check) accepts each of them.
    #[serde(default, skip_serializing_if = "<[Embed]>::is_empty")]
    pub embeds: Box<[Embed]>,
    /// The files, at most 10 with at most 10 MiB together, and none of them empty. They are present only if
    /// [`DiscordApi::sends_files`] returns `true`. Serialization leaves them out.
    #[serde(skip)]
    pub files: Box<[ReplyFile]>,
}

impl Post {
    /// Creates a text that pings no account and answers no message, without embeds and files.
    pub fn new(channel: ChannelId, content: impl Into<Arc<str>>, nonce: Nonce) -> Self {
        let (content, mentions) = (content.into(), Mentions::None);
        let (reply_to, embeds, files) = (None, Box::default(), Box::default());
        Self { channel, content, nonce, mentions, reply_to, embeds, files }
    }
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post")
            .field("channel", &self.channel)
            .field("content", &format_args!("{} bytes", self.content.len()))
            .field("nonce", &self.nonce)
            .field("mentions", &self.mentions)
            .field("reply_to", &self.reply_to)
            .field("embeds", &self.embeds.len())
            .field("files", &self.files.len())
            .finish()
    }
}

/// The accounts that a message may ping.
///
/// ```
/// use dirigent::ports::Mentions;
/// assert_ne!(Mentions::None, Mentions::User(dirigent::UserId::new(1)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mentions {
    /// No account, whatever the text says.
    None,
    /// Only this account.
    User(UserId),
    /// The accounts that the agent chose.
    Allowed(Arc<AllowedMentions>),
}

impl From<&AllowedMentions> for Mentions {
    fn from(allowed: &AllowedMentions) -> Self {
        if allowed.is_empty() { Self::None } else { Self::Allowed(Arc::new(allowed.clone())) }
    }
}

/// A message that was posted.
///
/// ```
/// let posted = dirigent::ports::Posted { id: dirigent::MessageId::new(9), deduplicated: false };
/// assert_eq!(posted.id.get(), 9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "an answer that adapters build")]
pub struct Posted {
    /// The id of the message.
    #[serde(with = "crate::written")]
    pub id: MessageId,
    /// `true` if the nonce was known, so that this is the earlier message.
    pub deduplicated: bool,
}

/// The messages to read.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent::ports::HistoryRequest;
/// let newest = HistoryRequest { channel: ChannelId::new(1), after: None, limit: 20 };
/// assert_eq!(newest.limit, 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "a request that callers and adapters build")]
pub struct HistoryRequest {
    /// The channel to read.
    pub channel: ChannelId,
    /// The message to start after. `None` reads the newest messages of the channel.
    #[serde(default, with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// The highest number of messages in the page, from 1 to 100.
    pub limit: u8,
}

/// The properties of a channel that the library needs.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent::ports::{ChannelInfo, ChannelKind, GuildId};
///
/// let info = ChannelInfo {
///     id: ChannelId::new(1),
///     guild: Some(GuildId::new(2)),
///     parent: None,
///     kind: ChannelKind::Text,
///     name: "round-table".to_owned(),
///     topic: None,
///     private: true,
/// };
/// assert_eq!(info.kind, ChannelKind::Text);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an answer that adapters build")]
pub struct ChannelInfo {
    /// The id of the channel.
    pub id: ChannelId,
    /// The guild of the channel. `None` for direct messages.
    pub guild: Option<GuildId>,
    /// The parent channel of a thread.
    pub parent: Option<ChannelId>,
    /// The kind of channel.
    pub kind: ChannelKind,
    /// The name of the channel.
    pub name: String,
    /// The topic of the channel, as people wrote it.
    pub topic: Option<String>,
    /// `true` if the guild's everyone role cannot see the channel.
    pub private: bool,
}

/// The kinds of channels in Discord.
///
/// ```
/// use dirigent::ports::ChannelKind;
/// assert_ne!(ChannelKind::Text, ChannelKind::Direct);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChannelKind {
    /// A text channel of a guild.
    Text,
    /// An announcement channel of a guild.
    Announcement,
    /// A thread of a guild's channel.
    Thread,
    /// A direct or group direct message. Dirigent never manages it.
    Direct,
    /// Any other kind, for example voice, forum or category.
    Other,
}

/// A private text channel to create.
///
/// ```
/// use dirigent::ports::{GuildId, NewChannel};
/// use dirigent::UserId;
/// let room = NewChannel { guild: GuildId::new(1), name: "room".into(), members: vec![UserId::new(2)] };
/// assert_eq!(room.members.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a request that callers and adapters build")]
pub struct NewChannel {
    /// The guild that gets the channel.
    pub guild: GuildId,
    /// The name of the channel, 1 to 100 characters.
    pub name: String,
    /// The accounts that can see the channel and write in it, besides the acting account.
    pub members: Vec<UserId>,
}

/// The rights of an account in a private channel.
///
/// ```
/// use dirigent::ports::Access;
/// assert_ne!(Access::Full, Access::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// The account sees the channel and writes in it.
    Full,
    /// The account neither sees the channel nor writes in it.
    None,
}
