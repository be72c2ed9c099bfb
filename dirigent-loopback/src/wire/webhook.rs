//! Webhooks in the form of Discord's API.

use dirigent::UserId;
use dirigent::ports::AuthorKind;
use serde_json::{Value, json};

use super::people::user;
use dirigent_testkit::memory_discord::webhooks::Webhook;
use dirigent_testkit::memory_discord::world::World;

/// Returns a webhook. A bot also gets the creator, but a client with only the token does not.
pub(crate) fn webhook(world: &World, id: UserId, webhook: &Webhook, with_creator: bool) -> Value {
    let guild = world.places.rooms.get(&webhook.channel).and_then(|room| room.guild);
    let mut written = json!({
        "id": id.to_string(),
        "type": 1,
        "guild_id": guild.map(|guild| guild.to_string()),
        "channel_id": webhook.channel.to_string(),
        "name": webhook.name,
        "avatar": webhook.avatar,
        "token": webhook.token,
        "application_id": application(world, webhook),
        "url": format!("{}/api/webhooks/{id}/{}", world.web_address, webhook.token),
    });
    if let (true, Some(fields)) = (with_creator, written.as_object_mut()) {
        fields.insert("user".to_owned(), user(world, webhook.creator));
    }
    written
}

/// Returns the application of the bot that created a webhook.
pub(super) fn application(world: &World, webhook: &Webhook) -> Option<String> {
    let is_bot = world.accounts.kind_of(webhook.creator) == AuthorKind::Bot;
    is_bot.then(|| webhook.creator.to_string())
}
