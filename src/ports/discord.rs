//! What the library needs from a chat: the trait that an adapter implements.

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

/// The chatting half: all that turn keeping needs. A chat that is not Discord implements only this.
///
/// An implementation makes **one attempt a call** and says in its error until when to wait and what
/// is certain; repeating is the driver's business. Methods take owned values, so that a call can be
/// queued, and may be called from several tasks at once.
///
/// # Cancellation
///
/// Dropping a returned future may leave the request done or undone; the driver treats that as
/// [`Certainty::Unknown`](crate::ports::Certainty::Unknown).
#[async_trait]
pub trait DiscordApi: Send + Sync + 'static {
    /// The account that this value acts as.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unauthorized`](crate::ports::ErrorKind::Unauthorized) for a bad token, or as transport fails.
    async fn me(&self) -> Result<UserId, ApiError>;

    /// The number and the name of a persona, for which another account posts: the chat has no account for it, and the
    /// adapter made its number up. Given to [`Builder::host`](crate::host::Builder::host), its agent has this name, and the
    /// registry has no entry for it. The default is no persona.
    fn persona(&self) -> Option<(UserId, String)> {
        None
    }

    /// Posts a message: 1 to [`longest_message`](Self::longest_message) characters that are not all white space, or embeds or
    /// files with or without them. The same nonce within a few minutes must not make a second message but return the first. What is posted
    /// pings those whom [`Post::mentions`] allows, and no other account.
    ///
    /// Discord, Matrix and Mattermost know a nonce: send [`Post::nonce`] as that. IRC, Telegram and Slack know none. An adapter of
    /// such a chat remembers, for ten minutes, each nonce that it tried and the newest message before the first attempt. If Dirigent
    /// repeats a nonce, the adapter looks in the history for the text among this account's messages behind that one, and returns
    /// what it finds before it posts again. If it finds nothing, the earlier attempt may still arrive: for some seconds it answers
    /// `Unavailable` with a retry time. After a restart Dirigent itself looks for replies in the
    /// history; a trigger or a discussion's guide of the seconds before a kill may be posted twice, unless the adapter keeps its nonces.
    ///
    /// # Errors
    ///
    /// `Invalid`, `Gone`, `Forbidden`, `RateLimited`, `Unsupported` for embeds in a chat that has none, or with [`Certainty::Unknown`](crate::ports::Certainty::Unknown) when the
    /// answer was lost.
    async fn post(&self, post: Post) -> Result<Posted, ApiError>;

    /// Whether [`post`](Self::post) takes files. Optional; by default it does not. Then the library posts the replies of this
    /// account's agent without them, and tells the agent.
    fn sends_files(&self) -> bool {
        false
    }

    /// Deletes a message of this account.
    ///
    /// # Errors
    ///
    /// `Gone` when it does not exist (which the driver takes for success).
    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError>;

    /// Deletes a message of another account: a pass word or a notice of an observed agent
    /// ([`ObservedBot::removes`](crate::settings::ObservedBot::removes)). Optional; the default does not.
    ///
    /// # Errors
    ///
    /// `Unsupported`, which is the default; `Forbidden` without the permission; else as [`delete`](Self::delete).
    async fn delete_of_other(
        &self,
        channel: ChannelId,
        message: MessageId,
    ) -> Result<(), ApiError> {
        let _ = (channel, message);
        Err(ApiError::new(ErrorKind::Unsupported))
    }

    /// Reads messages, newest first or in any other order; the driver sorts by id.
    ///
    /// # Errors
    ///
    /// `Gone`, `Forbidden`, `RateLimited`, or as transport fails.
    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError>;

    /// Whether this account may read what was posted in the channel, where that is known without
    /// asking. The default knows nothing. It matters where a chat shows an empty history to those who
    /// may not read it, as Discord does: only who surely may takes an empty history for one.
    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        let _ = channel;
        None
    }

    /// What keeps these accounts from writing in the channel, for each that is surely kept from it; known without
    /// asking, and at once. An account that is not named may write, or nothing is known of it. The default knows
    /// nothing.
    ///
    /// An agent that is named, and sees the channel, has no turns there while it is: no model is called for a reply that
    /// cannot be posted. The driver looks when it loads a channel, when it has read the member list,
    /// and when the host says that rights changed ([`Dirigent::rights_changed`](crate::Dirigent::rights_changed)).
    fn write_bars(&self, channel: ChannelId, among: &[UserId]) -> Vec<(UserId, WriteBar)> {
        let _ = (channel, among);
        Vec::new()
    }

    /// What this account may do in these channels may have changed, as another account's gateway tells: an
    /// implementation that asks nothing for a while after refusals asks again. It must return at once. The default
    /// does nothing.
    fn rights_changed(&self, channels: &[ChannelId]) {
        let _ = channels;
    }

    /// Returns those of these accounts that can see the channel, each once and in any order. An account that
    /// is not there, or does not exist, is no error: it is left out. The driver asks about the accounts of
    /// its registry.
    ///
    /// # Errors
    ///
    /// `Gone`, `Forbidden`, `RateLimited`, or as transport fails. An adapter that needs several requests may
    /// keep what it has learnt before it failed, and go on there when it is asked again.
    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError>;

    /// When a message was posted, without asking the chat. Where ids are Discord's, it is [`snowflake_time`](crate::ports::snowflake_time); another chat
    /// keeps the times of the messages that it has shown. An id that it does not know any more was sent long ago: it
    /// answers `Timestamp::default()`, and what is said there wakes no agent.
    fn sent_at(&self, message: MessageId) -> Timestamp;

    /// The longest message that the chat takes, in UTF-16 code units: longer replies become several. The default is
    /// Discord's 2,000; less than 100 counts as 100. The moderator's account answers for all.
    fn longest_message(&self) -> usize {
        LIMIT
    }

    /// The highest id that a message of before this moment may have: those posted since have higher ones.
    /// From it a channel is read that was given a mode at this moment. The default computes Discord's
    /// snowflake, and answers `None` where [`DiscordApi::sent_at`] reads ids in another way. Where it is
    /// `None`, only the newest 100 messages are read of what was missed before any message was heard.
    fn id_before(&self, moment: Timestamp) -> Option<MessageId> {
        let first = moment.as_millis().checked_sub(DISCORD_EPOCH)?.checked_mul(1 << TIME_SHIFT)?;
        let is_snowflake = self.sent_at(MessageId::new(first)) == moment;
        first.checked_sub(1).filter(|_| is_snowflake).map(MessageId::new)
    }

    /// Reads the beginning of a file that a message names: at most `max` bytes. Optional; without it long pastes stay files, and pictures
    /// names.
    ///
    /// A message may name any address, and its author may mean harm: an implementation asks the chat's own file host and
    /// no other, follows no redirection, sends no token, and ends after a while.
    ///
    /// # Errors
    ///
    /// `Unsupported` where files cannot be read, which is the default; `Invalid` for an address that is not the chat's; `Gone`, or
    /// as transport fails.
    async fn file(&self, file: Attachment, max: usize) -> Result<Vec<u8>, ApiError> {
        let _ = (file, max);
        Err(ApiError::new(ErrorKind::Unsupported))
    }

    /// Shows for some seconds that this account is typing. Optional; the default does nothing. Asked for
    /// again and again while a hosted agent runs, if [`Settings::typing`](crate::Settings::typing) says so.
    ///
    /// # Errors
    ///
    /// As transport fails; the driver ignores them.
    async fn typing(&self, channel: ChannelId) -> Result<(), ApiError> {
        let _ = channel;
        Ok(())
    }
}

