//! Messages.

use dirigent::ports::{AuthorKind, ChatKind};
use dirigent::{ChatMessage, MessageId, UserId};
use serde_json::{Value, json};

use super::moment;
use super::people::{partial_member, user};
use dirigent_testkit::memory_discord::details::Rare;
use dirigent_testkit::memory_discord::pings::Pings;
use dirigent_testkit::memory_discord::role::RoleId;
use dirigent_testkit::memory_discord::room::Room;
use dirigent_testkit::memory_discord::world::World;

/// Discord's numbers for kinds of messages.
mod kind {
    pub(super) const REGULAR: u8 = 0;
    pub(super) const JOINED: u8 = 7;
    pub(super) const REPLY: u8 = 19;
}

/// A message as an account may read it. Its text is the given one's, which may be hidden; the rest is
/// looked up.
pub(crate) fn message(world: &World, viewer: UserId, shown: &ChatMessage) -> Value {
    let room = world.places.rooms.get(&shown.channel);
    let mut written = bare(world, viewer, shown);
    let answered = rare(room, shown.id).and_then(|rare| rare.reply_to);
    if let (Some(answered), Some(fields)) = (answered, written.as_object_mut()) {
        let guild = room.and_then(|room| room.guild).map(|guild| guild.to_string());
        let reference = json!({
            "type": 0,
            "message_id": answered.get().to_string(),
            "channel_id": shown.channel.to_string(),
            "guild_id": guild,
        });
        fields.insert("message_reference".to_owned(), reference);
        let original = room.and_then(|room| room.messages.find(answered));
        let original = original
            .map(|original| bare(world, viewer, &world.accounts.as_shown_to(viewer, original)));
        fields.insert("referenced_message".to_owned(), original.unwrap_or(Value::Null));
    }
    written
}

/// A message as the gateway pushes it: with its guild and its author's roles.
pub(crate) fn pushed_message(world: &World, viewer: UserId, shown: &ChatMessage) -> Value {
    let mut written = message(world, viewer, shown);
    let room = world.places.rooms.get(&shown.channel);
    let Some(fields) = written.as_object_mut() else { return written };
    fields.insert("channel_type".to_owned(), json!(room.map_or(0, |room| room.kind)));
    if let Some(guild) = room.and_then(|room| room.guild) {
        fields.insert("guild_id".to_owned(), json!(guild.to_string()));
        if let Some(member) = partial_member(world, guild, shown.author) {
            fields.insert("member".to_owned(), member);
        }
    }
    written
}

fn rare(room: Option<&Room>, id: MessageId) -> Option<&Rare> {
    room?.messages.details(id)?.rare.as_deref()
}

/// A message without the one that it answers.
fn bare(world: &World, viewer: UserId, shown: &ChatMessage) -> Value {
    let room = world.places.rooms.get(&shown.channel);
    let rare = rare(room, shown.id);
    let pings = room.and_then(|room| room.pings(shown.id)).unwrap_or_default();
    let Pings { everyone, users, roles, .. } = pings;
    let mut written = json!({
        "id": shown.id.get().to_string(),
        "channel_id": shown.channel.to_string(),
        "type": kind_of(shown, rare),
        "author": user(world, shown.author),
        "content": &*shown.content,
        "timestamp": moment::of_message(shown.id),
        "edited_timestamp": rare.and_then(|rare| rare.edited_at).map(moment::written),
        "tts": false,
        "mention_everyone": everyone,
        "mentions": users.iter().map(|named| user(world, *named)).collect::<Vec<_>>(),
        "mention_roles": roles.iter().map(RoleId::to_string).collect::<Vec<_>>(),
        "attachments": [],
        "embeds": [],
        "components": [],
        "pinned": false,
        "flags": rare.map_or(0, |rare| rare.flags),
    });
    let Some(fields) = written.as_object_mut() else { return written };
    // Only who posted a message is told its nonce.
    if let Some(nonce) = shown.nonce.as_ref().filter(|_| shown.author == viewer) {
        let is_number = rare.is_some_and(|rare| rare.has_number_nonce);
        let number = nonce.parse::<i64>().ok().filter(|_| is_number);
        fields.insert("nonce".to_owned(), number.map_or_else(|| json!(nonce), |it| json!(it)));
    }
    if shown.author_kind == AuthorKind::Webhook {
        fields.insert("webhook_id".to_owned(), json!(shown.author.to_string()));
    }
    if let Some(command) = rare.and_then(|rare| rare.command.as_ref()) {
        let who = user(world, command.user);
        let metadata = json!({
            "id": command.interaction.to_string(),
            "type": 2,
            "user": who,
            "authorizing_integration_owners": {},
        });
        let interaction = json!({
            "id": command.interaction.to_string(),
            "type": 2,
            "name": command.name,
            "user": who,
        });
        fields.insert("webhook_id".to_owned(), json!(shown.author.to_string()));
        fields.insert("application_id".to_owned(), json!(shown.author.to_string()));
        fields.insert("interaction_metadata".to_owned(), metadata);
        fields.insert("interaction".to_owned(), interaction);
    }
    written
}

fn kind_of(message: &ChatMessage, rare: Option<&Rare>) -> u8 {
    let usual = match message.kind {
        ChatKind::Reply => kind::REPLY,
        ChatKind::System => kind::JOINED,
        ChatKind::Default | _ => kind::REGULAR,
    };
    rare.and_then(|rare| rare.kind).unwrap_or(usual)
}
