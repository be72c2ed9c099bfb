//! The data of a guild that a session gets at its beginning, or when its account joins.

use std::ops::RangeInclusive;

use dirigent::UserId;
use dirigent::ports::GuildId;
use serde_json::{Value, json};

use super::close::Close;
use super::members::{MembersRequest, Wanted, chunks};
use super::session::Session;
use crate::wire::{self, intent};
use dirigent_testkit::memory_discord::world::World;

/// The version of the API.
const VERSION: u64 = 10;

/// The versions that a client may ask for. Version 9 is treated as 10, as in the paths of requests.
pub(super) const VERSIONS: RangeInclusive<u64> = 9..=VERSION;

/// Returns the guilds of a session.
pub(super) fn guilds(world: &World, session: &Session) -> Vec<GuildId> {
    let mut guilds = wire::guilds_of(world, session.user);
    guilds.retain(|guild| session.shard.hears(Some(*guild)));
    guilds
}

/// Returns the data of READY.
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
        "application": wire::partial_application(world, session.user),
        "private_channels": [],
        "relationships": [],
        "presences": [],
        "user_settings": {},
    })
}

/// Returns the data of `GUILD_CREATE`, or `None` if the account is not in the guild.
///
/// A session that asked for presences gets all members, unless the guild is large. Others get only
/// the account itself (events/gateway-events, guild create).
pub(super) fn guild(world: &World, session: &Session, guild: GuildId) -> Option<Value> {
    let mut data = wire::guild_create(world, guild, session.user)?;
    let fields = data.as_object_mut()?;
    let members = &world.places.guilds.get(&guild)?.members;
    let is_large = members.len() as u64 > session.large_threshold;
    fields.insert("large".to_owned(), is_large.into());
    if session.intents.has(intent::PRESENCES) && !is_large {
        let all = members.keys().filter_map(|user| wire::member(world, guild, *user));
        fields.insert("members".to_owned(), all.collect());
    }
    Some(data)
}

/// Returns the data of the answers to a request for members. There is none for a guild that the
/// session does not see. A request for all members, or for presences, needs that intent.
pub(super) fn members(
    world: &World,
    session: &Session,
    request: &MembersRequest,
) -> Result<Vec<Value>, Close> {
    let lacks = |intent| !session.intents.has(intent);
    if (request.wanted == Wanted::All && lacks(intent::MEMBERS))
        || (request.presences && lacks(intent::PRESENCES))
    {
        return Err(Close::DisallowedIntents);
    }
    if !guilds(world, session).contains(&request.guild) {
        return Ok(Vec::new());
    }
    let Some(found) = world.places.guilds.get(&request.guild) else {
        return Ok(Vec::new());
    };
    let member = |user: &UserId| wire::member(world, request.guild, *user);
    let mut missing = Vec::new();
    let listed: Vec<Value> = match &request.wanted {
        Wanted::All => found.members.keys().filter_map(member).collect(),
        Wanted::Users(users) => {
            missing.extend(users.iter().filter(|user| !found.members.contains_key(user)).copied());
            users.iter().filter_map(member).collect()
        }
        Wanted::Named { prefix, limit } => {
            let all = found.members.keys().filter_map(member);
            all.filter(|member| is_named(member, prefix)).take(*limit).collect()
        }
    };
    Ok(chunks(request.guild, &listed, &missing, request.nonce.as_deref()))
}

/// Returns true if a member's name begins with this text, in any case.
fn is_named(member: &Value, prefix: &str) -> bool {
    let name = member.pointer("/user/username").and_then(Value::as_str).unwrap_or_default();
    name.to_lowercase().starts_with(&prefix.to_lowercase())
}