/// The administrating half: channels, access and permissions of guilds.
#[async_trait]
pub trait GuildApi: DiscordApi {
    /// The guilds in which this account is.
    ///
    /// # Errors
    ///
    /// As transport fails.
    async fn guilds(&self) -> Result<Vec<GuildId>, ApiError>;

    /// A guild's name, for people; `None` where the chat tells none. Optional; the default tells none.
    ///
    /// # Errors
    ///
    /// `Gone` when this account is not in the guild.
    async fn guild_name(&self, guild: GuildId) -> Result<Option<String>, ApiError> {
        let _ = guild;
        Ok(None)
    }

    /// One channel.
    ///
    /// # Errors
    ///
    /// `Gone` when it does not exist, `Forbidden` when this account cannot see it.
    async fn channel(&self, channel: ChannelId) -> Result<ChannelInfo, ApiError>;

    /// All channels of a guild without its threads.
    ///
    /// # Errors
    ///
    /// `Gone` when this account is not in the guild.
    async fn channels(&self, guild: GuildId) -> Result<Vec<ChannelInfo>, ApiError>;

    /// Creates a private text channel, visible to this account and those named.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the permission to manage channels, `Invalid` for a bad name.
    async fn create_channel(&self, channel: NewChannel) -> Result<ChannelInfo, ApiError>;

    /// Deletes a channel.
    ///
    /// # Errors
    ///
    /// `Gone`, `Forbidden`.
    async fn delete_channel(&self, channel: ChannelId) -> Result<(), ApiError>;

    /// Gives an account sight of a channel, or takes it.
    ///
    /// # Errors
    ///
    /// `Gone`, `Forbidden`.
    async fn set_access(
        &self,
        channel: ChannelId,
        user: UserId,
        access: Access,
    ) -> Result<(), ApiError>;

