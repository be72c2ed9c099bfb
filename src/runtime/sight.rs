//! Whether this process sees what people write.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::ChatMessage;

/// Whether people's messages come without anything in them.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    is_blind: AtomicBool,
}

impl Sight {
    /// Looks at a message that was pushed. Where nothing can be seen it logs that once, until something can.
    pub(crate) fn look_at(&self, message: &ChatMessage) {
        if message.hides_all() {
            self.see_nothing_of(message);
        } else if message.is_by_person() && !message.content.contains("<@") {
            // Discord shows a message that mentions the bot all the same.
            self.is_blind.store(false, Ordering::Relaxed);
        }
    }

    /// Looks at messages that were read, because they came while nothing was pushed. Only a push shows that something can be
    /// seen: the gateway must be asked for the intent, and the history need not.
    pub(crate) fn look_at_page(&self, page: &[ChatMessage]) {
        let said = page.iter().filter(|message| message.is_by_person());
        if let Some(hidden) = said.max_by_key(|message| message.id).filter(|it| it.hides_all()) {
            self.see_nothing_of(hidden);
        }
    }

    fn see_nothing_of(&self, message: &ChatMessage) {
        if !self.is_blind.swap(true, Ordering::Relaxed) {
            tracing::error!(
                channel = %message.channel,
                "a person's message came without anything in it, and such messages wake no agent: switch on the Message Content \
                 Intent in Discord's developer portal, and ask the gateway for it"
            );
        }
    }

    /// Whether the newest message of a person had nothing in it.
    pub(crate) fn is_blind(&self) -> bool {
        self.is_blind.load(Ordering::Relaxed)
    }
}
