//! What keeps an account from writing in a channel.

use std::fmt;

use dirigent_core::Timestamp;

/// What surely keeps an account from writing in a channel. `Display` says it of a bot, with what to do about it.
///
/// ```
/// use dirigent::ports::WriteBar;
/// assert!(WriteBar::NoSend.to_string().contains("Send Messages"));
/// assert!(WriteBar::NoSend.sees_channel() && !WriteBar::NotInGuild.sees_channel());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteBar {
    /// It is not in the channel's guild.
    NotInGuild,
    /// It does not see the channel.
    NoView,
    /// It may not send messages there.
    NoSend,
    /// It may not send messages in threads there.
    NoSendInThreads,
    /// It is in a time-out.
    TimedOut {
        /// When that ends, if no event ends it before.
        until: Timestamp,
    },
    /// The thread is locked, and it may not manage threads.
    Locked,
}

impl WriteBar {
    /// Whether the account sees the channel all the same: then it is among its members.
    pub const fn sees_channel(self) -> bool {
        !matches!(self, Self::NotInGuild | Self::NoView)
    }

    /// When it ends by itself, where that is known.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::TimedOut { until } => Some(until),
            Self::NotInGuild
            | Self::NoView
            | Self::NoSend
            | Self::NoSendInThreads
            | Self::Locked => None,
        }
    }
}

impl WriteBar {
    /// What is so, said of a bot: "may not write here".
    pub const fn what(self) -> &'static str {
        match self {
            Self::NotInGuild => "is not in this server",
            Self::NoView => "does not see this channel",
            Self::NoSend => "may not write here",
            Self::NoSendInThreads => "may not write in threads here",
            Self::TimedOut { .. } => "is in a time-out",
            Self::Locked => "may not write in this thread, which is locked",
        }
    }

    /// What to do about it: "give it Send Messages".
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::NotInGuild => "invite it",
            Self::NoView => "give it View Channels here",
            Self::NoSend => "give it Send Messages",
            Self::NoSendInThreads => "give it Send Messages in Threads",
            Self::TimedOut { .. } => "a moderator of the server can end that",
            Self::Locked => "unlock it, or give the bot Manage Threads",
        }
    }
}

impl fmt::Display for WriteBar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its bot {}: {}", self.what(), self.remedy())
    }
}
