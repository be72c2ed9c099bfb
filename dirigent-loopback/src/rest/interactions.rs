//! Answers to commands. Their token stands in the path; no bot's is needed.

use dirigent::ports::{AuthorKind, ChatKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use serde_json::{Map, Value, json};

use super::ask::{Ask, number, object, only};
use super::body::{self, EPHEMERAL, FIELDS, SETTABLE_FLAGS};
use super::posting::read_details;
use super::refusal::Refusal;
use super::reply::Reply;
use crate::wire;
use dirigent_testkit::memory_discord::applications::{
    Answered, FIRST_ANSWER, Interaction, Whisper,
};
use dirigent_testkit::memory_discord::details::{Details, UsedCommand};
use dirigent_testkit::memory_discord::world::World;

/// Discord's numbers for answers (interactions/receiving-and-responding).
mod kind {
    pub(super) const MESSAGE: u64 = 4;
    pub(super) const DEFERRED: u64 = 5;
}

/// The kind of a message that answers a command.
const COMMAND_ANSWER: u8 = 20;

/// The flag of an answer that was only promised so far.
const LOADING: u64 = 1 << 7;

/// What is answered: a text for all, or for the user alone.
struct Answer {
    content: String,
    flags: u64,
    details: Details,
}

/// The first answer, within three seconds.
pub(super) fn first(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let now = world.clock.now();
    let id = ask.id(0);
    let known = world.applications.interactions.get(&id);
    let known = known.filter(|known| known.token == ask.matched.text);
    let known = known.ok_or_else(Refusal::unknown_interaction)?;
    if known.answered != Answered::Not {
        return Err(Refusal::answered_already());
    }
    if now.since(known.made_at) > FIRST_ANSWER {
        return Err(Refusal::unknown_interaction());
    }
    let fields = ask.fields(&["type", "data"])?;
    let nothing = Map::new();
    let data = match fields.get("data") {
        None | Some(Value::Null) => &nothing,
        Some(data) => object(data, "data")?,
    };
    let answer = match number(fields, "type")? {
        Some(kind::MESSAGE) => read_answer(data, true)?,
        Some(kind::DEFERRED) => {
            let mut answer = read_answer(data, false)?;
            answer.flags |= LOADING;
            answer
        }
        other => {
            let what = format!("an answer of type {}", other.unwrap_or(0));
            return Err(Refusal::lacking(&what));
        }
    };
    let message = publish(world, id, answer);
    if let Some(known) = world.applications.interactions.get_mut(&id) {
        known.answered = Answered::With(message);
    }
    if !ask.wants("with_response") {
        return Ok(Reply::nothing());
    }
    let written = written(world, id, message)?;
    Ok(Reply::json(json!({
        "interaction": { "id": id.to_string(), "type": 2, "response_message_id": message.get().to_string() },
        "resource": { "type": 4, "message": written },
    })))
}

/// One more answer. Where the first was only promised, this is it.
pub(super) fn follow_up(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (id, answered) = found(world, ask)?;
    let fields = ask.fields(&FIELDS)?;
    let answer = read_answer(fields, true)?;
    let Answered::With(first) = answered else {
        return Err(Refusal::unknown_webhook());
    };
    let message = if is_promised(world, id, first) {
        change(world, id, first, &answer.content);
        first
    } else {
        publish(world, id, answer)
    };
    written(world, id, message).map(Reply::json)
}

pub(super) fn one(world: &mut World, ask: &Ask, original: bool) -> Result<Reply, Refusal> {
    let (id, message) = answer_of(world, ask, original)?;
    written(world, id, message).map(Reply::json)
}

pub(super) fn update(world: &mut World, ask: &Ask, original: bool) -> Result<Reply, Refusal> {
    let (id, message) = answer_of(world, ask, original)?;
    let fields = ask.fields(&FIELDS)?;
    let content = fields.get("content").filter(|content| !content.is_null());
    if let Some(content) = content {
        let content = body::read_content(content, body::CONTENT_MAX)?;
        change(world, id, message, &content.ok_or_else(Refusal::empty_message)?);
    }
    written(world, id, message).map(Reply::json)
}

pub(super) fn delete(world: &mut World, ask: &Ask, original: bool) -> Result<Reply, Refusal> {
    let (id, message) = answer_of(world, ask, original)?;
    let Some(interaction) = world.applications.interactions.get_mut(&id) else {
        return Err(Refusal::unknown_webhook());
    };
    interaction.whispers.retain(|whisper| whisper.id != message);
    let channel = interaction.channel;
    world.erase(channel, message);
    Ok(Reply::nothing())
}

/// The interaction whose token stands in the path.
fn found(world: &mut World, ask: &Ask) -> Result<(u64, Answered), Refusal> {
    let now = world.clock.now();
    let application = ask.user(0);
    if world.accounts.get(application).is_none() {
        return Err(Refusal::unknown_webhook());
    }
    let found = world.applications.by_token(now, application, &ask.matched.text);
    found.map(|(id, found)| (id, found.answered)).ok_or_else(Refusal::invalid_token)
}

/// Which answer is meant: the first, or the one in the path.
fn answer_of(world: &mut World, ask: &Ask, original: bool) -> Result<(u64, MessageId), Refusal> {
    let (id, answered) = found(world, ask)?;
    let message = match answered {
        Answered::With(first) if original => first,
        Answered::Not | Answered::With(_) if original => return Err(Refusal::unknown_webhook()),
        Answered::Not | Answered::With(_) => MessageId::new(ask.id(1)),
    };
    Ok((id, message))
}

fn read_answer(data: &Map<String, Value>, needs_content: bool) -> Result<Answer, Refusal> {
    only(data, &FIELDS)?;
    let content = data.get("content").unwrap_or(&Value::Null);
    let content = body::read_content(content, body::CONTENT_MAX)?;
    if needs_content && content.is_none() {
        return Err(Refusal::empty_message());
    }
    let details = read_details(data, SETTABLE_FLAGS | EPHEMERAL)?;
    let flags = number(data, "flags")?.unwrap_or(0);
    Ok(Answer { content: content.unwrap_or_default(), flags, details })
}

/// Posts an answer, or whispers it.
fn publish(world: &mut World, interaction: u64, answer: Answer) -> MessageId {
    let id = MessageId::new(world.next_id());
    let Some(found) = world.applications.interactions.get_mut(&interaction) else {
        return id;
    };
    let Answer { content, flags, mut details } = answer;
    if flags & EPHEMERAL != 0 {
        found.whispers.push(Whisper { id, content, flags });
        return id;
    }
    found.messages.push(id);
    let (channel, author) = (found.channel, found.application);
    let used = used_command(interaction, found);
    let rare = details.rare_mut();
    rare.command = Some(used);
    rare.kind = Some(COMMAND_ANSWER);
    rare.flags = flags;
    world.append(message(id, channel, author, content), details);
    id
}

fn used_command(interaction: u64, found: &Interaction) -> UsedCommand {
    UsedCommand { interaction, name: found.command.clone(), user: found.user }
}

fn message(id: MessageId, channel: ChannelId, author: UserId, content: String) -> ChatMessage {
    let (author_kind, kind) = (AuthorKind::Bot, ChatKind::System);
    let nonce = None;
    ChatMessage { author_kind, kind, nonce, ..ChatMessage::new(id, channel, author, content) }
}

/// Whether an answer was only promised so far.
fn is_promised(world: &World, interaction: u64, id: MessageId) -> bool {
    let Some(found) = world.applications.interactions.get(&interaction) else {
        return false;
    };
    let whisper = found.whispers.iter().find(|whisper| whisper.id == id);
    let flags = whisper.map(|whisper| whisper.flags).or_else(|| {
        let details = world.places.rooms.get(&found.channel)?.messages.details(id)?;
        Some(details.rare.as_ref()?.flags)
    });
    flags.is_some_and(|flags| flags & LOADING != 0)
}

/// Gives an answer another text; a promise is then kept.
fn change(world: &mut World, interaction: u64, id: MessageId, content: &str) {
    let Some(found) = world.applications.interactions.get_mut(&interaction) else {
        return;
    };
    if let Some(whisper) = found.whispers.iter_mut().find(|whisper| whisper.id == id) {
        content.clone_into(&mut whisper.content);
        whisper.flags &= !LOADING;
        return;
    }
    let channel = found.channel;
    let room = world.places.rooms.get_mut(&channel);
    if let Some(details) = room.and_then(|room| room.messages.details_mut(id)) {
        details.rare_mut().flags &= !LOADING;
    }
    world.edit(channel, id, content.into());
}

/// An answer as its application sees it.
fn written(world: &World, interaction: u64, id: MessageId) -> Result<Value, Refusal> {
    let found = world.applications.interactions.get(&interaction);
    let found = found.ok_or_else(Refusal::unknown_webhook)?;
    if let Some(whisper) = found.whispers.iter().find(|whisper| whisper.id == id) {
        let whispered = message(id, found.channel, found.application, whisper.content.clone());
        let mut written = wire::message(world, found.application, &whispered);
        if let Some(fields) = written.as_object_mut() {
            fields.insert("flags".to_owned(), json!(whisper.flags));
            fields.insert("type".to_owned(), json!(COMMAND_ANSWER));
        }
        return Ok(written);
    }
    let room = world.places.rooms.get(&found.channel);
    let is_mine = found.messages.contains(&id);
    let answer = room.and_then(|room| room.messages.find(id)).filter(|_| is_mine);
    let answer = answer.ok_or_else(Refusal::unknown_message)?;
    Ok(wire::message(world, found.application, answer))
}
