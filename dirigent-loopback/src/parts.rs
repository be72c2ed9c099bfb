//! The parts of messages that the Discord in memory does not store, in Discord's form.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dirigent::MessageId;
use serde::Serialize;
use serde_json::Value;

use super::poll::Poll;
use super::snapshot::{Snapshot, Source};
use super::stickers::{StickerItem, Stickers};

/// The most messages with stored parts. The oldest are forgotten first.
const KEPT_MAX: usize = 10_000;

/// The parts of a message besides its text, embeds and files, under Discord's names (resources/message).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Parts {
    /// The message that it forwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message_reference: Option<Source>,
    /// That message as it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) message_snapshots: Vec<Snapshot>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sticker_items: Vec<StickerItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) poll: Option<Poll>,
    /// Buttons, texts and other components, as they were posted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) components: Vec<Value>,
}

impl Parts {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The parts of all messages that have some.
#[derive(Debug, Default)]
pub(crate) struct AllParts {
    by_message: Mutex<BTreeMap<MessageId, Parts>>,
    stickers: Mutex<Stickers>,
}

impl AllParts {
    /// Stores the parts of a message, before sessions get the message.
    pub(crate) fn keep(&self, message: MessageId, parts: Parts) {
        let mut kept = self.kept();
        if parts.is_empty() {
            kept.remove(&message);
            return;
        }
        kept.insert(message, parts);
        if kept.len() > KEPT_MAX {
            kept.pop_first();
        }
    }

    /// Returns the parts of a message, if it has some.
    pub(crate) fn of(&self, message: MessageId) -> Option<Parts> {
        self.kept().get(&message).cloned()
    }

    /// Returns all stickers.
    pub(crate) fn stickers(&self) -> MutexGuard<'_, Stickers> {
        self.stickers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<MessageId, Parts>> {
        self.by_message.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
