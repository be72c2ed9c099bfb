//! Threads and their members.

use std::ops::Bound;

use dirigent::{ChannelId, UserId};
use serde_json::{Map, Value};

use super::ask::{Ask, number, text_of};
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::{seen, seen_with};
use crate::threads::{self, begin, kind_of_thread, tell};
use crate::wire;
use dirigent_testkit::memory_discord::details::{Allowed, Details};
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::room::{Room, ThreadSettings, kind};
use dirigent_testkit::memory_discord::world::World;

/// The kind of the message that announces a new thread.
const THREAD_CREATED: u8 = 18;

/// The minutes without a message after which a thread may be archived.
const ARCHIVE_MINUTES: [u64; 4] = [60, 1_440, 4_320, 10_080];

/// The longest slow mode, in seconds.
const SLOW_MODE_MAX: u64 = 21_600;

/// The fields of a new thread.
const FIELDS: [&str; 5] =
    ["name", "type", "auto_archive_duration", "invitable", "rate_limit_per_user"];

pub(super) fn create(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (parent, allowed) = seen(world, ask.channel(), ask.me)?;
    if !matches!(parent.kind, kind::TEXT | kind::ANNOUNCEMENT) {
        return Err(Refusal::not_here());
    }
    let parent_kind = parent.kind;
    let fields = ask.fields(&FIELDS)?;
    // Discord's older clients meant a private thread if they gave no type, and it still does.
    let kind = number(fields, "type")?.unwrap_or(u64::from(kind::PRIVATE_THREAD));
    let kind = u8::try_from(kind).ok().filter(|kind| fits(parent_kind, *kind));
    let kind = kind.ok_or_else(|| {
        let message = "Value must be one of the types of threads of this channel.";
        Refusal::invalid("type", "BASE_TYPE_CHOICES", message)
    })?;
    let right = if kind == kind::PRIVATE_THREAD {
        Permissions::CREATE_PRIVATE_THREADS
    } else {
        Permissions::CREATE_PUBLIC_THREADS
    };
    if !allowed.contains(right) {
        return Err(Refusal::missing_permissions());
    }
    let id = ChannelId::new(world.next_id());
    let room = thread(world, ask, id, kind, fields)?;
    let name = room.name.clone();
    world.add_room(room);
    if kind != kind::PRIVATE_THREAD {
        let mut details = Details { allowed: Allowed::None, rare: None };
        details.rare_mut().kind = Some(THREAD_CREATED);
        details.rare_mut().about = Some(id);
        tell(world, ask.me, (ask.channel(), &name), details);
    }
    answer(world, ask, id)
}

/// Creates a thread with the message's id.
pub(super) fn create_from_message(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let right = Permissions::CREATE_PUBLIC_THREADS;
    let parent = seen_with(world, ask.channel(), ask.me, right)?;
    // Everyone who sees the message sees the thread. Its type follows from the channel's, and clients
    // often send it.
    let kind = kind_of_thread(parent.kind).ok_or_else(Refusal::not_here)?;
    parent.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    let id = ChannelId::new(ask.id(1));
    if world.places.rooms.contains_key(&id) {
        return Err(Refusal::thread_there_already());
    }
    let fields = ask.fields(&FIELDS)?;
    if number(fields, "type")?.is_some_and(|said| said != u64::from(kind)) {
        return Err(Refusal::not_here());
    }
    let room = thread(world, ask, id, kind, fields)?;
    begin(world, (ask.channel(), room), ask.me);
    answer(world, ask, id)
}

/// Returns the accounts that were added, by rising id. It needs the members intent.
pub(super) fn members(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let thread = seen_thread(world, ask)?;
    if world.accounts.get(ask.me).is_some_and(|account| account.members_hidden) {
        return Err(Refusal::missing_access());
    }
    let limit = ask.limit(100, 100)?;
    let after = ask.number("after")?.map_or(UserId::new(0), UserId::new);
    let with_member = ask.wants("with_member");
    let added =
        thread.added.range((Bound::Excluded(after), Bound::Unbounded)).map(|(user, _)| *user);
    let limit = if with_member { limit } else { usize::MAX };
    let page = added.take(limit);
    Ok(Reply::list(page.filter_map(|user| wire::thread_member(world, thread, user, with_member))))
}

pub(super) fn member(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let thread = seen_thread(world, ask)?;
    let found = wire::thread_member(world, thread, ask.user(1), ask.wants("with_member"));
    found.map(Reply::json).ok_or_else(Refusal::unknown_member)
}

