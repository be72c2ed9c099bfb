//! The events that the chat pushes, and who may get them.

use dirigent::ports::GuildId;
use dirigent::{CallError, ChannelId, ChatMessage, Dirigent, MessageId, UserId};

use super::emoji::Emoji;
use super::role::RoleId;

/// An event that Discord's gateway would push.
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
    /// A message was posted.
    MessageCreated(ChatMessage),
    /// A message's text changed. This is the whole new message.
    MessageEdited(ChatMessage),
    /// A message was deleted.
    MessageDeleted {
        /// The channel of the message.
        channel: ChannelId,
        /// The id of the message.
        message: MessageId,
    },
    /// An account now sees a channel.
    MemberJoined {
        /// The channel.
        channel: ChannelId,
        /// The account.
        user: UserId,
    },
    /// An account no longer sees a channel.
    MemberLeft {
        /// The channel.
        channel: ChannelId,
        /// The account.
        user: UserId,
    },
    /// A channel or thread was deleted.
    ChannelDeleted {
        /// The channel that was deleted.
        channel: ChannelId,
        /// Its guild, if it had one.
        guild: Option<GuildId>,
        /// Discord's number for its kind.
        kind: u8,
        /// The channel of a thread.
        parent: Option<ChannelId>,
    },
    /// Several messages were deleted at once. Only gateway connections get it; the chat's subscribers get
    /// an event for each.
    MessagesDeleted {
        /// The channel of the messages.
        channel: ChannelId,
        /// The ids of the messages.
        messages: Vec<MessageId>,
    },
    /// A message changed, but not its text: it was pinned, or a thread was made from it. Only gateway
    /// connections get this event and all that follow.
    MessageMarked {
        /// The channel of the message.
        channel: ChannelId,
        /// The id of the message.
        message: MessageId,
    },
    /// An account reacted to a message.
    ReactionAdded {
        /// The channel of the message.
        channel: ChannelId,
        /// The id of the message.
        message: MessageId,
        /// The account that reacted.
        user: UserId,
        /// The emoji of the reaction.
        emoji: Emoji,
    },
    /// An account's reaction was removed.
    ReactionRemoved {
        /// The channel of the message.
        channel: ChannelId,
        /// The id of the message.
        message: MessageId,
        /// The account that had reacted.
        user: UserId,
        /// The emoji of the reaction.
        emoji: Emoji,
    },
    /// All reactions to a message were removed, or all with one emoji.
    ReactionsCleared {
        /// The channel of the message.
        channel: ChannelId,
        /// The id of the message.
        message: MessageId,
        /// The emoji, or `None` for all.
        emoji: Option<Emoji>,
    },
    /// A message was pinned or unpinned in a channel.
    PinsChanged {
        /// The channel.
        channel: ChannelId,
    },
    /// A webhook of a channel was created, changed or deleted.
    WebhooksChanged {
        /// The channel.
        channel: ChannelId,
    },
    /// An account began to type.
    TypingStarted {
        /// The channel that the account types in.
        channel: ChannelId,
        /// The account that types.
        user: UserId,
    },
    /// A channel or a thread was created.
    ChannelCreated {
        /// The new channel.
        channel: ChannelId,
        /// Its guild, if it has one.
        guild: Option<GuildId>,
    },
    /// A channel's or a thread's name, topic or overwrites changed.
    ChannelChanged {
        /// The channel that changed.
        channel: ChannelId,
        /// Its guild, if it has one.
        guild: Option<GuildId>,
    },
    /// An account was added to a thread or left it.
    ThreadMembersChanged {
        /// The thread.
        thread: ChannelId,
        /// Its guild.
        guild: GuildId,
        /// The accounts that were added.
        added: Vec<UserId>,
        /// The accounts that left.
        removed: Vec<UserId>,
    },
    /// An account joined a guild.
    GuildMemberAdded {
        /// The guild.
        guild: GuildId,
        /// The account that joined.
        user: UserId,
    },
    /// A member's roles or time-out changed.
    GuildMemberChanged {
        /// The guild.
        guild: GuildId,
        /// The account that changed.
        user: UserId,
    },
    /// An account left a guild.
    GuildMemberRemoved {
        /// The guild.
        guild: GuildId,
        /// The account that left.
        user: UserId,
    },
    /// A role was created in a guild.
    RoleCreated {
        /// The guild.
        guild: GuildId,
        /// The role.
        role: RoleId,
    },
    /// A role's name or permissions changed.
    RoleChanged {
        /// The guild.
        guild: GuildId,
        /// The role.
        role: RoleId,
    },
    /// A role was deleted in a guild.
    RoleDeleted {
        /// The guild.
        guild: GuildId,
        /// The role.
        role: RoleId,
    },
    /// A command was used.
    InteractionCreated {
        /// The application of the command, which has its bot's id.
        application: UserId,
        /// The id of the interaction.
        interaction: u64,
    },
}

/// The accounts that may get an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeardBy {
    /// Accounts that see this channel.
    EventsSeen(ChannelId),
    /// Accounts that see this channel, and this account, which may no longer see it.
    SightAnd(ChannelId, UserId),
    /// Members of this guild.
    Guild(GuildId),
    /// Members of this guild, and this account, which may no longer be one.
    GuildAnd(GuildId, UserId),
    /// This account.
    Account(UserId),
}

impl Event {
    /// Passes the event to the library, as a bot's event handler does. Events that the library does not use
    /// are skipped.
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
    /// Returns the error of the handle's method.
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

    /// Returns the channel of the event, or `None` if it concerns a whole guild or account.
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

    /// Returns true if the chat's subscribers get it.
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

    /// Returns true if gateway connections get it.
    pub(crate) const fn is_pushed(&self) -> bool {
        !matches!(self, Self::MemberJoined { .. } | Self::MemberLeft { .. })
    }

    /// Returns the accounts that may get it.
    pub const fn earshot(&self) -> HeardBy {
        match self {
            Self::MessageCreated(message) | Self::MessageEdited(message) => {
                HeardBy::EventsSeen(message.channel)
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
            | Self::ChannelDeleted { channel, .. } => HeardBy::EventsSeen(*channel),
            Self::MemberLeft { channel, user } => HeardBy::SightAnd(*channel, *user),
            Self::ChannelCreated { guild: Some(guild), .. }
            | Self::ChannelChanged { guild: Some(guild), .. }
            | Self::GuildMemberAdded { guild, .. }
            | Self::GuildMemberChanged { guild, .. }
            | Self::RoleCreated { guild, .. }
            | Self::RoleChanged { guild, .. }
            | Self::RoleDeleted { guild, .. } => HeardBy::Guild(*guild),
            Self::GuildMemberRemoved { guild, user } => HeardBy::GuildAnd(*guild, *user),
            Self::InteractionCreated { application, .. } => HeardBy::Account(*application),
        }
    }
}
