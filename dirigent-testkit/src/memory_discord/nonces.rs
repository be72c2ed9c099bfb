//! The recently used nonces, and their messages.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ports::Nonce;
use dirigent::ports::Timestamp;
use dirigent::{MessageId, UserId};

use super::hash::IdMap;

/// An author and a nonce, stored inline, so that remembering one allocates no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    author: UserId,
    /// The characters, padded with zero bytes, which no nonce contains.
    text: [u8; Nonce::MAX],
}

impl Key {
    fn new(author: UserId, nonce: &str) -> Self {
        let mut text = [0; Nonce::MAX];
        for (place, byte) in text.iter_mut().zip(nonce.bytes()) {
            *place = byte;
        }
        Self { author, text }
    }
}

/// The nonces of the last few minutes. Discord documents "the past few minutes", and a message that
/// is unique for each author (resources/message, `enforce_nonce`).
#[derive(Debug)]
pub struct Nonces {
    /// The message of a nonce.
    messages: IdMap<Key, MessageId>,
    /// The nonces in order of time, oldest first.
    order: VecDeque<(Timestamp, Key)>,
    /// The longest time that a nonce is remembered.
    window: Duration,
    /// The most nonces that are remembered.
    remembered_max: usize,
}

impl Nonces {
    /// Remembers nonces for five minutes, at most 16,384 at a time.
    pub fn new() -> Self {
        Self {
            messages: IdMap::default(),
            order: VecDeque::new(),
            window: Duration::from_secs(5 * 60),
            remembered_max: 16_384,
        }
    }

    pub(crate) const fn set_window(&mut self, window: Duration) {
        self.window = window;
    }

    pub(crate) const fn set_remembered_max(&mut self, remembered_max: usize) {
        self.remembered_max = remembered_max;
    }

    /// Returns the message that this author recently created with this nonce.
    pub fn find(&mut self, now: Timestamp, author: UserId, nonce: &str) -> Option<MessageId> {
        while let Some(&(at, key)) = self.order.front() {
            if now.since(at) < self.window && self.order.len() <= self.remembered_max {
                break;
            }
            self.order.pop_front();
            self.messages.remove(&key);
        }
        self.messages.get(&Key::new(author, nonce)).copied()
    }

    /// Remembers the message of a nonce. Call it only after [`find`](Self::find) returned `None`.
    pub fn remember(&mut self, now: Timestamp, author: UserId, nonce: &str, message: MessageId) {
        let key = Key::new(author, nonce);
        self.messages.insert(key, message);
        self.order.push_back((now, key));
    }
}