    /// Whether the account has administrator rights in the guild.
    ///
    /// # Errors
    ///
    /// `Gone` when the guild or the member is not there.
    async fn is_administrator(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError>;

    /// Whether a member of the guild is a bot and not a person. An account that a person uses, with
    /// whatever client, is no bot.
    ///
    /// # Errors
    ///
    /// `Gone` when the guild or the member is not there.
    async fn is_bot(&self, guild: GuildId, user: UserId) -> Result<bool, ApiError>;

    /// Returns who can see a channel that not everyone in its guild sees, for people to read: roles, the owner, and those who
    /// were added. It lists no people who see it by such a role, and none of `known`, whom the caller can name. `None` where
    /// the chat does not tell, which is the default.
    ///
    /// # Errors
    ///
    /// `Gone` when the channel does not exist, `Forbidden` when this account cannot see it.
    async fn readers(
        &self,
        channel: ChannelId,
        known: &[UserId],
    ) -> Result<Option<Vec<Reader>>, ApiError> {
        let _ = (channel, known);
        Ok(None)
    }

    /// Whether an account can see a channel or thread. `false` for an account that is not in the
    /// channel's guild.
    ///
    /// # Errors
    ///
    /// `Gone` when the channel does not exist, `Forbidden` when the acting account cannot see it.
    async fn can_see(&self, channel: ChannelId, user: UserId) -> Result<bool, ApiError>;
}

/// Who can see a channel: a role, or an account.
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
    /// The account; `None` for a role that people have.
    pub user: Option<UserId>,
    /// What people call it.
    pub name: String,
}

/// A message to be posted.
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
    /// At most [`DiscordApi::longest_message`] characters. Only with embeds or files may it be empty.
    pub content: Arc<str>,
    /// Makes a repetition harmless.
    pub nonce: Nonce,
    /// Whom it may ping.
    pub mentions: Mentions,
    /// The message it answers, where it answers one. Where that does not exist in the channel, the post is made without
    /// the reference.
    #[serde(default, with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// What it shows besides its text, at most 10 embeds that [`Reply::check`](crate::Reply::check) accepts.
    #[serde(default, skip_serializing_if = "<[Embed]>::is_empty")]
    pub embeds: Box<[Embed]>,
    /// What it brings, at most 10 files with 10 MiB together, none of them empty. Only where
    /// [`DiscordApi::sends_files`] says so. They are not written with it.
    #[serde(skip)]
    pub files: Box<[ReplyFile]>,
}

impl Post {
    /// A text that pings no account and answers no message, without embeds and files.
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

/// Whom a posted message may ping.
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
    /// This account only.
    User(UserId),
    /// Those that the agent chose.
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
    /// Its id.
    #[serde(with = "crate::written")]
    pub id: MessageId,
    /// Whether the nonce was known, so that this is the earlier message.
    pub deduplicated: bool,
}

/// Which messages to read.
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
    /// Of which channel.
    pub channel: ChannelId,
    /// `None`: the newest messages. `Some`: those right after this one.
    #[serde(default, with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// The most messages of the page, 1 to 100.
    pub limit: u8,
}

/// A channel as far as the library cares.
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
    /// Its id.
    pub id: ChannelId,
    /// The guild it belongs to; none for direct messages.
    pub guild: Option<GuildId>,
    /// The channel a thread hangs from.
    pub parent: Option<ChannelId>,
    /// What it is.
    pub kind: ChannelKind,
    /// Its name.
    pub name: String,
    /// What people say that it is about.
    pub topic: Option<String>,
    /// Whether the guild's everyone role cannot see it.
    pub private: bool,
}

/// What a channel is in Discord.
///
/// ```
/// use dirigent::ports::ChannelKind;
/// assert_ne!(ChannelKind::Text, ChannelKind::Direct);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChannelKind {
    /// A guild's text channel.
    Text,
    /// A guild's announcement channel.
    Announcement,
    /// A thread of a guild's channel.
    Thread,
    /// A direct or group direct message; never managed.
    Direct,
    /// Anything else: voice, forum, category.
    Other,
}

/// A private text channel to be created.
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
    /// The guild in which the channel is created.
    pub guild: GuildId,
    /// Its name, 1 to 100 characters.
    pub name: String,
    /// Who can see it and write in it, besides the acting account.
    pub members: Vec<UserId>,
}

/// What an account may do in a private channel.
///
/// ```
/// use dirigent::ports::Access;
/// assert_ne!(Access::Full, Access::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// See it and write in it.
    Full,
    /// Neither see it nor write in it.
    None,
}
