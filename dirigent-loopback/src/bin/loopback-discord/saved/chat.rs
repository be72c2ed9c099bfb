//! Channels and messages in the file.

use std::sync::Arc;

use dirigent::ports::Timestamp;
use dirigent::ports::{ChatKind, GuildId};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use dirigent_testkit::memory_discord::details::{Allowed, Details};
use dirigent_testkit::memory_discord::room::{Room, ThreadSettings};
use dirigent_testkit::memory_discord::rules::{Overwrite, Target};
use dirigent_testkit::memory_discord::world::World;
use dirigent_testkit::memory_discord::{Permissions, RoleId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shown::SavedShown;

/// A channel with its messages.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedChannel {
    pub(super) id: u64,
    guild: Option<u64>,
    parent: Option<u64>,
    kind: u8,
    name: String,
    topic: Option<String>,
    creator: Option<u64>,
    locked: bool,
    archived: bool,
    overwrites: Vec<SavedOverwrite>,
    /// Accounts that were added to a thread or a direct message, with the time.
    added: Vec<(u64, u64)>,
    messages: Vec<SavedMessage>,
    /// Pinned messages, with the time.
    #[serde(default)]
    pins: Vec<(u64, u64)>,
    #[serde(default)]
    thread: Option<SavedThread>,
}

/// The settings of a thread, if they are not the usual ones.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedThread {
    auto_archive_minutes: u64,
    slow_mode_seconds: u64,
    invitable: bool,
}

impl SavedThread {
    fn of(settings: ThreadSettings) -> Option<Self> {
        let ThreadSettings { auto_archive_minutes, slow_mode_seconds, invitable } = settings;
        let saved = Self { auto_archive_minutes, slow_mode_seconds, invitable };
        (settings != ThreadSettings::default()).then_some(saved)
    }

