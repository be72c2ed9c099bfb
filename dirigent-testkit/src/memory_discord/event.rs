//! What the chat pushes, and who may hear of it.

use dirigent::ports::GuildId;
use dirigent::{CallError, ChannelId, ChatMessage, Dirigent, MessageId, UserId};

use super::emoji::Emoji;
use super::role::RoleId;

/// Something that Discord's gateway would push.
///
/// ```
/// use dirigent::{ChannelId, UserId};
/// use dirigent_testkit::memory_discord::Event;
///
/// let event = Event::MemberLeft { channel: ChannelId::new(1), user: UserId::new(2) };
/// assert_eq!(event.channel(), Some(ChannelId::new(1)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A message came.
    MessageCreated(ChatMessage),
    /// A message's text changed; this is the whole new message.
    MessageEdited(ChatMessage),
    /// A message went.
    MessageDeleted {
        /// Where it stood.
        channel: ChannelId,
        /// Its id.
        message: MessageId,
    },
    /// An account got sight of a channel.
    MemberJoined {
        /// Which channel.
        channel: ChannelId,
        /// Which account.
        user: UserId,
    },
    /// An account lost sight of a channel.
    MemberLeft {
        /// Which channel.
        channel: ChannelId,
        /// Which account.
        user: UserId,
    },
    /// A channel or thread was deleted.
    ChannelDeleted {
        /// The channel that was deleted.
        channel: ChannelId,
        /// Its guild, if it was in one.
        guild: Option<GuildId>,
        /// Discord's number for its kind.
        kind: u8,
        /// What a thread hung from.
        parent: Option<ChannelId>,
    },
    /// Several messages went at once. Only for connections of the gateway; the chat's subscribers
    /// hear of each.
    MessagesDeleted {
        /// Where they stood.
        channel: ChannelId,
        /// Their ids.
        messages: Vec<MessageId>,
    },
    /// Something about a message changed that is not its text: it was pinned, or a thread was made of
    /// it. Only for connections of the gateway, as all that follows.
    MessageMarked {
        /// Where it stands.
        channel: ChannelId,
        /// Its id.
        message: MessageId,
    },
    /// An account reacted to a message.
    ReactionAdded {
        /// Where it stands.
        channel: ChannelId,
        /// Its id.
        message: MessageId,
        /// Who reacted.
        user: UserId,
        /// With what.
        emoji: Emoji,
    },
    /// An account's reaction went.
    ReactionRemoved {
        /// Where the message stands.
        channel: ChannelId,
        /// Its id.
        message: MessageId,
        /// Who had reacted.
        user: UserId,
        /// With what.
        emoji: Emoji,
    },
    /// All reactions to a message went, or all with one emoji.
    ReactionsCleared {
        /// Where the message stands.
        channel: ChannelId,
        /// Its id.
        message: MessageId,
        /// Which emoji; none means all.
        emoji: Option<Emoji>,
    },
    /// A message was pinned in a channel, or is pinned no more.
    PinsChanged {
        /// Which channel.
        channel: ChannelId,
    },
    /// A webhook of a channel was created, changed or deleted.
    WebhooksChanged {
        /// Which channel.
        channel: ChannelId,
    },
    /// An account began to type.
    TypingStarted {
        /// The channel in which the account types.
        channel: ChannelId,
        /// The account that types.
        user: UserId,
    },
    /// A channel or a thread came.
    ChannelCreated {
        /// The new channel.
        channel: ChannelId,
        /// Its guild, if it is in one.
        guild: Option<GuildId>,
    },
    /// A channel's or a thread's name, topic or overwrites changed.
    ChannelChanged {
        /// The channel that changed.
        channel: ChannelId,
        /// Its guild, if it is in one.
        guild: Option<GuildId>,
    },
    /// An account was added to a thread or left it.
    ThreadMembersChanged {
        /// Which thread.
        thread: ChannelId,
        /// Its guild.
        guild: GuildId,
        /// Who was added.
        added: Vec<UserId>,
        /// Who went.
        removed: Vec<UserId>,
    },
    /// An account came into a guild.
    GuildMemberAdded {
        /// Which guild.
        guild: GuildId,
        /// The account that joined.
        user: UserId,
    },
    /// A member's roles or time-out changed.
    GuildMemberChanged {
        /// Which guild.
        guild: GuildId,
        /// The account that changed.
        user: UserId,
    },
    /// An account left a guild.
    GuildMemberRemoved {
        /// Which guild.
        guild: GuildId,
        /// The account that left.
        user: UserId,
    },
    /// A guild has a new role.
    RoleCreated {
        /// Which guild.
        guild: GuildId,
        /// Which role.
        role: RoleId,
    },
    /// A role's name or permissions changed.
    RoleChanged {
        /// Which guild.
        guild: GuildId,
        /// Which role.
        role: RoleId,
    },
    /// A guild has lost a role.
    RoleDeleted {
        /// Which guild.
        guild: GuildId,
        /// Which role.
        role: RoleId,
    },
    /// A command was used.
    InteractionCreated {
        /// Whose command: an application has its bot's id.
        application: UserId,
        /// The interaction's id.
        interaction: u64,
    },
}

