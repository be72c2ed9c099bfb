//! The content of a message besides its text: embeds, files, reactions.

use dirigent::{ChannelId, UserId};
use serde_json::{Map, Value, json};

use dirigent_testkit::memory_discord::Emoji;
use dirigent_testkit::memory_discord::attachment::Attachment;
use dirigent_testkit::memory_discord::details::Media;
use dirigent_testkit::memory_discord::reactions::Reactions;
use dirigent_testkit::memory_discord::world::World;

/// The beginning of an embed's reference to a file of its message.
const ATTACHED: &str = "attachment://";

/// The beginning of every file's path.
pub(crate) const FILES: &str = "/attachments/";

/// Returns the address of a file.
fn address(world: &World, channel: ChannelId, file: &Attachment) -> String {
    format!("{}{FILES}{channel}/{}/{}", world.web_address, file.id, file.filename)
}

/// Returns the files of a message.
pub(super) fn attachments(world: &World, channel: ChannelId, media: &Media) -> Vec<Value> {
    media.attachments.iter().map(|file| attachment(world, channel, file)).collect()
}

fn attachment(world: &World, channel: ChannelId, file: &Attachment) -> Value {
    let address = address(world, channel, file);
    let mut written = json!({
        "id": file.id.to_string(),
        "filename": file.filename,
        "size": file.bytes.len(),
        "url": address,
        "proxy_url": address,
        "content_type": file.content_type,
    });
    let Some(fields) = written.as_object_mut() else { return written };
    if let Some(description) = &file.description {
        fields.insert("description".to_owned(), json!(description));
    }
    if let Some((width, height)) = png_size(&file.bytes) {
        fields.insert("width".to_owned(), json!(width));
        fields.insert("height".to_owned(), json!(height));
    }
    written
}

/// Returns the width and height in pixels from the beginning of a PNG picture.
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let chunk = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR")?;
    let (width, rest) = chunk.split_first_chunk()?;
    Some((u32::from_be_bytes(*width), u32::from_be_bytes(*rest.first_chunk()?)))
}

/// Returns the embeds of a message. A file of the message is replaced by its address.
pub(super) fn embeds(world: &World, channel: ChannelId, media: &Media) -> Vec<Value> {
    let mut embeds = media.embeds.clone();
    let addresses = |name: &str| {
        let mut files = media.attachments.iter();
        let file = files.find(|file| file.filename == name)?;
        Some(address(world, channel, file))
    };
    for embed in embeds.iter_mut().filter_map(Value::as_object_mut) {
        for (part, field) in
            [("image", "url"), ("thumbnail", "url"), ("author", "icon_url"), ("footer", "icon_url")]
        {
            let Some(part) = embed.get_mut(part).and_then(Value::as_object_mut) else { continue };
            show(part, field, addresses);
        }
    }
    embeds
}

/// Replaces the files of the message by their addresses, wherever its components show them.
pub(super) fn name_files(world: &World, channel: ChannelId, media: &Media, shown: &mut Value) {
    match shown {
        Value::Array(list) => {
            for inner in list {
                name_files(world, channel, media, inner);
            }
        }
        Value::Object(fields) => {
            let addresses = |name: &str| {
                let file = media.attachments.iter().find(|file| file.filename == name)?;
                Some(address(world, channel, file))
            };
            for name in ["media", "file"] {
                if let Some(part) = fields.get_mut(name).and_then(Value::as_object_mut) {
                    show(part, "url", addresses);
                    part.insert("id".to_owned(), json!("0"));
                }
            }
            for inner in fields.values_mut() {
                name_files(world, channel, media, inner);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Adds a picture's address, and the one under which Discord would show it.
fn show(part: &mut Map<String, Value>, field: &str, address: impl Fn(&str) -> Option<String>) {
    let Some(said) = part.get(field).and_then(Value::as_str) else { return };
    let found = said.strip_prefix(ATTACHED).and_then(address);
    let shown = found.unwrap_or_else(|| said.to_owned());
    part.insert(format!("proxy_{field}"), json!(shown));
    part.insert(field.to_owned(), json!(shown));
}

/// Returns the reactions to a message as an account sees them.
pub(super) fn reactions(reactions: &Reactions, viewer: UserId) -> Vec<Value> {
    let written = reactions.iter().map(|(of, users)| {
        json!({
            "emoji": emoji(of),
            "count": users.len(),
            "count_details": { "burst": 0, "normal": users.len() },
            "burst_colors": [],
            "me": users.contains(&viewer),
            "me_burst": false,
        })
    });
    written.collect()
}

/// Returns an emoji as it stands in reactions.
pub(super) fn emoji(emoji: &Emoji) -> Value {
    json!({ "id": emoji.id().map(|id| id.to_string()), "name": emoji.name() })
}

/// Returns one of a guild's own emoji.
pub(crate) fn guild_emoji(id: u64, name: &str) -> Value {
    json!({
        "id": id.to_string(),
        "name": name,
        "roles": [],
        "require_colons": true,
        "managed": false,
        "animated": false,
        "available": true,
    })
}
