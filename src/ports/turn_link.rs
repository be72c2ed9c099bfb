//! The connection between the driver and an agent that it calls.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::ChatMessage;
use crate::values::sync::{locked, until};

/// The most messages that wait until an agent takes them. The limit bounds the memory for an agent that never takes
/// any.
const INJECTED_MAX: usize = 100;

/// The driver's end of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnLink {
    cancelled: AtomicBool,
    dropped: AtomicBool,
    slow: AtomicBool,
    paused: AtomicBool,
    changed: Notify,
    injected: Mutex<Injected>,
}

/// The messages of people during the turn.
#[derive(Debug, Default)]
struct Injected {
    waiting: VecDeque<Arc<ChatMessage>>,
    is_closed: bool,
}

impl TurnLink {
    /// Creates the link of a turn, which may already be waiting.
    pub(crate) fn new(paused: bool) -> Self {
        Self { paused: paused.into(), ..Self::default() }
    }

    pub(super) fn take(&self) -> Option<Arc<ChatMessage>> {
        locked(&self.injected).waiting.pop_front()
    }

    fn tell(&self) {
        self.changed.notify_waiters();
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
        self.tell();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    pub(crate) async fn cancelled(&self) {
        self.until(|| self.is_cancelled()).await;
    }

    /// Drops the call, unless it has returned.
    pub(crate) fn drop_call(&self) {
        self.dropped.store(true, Ordering::Release);
        self.tell();
    }

    /// Waits for the call. `None` if the call is dropped before it returns.
    pub(crate) async fn unless_dropped<T>(
        &self,
        call: impl Future<Output = T> + Unpin,
    ) -> Option<T> {
        let is_dropped = || self.dropped.load(Ordering::Acquire);
        // A call that is dropped before its first poll must not begin.
        if is_dropped() {
            return None;
        }
        tokio::select! {
            biased;
            returned = call => Some(returned),
            () = self.until(is_dropped) => None,
        }
    }

    /// Waits until the turn goes on, or is taken away.
    pub(crate) async fn resumed(&self) {
        self.until(|| !self.is_paused() || self.is_cancelled()).await;
    }

    pub(crate) fn mark_slow(&self) {
        self.slow.store(true, Ordering::Release);
        self.tell();
    }

    pub(crate) fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Release);
        self.tell();
    }

    async fn until(&self, is_so: impl Fn() -> bool + Send + Sync) {
        until(&self.changed, || is_so().then_some(())).await;
    }

    /// Passes a message to the agent. Returns `false` if the agent has answered and would not see it, or if too many
    /// messages wait.
    pub(crate) fn inject(&self, message: Arc<ChatMessage>) -> bool {
        let mut injected = locked(&self.injected);
        if injected.is_closed || injected.waiting.len() >= INJECTED_MAX {
            return false;
        }
        injected.waiting.push_back(message);
        drop(injected);
        self.tell();
        true
    }

    /// Marks that the agent has answered. Returns whether it took every message that it got.
    pub(crate) fn close(&self) -> bool {
        let mut injected = locked(&self.injected);
        // A message that comes from now on is for the next turn, because this answer did not see it.
        injected.is_closed = true;
        injected.waiting.is_empty()
    }
}