/// Who may hear of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earshot {
    /// Who sees this channel.
    Sight(ChannelId),
    /// Who sees this channel, and this account, which may see it no more.
    SightAnd(ChannelId, UserId),
    /// Who is in this guild.
    Guild(GuildId),
    /// Who is in this guild, and this account, which may be in it no more.
    GuildAnd(GuildId, UserId),
    /// This account.
    Account(UserId),
}

impl Event {
    /// Tells the library of it, as a bot's event handler does. What the library has no use for is not told.
    ///
    /// ```
    /// # use dirigent::{CallError, Dirigent};
    /// # use dirigent_testkit::memory_discord::GatewayEvents;
    /// async fn tell_all(mut events: GatewayEvents, dirigent: Dirigent) -> Result<(), CallError> {
    ///     while let Some(event) = events.next().await {
    ///         event.tell(&dirigent).await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What the call of the handle returned.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "only connections of the gateway hear of the others"
    )]
    pub async fn tell(self, dirigent: &Dirigent) -> Result<(), CallError> {
        match self {
            Self::MessageCreated(message) => dirigent.message_created(message).await,
            Self::MessageEdited(message) => dirigent.message_updated(message).await,
            Self::MessageDeleted { channel, message } => {
                dirigent.message_deleted(channel, message).await
            }
            Self::TypingStarted { channel, user } => dirigent.typing_started(channel, user).await,
            Self::MemberJoined { channel, user } => dirigent.member_joined(channel, user).await,
            Self::MemberLeft { channel, user } => dirigent.member_left(channel, user).await,
            Self::ChannelDeleted { channel, .. } => dirigent.channel_deleted(channel).await,
            _ => Ok(()),
        }
    }

    /// Where it happened; none for what concerns a guild or an account as a whole.
    pub const fn channel(&self) -> Option<ChannelId> {
        match self {
            Self::MessageCreated(message) | Self::MessageEdited(message) => Some(message.channel),
            Self::MessageDeleted { channel, .. }
            | Self::MessagesDeleted { channel, .. }
            | Self::MessageMarked { channel, .. }
            | Self::ReactionAdded { channel, .. }
            | Self::ReactionRemoved { channel, .. }
            | Self::ReactionsCleared { channel, .. }
            | Self::PinsChanged { channel }
            | Self::WebhooksChanged { channel }
            | Self::TypingStarted { channel, .. }
            | Self::MemberJoined { channel, .. }
            | Self::MemberLeft { channel, .. }
            | Self::ChannelCreated { channel, .. }
            | Self::ChannelChanged { channel, .. }
            | Self::ThreadMembersChanged { thread: channel, .. }
            | Self::ChannelDeleted { channel, .. } => Some(*channel),
            Self::GuildMemberAdded { .. }
            | Self::GuildMemberChanged { .. }
            | Self::GuildMemberRemoved { .. }
            | Self::RoleCreated { .. }
            | Self::RoleChanged { .. }
            | Self::RoleDeleted { .. }
            | Self::InteractionCreated { .. } => None,
        }
    }

    /// Whether the chat's subscribers hear of it.
    pub(crate) const fn is_chat(&self) -> bool {
        matches!(
            self,
            Self::MessageCreated(_)
                | Self::MessageEdited(_)
                | Self::MessageDeleted { .. }
                | Self::TypingStarted { .. }
                | Self::MemberJoined { .. }
                | Self::MemberLeft { .. }
                | Self::ChannelDeleted { .. }
        )
    }

    /// Whether connections of the gateway hear of it.
    pub(crate) const fn is_pushed(&self) -> bool {
        !matches!(self, Self::MemberJoined { .. } | Self::MemberLeft { .. })
    }

    /// Who may hear of it.
    pub const fn earshot(&self) -> Earshot {
        match self {
            Self::MessageCreated(message) | Self::MessageEdited(message) => {
                Earshot::Sight(message.channel)
            }
            Self::MessageDeleted { channel, .. }
            | Self::MessagesDeleted { channel, .. }
            | Self::MessageMarked { channel, .. }
            | Self::ReactionAdded { channel, .. }
            | Self::ReactionRemoved { channel, .. }
            | Self::ReactionsCleared { channel, .. }
            | Self::PinsChanged { channel }
            | Self::WebhooksChanged { channel }
            | Self::TypingStarted { channel, .. }
            | Self::MemberJoined { channel, .. }
            | Self::ThreadMembersChanged { thread: channel, .. }
            | Self::ChannelCreated { channel, guild: None }
            | Self::ChannelChanged { channel, guild: None }
            | Self::ChannelDeleted { channel, .. } => Earshot::Sight(*channel),
            Self::MemberLeft { channel, user } => Earshot::SightAnd(*channel, *user),
            Self::ChannelCreated { guild: Some(guild), .. }
            | Self::ChannelChanged { guild: Some(guild), .. }
            | Self::GuildMemberAdded { guild, .. }
            | Self::GuildMemberChanged { guild, .. }
            | Self::RoleCreated { guild, .. }
            | Self::RoleChanged { guild, .. }
            | Self::RoleDeleted { guild, .. } => Earshot::Guild(*guild),
            Self::GuildMemberRemoved { guild, user } => Earshot::GuildAnd(*guild, *user),
            Self::InteractionCreated { application, .. } => Earshot::Account(*application),
        }
    }
}
