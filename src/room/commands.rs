//! The recent effects of people's words and operators' commands in a channel.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::addressing::Addressed;
use crate::ChatMessage;

#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The newest stop or resume word of a person that had an effect.
    pub(super) word: Option<MessageId>,
    /// The time when an operator last stopped, held or resumed the channel.
    pub(super) commanded_at: Option<Timestamp>,
    pub(super) stops: VecDeque<MessageId>,
    /// The times in the last hour at which words of people behind webhooks counted as a person's.
    pub(super) bridged: VecDeque<Timestamp>,
    /// The messages of people that were deleted after agents got them, with the times of the deletions.
    pub(super) deleted: VecDeque<(Timestamp, Arc<ChatMessage>)>,
    pub(super) addressed: Option<Box<Addressed>>,
}

/// How long a webhook's copy takes the place of a deleted message. Bots that let several people speak through one
/// account make such copies.
const COPIES_FOR: Duration = Duration::from_secs(10);
pub(super) const DELETED_MAX: usize = 8;

/// The number of times in an hour that words of people behind webhooks count as a person's in a channel.
const BRIDGED_MAX: usize = 60;

/// The most stop words that are known of a channel. They are needed for five minutes.
const STOPS_MAX: usize = 32;

impl Commands {
    /// Returns whether people behind webhooks wrote too much in the last hour, so that this word counts as a bot's.
    pub(super) fn bridged_too_often(&mut self, now: Timestamp) -> bool {
        self.bridged.retain(|at| now.since(*at) < Duration::from_secs(3_600));
        let is_too_often = self.bridged.len() >= BRIDGED_MAX;
        if !is_too_often {
            self.bridged.push_back(now);
        }
        is_too_often
    }

    /// Returns the recently deleted message that this one repeats. Each message can be repeated once.
    pub(super) fn copied(&mut self, message: &ChatMessage, now: Timestamp) -> Option<MessageId> {
        self.deleted.retain(|(at, _)| now.since(*at) <= COPIES_FOR);
        let is_same = |(_, known): &(_, Arc<ChatMessage>)| known.content == message.content;
        let place = self.deleted.iter().position(is_same)?;
        self.deleted.remove(place).map(|(_, known)| known.id)
    }

    /// Records a stop word. Returns whether it is new.
    pub(super) fn is_new_stop(&mut self, id: MessageId) -> bool {
        if self.stops.contains(&id) {
            return false;
        }
        if self.stops.len() >= STOPS_MAX {
            self.stops.pop_front();
        }
        self.stops.push_back(id);
        true
    }
}
