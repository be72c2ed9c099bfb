//! Channels and their overwrites.

use dirigent::{ChannelId, UserId};
use serde_json::{Map, Value};

use super::ask::{Ask, as_number, is_on, number, object, only, text, text_of};
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::{joined, seen, seen_with};
use super::threads::read_settings;
use crate::wire;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::role::RoleId;
use dirigent_testkit::memory_discord::room::{Room, kind};
use dirigent_testkit::memory_discord::rules::{Overwrite, Overwrites, Target};
use dirigent_testkit::memory_discord::world::World;

/// The most overwrites of a channel.
const OVERWRITES_MAX: usize = 100;

/// The bounds of a name and a topic, in characters.
const NAME: (usize, usize) = (1, 100);
const TOPIC: (usize, usize) = (0, 1_024);

pub(super) fn one(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let (room, _) = seen(world, ask.channel(), ask.me)?;
    Ok(Reply::json(wire::channel(world, ask.me, room)))
}

pub(super) fn create(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = ask.guild();
    joined(world, guild, ask.me)?;
    let allowed = world.places.in_guild(guild, ask.me);
    if !allowed.contains(Permissions::MANAGE_CHANNELS) {
        return Err(Refusal::missing_permissions());
    }
    let fields = ask.fields(&[
        "name",
        "type",
        "topic",
        "parent_id",
        "permission_overwrites",
        "position",
        "nsfw",
    ])?;
    let required = || Refusal::invalid("name", "BASE_TYPE_REQUIRED", "This field is required");
    let name = text_of(fields, "name", NAME)?.ok_or_else(required)?;
    let topic = text_of(fields, "topic", TOPIC)?;
    let kind = number(fields, "type")?.unwrap_or(0);
    let kind = match u8::try_from(kind).unwrap_or(u8::MAX) {
        kind @ (kind::TEXT | kind::ANNOUNCEMENT) => kind,
        other => return Err(Refusal::lacking(&format!("a channel of kind {other}"))),
    };
    let overwrites = match fields.get("permission_overwrites") {
        None | Some(Value::Null) => Overwrites::new(),
        Some(list) => overwrites(list, allowed)?,
    };
    let id = ChannelId::new(world.next_id());
    let mut room = Room::new(id, Some(guild), kind, name.to_owned());
    room.topic = topic.map(str::to_owned);
    room.parent = number(fields, "parent_id")?.map(ChannelId::new);
    room.overwrites = overwrites;
    world.add_room(room);
    let room = world.places.rooms.get(&id).ok_or_else(Refusal::unknown_channel)?;
    Ok(Reply::created(wire::channel(world, ask.me, room)))
}

pub(super) fn update(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    let guild = room.guild.ok_or_else(Refusal::not_here)?;
    let fields = ask.fields(&[
        "name",
        "topic",
        "permission_overwrites",
        "archived",
        "locked",
        "auto_archive_duration",
        "rate_limit_per_user",
        "invitable",
        "parent_id",
        "position",
        "nsfw",
    ])?;
    let is_thread = room.is_thread();
    let right = if is_thread { Permissions::MANAGE_THREADS } else { Permissions::MANAGE_CHANNELS };
    let is_own = is_thread && room.creator == Some(ask.me) && !is_on(fields, "locked");
    if !allowed.contains(right) && !is_own {
        return Err(Refusal::missing_permissions());
    }
    let name = text_of(fields, "name", NAME)?.map(str::to_owned);
    let topic = match fields.get("topic") {
        Some(Value::Null) => Some(None),
        _ => text_of(fields, "topic", TOPIC)?.map(|topic| Some(topic.to_owned())),
    };
    let new_overwrites = match fields.get("permission_overwrites") {
        Some(list) if !is_thread && !list.is_null() => {
            if !allowed.contains(Permissions::MANAGE_ROLES) {
                return Err(Refusal::missing_permissions());
            }
            Some(overwrites(list, world.places.in_guild(guild, ask.me))?)
        }
        _ => None,
    };
    let switch = |name: &str| fields.get(name).and_then(Value::as_bool).filter(|_| is_thread);
    let (archived, locked) = (switch("archived"), switch("locked"));
    let thread = read_settings(fields, room.thread)?;
    if !is_thread && thread != room.thread {
        return Err(Refusal::lacking("slow mode of a channel"));
    }
    world.change_room(ask.channel(), |room| {
        room.name = name.unwrap_or_else(|| std::mem::take(&mut room.name));
        room.topic = topic.unwrap_or_else(|| room.topic.take());
        room.overwrites = new_overwrites.unwrap_or_else(|| std::mem::take(&mut room.overwrites));
        room.thread = thread;
        room.archived = archived.unwrap_or(room.archived);
        room.locked = locked.unwrap_or(room.locked);
    });
    one(world, ask)
}