    const fn restored(self) -> ThreadSettings {
        let Self { auto_archive_minutes, slow_mode_seconds, invitable } = self;
        ThreadSettings { auto_archive_minutes, slow_mode_seconds, invitable }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedOverwrite {
    id: u64,
    is_role: bool,
    allow: u64,
    deny: u64,
}

impl SavedOverwrite {
    fn of(target: Target, overwrite: Overwrite) -> Self {
        let (id, is_role) = match target {
            Target::Role(role) => (role.get(), true),
            Target::Member(user) => (user.get(), false),
        };
        Self { id, is_role, allow: overwrite.allow.bits(), deny: overwrite.deny.bits() }
    }

    fn restored(self) -> (Target, Overwrite) {
        let target = if self.is_role {
            Target::Role(RoleId::new(self.id))
        } else {
            Target::Member(UserId::new(self.id))
        };
        let allow = Permissions::from_bits(self.allow);
        (target, Overwrite { allow, deny: Permissions::from_bits(self.deny) })
    }
}

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Default,
    Reply,
    System,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedMessage {
    id: u64,
    author: u64,
    kind: Kind,
    content: String,
    reply_to: Option<u64>,
    edited_at: Option<u64>,
    flags: u64,
    nonce: Option<Value>,
    /// Discord's number for its kind, unless that is an ordinary message or a reply.
    #[serde(default)]
    number: Option<u8>,
    /// The channel that the message is about.
    #[serde(default)]
    about: Option<u64>,
    #[serde(default)]
    shown: Option<SavedShown>,
}

impl SavedMessage {
    fn of(message: &ChatMessage, details: Option<&Details>) -> Self {
        let rare = details.and_then(|details| details.rare.as_deref());
        let given = rare.and_then(|rare| rare.nonce.clone());
        Self {
            id: message.id.get(),
            author: message.author.get(),
            kind: match message.kind {
                ChatKind::Reply => Kind::Reply,
                ChatKind::System => Kind::System,
                ChatKind::Default | _ => Kind::Default,
            },
            content: message.content.to_string(),
            reply_to: rare.and_then(|rare| rare.reply_to).map(MessageId::get),
            edited_at: rare.and_then(|rare| rare.edited_at).map(Timestamp::as_millis),
            flags: rare.map_or(0, |rare| rare.flags),
            nonce: given.or_else(|| message.nonce.map(|nonce| nonce.as_str().into())),
            number: rare.and_then(|rare| rare.kind),
            about: rare.and_then(|rare| rare.about).map(ChannelId::get),
            shown: rare.and_then(SavedShown::of),
        }
    }

    fn restored(self, channel: ChannelId, world: &World) -> (ChatMessage, Details) {
        let author = UserId::new(self.author);
        // The pings went out when it was posted, so a restored message pings no account.
        let mut details = Details { allowed: Allowed::None, rare: None };
        let is_rare = self.reply_to.is_some()
            || self.edited_at.is_some()
            || self.flags != 0
            || self.number.is_some()
            || self.shown.is_some();
        if is_rare {
            let rare = details.rare_mut();
            rare.kind = self.number;
            rare.about = self.about.map(ChannelId::new);
            self.shown.into_iter().for_each(|shown| shown.restore(rare));
            rare.reply_to = self.reply_to.map(MessageId::new);
            rare.edited_at = self.edited_at.map(Timestamp::from_millis);
            rare.flags = self.flags;
        }
        let name = world.accounts.get(author).map(|account| Arc::clone(&account.name));
        let mut message = ChatMessage {
            author_name: name,
            author_kind: world.accounts.kind_of(author),
            kind: match self.kind {
                Kind::Default => ChatKind::Default,
                Kind::Reply => ChatKind::Reply,
                Kind::System => ChatKind::System,
            },
            nonce: self.nonce.and_then(|given| details.nonce(&given)),
            ..ChatMessage::new(MessageId::new(self.id), channel, author, self.content)
        };
        details.tell(&mut message);
        (message, details)
    }
}

impl SavedChannel {
    pub(super) fn of(room: &Room) -> Self {
        let overwrites = room.overwrites.iter();
        let added = room.added.iter();
        let messages = room.messages.iter();
        let pins = room.pins.oldest_first();
        Self {
            id: room.id.get(),
            guild: room.guild.map(GuildId::get),
            parent: room.parent.map(ChannelId::get),
            kind: room.kind,
            name: room.name.clone(),
            topic: room.topic.clone(),
            creator: room.creator.map(UserId::get),
            locked: room.locked,
            archived: room.archived,
            overwrites: overwrites.map(|(target, it)| SavedOverwrite::of(*target, *it)).collect(),
            added: added.map(|(user, at)| (user.get(), at.as_millis())).collect(),
            messages: messages
                .map(|message| SavedMessage::of(message, room.messages.details(message.id)))
                .collect(),
            pins: pins.map(|(message, at)| (message.get(), at.as_millis())).collect(),
            thread: SavedThread::of(room.thread),
        }
    }

    pub(super) fn restore(self, world: &mut World) {
        let id = ChannelId::new(self.id);
        let mut room = Room::new(id, self.guild.map(GuildId::new), self.kind, self.name);
        room.parent = self.parent.map(ChannelId::new);
        room.topic = self.topic;
        room.creator = self.creator.map(UserId::new);
        room.locked = self.locked;
        room.archived = self.archived;
        room.overwrites = self.overwrites.into_iter().map(SavedOverwrite::restored).collect();
        let added = self.added.into_iter();
        room.added =
            added.map(|(user, at)| (UserId::new(user), Timestamp::from_millis(at))).collect();
        for message in self.messages {
            let (message, details) = message.restored(id, world);
            room.messages.keep(message, details, usize::MAX);
        }
        for (message, at) in self.pins {
            room.pins.add(MessageId::new(message), Timestamp::from_millis(at));
        }
        room.thread = self.thread.map(SavedThread::restored).unwrap_or_default();
        world.add_room(room);
    }
}
