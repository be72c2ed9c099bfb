//! The reasons why an account cannot write in a channel, and the permissions that the moderator lacks.

use std::fmt;

use dirigent_core::Timestamp;

/// A reason why an account surely cannot write in a channel. `Display` says it about a bot, with what you can do.
///
/// ```
/// use dirigent::ports::WriteBar;
/// assert!(WriteBar::NoSend.to_string().contains("Send Messages"));
/// assert!(WriteBar::NoSend.sees_channel() && !WriteBar::NotInGuild.sees_channel());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteBar {
    /// The account is not in the channel's guild.
    NotInGuild,
    /// The account does not see the channel.
    NoView,
    /// The account may not send messages there.
    NoSend,
    /// The account may not send messages in threads there.
    NoSendInThreads,
    /// The account is in a time-out.
    TimedOut {
        /// The end of the time-out, unless an event ends it before.
        until: Timestamp,
    },
    /// The thread is locked, and the account may not manage threads.
    Locked,
    /// The account is a persona without a webhook there, and the moderator cannot make one.
    NoWebhook,
    /// The account is a persona with the name of a member of the guild.
    NameTaken,
}

impl WriteBar {
    /// Returns whether the account still sees the channel, so that it is among the channel's members.
    pub const fn sees_channel(self) -> bool {
        !matches!(self, Self::NotInGuild | Self::NoView | Self::NoWebhook | Self::NameTaken)
    }

    /// Returns when the bar ends by itself, if this is known.
    pub const fn until(self) -> Option<Timestamp> {
        match self {
            Self::TimedOut { until } => Some(until),
            Self::NotInGuild
            | Self::NoView
            | Self::NoSend
            | Self::NoSendInThreads
            | Self::Locked
            | Self::NoWebhook
            | Self::NameTaken => None,
        }
    }
}

impl WriteBar {
    /// Returns the reason in words about a bot, for example "may not write here".
    pub const fn what(self) -> &'static str {
        match self {
            Self::NotInGuild => "is not in this server",
            Self::NoView => "does not see this channel",
            Self::NoSend => "may not write here",
            Self::NoSendInThreads => "may not write in threads here",
            Self::TimedOut { .. } => "is in a time-out",
            Self::Locked => "may not write in this thread, which is locked",
            Self::NoWebhook => "has no webhook here, and the moderator can make none",
            Self::NameTaken => "has the name of a member",
        }
    }

    /// Returns what you can do, for example "give it Send Messages".
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::NotInGuild => "invite it",
            Self::NoView => "give it View Channels here",
            Self::NoSend => "give it Send Messages",
            Self::NoSendInThreads => "give it Send Messages in Threads",
            Self::TimedOut { .. } => "a moderator of the server can end that",
            Self::Locked => "unlock it, or give the bot Manage Threads",
            Self::NoWebhook => {
                "give the moderator Manage Webhooks, and see that the channel has less than 15 webhooks"
            }
            Self::NameTaken => "give one of them another name",
        }
    }
}

impl fmt::Display for WriteBar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its bot {}: {}", self.what(), self.remedy())
    }
}

/// The permissions that the library's own account, the moderator, surely lacks in a channel. The default is that none
/// is known to be missing. `Display` says them in sentences, with what you can do, and is empty if none is known.
///
/// ```
/// use dirigent::operate::ModeratorLacks;
/// use dirigent::ports::WriteBar;
///
/// let mut lacks = ModeratorLacks::default();
/// assert_eq!(lacks.to_string(), "");
/// lacks.write_bar = Some(WriteBar::NoSend);
/// assert!(lacks.to_string().starts_with("The moderator may not write here: give it Send Messages."));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModeratorLacks {
    /// The reason why the moderator cannot write. It has to post triggers and notices.
    pub write_bar: Option<WriteBar>,
    /// `true` if the moderator may not read the history.
    pub is_history_hidden: bool,
}

impl ModeratorLacks {
    /// The value if no permission is known to be missing.
    pub(crate) const NONE: Self = Self { write_bar: None, is_history_hidden: false };
}

impl fmt::Display for ModeratorLacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bar) = self.write_bar {
            let (what, remedy) = (bar.what(), bar.remedy());
            write!(f, "The moderator {what}: {remedy}. ")?;
            f.write_str(
                "Without that it posts no notice, and no message that tells an agent of its turn.",
            )?;
        }
        if !self.is_history_hidden {
            return Ok(());
        }
        let space = if self.write_bar.is_some() { " " } else { "" };
        write!(
            f,
            "{space}The moderator may not read what was said here: give it Read Message History."
        )
    }
}
