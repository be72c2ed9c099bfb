//! Forwards: a message that shows another one as it was, without its author.

use dirigent::ports::{ApiError, ErrorKind};
use dirigent::{ChannelId, MessageId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parts::Parts;
use super::wire::{self, View};
use dirigent_testkit::memory_discord::permissions::Permissions;

/// The flag of a message that forwards another (resources/message).
pub(crate) const HAS_SNAPSHOT: u64 = 1 << 14;

/// Discord's number for a reference of this kind.
const FORWARD: u8 = 1;

/// Discord's numbers for messages that can be forwarded: what accounts wrote, replies, and answers to commands.
const FORWARDABLE: [u8; 3] = [0, 19, 20];

/// Where a message was forwarded from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Source {
    #[serde(rename = "type")]
    kind: u8,
    message_id: String,
    channel_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    guild_id: Option<String>,
}

/// A message as it was when it was forwarded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    message: Minimal,
}

/// What is shown of a forwarded message. The author is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Minimal {
    #[serde(rename = "type")]
    kind: u8,
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

impl Parts {
    /// Those of a forward by an account that may read the message. What is a forward itself is passed on.
    pub(crate) fn of_forward(
        view: View<'_>,
        channel: ChannelId,
        message: MessageId,
    ) -> Result<Self, ApiError> {
        let (room, _) = view.world.places.seen(channel, view.account)?;
        let allowed = view.world.places.permissions(channel, view.account);
        if !allowed.contains(Permissions::READ_MESSAGE_HISTORY) {
            return Err(ApiError::new(ErrorKind::Forbidden));
        }
        let original = room.messages.find(message).ok_or(ApiError::new(ErrorKind::Gone))?;
        let written = wire::message(view, original);
        let invalid = |_| ApiError::new(ErrorKind::Invalid);
        let shown: Minimal = serde_json::from_value(written).map_err(invalid)?;
        let is_poll = view.parts.of(message).is_some_and(|parts| parts.poll.is_some());
        if is_poll || !FORWARDABLE.contains(&shown.kind) {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let before = view.parts.of(message).map(|parts| parts.message_snapshots);
        let before = before.filter(|snapshots| !snapshots.is_empty());
        Ok(Self {
            message_reference: Some(Source {
                kind: FORWARD,
                message_id: message.get().to_string(),
                channel_id: channel.to_string(),
                guild_id: room.guild.map(|guild| guild.to_string()),
            }),
            message_snapshots: before.unwrap_or_else(|| vec![Snapshot { message: shown }]),
            ..Self::default()
        })
    }
}
