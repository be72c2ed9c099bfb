//! Pinned messages.

use dirigent::ports::ChatKind;
use dirigent::ports::Timestamp;
use dirigent::{ChatMessage, MessageId};
use serde_json::{Value, json};

use super::ask::Ask;
use super::messages::shown;
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::{seen, seen_with};
use dirigent_testkit::memory_discord::marking;
use dirigent_testkit::memory_discord::moment;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::world::World;

/// The most pinned messages of a channel.
const PINS_MAX: usize = 250;

/// The most pins in the older of the two lists.
const OLD_LIST_MAX: usize = 50;

/// Pins a message. If it is pinned already, this has no effect.
pub(super) fn add(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let room = seen_with(world, ask.channel(), ask.me, Permissions::PIN_MESSAGES)?;
    let message = room.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    let rare = room.messages.details(message.id).and_then(|details| details.rare.as_ref());
    let answers_command = rare.is_some_and(|rare| rare.command.is_some());
    if message.kind == ChatKind::System && !answers_command {
        return Err(Refusal::system_message());
    }
    if !room.pins.contains(message.id) && room.pins.len() >= PINS_MAX {
        return Err(Refusal::too_many_pins());
    }
    marking::pin(world, (ask.channel(), ask.message()), ask.me);
    Ok(Reply::nothing())
}

/// Removes a pin. If the message is not pinned, this has no effect.
pub(super) fn remove(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let room = seen_with(world, ask.channel(), ask.me, Permissions::PIN_MESSAGES)?;
    room.messages.find(ask.message()).ok_or_else(Refusal::unknown_message)?;
    marking::unpin(world, (ask.channel(), ask.message()));
    Ok(Reply::nothing())
}

/// Returns the newest pins as a list of messages. Without permission to read the history it is
/// empty.
pub(super) fn old_list(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let pinned = pinned(world, ask)?.into_iter().take(OLD_LIST_MAX);
    Ok(Reply::list(pinned.map(|(message, _)| shown(world, ask, message))))
}

/// Returns pins page by page, newest pin first. `before` is the time of a pin.
pub(super) fn list(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let limit = ask.limit(50, 50)?;
    let before = ask.text("before").map(|text| {
        let wrong = || {
            let message = format!("Could not parse {text}. Should be ISO8601.");
            Refusal::invalid("before", "DATETIME_TYPE_PARSE", &message)
        };
        moment::read(text).ok_or_else(wrong)
    });
    let before = before.transpose()?;
    let is_before = |at: Timestamp| before.is_none_or(|before| at < before);
    let mut pinned = pinned(world, ask)?;
    pinned.retain(|(_, at)| is_before(*at));
    let items: Vec<Value> = pinned
        .iter()
        .take(limit)
        .map(|(message, at)| {
            json!({ "pinned_at": moment::written(*at), "message": shown(world, ask, message) })
        })
        .collect();
    Ok(Reply::json(json!({ "has_more": pinned.len() > items.len(), "items": items })))
}

/// Returns the pinned messages that still exist, newest pin first.
fn pinned<'a>(world: &'a World, ask: &Ask) -> Result<Vec<(&'a ChatMessage, Timestamp)>, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    if !allowed.contains(Permissions::READ_MESSAGE_HISTORY) {
        return Ok(Vec::new());
    }
    let found = |(id, at): (MessageId, Timestamp)| Some((room.messages.find(id)?, at));
    Ok(room.pins.oldest_first().rev().filter_map(found).collect())
}
