//! Intents, which are the events that a session of the gateway asks for.

/// Guilds, channels, roles and threads.
pub(crate) const GUILDS: u64 = 1 << 0;
/// Members that join, leave or change. Privileged.
pub(crate) const MEMBERS: u64 = 1 << 1;
/// Changes of a channel's webhooks.
pub(crate) const WEBHOOKS: u64 = 1 << 5;
/// Presences. Privileged; this server sends no such event.
pub(crate) const PRESENCES: u64 = 1 << 8;
/// Messages in guilds.
pub(crate) const GUILD_MESSAGES: u64 = 1 << 9;
/// Reactions in guilds.
pub(crate) const GUILD_REACTIONS: u64 = 1 << 10;
/// Typing in guilds.
pub(crate) const GUILD_TYPING: u64 = 1 << 11;
/// Messages outside guilds.
pub(crate) const DIRECT_MESSAGES: u64 = 1 << 12;
/// Reactions outside guilds.
pub(crate) const DIRECT_REACTIONS: u64 = 1 << 13;
/// Typing outside guilds.
pub(crate) const DIRECT_TYPING: u64 = 1 << 14;
/// The texts of others' messages. Privileged.
pub(crate) const CONTENT: u64 = 1 << 15;
