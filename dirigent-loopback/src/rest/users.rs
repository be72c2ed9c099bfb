//! Users, applications, and the address of the gateway.

use dirigent::ports::GuildId;
use serde_json::json;

use super::ask::{Ask, number};
use super::refusal::Refusal;
use super::reply::Reply;
use crate::state::ServerContext;
use crate::wire;
use dirigent_testkit::memory_discord::room::{Room, kind};
use dirigent_testkit::memory_discord::world::World;

pub(super) fn current(world: &World, ask: &Ask) -> Reply {
    Reply::json(wire::current_user(world, ask.me))
}

pub(super) fn one(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let user = ask.user(0);
    if world.accounts.get(user).is_none() {
        return Err(Refusal::unknown_user());
    }
    Ok(Reply::json(wire::user(world, user)))
}

/// Returns guilds by rising id. `before` and `after` are exclusive.
pub(super) fn guilds(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let limit = ask.limit(200, 200)?;
    let after = ask.number("after")?.map_or(GuildId::new(0), GuildId::new);
    let before = ask.number("before")?.map(GuildId::new);
    let joined = wire::guilds_of(world, ask.me).into_iter();
    let mut page: Vec<_> = joined
        .filter(|guild| *guild > after && before.is_none_or(|before| *guild < before))
        .collect();
    if before.is_some() {
        let skipped = page.len().saturating_sub(limit);
        page.drain(..skipped);
    }
    page.truncate(limit);
    let found = page.into_iter().filter_map(|id| {
        let guild = world.places.guilds.get(&id)?;
        Some(wire::listed_guild(world, id, guild, ask.me))
    });
    Ok(Reply::list(found))
}

/// Opens a direct message, or finds the existing one.
pub(super) fn direct(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let fields = ask.fields(&["recipient_id"])?;
    let other = number(fields, "recipient_id")?.map(dirigent::UserId::new);
    let other = other.filter(|other| world.accounts.get(*other).is_some());
    let other = other.ok_or_else(Refusal::unknown_user)?;
    if other == ask.me {
        return Err(Refusal::cannot_talk_to());
    }
    let both = |room: &&Room| {
        room.kind == kind::DIRECT
            && room.added.len() == 2
            && room.added.contains_key(&ask.me)
            && room.added.contains_key(&other)
    };
    if let Some(room) = world.places.rooms.values().find(both) {
        return Ok(Reply::json(wire::channel(world, ask.me, room)));
    }
    let id = dirigent::ChannelId::new(world.next_id());
    let now = world.clock.now();
    let mut room = Room::new(id, None, kind::DIRECT, String::new());
    room.added = [(ask.me, now), (other, now)].into();
    let written = wire::channel(world, ask.me, &room);
    world.add_room(room);
    Ok(Reply::json(written))
}

pub(super) fn application(world: &World, ask: &Ask) -> Reply {
    Reply::json(wire::application(world, ask.me))
}

pub(super) fn gateway(state: &ServerContext) -> Reply {
    Reply::json(json!({ "url": state.gateway_url() }))
}

pub(super) fn gateway_bot(state: &ServerContext) -> Reply {
    Reply::json(json!({
        "url": state.gateway_url(),
        "shards": 1,
        "session_start_limit": {
            "total": 1_000,
            "remaining": 1_000,
            "reset_after": 86_400_000,
            "max_concurrency": 1,
        },
    }))
}
