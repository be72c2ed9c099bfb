//! Messages of webhooks. The token is in the path, and no bot's token is needed.

use dirigent::ports::AuthorKind;
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};

use super::ask::{Ask, text_of};
use super::body::{FIELDS, NEW_FIELDS, SETTABLE_FLAGS};
use super::draft::Draft;
use super::messages::revise;
use super::refusal::Refusal;
use super::reply::Reply;
use super::webhooks::{By, found, read_name};
use crate::{token, wire};
use dirigent_testkit::memory_discord::details::Details;
use dirigent_testkit::memory_discord::room::Room;
use dirigent_testkit::memory_discord::webhooks::PostedAs;
use dirigent_testkit::memory_discord::world::World;

/// Posts a message, and with `wait` returns it.
pub(super) fn create(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (webhook, channel) = place(world, ask)?;
    let known: Vec<_> = NEW_FIELDS.into_iter().chain(["username", "avatar_url"]).collect();
    let fields = ask.fields(&known)?;
    let name = read_name(fields, "username")?;
    let avatar = text_of(fields, "avatar_url", (0, 2_048))?.filter(|it| !it.is_empty());
    let now = world.clock.now();
    let mut draft = Draft::read(ask, fields, SETTABLE_FLAGS, (&mut world.ids, now))?;
    if draft.is_empty() {
        return Err(Refusal::empty_message());
    }
    if name.is_some() || avatar.is_some() {
        let avatar = avatar.map(token::mark);
        draft.details.rare_mut().guise = Some(PostedAs { name, avatar });
    }
    let message = ChatMessage {
        author_kind: AuthorKind::Webhook,
        ..ChatMessage::new(MessageId::new(world.next_id()), channel, webhook, draft.content)
    };
    let id = message.id;
    ask.parts.keep(id, draft.parts);
    world.append(message, draft.details);
    if ask.wants("wait") { shown(world, ask, (webhook, channel), id) } else { Ok(Reply::nothing()) }
}

pub(super) fn one(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let place = place(world, ask)?;
    shown(world, ask, place, ask.message())
}

pub(super) fn update(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let (webhook, channel) = place(world, ask)?;
    let message = ask.message();
    own(world, (webhook, channel), message)?;
    // Clients also send the webhook's name and picture, which a change of a message ignores.
    let known: Vec<_> = FIELDS.into_iter().chain(["username", "avatar_url"]).collect();
    let fields = ask.fields(&known)?;
    let revision = revise(world, ask, fields, (channel, message), SETTABLE_FLAGS)?;
    if !revision.is_nothing() {
        revision.keep_parts(ask, message);
        world.edit(channel, message, |message: &mut ChatMessage, details: &mut Details| {
            revision.apply(SETTABLE_FLAGS, message, details);
        });
    }
    shown(world, ask, (webhook, channel), message)
}

pub(super) fn delete(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let place = place(world, ask)?;
    own(world, place, ask.message())?;
    world.erase(place.1, ask.message());
    Ok(Reply::nothing())
}

/// Returns the webhook in the path, and the place where it posts: its channel, or a thread there.
fn place(world: &World, ask: &Ask) -> Result<(UserId, ChannelId), Refusal> {
    let (id, webhook) = found(world, ask, By::Token)?;
    let Some(thread) = ask.number("thread_id")?.map(ChannelId::new) else {
        return Ok((id, webhook.channel));
    };
    let is_its = |room: &&Room| room.is_thread() && room.parent == Some(webhook.channel);
    let room = world.places.rooms.get(&thread).filter(is_its);
    let room = room.ok_or_else(Refusal::unknown_channel)?;
    if room.locked { Err(Refusal::thread_locked()) } else { Ok((id, thread)) }
}

/// Returns a message that the webhook posted there.
fn own(
    world: &World,
    (webhook, channel): (UserId, ChannelId),
    message: MessageId,
) -> Result<&ChatMessage, Refusal> {
    let room = world.places.rooms.get(&channel).ok_or_else(Refusal::unknown_channel)?;
    let message = room.messages.find(message).filter(|message| message.author == webhook);
    message.ok_or_else(Refusal::unknown_message)
}

fn shown(
    world: &World,
    ask: &Ask,
    place: (UserId, ChannelId),
    message: MessageId,
) -> Result<Reply, Refusal> {
    let message = own(world, place, message)?;
    Ok(Reply::json(wire::message(ask.view(world, place.0), message)))
}
