//! Reads of many requests, which go on where they were interrupted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::UserId;
use dirigent::ports::Timestamp;

use crate::wire;

/// The longest pause before a read begins anew. The limits of a route allow the next request long before.
const REST_MAX: Duration = Duration::from_secs(120);

/// The interrupted reads of one kind, by guild or thread.
///
/// A read of many requests does not fit into the limits, or the time, of one call. If the call is repeated,
/// the read goes on. It completes if at least one request in [`REST_MAX`] is answered. Each guild or thread
/// has one read at a time.
#[derive(Debug, Default)]
pub(crate) struct Unfinished<T>(Mutex<Slots<T>>);

type Slots<T> = HashMap<u64, Arc<tokio::sync::Mutex<Rested<T>>>>;

/// The data so far, and the time of its last answer.
#[derive(Debug, Default)]
pub(crate) struct Rested<T> {
    at: Timestamp,
    /// The data so far, or `None` if no read was interrupted.
    read: Option<T>,
}

impl<T: Default> Unfinished<T> {
    /// Returns the read of this guild or thread, once no other call uses it.
    pub(crate) async fn resume(&self, id: u64) -> Reading<'_, T> {
        let slot = Arc::clone(self.slots().entry(id).or_default());
        let rested = slot.lock_owned().await;
        Reading { unfinished: self, id, rested }
    }

    fn slots(&self) -> MutexGuard<'_, Slots<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A read in progress. If it is dropped before its end, the next one goes on with its data.
pub(crate) struct Reading<'a, T: Default> {
    unfinished: &'a Unfinished<T>,
    id: u64,
    rested: tokio::sync::OwnedMutexGuard<Rested<T>>,
}

impl<T: Default> Reading<'_, T> {
    /// Returns the data so far, so that you can add to it.
    pub(crate) fn at(&mut self, now: Timestamp) -> &mut T {
        if now < self.rested.at || now.since(self.rested.at) >= REST_MAX {
            self.rested.read = None;
        }
        self.rested.at = now;
        self.rested.read.get_or_insert_default()
    }

    /// Ends the read, and returns all its data.
    pub(crate) fn finish(mut self) -> T {
        self.rested.read.take().unwrap_or_default()
    }
}

impl<T: Default> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        let mut slots = self.unfinished.slots();
        // Only the table and this read hold it, and no other waits for it.
        let is_last = slots.get(&self.id).is_some_and(|slot| Arc::strong_count(slot) <= 2);
        if is_last && self.rested.read.is_none() {
            slots.remove(&self.id);
        }
    }
}

/// Interrupted reads of who sees a channel.
#[derive(Debug, Default)]
pub(crate) struct UnfinishedReads {
    /// All members, by guild.
    pub(crate) lists: Unfinished<Pages>,
    /// Accounts and their state as members, by guild.
    pub(crate) members: Unfinished<HashMap<UserId, Option<wire::Member>>>,
    /// Webhooks, by channel. Their reads store no data.
    pub(crate) webhooks: Unfinished<()>,
    /// Accounts, and whether they were added, by thread.
    pub(crate) threads: Unfinished<HashMap<UserId, bool>>,
}

/// The pages so far.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) members: Vec<wire::Member>,
    /// The highest id among them.
    pub(crate) after: Option<u64>,
}
