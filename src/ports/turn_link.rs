//! What connects the driver with an agent that it calls.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::ChatMessage;

/// Most messages that wait until an agent takes them: an agent that never does costs no more memory.
const INJECTED_MAX: usize = 100;

/// The driver's end of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnLink {
    cancelled: AtomicBool,
    slow: AtomicBool,
    paused: AtomicBool,
    changed: Notify,
    injected: Mutex<Injected>,
}

/// What people said during the turn.
#[derive(Debug, Default)]
struct Injected {
    waiting: VecDeque<Arc<ChatMessage>>,
    is_closed: bool,
}

impl TurnLink {
    /// Takes the oldest message that waits.
    pub(super) fn take(&self) -> Option<Arc<ChatMessage>> {
        self.injected.lock().unwrap_or_else(PoisonError::into_inner).waiting.pop_front()
    }

    pub(super) fn is_slow(&self) -> bool {
        self.slow.load(Ordering::Acquire)
    }

    /// Waits until the turn takes longer than it should, or is taken away.
    pub(super) async fn slow(&self) {
        self.until(|| self.is_slow() || self.is_cancelled()).await;
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// Waits until the turn is taken away.
    pub(crate) async fn cancelled(&self) {
        self.until(|| self.is_cancelled()).await;
    }

    /// Waits until the turn goes on, or is taken away.
    pub(crate) async fn resumed(&self) {
        self.until(|| !self.is_paused() || self.is_cancelled()).await;
    }

    /// The turn takes longer than it should.
    pub(crate) fn mark_slow(&self) {
        self.slow.store(true, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// The turn waits, or goes on.
    pub(crate) fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
        self.changed.notify_waiters();
    }

    async fn until(&self, is_so: impl Fn() -> bool) {
        let woken = self.changed.notified();
        tokio::pin!(woken);
        loop {
            woken.as_mut().enable();
            if is_so() {
                return;
            }
            woken.as_mut().await;
            woken.set(self.changed.notified());
        }
    }

    /// Hands a message over; `false` when the agent has answered and would not see it, or has too many to take.
    pub(crate) fn inject(&self, message: Arc<ChatMessage>) -> bool {
        let mut injected = self.injected.lock().unwrap_or_else(PoisonError::into_inner);
        if injected.is_closed || injected.waiting.len() >= INJECTED_MAX {
            return false;
        }
        injected.waiting.push_back(message);
        true
    }

    /// The agent has answered. Returns whether it took every message that it was handed.
    pub(crate) fn close(&self) -> bool {
        let mut injected = self.injected.lock().unwrap_or_else(PoisonError::into_inner);
        injected.is_closed = true;
        injected.waiting.is_empty()
    }
}
