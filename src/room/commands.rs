//! What people's words and operators' commands did lately in a channel.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::addressing::Addressed;
use crate::ChatMessage;

/// The newest person's word that acted, and the newest command.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The newest person's stop or resume word that acted.
    pub(super) word: Option<MessageId>,
    /// When an operator last stopped, held or resumed the channel.
    pub(super) commanded_at: Option<Timestamp>,
    /// The newest messages that were stop words when they were heard or edited.
    pub(super) stops: VecDeque<MessageId>,
    /// When words of people behind webhooks counted as a person's in the last hour.
    pub(super) bridged: VecDeque<Timestamp>,
    /// What people said and then deleted, after agents had been handed it, and when they deleted it.
    pub(super) deleted: VecDeque<(Timestamp, Arc<ChatMessage>)>,
    /// Whom a person addressed last.
    pub(super) addressed: Option<Box<Addressed>>,
}

/// For how long a webhook's copy takes the place of a deleted message, as bots do that let several people speak through one
/// account.
const COPIES_FOR: Duration = Duration::from_secs(10);
/// The most deleted messages that are known of a channel.
pub(super) const DELETED_MAX: usize = 8;

/// How often in an hour words of people behind webhooks count as a person's in a channel.
const BRIDGED_MAX: usize = 60;

/// The most stop words that are known of a channel: they are needed for five minutes.
const STOPS_MAX: usize = 32;

impl Commands {
    /// Whether people behind webhooks said so much in the last hour that this word counts as a bot's.
    pub(super) fn bridged_too_often(&mut self, now: Timestamp) -> bool {
        self.bridged.retain(|at| now.since(*at) < Duration::from_secs(3_600));
        let is_too_often = self.bridged.len() >= BRIDGED_MAX;
        if !is_too_often {
            self.bridged.push_back(now);
        }
        is_too_often
    }

    /// The message, deleted just now, that this one says again. Each is said again once.
    pub(super) fn copied(&mut self, message: &ChatMessage, now: Timestamp) -> Option<MessageId> {
        self.deleted.retain(|(at, _)| now.since(*at) <= COPIES_FOR);
        let is_same = |(_, known): &(_, Arc<ChatMessage>)| known.content == message.content;
        let place = self.deleted.iter().position(is_same)?;
        self.deleted.remove(place).map(|(_, known)| known.id)
    }

    /// This is a stop word. Returns whether that is new.
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
