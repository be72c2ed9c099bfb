//! Reads of many requests, which go on where they stood when they were broken off.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ports::Timestamp;

/// How long a read may rest before it begins anew. The limits of a route allow the next request long before.
const REST_MAX: Duration = Duration::from_secs(120);

/// The reads of one kind that were broken off, by the guild or thread that is read.
///
/// A read of many requests does not fit into the limits, or the time, of one call. When the call is repeated,
/// the read goes on: as long as one request in [`REST_MAX`] is answered, it comes to its end. Of each guild
/// or thread there is one read at a time.
#[derive(Debug, Default)]
pub(crate) struct Unfinished<T>(Mutex<Slots<T>>);

type Slots<T> = HashMap<u64, Arc<tokio::sync::Mutex<Rested<T>>>>;

/// What was read so far, and when its last answer came.
#[derive(Debug, Default)]
pub(crate) struct Rested<T> {
    at: Timestamp,
    /// `None`: no read was broken off.
    read: Option<T>,
}

impl<T: Default> Unfinished<T> {
    /// The read of this guild or thread, once no other call reads it.
    pub(crate) async fn resume(&self, id: u64) -> Reading<'_, T> {
        let slot = Arc::clone(self.slots().entry(id).or_default());
        let rested = slot.lock_owned().await;
        Reading { unfinished: self, id, rested }
    }

    fn slots(&self) -> MutexGuard<'_, Slots<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A read under way. Dropped before its end, it leaves what was read to the next one.
pub(crate) struct Reading<'a, T: Default> {
    unfinished: &'a Unfinished<T>,
    id: u64,
    rested: tokio::sync::OwnedMutexGuard<Rested<T>>,
}

impl<T: Default> Reading<'_, T> {
    /// What was read so far, to be added to now.
    pub(crate) fn at(&mut self, now: Timestamp) -> &mut T {
        if now < self.rested.at || now.since(self.rested.at) >= REST_MAX {
            self.rested.read = None;
        }
        self.rested.at = now;
        self.rested.read.get_or_insert_default()
    }

    /// All of it was read.
    pub(crate) fn finish(mut self) -> T {
        self.rested.read.take().unwrap_or_default()
    }

    /// It leads nowhere.
    pub(crate) fn discard(self) {
        drop(self.finish());
    }
}

impl<T: Default> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        let mut slots = self.unfinished.slots();
        // The table and this read hold it, and no other waits for it.
        let is_last = slots.get(&self.id).is_some_and(|slot| Arc::strong_count(slot) <= 2);
        if is_last && self.rested.read.is_none() {
            slots.remove(&self.id);
        }
    }
}
