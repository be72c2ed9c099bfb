//! Knows whether the host reports events of the chat to this process, and whether this process sees the texts of
//! people.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::ChatMessage;

#[derive(Debug, Default)]
pub(crate) struct EventsSeen {
    told: AtomicBool,
    is_blind: AtomicBool,
    is_logged: AtomicBool,
}

impl EventsSeen {
    /// Records that the host has reported something of the chat.
    pub(crate) fn told(&self) {
        self.told.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    /// Checks a message that was pushed. It logs the first one of this process without visible content.
    pub(crate) fn look_at(&self, message: &ChatMessage) {
        if message.hides_all() {
            self.see_nothing_of(message);
        } else if message.is_by_person() && !message.content.contains("<@") {
            // Discord shows a message that mentions the bot even without the intent.
            self.is_blind.store(false, Ordering::Relaxed);
        }
    }

    /// Checks messages that were read because they came while nothing was pushed. Only a push proves that content is
    /// visible, because the gateway needs the intent, and the history does not.
    pub(crate) fn look_at_page(&self, page: &[ChatMessage]) {
        let said = page.iter().filter(|message| message.is_by_person());
        if let Some(hidden) = said.max_by_key(|message| message.id).filter(|it| it.hides_all()) {
            self.see_nothing_of(hidden);
        }
    }

    fn see_nothing_of(&self, message: &ChatMessage) {
        if self.is_to_be_logged() {
            tracing::error!(
                channel = %message.channel,
                "a person's message came without anything in it, and such messages wake no agent: switch on the Message Content \
                 Intent in Discord's developer portal, and ask the gateway for it"
            );
        }
    }

    /// Returns whether to log it. Without the intent Discord still shows some messages, for example replies that ping
    /// the bot. The log says it once.
    fn is_to_be_logged(&self) -> bool {
        self.is_blind.store(true, Ordering::Relaxed);
        !self.is_logged.swap(true, Ordering::Relaxed)
    }

    /// Returns whether the newest message of a person had no content.
    pub(crate) fn is_blind(&self) -> bool {
        self.is_blind.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::MessageId;

    use super::*;
    use crate::{ChannelId, UserId};

    /// HR8
    #[test]
    fn what_cannot_be_seen_is_logged_once() {
        let sight = EventsSeen::default();
        assert!(sight.is_to_be_logged() && sight.is_blind());
        let hello = ChatMessage::new(MessageId::new(1), ChannelId::new(1), UserId::new(2), "hello");
        sight.look_at(&hello);
        assert!(!sight.is_blind());
        assert!(!sight.is_to_be_logged() && sight.is_blind());
    }
}
