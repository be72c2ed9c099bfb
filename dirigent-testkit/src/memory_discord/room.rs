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

/// The settings of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadSettings {
    /// The minutes without a message after which Discord archives the thread. Here no thread is
    /// archived.
    pub auto_archive_minutes: u64,
    /// The seconds that a person must wait between two messages. Bots need not wait.
    pub slow_mode_seconds: u64,
    /// True if members of a private thread may add others.
    pub invitable: bool,
}

impl Default for ThreadSettings {
    fn default() -> Self {
        Self { auto_archive_minutes: 1_440, slow_mode_seconds: 0, invitable: true }
    }
}

/// A channel with its stored messages.
#[derive(Debug)]
pub struct Room {
    pub id: ChannelId,
    pub guild: Option<GuildId>,
    /// The channel of a thread, or the category of a channel.
    pub parent: Option<ChannelId>,
    /// Discord's number for its kind.
    pub kind: u8,
    pub name: String,
    pub topic: Option<String>,
    /// The creator of a thread.
    pub creator: Option<UserId>,
    /// True if only accounts that manage threads can post in this thread.
    pub locked: bool,
    /// True if a thread is archived.
    pub archived: bool,
    /// The overwrites for roles and members. A thread has none of its own.
    pub overwrites: Overwrites,
    /// The members of a thread or a direct message, with the time of joining.
    pub added: BTreeMap<UserId, Timestamp>,
    /// The newest messages.
    pub messages: History,
    pub pins: Pins,
    /// The settings of a thread. In a channel they have no meaning.
    pub thread: ThreadSettings,
    /// The cached permissions.
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

    /// Returns true if messages can be posted in it.
    pub const fn has_messages(&self) -> bool {
        self.is_thread()
            || matches!(
                self.kind,
                kind::TEXT | kind::ANNOUNCEMENT | kind::DIRECT | kind::DIRECT_GROUP
            )
    }

    /// Returns the permission to post here.
    pub const fn right_to_post(&self) -> Permissions {
        if self.is_thread() {
            Permissions::SEND_MESSAGES_IN_THREADS
        } else {
            Permissions::SEND_MESSAGES
        }
    }

    /// Returns these permissions without those that the account's own overwrite denies.
    pub(crate) fn own_overwrite(&self, user: UserId, permissions: Permissions) -> Permissions {
        let own = self.overwrites.get(&Target::Member(user)).copied().unwrap_or_default();
        permissions.without(own.deny)
    }

    /// Deletes a message and its pin. Returns true if it existed.
    pub(crate) fn erase(&mut self, id: MessageId) -> bool {
        self.pins.remove(id);
        self.messages.remove(id)
    }

    /// Returns the pings of a message, if it exists.
    pub fn pings(&self, id: MessageId) -> Option<Pings> {
        let (message, details) = (self.messages.find(id)?, self.messages.details(id)?);
        let answered = details.rare.as_ref().and_then(|rare| rare.reply_to);
        let answered = answered.and_then(|answered| self.messages.find(answered));
        Some(Pings::of(message, details, answered.map(|answered| answered.author)))
    }

    /// Returns the channel in the form of the API.
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
