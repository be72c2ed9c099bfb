//! The posts that were tried, because a webhook's post has no nonce.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ports::{Nonce, Timestamp};
use dirigent::{DiscordApi, MessageId};

/// The longest time that a post is remembered. It is longer than the driver repeats a post with an
/// unknown result.
const KEPT: Duration = Duration::from_secs(600);

/// The longest time after which a tried post may still arrive.
const LANDS_WITHIN: Duration = Duration::from_secs(15);

/// The most that Discord's clock and ours may differ.
const CLOCKS_APART: Duration = Duration::from_secs(5);

/// The posts of one persona in the last minutes, by nonce.
#[derive(Debug, Default)]
pub(super) struct TriedPosts(Mutex<HashMap<Nonce, Tried>>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    at: Timestamp,
    /// The time of the last attempt that may have made a message.
    last: Timestamp,
    pub(super) made: Option<MessageId>,
}

impl Tried {
    /// Returns an id that is older than the post's message.
    pub(super) fn behind(&self, chat: &dyn DiscordApi) -> Option<MessageId> {
        chat.id_before(self.at.saturating_sub(CLOCKS_APART))
    }

    /// Returns how long the last attempt may still arrive.
    pub(super) fn lands_in(&self, now: Timestamp) -> Option<Duration> {
        LANDS_WITHIN.checked_sub(now.since(self.last)).filter(|wait| !wait.is_zero())
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

    /// Records a post that leaves now. Returns what was known of it before.
    pub(super) fn begin(&self, nonce: Nonce, now: Timestamp) -> Option<Tried> {
        let mut all = self.all();
        let before = all.get(&nonce).copied();
        let at = before.map_or(now, |before| before.at);
        all.insert(nonce, Tried { at, last: now, made: None });
        before
    }

    /// Restores what was known before, because the attempt surely made no message.
    pub(super) fn restore(&self, nonce: Nonce, before: Option<Tried>) {
        let mut all = self.all();
        match before {
            Some(before) => all.insert(nonce, before),
            None => all.remove(&nonce),
        };
    }

    pub(super) fn made(&self, nonce: Nonce, now: Timestamp, id: MessageId) {
        let new = Tried { at: now, last: now, made: None };
        self.all().entry(nonce).or_insert(new).made = Some(id);
    }

    /// Returns true if the message belongs to a post.
    pub(super) fn has_made(&self, message: MessageId) -> bool {
        self.all().values().any(|tried| tried.made == Some(message))
    }
}
