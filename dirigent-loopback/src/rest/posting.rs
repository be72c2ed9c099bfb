//! Posting a message.

use dirigent::ports::ChatKind;
use dirigent::{ChatMessage, MessageId};
use serde_json::{Map, Value};

use super::ask::{Ask, is_on};
use super::body::{self, NEW_FIELDS};
use super::draft::Draft;
use super::messages::shown;
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::seen;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::world::World;

/// Posts a message. With `enforce_nonce` it returns the message that was recently posted with this
/// nonce, if there is one.
pub(super) fn create(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let allowed = may_post(world, ask)?;
    let known: Vec<_> = NEW_FIELDS
        .into_iter()
        .chain(["sticker_ids", "nonce", "enforce_nonce", "message_reference"])
        .collect();
    let fields = ask.fields(&known)?;
    let nonce = body::read_nonce(fields)?;
    let reply_to = reply_to(world, ask, fields, allowed)?;
    let now = world.clock.now();
    let mut draft = Draft::read(ask, fields, body::SETTABLE_FLAGS, (&mut world.ids, now))?;
    if draft.is_empty() {
        return Err(Refusal::empty_message());
    }
    if !allowed.contains(draft.rights()) {
        return Err(Refusal::missing_permissions());
    }
    if reply_to.is_some() {
        draft.details.rare_mut().reply_to = reply_to;
    }
    let unique = nonce.as_ref().filter(|_| is_on(fields, "enforce_nonce"));
    let before = unique.and_then(|nonce| world.nonces.find(now, ask.me, nonce));
    if let Some(before) = before {
        return Ok(repeated(world, ask, before));
    }
    let id = MessageId::new(world.next_id());
    if let Some(nonce) = unique {
        world.nonces.remember(now, ask.me, nonce, id);
    }
    let given = fields.get("nonce").filter(|_| nonce.is_some());
    let message = ChatMessage {
        author_kind: world.accounts.kind_of(ask.me),
        kind: if reply_to.is_some() { ChatKind::Reply } else { ChatKind::Default },
        nonce: given.and_then(|given| draft.details.nonce(given)),
        ..ChatMessage::new(id, ask.channel(), ask.me, draft.content)
    };
    ask.parts.keep(id, draft.parts);
    world.append(message, draft.details);
    let (room, _) = seen(world, ask.channel(), ask.me)?;
    let message = room.messages.find(id).ok_or_else(Refusal::unknown_message)?;
    Ok(Reply::json(shown(world, ask, message)))
}

fn may_post(world: &World, ask: &Ask) -> Result<Permissions, Refusal> {
    let (room, allowed) = seen(world, ask.channel(), ask.me)?;
    if !room.has_messages() {
        return Err(Refusal::no_text_channel());
    }
    if !allowed.contains(room.right_to_post()) {
        return Err(Refusal::missing_permissions());
    }
    if room.locked && !allowed.contains(Permissions::MANAGE_THREADS) {
        return Err(Refusal::thread_locked());
    }
    Ok(allowed)
}

/// Returns the message that is answered, if it exists.
fn reply_to(
    world: &World,
    ask: &Ask,
    fields: &Map<String, Value>,
    allowed: Permissions,
) -> Result<Option<MessageId>, Refusal> {
    let Some((answered, must_exist)) = body::read_reference(fields)? else {
        return Ok(None);
    };
    if !allowed.contains(Permissions::READ_MESSAGE_HISTORY) {
        return Err(Refusal::no_reply_without_history());
    }
    let room = world.places.rooms.get(&ask.channel());
    let is_there = room.is_some_and(|room| room.messages.find(answered).is_some());
    if !is_there && must_exist {
        let code = "REPLIES_UNKNOWN_MESSAGE";
        return Err(Refusal::invalid("message_reference", code, "Unknown message"));
    }
    Ok(Some(answered).filter(|_| is_there))
}

/// Returns the answer to a repeated post, which is the first message, even if that is deleted.
fn repeated(world: &World, ask: &Ask, id: MessageId) -> Reply {
    let rooms = world.places.rooms.get(&ask.channel()).into_iter();
    let mut rooms = rooms.chain(world.places.rooms.values());
    let found = rooms.find_map(|room| room.messages.find(id));
    let gone = || ChatMessage {
        author_kind: world.accounts.kind_of(ask.me),
        ..ChatMessage::new(id, ask.channel(), ask.me, "")
    };
    let message = found.cloned().unwrap_or_else(gone);
    Reply::json(shown(world, ask, &message))
}
