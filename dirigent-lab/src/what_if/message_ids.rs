//! Ids for messages that come at another time than in the recording.

use dirigent_core::{Input, MessageId, Settlement, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};

/// The start of Discord's ids, in milliseconds of Unix time.
const EPOCH: u64 = 1_420_070_400_000;

/// The largest distance in milliseconds between an id and its time. Ids of other chats are further away, because they are only numbers.
const DAY: u64 = 86_400_000;

/// Returns true if the ids of a recording contain the time of their messages.
pub(super) fn is_by_time(inputs: &[(Timestamp, Input)]) -> bool {
    inputs.iter().all(|(at, input)| match input {
        Input::Message(message) | Input::Addressed { message, .. } => {
            let written = (message.id.get() >> 22).saturating_add(EPOCH);
            message.backfilled || written.abs_diff(at.as_millis()) < DAY
        }
        _ => true,
    })
}

/// Assigns ids. A message that comes later than in the recording needs a higher id, because the machine orders messages by their ids.
#[derive(Debug)]
pub(super) struct MessageIds {
    by_time: bool,
    renamed: FxHashMap<u64, u64>,
    used: FxHashSet<u64>,
    next: u64,
}

impl MessageIds {
    pub(super) fn new(by_time: bool, newest: Option<MessageId>) -> Self {
        let next = newest.map_or(1, |newest| newest.get().saturating_add(1));
        Self { by_time, renamed: FxHashMap::default(), used: FxHashSet::default(), next }
    }

    /// Returns the new id of a message that comes `shift` milliseconds later than in the recording.
    pub(super) fn of(&mut self, id: MessageId, shift: i64) -> MessageId {
        if let Some(known) = self.renamed.get(&id.get()) {
            return MessageId::new(*known);
        }
        let mut renamed = if self.by_time {
            let millis = (id.get() >> 22).saturating_add_signed(shift);
            (millis << 22) | (id.get() & ((1 << 22) - 1))
        } else {
            self.next
        };
        while !self.used.insert(renamed) {
            renamed = renamed.wrapping_add(1);
        }
        self.next = self.next.max(renamed.saturating_add(1));
        self.renamed.insert(id.get(), renamed);
        MessageId::new(renamed)
    }

    /// Replaces the message ids in an input.
    pub(super) fn rename(&mut self, input: &mut Input, shift: i64, newest: Option<MessageId>) {
        match input {
            Input::Message(message) | Input::Addressed { message, .. } => {
                message.id = self.of(message.id, shift);
            }
            Input::Receipt { messages, .. } => {
                for message in messages {
                    *message = self.of(*message, shift);
                }
            }
            // The asker would now know the newest message of this evening.
            Input::Gate { latest, .. } if shift != 0 => *latest = latest.and(newest),
            Input::MessageEdited { id, .. }
            | Input::EditedToStop(id)
            | Input::Deleted(id)
            | Input::Gate { latest: Some(id), .. }
            | Input::Settled { settlement: Settlement::Done { message: Some(id) }, .. } => {
                *id = self.of(*id, shift);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_the_highest_id_there_are_others_still() {
        let mut ids = MessageIds::new(false, Some(MessageId::new(u64::MAX)));
        assert_ne!(ids.of(MessageId::new(1), 0), ids.of(MessageId::new(2), 0));
    }
}
