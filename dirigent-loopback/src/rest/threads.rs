//! Threads and their members.

use std::ops::Bound;

use dirigent::ports::{AuthorKind, ChatKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

use super::ask::{Ask, number, text_of};
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::{seen, seen_with};
use crate::wire;
use dirigent_testkit::memory_discord::details::Details;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::room::{Room, kind};
use dirigent_testkit::memory_discord::world::World;

/// The kind of the message that tells of a new thread.
const THREAD_CREATED: u8 = 18;

pub(super) fn create(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (parent, allowed) = seen(world, ask.channel(), ask.me)?;
    if !matches!(parent.kind, kind::TEXT | kind::ANNOUNCEMENT) {
        return Err(Refusal::not_here());
    }
    let fields =
        ask.fields(&["name", "type", "auto_archive_duration", "invitable", "rate_limit_per_user"])?;
    // Discord's older clients meant a private one by saying nothing, and it still does.
    let kind = match number(fields, "type")?.unwrap_or(u64::from(kind::PRIVATE_THREAD)) {
        11 => kind::PUBLIC_THREAD,
        12 => kind::PRIVATE_THREAD,
        other => return Err(Refusal::lacking(&format!("a thread of kind {other}"))),
    };
    let right = if kind == kind::PUBLIC_THREAD {
        Permissions::CREATE_PUBLIC_THREADS
    } else {
        Permissions::CREATE_PRIVATE_THREADS
    };
    if !allowed.contains(right) {
        return Err(Refusal::missing_permissions());
    }
    let id = ChannelId::new(world.next_id());
    let room = thread(world, ask, id, kind, text_of(fields, "name", (1, 100))?)?;
    world.add_room(room);
    if kind == kind::PUBLIC_THREAD {
        announce(world, ask);
    }
    answer(world, ask, id)
}

/// The thread gets the message's id.
pub(super) fn create_from_message(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let right = Permissions::CREATE_PUBLIC_THREADS;
    let parent = seen_with(world, ask.channel(), ask.me, right)?;
    if !matches!(parent.kind, kind::TEXT | kind::ANNOUNCEMENT) {
        return Err(Refusal::not_here());
    }
    parent.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    let id = ChannelId::new(ask.id(1));
    if world.places.rooms.contains_key(&id) {
        return Err(Refusal::thread_there_already());
    }
    let fields = ask.fields(&["name", "auto_archive_duration", "rate_limit_per_user"])?;
    let room = thread(world, ask, id, kind::PUBLIC_THREAD, text_of(fields, "name", (1, 100))?)?;
    world.add_room(room);
    answer(world, ask, id)
}

/// Those who were added, by rising id. It takes the members intent.
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

/// Takes an account out: the caller itself, or with the right to it any account; the maker of a private
/// thread may too.
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

/// A new thread, with its maker in it.
fn thread(
    world: &World,
    ask: &Ask,
    id: ChannelId,
    kind: u8,
    name: Option<&str>,
) -> Result<Room, Refusal> {
    let required = || Refusal::invalid("name", "BASE_TYPE_REQUIRED", "This field is required");
    let parent = world.places.rooms.get(&ask.channel()).ok_or_else(Refusal::unknown_channel)?;
    let mut room = Room::new(id, parent.guild, kind, name.ok_or_else(required)?.to_owned());
    room.parent = Some(parent.id);
    room.creator = Some(ask.me);
    room.added = [(ask.me, world.clock.now())].into();
    Ok(room)
}

/// Says in the channel that a thread was made.
fn announce(world: &mut World, ask: &Ask) {
    let message = ChatMessage {
        author_kind: AuthorKind::Bot,
        kind: ChatKind::System,
        ..ChatMessage::new(MessageId::new(world.next_id()), ask.channel(), ask.me, "")
    };
    let mut details = Details::plain();
    details.rare_mut().kind = Some(THREAD_CREATED);
    world.append(message, details);
}

fn answer(world: &World, ask: &Ask, id: ChannelId) -> Result<Reply, Refusal> {
    let room = world.places.rooms.get(&id).ok_or_else(Refusal::unknown_channel)?;
    Ok(Reply::created(wire::channel(world, ask.me, room)))
}
