//! Missing settings and permissions, by Discord's own names.

use std::fmt;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::GuildId;
use twilight_model::gateway::Intents;
use twilight_model::guild::Permissions;

/// The intents that the gateway must be asked for.
pub(crate) const NEEDED_INTENTS: Intents =
    Intents::GUILDS.union(Intents::GUILD_MESSAGES).union(Intents::MESSAGE_CONTENT);

/// A setting or permission that is missing, so that part of the library does not work. `Display` uses Discord's name
/// for it, and says what will not work.
///
/// ```
/// use dirigent_discord::{SetupIssue, NeededIntent};
/// let finding = SetupIssue::IntentNotGranted(NeededIntent::MessageContent);
/// assert!(finding.to_string().contains("Message Content Intent"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SetupIssue {
    /// The privileged intent is not switched on in the developer portal.
    IntentNotGranted(NeededIntent),
    /// The gateway was connected without asking for the intent.
    IntentNotAsked(NeededIntent),
    /// The account lacks a permission in the whole guild.
    InGuild(GuildId, NeededPermission),
    /// The account lacks a permission in a channel, for example to write there.
    InChannel(ChannelId, NeededPermission),
    /// The channel does not exist, or the account is not in its guild.
    NoChannel(ChannelId),
    /// The number of personas that cannot post in a channel, because Discord allows 15 webhooks there.
    TooManyWebhooks(ChannelId, usize),
    /// Discord closed the gateway for good.
    Closed(GatewayCloseReason),
    /// Only a few more gateway sessions may begin until Discord resets the count.
    FewSessionStarts {
        /// The number of sessions.
        remaining: u32,
        /// The time until the reset.
        reset_after: Duration,
    },
}

impl fmt::Display for SetupIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IntentNotGranted(intent) => write!(
                f,
                "the {intent} is not switched on in the developer portal (Bot, Privileged Gateway \
                 Intents): {}",
                intent.without()
            ),
            Self::IntentNotAsked(intent) => write!(
                f,
                "the gateway was connected without the intent {}: {}",
                intent.asked(),
                intent.without()
            ),
            Self::InGuild(guild, permission) => write!(
                f,
                "the bot lacks the permission {permission} in the server {guild}: {}",
                permission.without()
            ),
            Self::InChannel(channel, permission) => write!(
                f,
                "the bot lacks the permission {permission} in the channel {channel}: {}",
                permission.without()
            ),
            Self::NoChannel(channel) => write!(
                f,
                "the channel {channel} does not exist, or the bot is not in its server: no turns are \
                 kept there"
            ),
            Self::TooManyWebhooks(channel, missing) => write!(
                f,
                "the channel {channel} has room for 15 webhooks, and {missing} more would be needed: the personas that were \
                 set up last have no turns there; delete webhooks that are not needed"
            ),
            Self::Closed(reason) => write!(f, "Discord closed the gateway for good: {reason}"),
            Self::FewSessionStarts { remaining, reset_after } => write!(
                f,
                "the bot may connect only {remaining} times within the next {} minutes, then Discord replaces its token: \
                 something starts it again and again, so find out why it ends",
                reset_after.as_secs().div_ceil(60)
            ),
        }
    }
}

/// An intent that the library needs. `Display` is its name in the developer portal.
///
/// ```
/// use dirigent_discord::NeededIntent;
/// assert_eq!(NeededIntent::GuildMembers.to_string(), "Server Members Intent");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NeededIntent {
    /// Channels, roles and threads.
    Guilds,
    /// The members of a guild. Privileged, and needed only for more than 64 agents, or if you ask for it.
    GuildMembers,
    /// The events of messages.
    GuildMessages,
    /// The texts of messages. Privileged.
    MessageContent,
}

impl NeededIntent {
    pub(crate) const ALL: [Self; 4] =
        [Self::Guilds, Self::GuildMembers, Self::GuildMessages, Self::MessageContent];

    /// Returns its bit in the gateway's intents.
    pub(crate) const fn bit(self) -> Intents {
        match self {
            Self::Guilds => Intents::GUILDS,
            Self::GuildMembers => Intents::GUILD_MEMBERS,
            Self::GuildMessages => Intents::GUILD_MESSAGES,
            Self::MessageContent => Intents::MESSAGE_CONTENT,
        }
    }

    /// Returns true if turns also work without it, with one request for each agent.
    pub(crate) fn is_optional(self) -> bool {
        self == Self::GuildMembers
    }

    /// Returns the flags of an application that has this intent granted, for many guilds or for few. Returns `None` if
    /// the intent is not privileged.
    pub(crate) const fn granted_by(self) -> Option<u64> {
        match self {
            Self::GuildMembers => Some(1 << 14 | 1 << 15),
            Self::MessageContent => Some(1 << 18 | 1 << 19),
            Self::Guilds | Self::GuildMessages => None,
        }
    }

    /// Returns its name for the gateway.
    fn asked(self) -> &'static str {
        self.bit().iter_names().next().map_or("", |(name, _)| name)
    }

    const fn without(self) -> &'static str {
        match self {
            Self::Guilds => {
                "changes of channels and roles are not seen, and the slash commands are not registered"
            }
            Self::GuildMembers => {
                "the gateway closes a connection that asks for it (Feed::INTENTS does without), and the members of \
                 channels cannot be read where more than 64 agents are registered"
            }
            Self::GuildMessages => "no message arrives: no channel wakes",
            Self::MessageContent => {
                "what people and agents write is empty: replies are not confirmed by what they say, stop \
                 words are not understood, and agents are handed nothing to read"
            }
        }
    }
}

