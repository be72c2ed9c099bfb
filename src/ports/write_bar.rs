//! What keeps an account from writing in a channel, and what the moderator lacks.

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
    /// It is a persona that has no webhook there, and the moderator can make none.
    NoWebhook,
    /// It is a persona with the name of a member of the guild.
    NameTaken,
}

impl WriteBar {
    /// Whether the account sees the channel all the same: then it is among its members.
    pub const fn sees_channel(self) -> bool {
        !matches!(self, Self::NotInGuild | Self::NoView | Self::NoWebhook | Self::NameTaken)
    }

    /// When it ends by itself, where that is known.
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
    /// What is so, said of a bot: "may not write here".
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

    /// What to do about it: "give it Send Messages".
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

/// What the library's own account, the moderator, surely may not do in a channel; by default nothing is known. `Display` says it
/// in sentences, with what to do, and nothing where nothing is known.
///
/// ```
/// use dirigent::operate::OwnLacks;
/// use dirigent::ports::WriteBar;
///
/// let mut lacks = OwnLacks::default();
/// assert_eq!(lacks.to_string(), "");
/// lacks.write_bar = Some(WriteBar::NoSend);
/// assert!(lacks.to_string().starts_with("The moderator may not write here: give it Send Messages."));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnLacks {
    /// What keeps it from writing: it posts triggers and notices.
    pub write_bar: Option<WriteBar>,
    /// Whether it may not read the history.
    pub is_history_hidden: bool,
}

impl OwnLacks {
    /// Nothing is known to be missing.
    pub(crate) const NONE: Self = Self { write_bar: None, is_history_hidden: false };
}

impl fmt::Display for OwnLacks {
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
