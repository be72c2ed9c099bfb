//! The posts that were tried: Discord knows no nonce of a webhook's post.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ports::{Nonce, Timestamp};
use dirigent::{DiscordApi, MessageId};

/// How long a post is remembered: longer than the driver repeats one whose end it does not know.
const KEPT: Duration = Duration::from_secs(600);

/// How far Discord's clock and ours may be apart.
const CLOCKS_APART: Duration = Duration::from_secs(5);

/// The posts of one persona in the last minutes, by nonce.
#[derive(Debug, Default)]
pub(super) struct TriedPosts(Mutex<HashMap<Nonce, Tried>>);

/// A post that was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    /// When it was tried first.
    at: Timestamp,
    /// The message that it made, as far as that is known.
    pub(super) made: Option<MessageId>,
}

impl Tried {
    /// A message behind which that of the post stands, if it made one.
    pub(super) fn behind(&self, chat: &dyn DiscordApi) -> Option<MessageId> {
        chat.id_before(self.at.saturating_sub(CLOCKS_APART))
    }
}

impl TriedPosts {
    fn all(&self) -> MutexGuard<'_, HashMap<Nonce, Tried>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, nonce: &Nonce, now: Timestamp) -> Option<Tried> {
        let mut all = self.all();
        all.retain(|_, tried| now.since(tried.at) < KEPT);
        all.get(nonce).copied()
    }

    /// The post leaves now; returns whether it leaves for the first time.
    pub(super) fn begin(&self, nonce: Nonce, now: Timestamp) -> bool {
        let mut all = self.all();
        let is_first = !all.contains_key(&nonce);
        all.entry(nonce).or_insert(Tried { at: now, made: None });
        is_first
    }

    /// It surely made no message.
    pub(super) fn forget(&self, nonce: &Nonce) {
        self.all().remove(nonce);
    }

    pub(super) fn made(&self, nonce: Nonce, now: Timestamp, id: MessageId) {
        self.all().entry(nonce).or_insert(Tried { at: now, made: None }).made = Some(id);
    }

    /// Whether the message is that of a post.
    pub(super) fn has_made(&self, message: MessageId) -> bool {
        self.all().values().any(|tried| tried.made == Some(message))
    }
}
