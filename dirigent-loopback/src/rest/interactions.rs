//! Answers to commands. Their token is in the path, and no bot's token is needed.

use dirigent::ports::{AuthorKind, ChatKind};
use dirigent::{ChatMessage, MessageId};
use serde_json::{Map, Value, json};

use super::ask::{Ask, number, object, only};
use super::body::{EPHEMERAL, FIELDS, NEW_FIELDS, SETTABLE_FLAGS};
use super::draft::{Draft, Revision};
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

/// The flag of an answer that is still deferred.
const LOADING: u64 = 1 << 7;

/// Posts the first answer, within three seconds.
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
        Some(kind::MESSAGE) => read_answer(world, ask, data, true)?,
        Some(kind::DEFERRED) => {
            let mut answer = read_answer(world, ask, data, false)?;
            answer.details.rare_mut().flags |= LOADING;
            answer
        }
        other => {
            let what = format!("an answer of type {}", other.unwrap_or(0));
            return Err(Refusal::lacking(&what));
        }
    };
    let message = publish(world, ask, id, answer);
    if let Some(known) = world.applications.interactions.get_mut(&id) {
        known.answered = Answered::With(message);
    }
    if !ask.wants("with_response") {
        return Ok(Reply::nothing());
    }
    let written = written(world, ask, id, message)?;
    Ok(Reply::json(json!({
        "interaction": { "id": id.to_string(), "type": 2, "response_message_id": message.get().to_string() },
        "resource": { "type": 4, "message": written },
    })))
}

/// Posts one more answer. If the first was deferred, this becomes the first.
pub(super) fn follow_up(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (id, answered) = found(world, ask)?;
    let fields = ask.fields(&NEW_FIELDS)?;
    let Answered::With(first) = answered else {
        return Err(Refusal::unknown_webhook());
    };
    let answer = read_answer(world, ask, fields, true)?;
    let message = if is_promised(world, id, first) {
        ask.parts.keep(first, answer.parts);
        change(world, id, first, |message, details| {
            message.content = answer.content.into();
            // The deferral already said whether only the user sees it.
            let (old, new) = (details.rare_mut().flags, answer.details.rare);
            let new = new.unwrap_or_default();
            details.rare_mut().media = new.media;
            details.rare_mut().flags = old & EPHEMERAL | new.flags & !EPHEMERAL;
        });
        first
    } else {
        publish(world, ask, id, answer)
    };
    written(world, ask, id, message).map(Reply::json)
}

pub(super) fn one(world: &mut World, ask: &Ask, original: bool) -> Result<Reply, Refusal> {
    let (id, message) = answer_of(world, ask, original)?;
    written(world, ask, id, message).map(Reply::json)
}

pub(super) fn update(world: &mut World, ask: &Ask, original: bool) -> Result<Reply, Refusal> {
    let (id, message) = answer_of(world, ask, original)?;
    let fields = ask.fields(&FIELDS)?;
    let now = world.clock.now();
    let (said, details) = answer(world, id, message)?;
    let (said, rare) = (said.content.clone(), details.and_then(|details| details.rare.clone()));
    let so_far = (message, rare.as_deref());
    let revision = Revision::read(ask, fields, SETTABLE_FLAGS, so_far, (&mut world.ids, now))?;
    revision.check(&said, rare.as_deref())?;
    revision.keep_parts(ask, message);
    change(world, id, message, |message, details| {
        revision.apply(SETTABLE_FLAGS, message, details);
        details.rare_mut().flags &= !LOADING;
    });
    written(world, ask, id, message).map(Reply::json)
}

pub(super) fn delete(world: &mut World, ask: &Ask, original: bool) -> Result<Reply, Refusal> {
    let (id, message) = answer_of(world, ask, original)?;
    let Some(interaction) = world.applications.interactions.get_mut(&id) else {
        return Err(Refusal::unknown_webhook());
    };
    interaction.whispers.retain(|whisper| whisper.message.id != message);
    let channel = interaction.channel;
    world.erase(channel, message);
    Ok(Reply::nothing())
}

/// Returns the interaction of the token in the path.
fn found(world: &mut World, ask: &Ask) -> Result<(u64, Answered), Refusal> {
    let now = world.clock.now();
    let application = ask.user(0);
    if world.accounts.get(application).is_none_or(|account| account.kind != AuthorKind::Bot) {
        return Err(Refusal::unknown_webhook());
    }
    let found = world.applications.by_token(now, application, &ask.matched.text);
    found.map(|(id, found)| (id, found.answered)).ok_or_else(Refusal::invalid_token)
}

