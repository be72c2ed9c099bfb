//! The data of a forward: its source, and the message as it was.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Discord's number for a reference of this kind.
pub(crate) const FORWARD: u8 = 1;

/// The message that a forward shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Source {
    #[serde(rename = "type")]
    pub(crate) kind: u8,
    pub(crate) message_id: String,
    pub(crate) channel_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) guild_id: Option<String>,
}

/// A message as it was when it was forwarded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) message: Minimal,
}

/// The visible fields of a forwarded message. The author is not among them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Minimal {
    #[serde(rename = "type")]
    pub(crate) kind: u8,
    content: String,
    mentions: Vec<Value>,
    mention_roles: Vec<Value>,
    attachments: Vec<Value>,
    embeds: Vec<Value>,
    timestamp: String,
    edited_timestamp: Option<String>,
    flags: u64,
    components: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sticker_items: Vec<Value>,
}
