//! The parts of the gateway's events that are read.

use serde::Deserialize;

use super::{Channel, Member, Number, Role, ThreadMember, User, WithId};
use crate::permission::GuildRules;

/// The data of an event of any kind.
#[derive(Deserialize)]
pub(crate) struct Payload<T> {
    pub(crate) d: T,
}

#[derive(Deserialize)]
pub(crate) struct Ready {
    pub(crate) user: WithId,
    /// The guilds that follow. Others may follow, too.
    pub(crate) guilds: Option<Vec<serde::de::IgnoredAny>>,
}

/// A guild as it is pushed when a session begins or it becomes available.
#[derive(Deserialize)]
pub(crate) struct PushedGuild {
    pub(crate) id: Number,
    pub(crate) unavailable: Option<bool>,
    pub(crate) owner_id: Option<Number>,
    #[serde(default)]
    pub(crate) roles: Vec<Role>,
    #[serde(default)]
    pub(crate) channels: Vec<Channel>,
    #[serde(default)]
    pub(crate) threads: Vec<Channel>,
    #[serde(default)]
    pub(crate) members: Vec<Member>,
    pub(crate) member_count: Option<u64>,
}

impl PushedGuild {
    /// Returns the owner and the roles, or `None` if the guild is unavailable.
    pub(crate) fn rules(&self) -> Option<GuildRules> {
        Some(super::rules(self.id, self.owner_id?, &self.roles))
    }
}

#[derive(Deserialize)]
pub(crate) struct DeletedGuild {
    pub(crate) id: Number,
    pub(crate) unavailable: Option<bool>,
}

#[derive(Deserialize)]
pub(crate) struct PushedRole {
    pub(crate) guild_id: Number,
    pub(crate) role: Role,
}

#[derive(Deserialize)]
pub(crate) struct DeletedRole {
    pub(crate) guild_id: Number,
    pub(crate) role_id: Number,
}

/// The active threads of a guild, or of some of its channels.
#[derive(Deserialize)]
pub(crate) struct ThreadList {
    pub(crate) guild_id: Number,
    #[serde(default)]
    pub(crate) threads: Vec<Channel>,
}

/// The accounts that joined or left a thread.
#[derive(Deserialize)]
pub(crate) struct ThreadMembers {
    pub(crate) id: Number,
    pub(crate) guild_id: Number,
    #[serde(default)]
    pub(crate) added_members: Vec<ThreadMember>,
    #[serde(default)]
    pub(crate) removed_member_ids: Vec<Number>,
}

#[derive(Deserialize)]
pub(crate) struct PushedMember {
    pub(crate) guild_id: Number,
    #[serde(flatten)]
    pub(crate) member: Member,
}

#[derive(Deserialize)]
pub(crate) struct RemovedMember {
    pub(crate) guild_id: Number,
    pub(crate) user: User,
}

#[derive(Clone, Copy, Deserialize)]
pub(crate) struct DeletedMessage {
    pub(crate) id: Number,
    pub(crate) channel_id: Number,
}

#[derive(Deserialize)]
pub(crate) struct DeletedMessages {
    pub(crate) ids: Vec<Number>,
    pub(crate) channel_id: Number,
}

#[derive(Clone, Copy, Deserialize)]
pub(crate) struct PushedTyping {
    pub(crate) channel_id: Number,
    pub(crate) user_id: Number,
}

#[derive(Deserialize)]
pub(crate) struct PushedReaction {
    pub(crate) channel_id: Number,
    pub(crate) message_author_id: Option<Number>,
    /// The member who reacted. Missing in direct messages.
    pub(crate) member: Option<Reactor>,
    pub(crate) emoji: Emoji,
}

#[derive(Deserialize)]
pub(crate) struct Reactor {
    pub(crate) user: User,
}

#[derive(Deserialize)]
pub(crate) struct Emoji {
    /// The emoji itself, or the name of a guild's own, which also has an id.
    pub(crate) name: Option<String>,
    pub(crate) id: Option<Number>,
}

/// A person used a command, or something else of an application.
#[derive(Deserialize)]
pub(crate) struct Interaction {
    pub(crate) id: Number,
    pub(crate) application_id: Number,
    /// Serenity drops it when it writes an event that it has read.
    #[serde(rename = "type")]
    pub(crate) kind: Option<u8>,
    pub(crate) token: String,
    pub(crate) guild_id: Option<Number>,
    pub(crate) channel_id: Option<Number>,
    pub(crate) channel: Option<WithId>,
    pub(crate) member: Option<Invoker>,
    pub(crate) data: Option<Used>,
}

#[derive(Deserialize)]
pub(crate) struct Invoker {
    pub(crate) user: Option<User>,
    pub(crate) permissions: Option<Number>,
}

#[derive(Default, Deserialize)]
pub(crate) struct Used {
    pub(crate) name: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Option<u8>,
    #[serde(default)]
    pub(crate) options: Vec<UsedOption>,
}

#[derive(Deserialize)]
pub(crate) struct UsedOption {
    pub(crate) name: String,
    pub(crate) value: Option<serde_json::Value>,
}
