//! What a session is told at its beginning, or when its account comes into a guild.

use dirigent::{GuildId, UserId};
use serde_json::{Value, json};

use super::members::{MembersRequest, Wanted, chunks};
use super::session::Session;
use crate::loopback::wire::{self, intent};
use crate::memory_discord::world::World;

/// The version of the API that is spoken here.
pub(super) const VERSION: u64 = 10;

/// The guilds that a session of this account hears of.
pub(super) fn guilds(world: &World, session: &Session) -> Vec<GuildId> {
    let guilds = world.places.guilds.iter();
    let joined = guilds.filter(|(_, guild)| guild.has(session.user)).map(|(id, _)| *id);
    joined.filter(|guild| session.shard.hears(Some(*guild))).collect()
}

/// The data of READY.
pub(super) fn ready(world: &World, session: &Session, guilds: &[GuildId], url: &str) -> Value {
    let unavailable = |guild: &GuildId| json!({ "id": guild.to_string(), "unavailable": true });
    json!({
        "v": VERSION,
        "user": wire::current_user(world, session.user),
        "guilds": guilds.iter().map(unavailable).collect::<Vec<Value>>(),
        "session_id": session.id,
        "session_type": "normal",
        "resume_gateway_url": url,
        "shard": session.shard.pair(),
        "application": { "id": session.user.to_string(), "flags": 0 },
        "private_channels": [],
        "relationships": [],
        "presences": [],
        "user_settings": {},
    })
}