/// Returns the answer that is meant: the first, or the one in the path.
fn answer_of(world: &mut World, ask: &Ask, original: bool) -> Result<(u64, MessageId), Refusal> {
    let (id, answered) = found(world, ask)?;
    let message = match answered {
        Answered::With(first) if original => first,
        Answered::Not | Answered::With(_) if original => return Err(Refusal::unknown_webhook()),
        Answered::Not | Answered::With(_) => MessageId::new(ask.id(1)),
    };
    Ok((id, message))
}

fn read_answer(
    world: &mut World,
    ask: &Ask,
    data: &Map<String, Value>,
    says_something: bool,
) -> Result<Draft, Refusal> {
    only(data, &NEW_FIELDS)?;
    let now = world.clock.now();
    let draft = Draft::read(ask, data, SETTABLE_FLAGS | EPHEMERAL, (&mut world.ids, now))?;
    if says_something && draft.is_empty() {
        return Err(Refusal::empty_message());
    }
    Ok(draft)
}

/// Posts an answer, to all or only to the user.
fn publish(world: &mut World, ask: &Ask, interaction: u64, answer: Draft) -> MessageId {
    let id = MessageId::new(world.next_id());
    let Some(found) = world.applications.interactions.get_mut(&interaction) else {
        return id;
    };
    let Draft { content, mut details, parts } = answer;
    ask.parts.keep(id, parts);
    let used = used_command(interaction, found);
    let rare = details.rare_mut();
    rare.command = Some(used);
    rare.kind = Some(COMMAND_ANSWER);
    let is_whisper = rare.flags & EPHEMERAL != 0;
    let message = ChatMessage {
        author_kind: AuthorKind::Bot,
        kind: ChatKind::System,
        ..ChatMessage::new(id, found.channel, found.application, content)
    };
    if is_whisper {
        found.whispers.push(Whisper { message, details });
    } else {
        found.messages.push(id);
        world.append(message, details);
    }
    id
}

fn used_command(interaction: u64, found: &Interaction) -> UsedCommand {
    UsedCommand { interaction, name: found.command.clone(), user: found.user }
}

/// Returns an answer, and its details.
fn answer(
    world: &World,
    interaction: u64,
    id: MessageId,
) -> Result<(&ChatMessage, Option<&Details>), Refusal> {
    let found = world.applications.interactions.get(&interaction);
    let found = found.ok_or_else(Refusal::unknown_webhook)?;
    if let Some(whisper) = found.whispers.iter().find(|whisper| whisper.message.id == id) {
        return Ok((&whisper.message, Some(&whisper.details)));
    }
    let room = world.places.rooms.get(&found.channel).filter(|_| found.messages.contains(&id));
    let room = room.ok_or_else(Refusal::unknown_message)?;
    let message = room.messages.find(id).ok_or_else(Refusal::unknown_message)?;
    Ok((message, room.messages.details(id)))
}

/// Returns true if an answer is still deferred.
fn is_promised(world: &World, interaction: u64, id: MessageId) -> bool {
    let found = answer(world, interaction, id).ok().and_then(|(_, details)| details);
    let rare = found.and_then(|details| details.rare.as_ref());
    rare.is_some_and(|rare| rare.flags & LOADING != 0)
}

/// Changes an answer.
fn change(
    world: &mut World,
    interaction: u64,
    id: MessageId,
    change: impl FnOnce(&mut ChatMessage, &mut Details),
) {
    let Some(found) = world.applications.interactions.get_mut(&interaction) else {
        return;
    };
    let channel = found.channel;
    match found.whispers.iter_mut().find(|whisper| whisper.message.id == id) {
        Some(whisper) => change(&mut whisper.message, &mut whisper.details),
        None => drop(world.edit(channel, id, change)),
    }
}

/// Returns an answer as its application sees it.
fn written(world: &World, ask: &Ask, interaction: u64, id: MessageId) -> Result<Value, Refusal> {
    let (message, details) = answer(world, interaction, id)?;
    Ok(wire::message_with(ask.view(world, message.author), message, details))
}
