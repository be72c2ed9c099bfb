//! Events about existing messages: reactions and pins. Also changes of a channel's webhooks.

use dirigent::{ChannelId, MessageId, UserId};
use serde_json::{Value, json};

use super::dispatch::{Dispatch, talk, within};
use super::intent;
use super::media::emoji;
use super::people::member;
use super::view::View;
use dirigent_testkit::memory_discord::Emoji;
use dirigent_testkit::memory_discord::moment;
use dirigent_testkit::memory_discord::world::World;

/// Returns the event of a change that is not of the message's text.
pub(super) fn marked(
    view: View<'_>,
    (channel, message): (ChannelId, MessageId),
) -> Option<Dispatch> {
    let room = view.world.places.rooms.get(&channel)?;
    Some(talk(view, "MESSAGE_UPDATE", room.messages.find(message)?))
}

/// Returns the event of a reaction that was added or removed.
pub(super) fn reaction(
    world: &World,
    (channel, message): (ChannelId, MessageId),
    user: UserId,
    with: &Emoji,
    is_new: bool,
) -> Option<Dispatch> {
    let mut data = json!({
        "user_id": user.to_string(),
        "channel_id": channel.to_string(),
        "message_id": message.get().to_string(),
        "emoji": emoji(with),
        "burst": false,
        "type": 0,
    });
    let room = world.places.rooms.get(&channel)?;
    if let (true, Some(fields)) = (is_new, data.as_object_mut()) {
        let author = room.messages.find(message)?.author;
        fields.insert("message_author_id".to_owned(), json!(author.to_string()));
        if let Some(member) = room.guild.and_then(|guild| member(world, guild, user)) {
            fields.insert("member".to_owned(), member);
        }
    }
    let name = if is_new { "MESSAGE_REACTION_ADD" } else { "MESSAGE_REACTION_REMOVE" };
    Some(of_reactions(world, name, channel, data))
}

/// Returns the event of all reactions removed, or all with one emoji.
pub(super) fn cleared(
    world: &World,
    (channel, message): (ChannelId, MessageId),
    with: Option<&Emoji>,
) -> Dispatch {
    let mut data =
        json!({ "channel_id": channel.to_string(), "message_id": message.get().to_string() });
    let Some(with) = with else {
        return of_reactions(world, "MESSAGE_REACTION_REMOVE_ALL", channel, data);
    };
    if let Some(fields) = data.as_object_mut() {
        fields.insert("emoji".to_owned(), emoji(with));
    }
    of_reactions(world, "MESSAGE_REACTION_REMOVE_EMOJI", channel, data)
}

fn of_reactions(world: &World, name: &'static str, channel: ChannelId, data: Value) -> Dispatch {
    let guild = world.places.rooms.get(&channel).and_then(|room| room.guild);
    let intents = if guild.is_some() { intent::GUILD_REACTIONS } else { intent::DIRECT_REACTIONS };
    Dispatch { name, data: within(guild, data), intents }
}

/// Returns the event of a message that was pinned or unpinned.
pub(super) fn pins(world: &World, channel: ChannelId) -> Option<Dispatch> {
    let room = world.places.rooms.get(&channel)?;
    let data = json!({
        "channel_id": channel.to_string(),
        "last_pin_timestamp": room.pins.last().map(moment::written),
    });
    let intents = if room.guild.is_some() { intent::GUILDS } else { intent::DIRECT_MESSAGES };
    Some(Dispatch { name: "CHANNEL_PINS_UPDATE", data: within(room.guild, data), intents })
}

/// Returns the event of changed webhooks in a channel. It does not say what changed.
pub(super) fn webhooks(world: &World, channel: ChannelId) -> Option<Dispatch> {
    let guild = world.places.rooms.get(&channel)?.guild;
    let data = within(guild, json!({ "channel_id": channel.to_string() }));
    Some(Dispatch { name: "WEBHOOKS_UPDATE", data, intents: intent::WEBHOOKS })
}
