//! Forwards, which are messages that show another one as it was, without its author.

use dirigent::ports::{ApiError, ErrorKind};
use dirigent::{ChannelId, MessageId};

use super::parts::Parts;
use super::snapshot::{FORWARD, Minimal, Snapshot, Source};
use super::wire::{self, View};
use dirigent_testkit::memory_discord::permissions::Permissions;

/// The flag of a message that forwards another (resources/message).
pub(crate) const HAS_SNAPSHOT: u64 = 1 << 14;

/// Discord's numbers for messages that can be forwarded: ordinary ones, replies, and answers to commands.
const FORWARDABLE: [u8; 3] = [0, 19, 20];

impl Parts {
    /// Returns the parts of a forward by an account that may read the message. If that message is itself a
    /// forward, its content is passed on.
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
        let parts = view.parts.of(message).unwrap_or_default();
        if parts.poll.is_some() || !FORWARDABLE.contains(&shown.kind) {
            return Err(ApiError::new(ErrorKind::Invalid));
        }
        let before = Some(parts.message_snapshots).filter(|before| !before.is_empty());
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
