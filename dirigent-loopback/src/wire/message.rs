//! Messages in the form of Discord's API.

use dirigent::ports::{AuthorKind, ChatKind};
use dirigent::{ChannelId, ChatMessage};
use serde_json::{Map, Value, json};

use super::channel::channel;
use super::media;
use super::people::{author, partial_member, user};
use super::view::{View, hide_content};
use super::webhook::application;
use dirigent_testkit::memory_discord::details::{Details, Media, Rare, UsedCommand};
use dirigent_testkit::memory_discord::moment;
use dirigent_testkit::memory_discord::pings::Pings;
use dirigent_testkit::memory_discord::role::RoleId;
use dirigent_testkit::memory_discord::room::Room;
use dirigent_testkit::memory_discord::world::World;

/// Discord's numbers for kinds of messages.
mod kind {
    pub(super) const REGULAR: u8 = 0;
    pub(super) const JOINED: u8 = 7;
    pub(super) const REPLY: u8 = 19;
    pub(super) const THREAD_STARTER: u8 = 21;
}

/// The flag of a message that a thread was made from.
const HAS_THREAD: u64 = 1 << 5;

/// Returns a message as an account may read it. The text is that of `shown`; the rest is looked up.
pub(crate) fn message(view: View<'_>, shown: &ChatMessage) -> Value {
    message_with(view, shown, details(view.world, shown))
}

/// Returns a message that is not stored in its channel, with its details.
pub(crate) fn message_with(
    view: View<'_>,
    shown: &ChatMessage,
    details: Option<&Details>,
) -> Value {
    let rare = details.and_then(|details| details.rare.as_deref());
    let mut written = bare(view, shown, rare);
    let Some(fields) = written.as_object_mut() else { return written };
    let (answered, about) = rare.map_or((None, None), |rare| (rare.reply_to, rare.about));
    if answered.is_none() && about.is_none() {
        return written;
    }
    let channel = about.unwrap_or(shown.channel);
    let room = view.world.places.rooms.get(&channel);
    let mut reference = json!({
        "type": 0,
        "channel_id": channel.to_string(),
        "guild_id": room.and_then(|room| room.guild).map(|guild| guild.to_string()),
    });
    if let (Some(answered), Some(fields)) = (answered, reference.as_object_mut()) {
        fields.insert("message_id".to_owned(), json!(answered.get().to_string()));
    }
    fields.insert("message_reference".to_owned(), reference);
    if let Some(answered) = answered.filter(|_| shows_original(kind_of(shown, rare))) {
        let original = room.and_then(|room| room.messages.find(answered)).map(|original| {
            let details = self::details(view.world, original);
            bare(view, original, details.and_then(|details| details.rare.as_deref()))
        });
        fields.insert("referenced_message".to_owned(), original.unwrap_or(Value::Null));
    }
    written
}

/// Returns true if a message of this kind contains the one that it names.
const fn shows_original(kind: u8) -> bool {
    matches!(kind, kind::REPLY | kind::THREAD_STARTER)
}

/// Returns a message as the gateway pushes it, with its guild and its author's roles.
pub(crate) fn pushed_message(view: View<'_>, shown: &ChatMessage) -> Value {
    let world = view.world;
    let mut written = message(view, shown);
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

fn details<'a>(world: &'a World, message: &ChatMessage) -> Option<&'a Details> {
    world.places.rooms.get(&message.channel)?.messages.details(message.id)
}

/// Returns the thread that was made from a message.
fn thread_of<'a>(world: &'a World, message: &ChatMessage) -> Option<&'a Room> {
    let thread = world.places.rooms.get(&ChannelId::new(message.id.get()))?;
    (thread.is_thread() && thread.parent == Some(message.channel)).then_some(thread)
}

/// Returns a message without the one that it answers.
fn bare(view: View<'_>, shown: &ChatMessage, rare: Option<&Rare>) -> Value {
    let View { world, account: viewer, .. } = view;
    let room = world.places.rooms.get(&shown.channel);
    let thread = thread_of(world, shown);
    let no_media = Media::default();
    let media = rare.map_or(&no_media, |rare| &rare.media);
    let flags = rare.map_or(0, |rare| rare.flags);
    let pings = room.and_then(|room| room.pings(shown.id)).unwrap_or_default();
    let Pings { everyone, users, roles, .. } = pings;
    let mut written = json!({
        "id": shown.id.get().to_string(),
        "channel_id": shown.channel.to_string(),
        "type": kind_of(shown, rare),
        "author": author(world, shown, rare.and_then(|rare| rare.guise.as_ref())),
        "content": &*shown.content,
        "timestamp": moment::of_message(shown.id),
        "edited_timestamp": rare.and_then(|rare| rare.edited_at).map(moment::written),
        "tts": false,
        "mention_everyone": everyone,
        "mentions": users.iter().map(|named| user(world, *named)).collect::<Vec<_>>(),
        "mention_roles": roles.iter().map(RoleId::to_string).collect::<Vec<_>>(),
        "attachments": media::attachments(world, shown.channel, media),
        "embeds": media::embeds(world, shown.channel, media),
        "components": [],
        "pinned": room.is_some_and(|room| room.pins.contains(shown.id)),
        "flags": if thread.is_some() { flags | HAS_THREAD } else { flags },
    });
    let Some(fields) = written.as_object_mut() else { return written };
    if let Some(Ok(Value::Object(more))) = view.parts.of(shown.id).map(serde_json::to_value) {
        fields.extend(more);
    }
    if let Some(components) = fields.get_mut("components") {
        media::name_files(world, shown.channel, media, components);
    }
    if !view.reads(shown, &users) {
        hide_content(fields);
    }
    if let Some(thread) = thread {
        fields.insert("thread".to_owned(), channel(world, viewer, thread));
    }
    if let Some(reactions) = rare.map(|rare| &rare.reactions).filter(|it| it.iter().len() > 0) {
        fields.insert("reactions".to_owned(), media::reactions(reactions, viewer).into());
    }
    // Only the author of a message gets its nonce.
    if shown.author == viewer {
        let given = rare.and_then(|rare| rare.nonce.clone());
        let nonce = given.or_else(|| shown.nonce.map(|nonce| json!(nonce.as_str())));
        fields.extend(nonce.map(|nonce| ("nonce".to_owned(), nonce)));
    }
    if shown.author_kind == AuthorKind::Webhook {
        fields.insert("webhook_id".to_owned(), json!(shown.author.to_string()));
        if let Some(webhook) = world.webhooks.get(shown.author) {
            fields.insert("application_id".to_owned(), json!(application(world, webhook)));
        }
    }
    if let Some(command) = rare.and_then(|rare| rare.command.as_ref()) {
        tell_command(world, shown, command, fields);
    }
    written
}

/// Adds the command to its answer.
fn tell_command(
    world: &World,
    shown: &ChatMessage,
    command: &UsedCommand,
    fields: &mut Map<String, Value>,
) {
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

fn kind_of(message: &ChatMessage, rare: Option<&Rare>) -> u8 {
    let usual = match message.kind {
        ChatKind::Reply => kind::REPLY,
        ChatKind::System => kind::JOINED,
        ChatKind::Default | _ => kind::REGULAR,
    };
    rare.and_then(|rare| rare.kind).unwrap_or(usual)
}
