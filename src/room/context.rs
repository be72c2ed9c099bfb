//! What a room looks at and does not own.

use dirigent_core::{Input, MessageId, Timestamp};

use super::directory::Directory;
use crate::values::message::Began;
use crate::values::stage::DriverStage;
use crate::{ChannelId, Settings};

/// What the chat says of ids and rights without being asked.
pub(crate) trait ChatFacts {
    /// When a message was posted.
    fn sent_at(&self, message: MessageId) -> Timestamp;

    /// The highest id that a message of before this moment may have, where that is known.
    fn id_before(&self, moment: Timestamp) -> Option<MessageId>;

    /// Whether the moderator may read the history, where that is known.
    fn reads_history(&self, channel: ChannelId) -> Option<bool>;

    /// The longest message, in UTF-16 code units.
    fn longest_message(&self) -> usize {
        crate::text::split::LIMIT
    }

    /// Whether an empty page proves nothing: without the permission to read a history the chat answers with
    /// an empty one.
    fn may_be_hidden(&self, channel: ChannelId) -> bool {
        self.reads_history(channel) != Some(true)
    }
}

/// Takes note of an input of a channel's machine, with its time.
pub(crate) type RecordInput<'a> = dyn Fn(ChannelId, Timestamp, &Input) + 'a;

/// What a room looks at and does not own: settings, who is who, facts of the chat.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) directory: &'a Directory,
    pub(crate) chat: &'a dyn ChatFacts,
    /// Told every input of the machine, where inputs are recorded.
    pub(crate) record: Option<&'a RecordInput<'a>>,
    /// How many transitions of a channel the store keeps.
    pub(crate) history_max: usize,
    /// When this process began.
    pub(crate) up_since: &'a Began,
    /// How far the driver's life got.
    pub(crate) stage: DriverStage,
    /// Whether the host wakes agents itself.
    pub(crate) has_waker: bool,
    /// Whether an orchestrator answers people during a turn.
    pub(crate) has_orchestrator: bool,
}
