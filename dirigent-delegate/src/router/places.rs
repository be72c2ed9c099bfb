//! The places of a router, shared by its messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::pool::{Claim, Pool, Ticket};

/// Places, and whom to call when one is there.
#[derive(Debug)]
pub(super) struct Places {
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    pool: Pool,
    waiting: HashMap<Ticket, Arc<Notify>>,
}

impl Places {
    pub(super) fn new(cap: usize, queue: usize) -> Self {
        let waiting = HashMap::new();
        Self { held: Mutex::new(Held { pool: Pool::new(cap, queue), waiting }) }
    }

    pub(super) fn set_cap(&self, cap: usize) {
        let mut held = self.lock();
        let granted = held.pool.set_cap(cap);
        held.call(granted);
    }

    /// Asks for a place. Dropping what is returned gives it up, or the wait for it. `call` is notified when it is there.
    pub(super) fn claim(self: &Arc<Self>, call: &Arc<Notify>) -> (Place, Claim) {
        let mut held = self.lock();
        let (ticket, claim) = held.pool.claim();
        if claim == Claim::Waiting {
            held.waiting.insert(ticket, Arc::clone(call));
        }
        (Place { places: Arc::clone(self), ticket }, claim)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn call(&mut self, granted: Vec<Ticket>) {
        let called = granted.into_iter().filter_map(|ticket| self.waiting.remove(&ticket));
        called.for_each(|call| call.notify_one());
    }
}

/// A place, or the wait for one.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    ticket: Ticket,
}

impl Place {
    pub(super) fn is_granted(&self) -> bool {
        self.places.lock().pool.is_granted(self.ticket)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.places.lock();
        held.waiting.remove(&self.ticket);
        let granted = held.pool.leave(self.ticket);
        held.call(granted);
    }
}
