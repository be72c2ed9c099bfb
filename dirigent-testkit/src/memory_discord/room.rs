//! One channel, thread or direct message.

use std::cell::RefCell;
use std::collections::BTreeMap;

use dirigent::ports::Timestamp;
use dirigent::ports::{ChannelInfo, ChannelKind, GuildId};
use dirigent::{ChannelId, MessageId, UserId};

use super::history::History;
use super::permissions::Permissions;
use super::pings::Pings;
use super::pins::Pins;
use super::places::{ChannelAccess, Places};
use super::rules::{Overwrites, Target};

/// Discord's numbers for kinds of channels.
pub mod kind {
    pub const TEXT: u8 = 0;
    pub const DIRECT: u8 = 1;
    pub(crate) const DIRECT_GROUP: u8 = 3;
    pub const ANNOUNCEMENT: u8 = 5;
    pub const ANNOUNCEMENT_THREAD: u8 = 10;
    pub const PUBLIC_THREAD: u8 = 11;
    pub const PRIVATE_THREAD: u8 = 12;
}

/// How a thread is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadSettings {
    /// After how many minutes without a message Discord puts it away; here nothing does.
    pub auto_archive_minutes: u64,
    /// How many seconds a person waits between two messages; bots do not.
    pub slow_mode_seconds: u64,
    /// Whether members of a private thread may add others.
    pub invitable: bool,
}

impl Default for ThreadSettings {
    fn default() -> Self {
        Self { auto_archive_minutes: 1_440, slow_mode_seconds: 0, invitable: true }
    }
}

/// A channel with what is kept of its messages.
#[derive(Debug)]
pub struct Room {
    pub id: ChannelId,
    pub guild: Option<GuildId>,
    /// What a thread hangs from, or the category of a channel.
    pub parent: Option<ChannelId>,
    /// Discord's number for its kind.
    pub kind: u8,
    pub name: String,
    pub topic: Option<String>,
    /// Who made a thread.
    pub creator: Option<UserId>,
    /// Whether a thread takes posts only from those who manage threads.
    pub locked: bool,
    /// Whether a thread is put away.
    pub archived: bool,
    /// What it changes for roles and members. A thread has none of its own.
    pub overwrites: Overwrites,
    /// The members of a thread, or who takes part in a direct message, and since when.
    pub added: BTreeMap<UserId, Timestamp>,
    /// The newest messages.
    pub messages: History,
    pub pins: Pins,
    /// How a thread was set up; channels have it too, and it says nothing of them.
    pub thread: ThreadSettings,
    /// What was found out of who may do what here.
    pub(crate) known: RefCell<ChannelAccess>,
}

impl Room {
    pub fn new(id: ChannelId, guild: Option<GuildId>, kind: u8, name: String) -> Self {
        Self {
            id,
            guild,
            parent: None,
            kind,
            name,
            topic: None,
            creator: None,
            locked: false,
            archived: false,
            overwrites: Overwrites::new(),
            added: BTreeMap::new(),
            messages: History::default(),
            pins: Pins::default(),
            thread: ThreadSettings::default(),
            known: RefCell::default(),
        }
    }

    pub const fn is_thread(&self) -> bool {
        matches!(self.kind, kind::ANNOUNCEMENT_THREAD | kind::PUBLIC_THREAD | kind::PRIVATE_THREAD)
    }

    pub const fn is_private_thread(&self) -> bool {
        self.kind == kind::PRIVATE_THREAD
    }

    /// Whether messages can be posted in it.
    pub const fn has_messages(&self) -> bool {
        self.is_thread()
            || matches!(
                self.kind,
                kind::TEXT | kind::ANNOUNCEMENT | kind::DIRECT | kind::DIRECT_GROUP
            )
    }

    /// What it takes to post here.
    pub const fn right_to_post(&self) -> Permissions {
        if self.is_thread() {
            Permissions::SEND_MESSAGES_IN_THREADS
        } else {
            Permissions::SEND_MESSAGES
        }
    }

    /// What an account's own overwrite leaves of these permissions.
    pub(crate) fn own_overwrite(&self, user: UserId, permissions: Permissions) -> Permissions {
        let own = self.overwrites.get(&Target::Member(user)).copied().unwrap_or_default();
        permissions.without(own.deny)
    }

    /// Deletes a message with its pin; says whether there was one.
    pub(crate) fn erase(&mut self, id: MessageId) -> bool {
        self.pins.remove(id);
        self.messages.remove(id)
    }

    /// Whom a message pings, if it is there.
    pub fn pings(&self, id: MessageId) -> Option<Pings> {
        let (message, details) = (self.messages.find(id)?, self.messages.details(id)?);
        let answered = details.rare.as_ref().and_then(|rare| rare.reply_to);
        let answered = answered.and_then(|answered| self.messages.find(answered));
        Some(Pings::of(message, details, answered.map(|answered| answered.author)))
    }

    /// What the chat tells about it.
    pub fn info(&self, places: &Places) -> ChannelInfo {
        ChannelInfo {
            id: self.id,
            guild: self.guild,
            parent: self.parent.filter(|_| self.is_thread()),
            kind: match self.kind {
                kind::TEXT => ChannelKind::Text,
                kind::ANNOUNCEMENT => ChannelKind::Announcement,
                kind::DIRECT | kind::DIRECT_GROUP => ChannelKind::Direct,
                _ if self.is_thread() => ChannelKind::Thread,
                _ => ChannelKind::Other,
            },
            name: self.name.clone(),
            topic: self.topic.clone(),
            private: places.is_private(self),
        }
    }
}
