//! The places of a router, shared by its messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use crate::pool::{Claim, Pool, Ticket};
use crate::routing::JobId;

/// Places, and the messages that wait for them.
#[derive(Debug)]
pub(super) struct Places {
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    pool: Pool,
    waiting: HashMap<Ticket, Waiting>,
}

/// A job that waits, and where its message listens.
#[derive(Debug)]
struct Waiting {
    job: JobId,
    granted: UnboundedSender<JobId>,
}

impl Places {
    pub(super) fn new(cap: usize, queue: usize) -> Self {
        let waiting = HashMap::new();
        Self { held: Mutex::new(Held { pool: Pool::new(cap, queue), waiting }) }
    }

    pub(super) fn set_cap(&self, cap: usize) {
        let mut held = self.lock();
        let granted = held.pool.set_cap(cap);
        held.tell(granted);
    }

    /// Asks for a place. Dropping what is returned gives it up, or the wait for it. A place that is waited for is announced to `granted`.
    pub(super) fn claim(
        self: &Arc<Self>,
        job: JobId,
        granted: &UnboundedSender<JobId>,
    ) -> (Place, Claim) {
        let mut held = self.lock();
        let (ticket, claim) = held.pool.claim();
        if claim == Claim::Waiting {
            held.waiting.insert(ticket, Waiting { job, granted: granted.clone() });
        }
        (Place { places: Arc::clone(self), ticket }, claim)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn tell(&mut self, granted: Vec<Ticket>) {
        for Waiting { job, granted } in
            granted.into_iter().filter_map(|ticket| self.waiting.remove(&ticket))
        {
            // A message that is gone gives its places up.
            let _ = granted.send(job);
        }
    }
}

/// A place, or the wait for one.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    ticket: Ticket,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.places.lock();
        held.waiting.remove(&self.ticket);
        let granted = held.pool.leave(self.ticket);
        held.tell(granted);
    }
}