/// Deletes a channel. At Discord the same call also closes a direct message, but this server lacks
/// that.
pub(super) fn delete(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    if room.guild.is_none() {
        return Err(Refusal::lacking("closing a direct message"));
    }
    let right =
        if room.is_thread() { Permissions::MANAGE_THREADS } else { Permissions::MANAGE_CHANNELS };
    if !allowed.contains(right) {
        return Err(Refusal::missing_permissions());
    }
    let written = wire::channel(world, ask.me, room);
    world.delete_channel(ask.channel());
    Ok(Reply::json(written))
}

/// Sets an overwrite. An account can only give or take permissions that it has itself.
pub(super) fn set_overwrite(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let room = seen_with(world, ask.channel(), ask.me, Permissions::MANAGE_ROLES)?;
    let guild = room.guild.filter(|_| !room.is_thread()).ok_or_else(Refusal::not_here)?;
    let fields = ask.fields(&["id", "type", "allow", "deny"])?;
    let (target, mut overwrite) = overwrite(fields, Some(ask.id(1)), "")?;
    let old = room.overwrites.get(&target).copied();
    let given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    if let Some(old) = old {
        // Fields that are not given stay unchanged.
        overwrite.allow = if given("allow") { overwrite.allow } else { old.allow };
        overwrite.deny = if given("deny") { overwrite.deny } else { old.deny };
    } else if room.overwrites.len() >= OVERWRITES_MAX {
        return Err(Refusal::new(400, 30060, "Maximum number of channel overwrites reached (100)"));
    }
    may_give(overwrite, world.places.in_guild(guild, ask.me))?;
    if let Target::Role(role) = target {
        let found = world.places.guilds.get(&guild);
        if found.is_none_or(|guild| !guild.roles.contains_key(&role)) {
            return Err(Refusal::unknown_role());
        }
    }
    world.overwrite(ask.channel(), target, Some(overwrite));
    Ok(Reply::nothing())
}

pub(super) fn delete_overwrite(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let room = seen_with(world, ask.channel(), ask.me, Permissions::MANAGE_ROLES)?;
    if room.guild.is_none() || room.is_thread() {
        return Err(Refusal::not_here());
    }
    let targets = [Target::Role(RoleId::new(ask.id(1))), Target::Member(UserId::new(ask.id(1)))];
    let there = targets.into_iter().find(|target| room.overwrites.contains_key(target));
    let target = there.ok_or_else(Refusal::unknown_overwrite)?;
    world.overwrite(ask.channel(), target, None);
    Ok(Reply::nothing())
}

/// Returns the overwrites of a channel that an account with these permissions creates or changes.
fn overwrites(list: &Value, mine: Permissions) -> Result<Overwrites, Refusal> {
    let wrong = || {
        Refusal::invalid("permission_overwrites", "LIST_TYPE_CONVERT", "Only lists may be used.")
    };
    let list = list.as_array().ok_or_else(wrong)?;
    if list.len() > OVERWRITES_MAX {
        return Err(Refusal::wrong_length("permission_overwrites", 0, OVERWRITES_MAX));
    }
    let mut overwrites = Overwrites::new();
    for (place, entry) in list.iter().enumerate() {
        let within = format!("permission_overwrites.{place}");
        let fields = object(entry, &within)?;
        only(fields, &["id", "type", "allow", "deny"])?;
        let (target, overwrite) = overwrite(fields, None, &within)?;
        may_give(overwrite, mine)?;
        overwrites.insert(target, overwrite);
    }
    Ok(overwrites)
}

/// Reads an overwrite.
fn overwrite(
    fields: &Map<String, Value>,
    id: Option<u64>,
    within: &str,
) -> Result<(Target, Overwrite), Refusal> {
    let field =
        |name: &str| if within.is_empty() { name.to_owned() } else { format!("{within}.{name}") };
    let missing =
        |name: &str| Refusal::invalid(&field(name), "BASE_TYPE_REQUIRED", "This field is required");
    let id = match id {
        Some(id) => id,
        None => number(fields, "id")?.ok_or_else(|| missing("id"))?,
    };
    let target = match fields.get("type").and_then(as_number) {
        Some(0) => Target::Role(RoleId::new(id)),
        Some(1) => Target::Member(UserId::new(id)),
        Some(_) | None => return Err(missing("type")),
    };
    let bits = |name: &str| -> Result<Permissions, Refusal> {
        if let Some(Value::Number(_)) = fields.get(name) {
            text(fields, name)?;
        }
        Ok(Permissions::from_bits(number(fields, name)?.unwrap_or(0)))
    };
    let (allow, deny) = (bits("allow")?, bits("deny")?);
    Ok((target, Overwrite { allow, deny }))
}

/// Checks that the account has these permissions in the guild. Only an administrator can give or
/// take the permission to change overwrites.
fn may_give(overwrite: Overwrite, mine: Permissions) -> Result<(), Refusal> {
    let bits = overwrite.allow | overwrite.deny;
    let is_administrator = mine.contains(Permissions::ADMINISTRATOR);
    let needs_more = bits.within(Permissions::MANAGE_ROLES) != Permissions::NONE;
    if !mine.contains(bits) || (needs_more && !is_administrator) {
        return Err(Refusal::missing_permissions());
    }
    Ok(())
}
