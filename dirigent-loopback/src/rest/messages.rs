//! Reading, changing and deleting messages.

use std::time::Duration;

use dirigent::{ChannelId, ChatMessage, MessageId};
use serde_json::{Map, Value};

use super::ask::{Ask, as_number};
use super::body::{FIELDS, SETTABLE_FLAGS};
use super::draft::Revision;
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::{seen, seen_with};
use crate::wire;
use dirigent_testkit::memory_discord::details::Details;
use dirigent_testkit::memory_discord::event::Event;
use dirigent_testkit::memory_discord::moment;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::world::World;

/// The highest age of a message that can be deleted with others.
const BULK_AGE_MAX: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Returns a page, newest first. With `after` it is the page next to that id. Without permission to
/// read the history it is empty, which is not an error.
pub(super) fn list(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    if !room.has_messages() {
        return Err(Refusal::no_text_channel());
    }
    let limit = ask.limit(50, 100)?;
    let asked = |name| ask.number(name).map(|id| id.map(MessageId::new));
    let (before, after, around) = (asked("before")?, asked("after")?, asked("around")?);
    if [before, after, around].into_iter().flatten().count() > 1 {
        return Err(Refusal::lacking("two of before, after and around at once"));
    }
    if !allowed.contains(Permissions::READ_MESSAGE_HISTORY) {
        return Ok(Reply::list([]));
    }
    let page = match (before, around) {
        (Some(before), _) => room.messages.page_before(before, limit),
        (None, Some(around)) => room.messages.page_around(around, limit),
        (None, None) => room.messages.page(after, limit),
    };
    Ok(Reply::list(page.into_iter().map(|message| shown(world, ask, message))))
}

pub(super) fn one(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let right = Permissions::READ_MESSAGE_HISTORY;
    let room = seen_with(world, ask.channel(), ask.me, right)?;
    let message = room.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    Ok(Reply::json(shown(world, ask, message)))
}

/// Changes the text of an own message. Of another account's message only the flags could be changed.
pub(super) fn update(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    let message = room.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    if message.author != ask.me {
        return Err(Refusal::not_the_author());
    }
    let fields = ask.fields(&FIELDS)?;
    let revision = revise(world, ask, fields, (ask.channel(), ask.message()), SETTABLE_FLAGS)?;
    if !allowed.contains(revision.rights()) {
        return Err(Refusal::missing_permissions());
    }
    if !revision.is_nothing() {
        revision.keep_parts(ask, ask.message());
        let change = |message: &mut ChatMessage, details: &mut Details| {
            revision.apply(SETTABLE_FLAGS, message, details);
        };
        world.edit(ask.channel(), ask.message(), change);
    }
    let (room, _) = seen(world, ask.channel(), ask.me)?;
    let message = room.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    Ok(Reply::json(shown(world, ask, message)))
}

/// Reads a change of an existing message from a body.
pub(super) fn revise(
    world: &mut World,
    ask: &Ask,
    fields: &Map<String, Value>,
    (channel, message): (ChannelId, MessageId),
    settable: u64,
) -> Result<Revision, Refusal> {
    let now = world.clock.now();
    let room = world.places.rooms.get(&channel).ok_or_else(Refusal::unknown_channel)?;
    let content = &room.messages.find(message).ok_or_else(Refusal::unknown_message)?.content;
    let rare = room.messages.details(message).and_then(|details| details.rare.as_deref());
    let so_far = (message, rare);
    let revision = Revision::read(ask, fields, settable, so_far, (&mut world.ids, now))?;
    revision.check(content, rare)?;
    Ok(revision)
}

/// Deletes an own message, or with permission any message.
pub(super) fn delete(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    let message = room.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    if message.author != ask.me && !allowed.contains(Permissions::MANAGE_MESSAGES) {
        return Err(Refusal::missing_permissions());
    }
    world.erase(ask.channel(), ask.message());
    Ok(Reply::nothing())
}

/// Deletes 2 to 100 messages that are not too old. Messages that are already deleted are ignored.
pub(super) fn delete_several(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let right = Permissions::MANAGE_MESSAGES;
    seen_with(world, ask.channel(), ask.me, right)?;
    let fields = ask.fields(&["messages"])?;
    let ids = fields.get("messages").and_then(Value::as_array).ok_or_else(Refusal::bulk_size)?;
    let mut messages: Vec<MessageId> =
        ids.iter().filter_map(as_number).map(MessageId::new).collect();
    if messages.len() != ids.len() {
        let wrong = "Value is not snowflake.";
        return Err(Refusal::invalid("messages", "NUMBER_TYPE_COERCE", wrong));
    }
    if !(2..=100).contains(&messages.len()) {
        return Err(Refusal::bulk_size());
    }
    messages.sort_unstable();
    if messages.windows(2).any(|pair| pair.first() == pair.last()) {
        let wrong = "Duplicate ids are not allowed.";
        return Err(Refusal::invalid("messages", "LIST_ITEM_DUPLICATE", wrong));
    }
    let now = world.clock.now();
    let is_old = |id: &MessageId| now.since(moment::of_id(id.get())) > BULK_AGE_MAX;
    if messages.iter().any(is_old) {
        return Err(Refusal::too_old());
    }
    world.erase_several(ask.channel(), messages);
    Ok(Reply::nothing())
}

pub(super) fn typing(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    if !allowed.contains(room.right_to_post()) {
        return Err(Refusal::missing_permissions());
    }
    world.publish(Event::TypingStarted { channel: ask.channel(), user: ask.me });
    Ok(Reply::nothing())
}

pub(super) fn shown(world: &World, ask: &Ask, message: &ChatMessage) -> Value {
    wire::message(ask.view(world, ask.me), message)
}
