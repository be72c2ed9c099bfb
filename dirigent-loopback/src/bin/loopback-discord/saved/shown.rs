//! The content of messages besides their text, in the file.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dirigent::UserId;
use dirigent_testkit::memory_discord::Emoji;
use dirigent_testkit::memory_discord::attachment::Attachment;
use dirigent_testkit::memory_discord::details::{Media, Rare};
use dirigent_testkit::memory_discord::webhooks::PostedAs;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The embeds, files and reactions of a message, and the name and picture that a webhook used for
/// it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SavedShown {
    embeds: Vec<Value>,
    files: Vec<SavedFile>,
    reactions: Vec<SavedReaction>,
    guise: Option<SavedPostedAs>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedFile {
    id: u64,
    filename: String,
    description: Option<String>,
    content_type: String,
    #[serde(serialize_with = "write_bytes", deserialize_with = "read_bytes")]
    bytes: Arc<[u8]>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedReaction {
    /// The id of a guild's own emoji.
    emoji: Option<u64>,
    name: String,
    users: Vec<u64>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct SavedPostedAs {
    name: Option<String>,
    avatar: Option<String>,
}

fn write_bytes<S: Serializer>(bytes: &Arc<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

fn read_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64_STANDARD.decode(text).map(Arc::from).map_err(serde::de::Error::custom)
}

impl SavedShown {
    /// Returns the content besides the text, or `None` if there is none.
    pub(super) fn of(rare: &Rare) -> Option<Self> {
        let files = rare.media.attachments.iter().cloned().map(|file| SavedFile {
            id: file.id,
            filename: file.filename,
            description: file.description,
            content_type: file.content_type,
            bytes: file.bytes,
        });
        let reactions = rare.reactions.iter().map(|(emoji, users)| SavedReaction {
            emoji: emoji.id(),
            name: emoji.name().to_owned(),
            users: users.iter().map(|user| user.get()).collect(),
        });
        let guise = rare.guise.clone();
        let shown = Self {
            embeds: rare.media.embeds.clone(),
            files: files.collect(),
            reactions: reactions.collect(),
            guise: guise.map(|PostedAs { name, avatar }| SavedPostedAs { name, avatar }),
        };
        (shown != Self::default()).then_some(shown)
    }

    pub(super) fn restore(self, rare: &mut Rare) {
        let files = self.files.into_iter().map(|file| Attachment {
            id: file.id,
            filename: file.filename,
            description: file.description,
            content_type: file.content_type,
            bytes: file.bytes,
        });
        rare.media = Media { embeds: self.embeds, attachments: files.collect() };
        for SavedReaction { emoji, name, users } in self.reactions {
            let emoji = match emoji {
                Some(id) => Emoji::Custom { id, name },
                None => Emoji::Unicode(name),
            };
            for user in users {
                rare.reactions.add(&emoji, UserId::new(user));
            }
        }
        rare.guise = self.guise.map(|SavedPostedAs { name, avatar }| PostedAs { name, avatar });
    }
}