impl fmt::Display for NeededIntent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Guilds => "Guilds Intent",
            Self::GuildMembers => "Server Members Intent",
            Self::GuildMessages => "Guild Messages Intent",
            Self::MessageContent => "Message Content Intent",
        })
    }
}

/// A permission that the library needs. `Display` is its name in Discord.
///
/// ```
/// use dirigent_discord::NeededPermission;
/// assert_eq!(NeededPermission::ReadMessageHistory.to_string(), "Read Message History");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NeededPermission {
    /// To open discussions that report to this guild, and to show the guild on the control page. A bot that does
    /// neither does not need it.
    Administrator,
    /// To create channels.
    ManageChannels,
    /// To change who sees a channel.
    ManageRoles,
    /// To see a channel.
    ViewChannels,
    /// To post in a channel.
    SendMessages,
    /// To post in a thread.
    SendMessagesInThreads,
    /// To read earlier messages.
    ReadMessageHistory,
    /// To see a private thread without having been added to it.
    ManageThreads,
    /// To post for personas.
    ManageWebhooks,
}

impl NeededPermission {
    /// The permissions that a guild should give.
    pub(crate) const OF_GUILD: [Self; 3] =
        [Self::Administrator, Self::ManageChannels, Self::ManageRoles];

    /// Returns the permissions that a channel or a thread should give.
    pub(crate) const fn of_channel(is_thread: bool) -> [Self; 3] {
        let send = if is_thread { Self::SendMessagesInThreads } else { Self::SendMessages };
        [Self::ViewChannels, send, Self::ReadMessageHistory]
    }

    pub(crate) const fn bit(self) -> Permissions {
        match self {
            Self::Administrator => Permissions::ADMINISTRATOR,
            Self::ManageChannels => Permissions::MANAGE_CHANNELS,
            Self::ManageRoles => Permissions::MANAGE_ROLES,
            Self::ViewChannels => Permissions::VIEW_CHANNEL,
            Self::SendMessages => Permissions::SEND_MESSAGES,
            Self::SendMessagesInThreads => Permissions::SEND_MESSAGES_IN_THREADS,
            Self::ReadMessageHistory => Permissions::READ_MESSAGE_HISTORY,
            Self::ManageThreads => Permissions::MANAGE_THREADS,
            Self::ManageWebhooks => Permissions::MANAGE_WEBHOOKS,
        }
    }

    const fn without(self) -> &'static str {
        match self {
            Self::Administrator => {
                "no discussion can report to it, and the control page does not show it"
            }
            Self::ManageChannels => "agents cannot create channels",
            Self::ManageRoles => "who takes part in a channel cannot be changed",
            Self::ViewChannels => "no turns are kept there",
            Self::SendMessages | Self::SendMessagesInThreads => {
                "no agent is woken by a message, and no notice is posted"
            }
            Self::ReadMessageHistory => {
                "what was missed is not read, and replies are confirmed by events only"
            }
            Self::ManageThreads => "a private thread is seen only if the bot was added to it",
            Self::ManageWebhooks => "personas that have no webhook there yet have no turns there",
        }
    }
}

impl fmt::Display for NeededPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Administrator => "Administrator",
            Self::ManageChannels => "Manage Channels",
            Self::ManageRoles => "Manage Roles",
            Self::ViewChannels => "View Channels",
            Self::SendMessages => "Send Messages",
            Self::SendMessagesInThreads => "Send Messages in Threads",
            Self::ReadMessageHistory => "Read Message History",
            Self::ManageThreads => "Manage Threads",
            Self::ManageWebhooks => "Manage Webhooks",
        })
    }
}

/// Why Discord closed a gateway, if a new connection cannot help.
///
/// ```
/// use dirigent_discord::GatewayCloseReason;
/// assert_eq!(GatewayCloseReason::of(4014), Some(GatewayCloseReason::DisallowedIntents));
/// assert_eq!(GatewayCloseReason::of(4009), None, "a session that timed out is begun anew");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayCloseReason {
    /// 4004: the token is not valid.
    #[error(
        "closed with 4004: the token of this connection, the moderator's in a Feed, is not valid: take a new one from the developer portal"
    )]
    BadToken,
    /// 4010 or 4011: the number of shards is wrong, or too small.
    #[error("the number of shards is wrong, or more of them are needed (4010, 4011)")]
    BadShards,
    /// 4012: Discord no longer serves this version of the gateway.
    #[error("this version of the gateway is not served any more (4012)")]
    BadVersion,
    /// 4013: the request for intents has bits that no intent has.
    #[error("the intents that were asked for do not exist (4013)")]
    UnknownIntents,
    /// 4014: a privileged intent is not switched on for the application.
    #[error(
        "an intent was asked for that is not switched on in the developer portal (4014): see there, under \
         Bot, Privileged Gateway Intents, for the Server Members Intent and the Message Content Intent"
    )]
    DisallowedIntents,
}

impl GatewayCloseReason {
    /// Returns the reason for a close code, or `None` if a new connection can help.
    pub const fn of(code: u16) -> Option<Self> {
        match code {
            4004 => Some(Self::BadToken),
            4010 | 4011 => Some(Self::BadShards),
            4012 => Some(Self::BadVersion),
            4013 => Some(Self::UnknownIntents),
            4014 => Some(Self::DisallowedIntents),
            _ => None,
        }
    }
}
