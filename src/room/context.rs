//! The things that a room sees and does not own.

use dirigent_core::{Input, MessageId, Timestamp};

use super::directory::Directory;
use crate::values::message::Began;
use crate::values::stage::DriverStage;
use crate::{ChannelId, Settings};

/// Facts of the chat about ids and rights that are known without a request.
pub(crate) trait ChatFacts {
    fn sent_at(&self, message: MessageId) -> Timestamp;

    /// Returns the highest id that a message from before this moment may have, if it is known.
    fn id_before(&self, moment: Timestamp) -> Option<MessageId>;

    /// Returns whether the moderator may read the history, if it is known.
    fn reads_history(&self, channel: ChannelId) -> Option<bool>;

    /// Returns the longest message, in UTF-16 code units.
    fn longest_message(&self) -> usize {
        crate::text::split::LIMIT
    }

    /// Returns whether an empty page proves nothing, because without the permission to read a history the chat answers
    /// with an empty page.
    fn may_be_hidden(&self, channel: ChannelId) -> bool {
        self.reads_history(channel) != Some(true)
    }
}

pub(crate) type RecordInput<'a> = dyn Fn(ChannelId, Timestamp, &Input) + 'a;

/// The things that a room sees and does not own: settings, the directory of agents, and facts of the chat.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) directory: &'a Directory,
    pub(crate) chat: &'a dyn ChatFacts,
    pub(crate) record: Option<&'a RecordInput<'a>>,
    /// The number of transitions of a channel that the store keeps.
    pub(crate) history_max: usize,
    pub(crate) up_since: &'a Began,
    pub(crate) stage: DriverStage,
    pub(crate) has_waker: bool,
    pub(crate) has_orchestrator: bool,
}
