//! Guilds, their members and their roles.

use std::ops::Bound;

use dirigent::UserId;
use serde_json::json;

use super::ask::Ask;
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::joined;
use crate::managed_roles::managed_roles;
use crate::wire;
use dirigent_testkit::memory_discord::event::Event;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::role::RoleId;
use dirigent_testkit::memory_discord::world::World;

pub(super) fn one(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    Ok(Reply::json(wire::guild(world, ask.guild(), guild, ask.wants("with_counts"))))
}

/// Returns the channels that the account sees, without threads.
pub(super) fn channels(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    let rooms = guild.channels.iter().filter_map(|id| world.places.rooms.get(id));
    let is_seen = |id| world.places.permissions(id, ask.me).contains(Permissions::VIEW_CHANNEL);
    let shown = rooms.filter(|room| !room.is_thread() && is_seen(room.id));
    Ok(Reply::list(shown.map(|room| wire::channel(world, ask.me, room))))
}

/// Returns members by rising id. It needs the members intent, and by default returns one member.
pub(super) fn members(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    if world.accounts.get(ask.me).is_some_and(|account| account.members_hidden) {
        return Err(Refusal::missing_access());
    }
    let limit = ask.limit(1, 1_000)?;
    let after = ask.number("after")?.map_or(UserId::new(0), UserId::new);
    let later = guild.members.range((Bound::Excluded(after), Bound::Unbounded));
    let page = later.take(limit).filter_map(|(user, _)| wire::member(world, ask.guild(), *user));
    Ok(Reply::list(page))
}

/// Returns members with names that begin with a text.
pub(super) fn search(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    let limit = ask.limit(1, 1_000)?;
    let begin = ask.text("query").filter(|begin| !begin.is_empty());
    let required = || Refusal::invalid("query", "BASE_TYPE_REQUIRED", "This field is required");
    let begin = begin.ok_or_else(required)?.to_lowercase();
    let named = guild.members.keys().filter(|user| {
        let account = world.accounts.get(**user);
        account.is_some_and(|account| account.name.to_lowercase().starts_with(&begin))
    });
    let found = named.take(limit).filter_map(|user| wire::member(world, ask.guild(), *user));
    Ok(Reply::list(found))
}

pub(super) fn member(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    joined(world, ask.guild(), ask.me)?;
    let member = wire::member(world, ask.guild(), ask.user(1));
    member.map(Reply::json).ok_or_else(Refusal::unknown_member)
}

/// Gives a member a role, or takes it. It must be below the account's own highest role.
pub(super) fn set_role(world: &mut World, ask: &Ask, has_it: bool) -> Result<Reply, Refusal> {
    let (guild, user, role) = (ask.guild(), ask.user(1), RoleId::new(ask.id(2)));
    let found = joined(world, guild, ask.me)?;
    if managed_roles(world, guild, found).any(|(managed, _)| managed == role) {
        return Err(Refusal::invalid_role());
    }
    let position = found.roles.get(&role).ok_or_else(Refusal::unknown_role)?.position;
    if !found.members.contains_key(&user) {
        return Err(Refusal::unknown_member());
    }
    let mine = found.members.get(&ask.me).into_iter().flat_map(|member| &member.roles);
    let highest = mine.filter_map(|role| found.roles.get(role)).map(|role| role.position).max();
    let outranks = found.owner == ask.me || highest.is_some_and(|highest| highest > position);
    let allowed = world.places.in_guild(guild, ask.me);
    if !allowed.contains(Permissions::MANAGE_ROLES) || !outranks || role == RoleId::everyone(guild)
    {
        return Err(Refusal::missing_permissions());
    }
    world.change_guild(guild, |guild| {
        if let Some(member) = guild.members.get_mut(&user) {
            if has_it {
                member.roles.insert(role);
            } else {
                member.roles.remove(&role);
            }
        }
    });
    world.publish(Event::GuildMemberChanged { guild, user });
    Ok(Reply::nothing())
}

pub(super) fn roles(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    Ok(Reply::list(wire::roles(world, ask.guild(), guild)))
}

/// Returns the threads that the account sees, newest first.
pub(super) fn active_threads(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    let rooms = guild.channels.iter().rev().filter_map(|id| world.places.rooms.get(id));
    let is_seen = |id| world.places.permissions(id, ask.me).contains(Permissions::VIEW_CHANNEL);
    let shown: Vec<_> =
        rooms.filter(|room| room.is_thread() && !room.archived && is_seen(room.id)).collect();
    let threads: Vec<_> = shown.iter().map(|room| wire::channel(world, ask.me, room)).collect();
    let joined = shown.iter().filter_map(|room| wire::thread_member(world, room, ask.me, false));
    let members: Vec<_> = joined.collect();
    Ok(Reply::json(json!({ "threads": threads, "members": members })))
}

pub(super) fn emojis(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    Ok(Reply::list(guild.emojis.iter().map(|(id, name)| wire::guild_emoji(*id, name))))
}

pub(super) fn emoji(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    let id = ask.id(1);
    let name = guild.emojis.get(&id).ok_or_else(Refusal::unknown_emoji)?;
    Ok(Reply::json(wire::guild_emoji(id, name)))
}
