//! Creating, reading, changing and deleting webhooks.

use dirigent::ports::AuthorKind;
use dirigent::{ChannelId, UserId};
use serde_json::{Map, Value};

use super::ask::{Ask, number, text, text_of};
use super::refusal::Refusal;
use super::reply::Reply;
use super::sight::{joined, seen_with};
use crate::{token, wire};
use dirigent_testkit::memory_discord::event::Event;
use dirigent_testkit::memory_discord::permissions::Permissions;
use dirigent_testkit::memory_discord::room::kind;
use dirigent_testkit::memory_discord::webhooks::Webhook;
use dirigent_testkit::memory_discord::world::World;

/// The most webhooks of a channel.
const WEBHOOKS_MAX: usize = 15;

/// The bounds of a webhook's name, in characters.
const NAME: (usize, usize) = (1, 80);

/// Words that must not be in a webhook's name, in lower case.
const NOT_IN_NAMES: [&str; 2] = ["clyde", "discord"];

pub(super) fn create(world: &mut World, ask: &Ask) -> Result<Reply, Refusal> {
    let room = seen_with(world, ask.channel(), ask.me, Permissions::MANAGE_WEBHOOKS)?;
    if !matches!(room.kind, kind::TEXT | kind::ANNOUNCEMENT) {
        return Err(Refusal::not_here());
    }
    if world.webhooks.of_channel(ask.channel()).count() >= WEBHOOKS_MAX {
        return Err(Refusal::too_many_webhooks());
    }
    let fields = ask.fields(&["name", "avatar"])?;
    let required = || Refusal::invalid("name", "BASE_TYPE_REQUIRED", "This field is required");
    let name = read_name(fields, "name")?.ok_or_else(required)?;
    let avatar = read_avatar(fields)?;
    let id = UserId::new(world.next_id());
    world.accounts.add(id, AuthorKind::Webhook);
    let token = token::of_webhook(id);
    let webhook =
        Webhook { channel: ask.channel(), name: String::new(), avatar, token, creator: ask.me };
    world.webhooks.by_id.insert(id, webhook);
    rename(world, id, name);
    world.publish(Event::WebhooksChanged { channel: ask.channel() });
    shown(world, id, true)
}

pub(super) fn of_channel(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    seen_with(world, ask.channel(), ask.me, Permissions::MANAGE_WEBHOOKS)?;
    let found = world.webhooks.of_channel(ask.channel());
    Ok(Reply::list(found.map(|(id, webhook)| wire::webhook(world, id, webhook, true))))
}

pub(super) fn of_guild(world: &World, ask: &Ask) -> Result<Reply, Refusal> {
    let guild = joined(world, ask.guild(), ask.me)?;
    if !world.places.in_guild(ask.guild(), ask.me).contains(Permissions::MANAGE_WEBHOOKS) {
        return Err(Refusal::missing_permissions());
    }
    let found = guild.channels.iter().flat_map(|channel| world.webhooks.of_channel(*channel));
    Ok(Reply::list(found.map(|(id, webhook)| wire::webhook(world, id, webhook, true))))
}

/// The sender of a request about a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A bot, which needs permission.
    Bot,
    /// A client that has the webhook's token.
    Token,
}

pub(super) fn one(world: &World, ask: &Ask, by: By) -> Result<Reply, Refusal> {
    let (id, _) = found(world, ask, by)?;
    shown(world, id, by == By::Bot)
}

/// Changes the name, the picture or, for a bot, the channel.
pub(super) fn update(world: &mut World, ask: &Ask, by: By) -> Result<Reply, Refusal> {
    let (id, webhook) = found(world, ask, by)?;
    let old = webhook.channel;
    let known = ["name", "avatar", "channel_id"];
    let fields = ask.fields(if by == By::Bot { &known } else { &known[..2] })?;
    let (name, avatar) = (read_name(fields, "name")?, read_avatar(fields)?);
    let channel = number(fields, "channel_id")?.map_or(old, ChannelId::new);
    if channel != old {
        let guild = world.places.rooms.get(&old).and_then(|room| room.guild);
        let room = seen_with(world, channel, ask.me, Permissions::MANAGE_WEBHOOKS)?;
        if room.guild != guild || !matches!(room.kind, kind::TEXT | kind::ANNOUNCEMENT) {
            return Err(Refusal::not_here());
        }
    }
    if let Some(webhook) = world.webhooks.by_id.get_mut(&id) {
        webhook.channel = channel;
        if fields.contains_key("avatar") {
            webhook.avatar = avatar;
        }
    }
    if let Some(name) = name {
        rename(world, id, name);
    }
    world.publish(Event::WebhooksChanged { channel: old });
    if channel != old {
        world.publish(Event::WebhooksChanged { channel });
    }
    shown(world, id, by == By::Bot)
}

/// Deletes a webhook. Its messages stay.
pub(super) fn delete(world: &mut World, ask: &Ask, by: By) -> Result<Reply, Refusal> {
    let (id, webhook) = found(world, ask, by)?;
    let channel = webhook.channel;
    world.webhooks.by_id.remove(&id);
    world.publish(Event::WebhooksChanged { channel });
    Ok(Reply::nothing())
}

/// Returns the webhook in the path.
pub(super) fn found<'a>(
    world: &'a World,
    ask: &Ask,
    by: By,
) -> Result<(UserId, &'a Webhook), Refusal> {
    let id = ask.user(0);
    let webhook = world.webhooks.get(id).ok_or_else(Refusal::unknown_webhook)?;
    match by {
        By::Token if webhook.token != ask.matched.text => return Err(Refusal::invalid_token()),
        By::Token => {}
        By::Bot => {
            seen_with(world, webhook.channel, ask.me, Permissions::MANAGE_WEBHOOKS)?;
        }
    }
    Ok((id, webhook))
}

/// Reads the name of a webhook, or its name for one message.
pub(super) fn read_name(
    fields: &Map<String, Value>,
    field: &str,
) -> Result<Option<String>, Refusal> {
    let name = text_of(fields, field, NAME)?.map(|name| name.trim().to_owned());
    let small = name.as_deref().unwrap_or_default().to_lowercase();
    if let Some(word) = NOT_IN_NAMES.into_iter().find(|word| small.contains(word)) {
        let message = format!("Username cannot contain \"{word}\"");
        return Err(Refusal::invalid(field, "USERNAME_INVALID_CONTAINS", &message));
    }
    Ok(name)
}

/// Reads a picture as a mark, or `None` if there is none.
fn read_avatar(fields: &Map<String, Value>) -> Result<Option<String>, Refusal> {
    match text(fields, "avatar")? {
        None => Ok(None),
        Some(data) if data.starts_with("data:image/") => Ok(Some(token::mark(data))),
        Some(_) => {
            let message = "Invalid image data";
            Err(Refusal::invalid("avatar", "IMAGE_INVALID", message))
        }
    }
}

/// Renames a webhook, and the account that speaks for it.
fn rename(world: &mut World, id: UserId, name: String) {
    if let Some(account) = world.accounts.get_mut(id) {
        account.name = name.as_str().into();
    }
    if let Some(webhook) = world.webhooks.by_id.get_mut(&id) {
        webhook.name = name;
    }
}

fn shown(world: &World, id: UserId, with_creator: bool) -> Result<Reply, Refusal> {
    let webhook = world.webhooks.get(id).ok_or_else(Refusal::unknown_webhook)?;
    Ok(Reply::json(wire::webhook(world, id, webhook, with_creator)))
}
