//! An account's permissions, as a set of Discord's bits.

use std::fmt;
use std::ops::BitOr;

/// A set of permissions, by Discord's bits.
///
/// ```
/// use dirigent_testkit::memory_discord::Permissions;
///
/// let talk = Permissions::VIEW_CHANNEL | Permissions::SEND_MESSAGES;
/// assert!(talk.contains(Permissions::SEND_MESSAGES));
/// assert_eq!(talk.without(Permissions::VIEW_CHANNEL), Permissions::SEND_MESSAGES);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Permissions(u64);

impl Permissions {
    /// No permission.
    pub const NONE: Self = Self(0);
    /// All permissions, including future ones.
    pub const ALL: Self = Self(u64::MAX >> 11);
    /// Everything, whatever a channel denies.
    pub const ADMINISTRATOR: Self = Self(1 << 3);
    /// Create, change and delete channels.
    pub const MANAGE_CHANNELS: Self = Self(1 << 4);
    /// React to a message with an emoji that is not there yet.
    pub const ADD_REACTIONS: Self = Self(1 << 6);
    /// See a channel.
    pub const VIEW_CHANNEL: Self = Self(1 << 10);
    /// Post in a channel.
    pub const SEND_MESSAGES: Self = Self(1 << 11);
    /// Delete others' messages.
    pub const MANAGE_MESSAGES: Self = Self(1 << 13);
    /// Post with embeds.
    pub const EMBED_LINKS: Self = Self(1 << 14);
    /// Post with files.
    pub const ATTACH_FILES: Self = Self(1 << 15);
    /// Read earlier messages.
    pub const READ_MESSAGE_HISTORY: Self = Self(1 << 16);
    /// Ping everyone.
    pub const MENTION_EVERYONE: Self = Self(1 << 17);
    /// Change permissions.
    pub const MANAGE_ROLES: Self = Self(1 << 28);
    /// Create, change and delete webhooks.
    pub const MANAGE_WEBHOOKS: Self = Self(1 << 29);
    /// Use commands.
    pub const USE_APPLICATION_COMMANDS: Self = Self(1 << 31);
    /// See all threads, and change and delete them.
    pub const MANAGE_THREADS: Self = Self(1 << 34);
    /// Create threads that everyone sees.
    pub const CREATE_PUBLIC_THREADS: Self = Self(1 << 35);
    /// Create threads that only their members see.
    pub const CREATE_PRIVATE_THREADS: Self = Self(1 << 36);
    /// Post in threads.
    pub const SEND_MESSAGES_IN_THREADS: Self = Self(1 << 38);

    /// Pin messages.
    pub const PIN_MESSAGES: Self = Self(1 << 51);

    /// Everything that an account needs to take part in a channel.
    pub const TALK: Self = Self(
        Self::VIEW_CHANNEL.0
            | Self::SEND_MESSAGES.0
            | Self::SEND_MESSAGES_IN_THREADS.0
            | Self::READ_MESSAGE_HISTORY.0,
    );

    /// The permissions to show something besides a text.
    const SHOW: Self = Self(Self::ADD_REACTIONS.0 | Self::EMBED_LINKS.0 | Self::ATTACH_FILES.0);

    /// The permissions in a direct message.
    pub const OF_A_DIRECT_MESSAGE: Self = Self(Self::TALK.0 | Self::SHOW.0 | Self::PIN_MESSAGES.0);

    /// The permissions of the everyone role in a new guild.
    pub const OF_A_NEW_GUILD: Self = Self(
        Self::TALK.0
            | Self::SHOW.0
            | Self::USE_APPLICATION_COMMANDS.0
            | Self::CREATE_PUBLIC_THREADS.0
            | Self::CREATE_PRIVATE_THREADS.0,
    );

    /// Creates a set from these bits.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns true if the set contains all of these.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the set without these.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub const fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Permissions {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permissions({:#x})", self.0)
    }
}
