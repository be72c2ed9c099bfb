//! Locks that a panic does not close, and waits that miss no change.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Locks the mutex, even if an earlier holder panicked, because no holder leaves a value half changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until there is a value. It looks now, and again each time that all waiters are notified.
pub(crate) async fn until<T>(changed: &Notify, look: impl Fn() -> Option<T>) -> T {
    let mut notified = pin!(changed.notified());
    loop {
        // Before the look, so that a change between the look and the wait is not missed.
        notified.as_mut().enable();
        if let Some(found) = look() {
            return found;
        }
        notified.as_mut().await;
        notified.set(changed.notified());
    }
}
