//! Channels, threads and direct messages.

use dirigent::UserId;
use serde_json::{Value, json};

use super::people::{member, user};
use dirigent_testkit::memory_discord::moment;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::role::RoleId;
use dirigent_testkit::memory_discord::room::{Room, kind};
use dirigent_testkit::memory_discord::rules::{Overwrites, Target};
use dirigent_testkit::memory_discord::world::World;

/// The flag of a channel that the account does not see. It gets no event of that channel.
const OBFUSCATED: u64 = 1 << 17;

/// Returns a channel, as every account sees it.
pub(crate) fn channel(world: &World, viewer: UserId, room: &Room) -> Value {
    if room.is_thread() {
        return thread(room, viewer);
    }
    let Some(guild) = room.guild else {
        return direct(world, viewer, room);
    };
    json!({
        "id": room.id.to_string(),
        "type": room.kind,
        "guild_id": guild.to_string(),
        "name": room.name,
        "topic": room.topic,
        "position": position(world, room),
        "nsfw": false,
        "rate_limit_per_user": 0,
        "parent_id": room.parent.map(|parent| parent.to_string()),
        "permission_overwrites": overwrites(&room.overwrites),
        "last_message_id": room.messages.newest().map(|id| id.get().to_string()),
        "last_pin_timestamp": room.pins.last().map(moment::written),
        "flags": 0,
    })
}

/// Returns a guild's channel as the gateway shows it. If the account does not see the channel, it only
/// learns that it exists.
pub(crate) fn pushed_channel(world: &World, viewer: UserId, room: &Room) -> Value {
    let sees = world.places.permissions(room.id, viewer).contains(Permissions::VIEW_CHANNEL);
    let Some(guild) = room.guild.filter(|_| !sees) else {
        return channel(world, viewer, room);
    };
    json!({
        "id": room.id.to_string(),
        "type": room.kind,
        "guild_id": guild.to_string(),
        "name": "___hidden___",
        "position": position(world, room),
        "parent_id": room.parent.map(|parent| parent.to_string()),
        "flags": OBFUSCATED,
        "permission_overwrites": [{
            "id": guild.to_string(),
            "type": 0,
            "allow": "0",
            "deny": Permissions::VIEW_CHANNEL.bits().to_string(),
        }],
    })
}

/// Returns the overwrites of a channel for roles (0) and members (1).
pub(crate) fn overwrites(overwrites: &Overwrites) -> Vec<Value> {
    let written = overwrites.iter().map(|(target, overwrite)| {
        let (id, kind) = match target {
            Target::Role(role) => (role.get(), 0),
            Target::Member(user) => (user.get(), 1),
        };
        json!({
            "id": RoleId::new(id).to_string(),
            "type": kind,
            "allow": overwrite.allow.bits().to_string(),
            "deny": overwrite.deny.bits().to_string(),
        })
    });
    written.collect()
}

/// Returns an account that was added to a thread, if wanted with its member.
pub(crate) fn thread_member(
    world: &World,
    thread: &Room,
    who: UserId,
    with_member: bool,
) -> Option<Value> {
    let since = thread.added.get(&who)?;
    let mut written = json!({
        "id": thread.id.to_string(),
        "user_id": who.to_string(),
        "join_timestamp": moment::written(*since),
        "flags": 0,
    });
    if let (true, Some(guild)) = (with_member, thread.guild) {
        let member = member(world, guild, who)?;
        written.as_object_mut()?.insert("member".to_owned(), member);
    }
    Some(written)
}

fn thread(room: &Room, viewer: UserId) -> Value {
    let made = moment::written(moment::of_id(room.id.get()));
    let messages = room.messages.iter().count();
    let mut thread = json!({
        "id": room.id.to_string(),
        "type": room.kind,
        "guild_id": room.guild.map(|guild| guild.to_string()),
        "name": room.name,
        "parent_id": room.parent.map(|parent| parent.to_string()),
        "owner_id": room.creator.map(|creator| creator.to_string()),
        "last_message_id": room.messages.newest().map(|id| id.get().to_string()),
        "message_count": messages,
        "total_message_sent": messages,
        // Discord counts no further.
        "member_count": room.added.len().min(50),
        "rate_limit_per_user": room.thread.slow_mode_seconds,
        "last_pin_timestamp": room.pins.last().map(moment::written),
        "flags": 0,
        "thread_metadata": {
            "archived": room.archived,
            "auto_archive_duration": room.thread.auto_archive_minutes,
            "archive_timestamp": made,
            "locked": room.locked,
            "create_timestamp": made,
            "invitable": room.kind == kind::PRIVATE_THREAD && room.thread.invitable,
        },
    });
    if let (Some(since), Some(fields)) = (room.added.get(&viewer), thread.as_object_mut()) {
        let since = moment::written(*since);
        let own = json!({
            "id": room.id.to_string(),
            "user_id": viewer.to_string(),
            "join_timestamp": since,
            "flags": 0,
        });
        fields.insert("member".to_owned(), own);
    }
    thread
}

fn direct(world: &World, viewer: UserId, room: &Room) -> Value {
    let others = room.added.keys().filter(|user| **user != viewer);
    json!({
        "id": room.id.to_string(),
        "type": room.kind,
        "recipients": others.map(|other| user(world, *other)).collect::<Vec<_>>(),
        "last_message_id": room.messages.newest().map(|id| id.get().to_string()),
        "last_pin_timestamp": room.pins.last().map(moment::written),
        "flags": 0,
    })
}

/// Returns the channel's place in the list, in the order of creation.
fn position(world: &World, room: &Room) -> usize {
    let guild = room.guild.and_then(|guild| world.places.guilds.get(&guild));
    guild.map_or(0, |guild| guild.channels.range(..room.id).count())
}
