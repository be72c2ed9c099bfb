//! What a session is told at its beginning, or when its account comes into a guild.

use dirigent::{GuildId, UserId};
use serde_json::{Value, json};

use super::close::Close;
use super::members::{MembersRequest, Wanted, chunks};
use super::session::Session;
use crate::loopback::wire::{self, intent};
use crate::memory_discord::world::World;

/// The version of the API that is spoken here.
pub(super) const VERSION: u64 = 10;

/// The guilds that a session of this account hears of.
pub(super) fn guilds(world: &World, session: &Session) -> Vec<GuildId> {
    let guilds = world.places.guilds.iter();
    let joined =
        guilds.filter(|(_, guild)| guild.members.contains_key(&session.user)).map(|(id, _)| *id);
    joined.filter(|guild| session.shard.hears(Some(*guild))).collect()
}

/// The data of READY.
pub(super) fn ready(world: &World, session: &Session, guilds: &[GuildId], url: &str) -> Value {
    let unavailable = |guild: &GuildId| json!({ "id": guild.to_string(), "unavailable": true });
    json!({
        "v": VERSION,
        "user": user(world, session.user),
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

fn user(_: &World, user: UserId) -> Value {
    json!({ "id": user.to_string(), "username": "x", "discriminator": "0", "avatar": null,
        "bot": true, "mfa_enabled": false, "verified": true, "banner": null, "accent_color": null })
}

/// The data of GUILD_CREATE; none when there is no such guild.
pub(super) fn guild(world: &World, session: &Session, guild: GuildId) -> Option<Value> {
    let _ = (world.places.guilds.get(&guild)?, session, intent::GUILDS);
    Some(json!({ "id": guild.to_string() }))
}

/// The data of the answers to a wish for members.
pub(super) fn members(
    world: &World,
    session: &Session,
    request: &MembersRequest,
) -> Result<Vec<Value>, Close> {
    let _ = (world, session);
    Ok(chunks(request.guild, &[], &[], request.nonce.as_deref()))
}