/// Adds an account that sees the thread's channel, or the caller itself.
pub(super) fn add_member(world: &mut World, ask: &Ask, who: UserId) -> Result<Reply, Refusal> {
    let (thread, allowed) = seen(world, ask.channel(), ask.me)?;
    let parent = thread.parent.filter(|_| thread.is_thread()).ok_or_else(Refusal::not_here)?;
    if thread.archived {
        return Err(Refusal::thread_archived());
    }
    if who != ask.me && !allowed.contains(thread.right_to_post()) {
        return Err(Refusal::missing_permissions());
    }
    if !world.places.permissions(parent, who).contains(Permissions::VIEW_CHANNEL) {
        return Err(Refusal::missing_access());
    }
    let now = world.clock.now();
    world.change_room(ask.channel(), |thread| {
        thread.added.entry(who).or_insert(now);
    });
    Ok(Reply::nothing())
}

/// Removes an account. Callers may remove themselves, and with permission any account. The creator of a
/// private thread may do so, too.
pub(super) fn remove_member(world: &mut World, ask: &Ask, who: UserId) -> Result<Reply, Refusal> {
    let (thread, allowed) = seen(world, ask.channel(), ask.me)?;
    if !thread.is_thread() {
        return Err(Refusal::not_here());
    }
    let is_maker = thread.is_private_thread() && thread.creator == Some(ask.me);
    if who != ask.me && !is_maker && !allowed.contains(Permissions::MANAGE_THREADS) {
        return Err(Refusal::missing_permissions());
    }
    world.change_room(ask.channel(), |thread| {
        thread.added.remove(&who);
    });
    Ok(Reply::nothing())
}

fn seen_thread<'a>(world: &'a World, ask: &Ask) -> Result<&'a Room, Refusal> {
    let (thread, _) = seen(world, ask.channel(), ask.me)?;
    if thread.is_thread() { Ok(thread) } else { Err(Refusal::not_here()) }
}

/// Returns a new thread that contains its creator.
fn thread(
    world: &World,
    ask: &Ask,
    id: ChannelId,
    kind: u8,
    fields: &Map<String, Value>,
) -> Result<Room, Refusal> {
    let name = text_of(fields, "name", (1, 100))?;
    let required = || Refusal::invalid("name", "BASE_TYPE_REQUIRED", "This field is required");
    let parent = world.places.rooms.get(&ask.channel()).ok_or_else(Refusal::unknown_channel)?;
    let name = name.ok_or_else(required)?;
    let mut room = threads::thread(world, id, ask.me, (parent, kind, name));
    room.thread = read_settings(fields, room.thread)?;
    Ok(room)
}

/// Reads the settings of a thread. Fields that are not given stay unchanged.
pub(super) fn read_settings(
    fields: &Map<String, Value>,
    before: ThreadSettings,
) -> Result<ThreadSettings, Refusal> {
    let mut settings = before;
    if let Some(minutes) = number(fields, "auto_archive_duration")? {
        if !ARCHIVE_MINUTES.contains(&minutes) {
            let message = "Value must be one of (60, 1440, 4320, 10080).";
            let field = "auto_archive_duration";
            return Err(Refusal::invalid(field, "BASE_TYPE_CHOICES", message));
        }
        settings.auto_archive_minutes = minutes;
    }
    if let Some(seconds) = number(fields, "rate_limit_per_user")? {
        if seconds > SLOW_MODE_MAX {
            return Err(Refusal::out_of_bounds("rate_limit_per_user", 0, SLOW_MODE_MAX));
        }
        settings.slow_mode_seconds = seconds;
    }
    let invitable = fields.get("invitable").and_then(Value::as_bool);
    settings.invitable = invitable.unwrap_or(settings.invitable);
    Ok(settings)
}

/// Returns true if a channel of one kind has threads of the other.
const fn fits(channel: u8, thread: u8) -> bool {
    match thread {
        kind::ANNOUNCEMENT_THREAD => channel == kind::ANNOUNCEMENT,
        kind::PUBLIC_THREAD | kind::PRIVATE_THREAD => channel == kind::TEXT,
        _ => false,
    }
}

fn answer(world: &World, ask: &Ask, id: ChannelId) -> Result<Reply, Refusal> {
    let room = world.places.rooms.get(&id).ok_or_else(Refusal::unknown_channel)?;
    Ok(Reply::created(wire::channel(world, ask.me, room)))
}
