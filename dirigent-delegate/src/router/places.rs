//! The places of a router, which its messages share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use crate::pool::{Claim, Pool, Single, Ticket};
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

/// A waiting job, and the channel of its message.
#[derive(Debug)]
struct Waiting {
    job: JobId,
    told: UnboundedSender<(JobId, Claim)>,
}

impl Places {
    pub(super) fn new(cap: usize, queue: usize) -> Self {
        let waiting = HashMap::new();
        Self { held: Mutex::new(Held { pool: Pool::new(cap, queue), waiting }) }
    }

    pub(super) fn set_cap(&self, cap: usize) {
        let mut held = self.lock();
        let granted = held.pool.set_cap(cap);
        held.tell(granted, Claim::Granted);
    }

    /// Asks for a place for a session, and for an agent that does one thing at a time for it. Dropping the returned
    /// value gives up the place, or the wait for it. `told` receives the end of the wait: a place, or a refusal because
    /// the queue is full and another session had fewer waiting.
    pub(super) fn claim(
        self: &Arc<Self>,
        session: &Arc<str>,
        single: Option<Single>,
        job: JobId,
        told: &UnboundedSender<(JobId, Claim)>,
    ) -> (Place, Claim) {
        let mut held = self.lock();
        let (ticket, claim, displaced) = held.pool.claim(session, single);
        held.tell(displaced, Claim::Full);
        if claim == Claim::Waiting {
            held.waiting.insert(ticket, Waiting { job, told: told.clone() });
        }
        (Place { places: Arc::clone(self), ticket }, claim)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn tell(&mut self, tickets: impl IntoIterator<Item = Ticket>, claim: Claim) {
        for Waiting { job, told } in
            tickets.into_iter().filter_map(|ticket| self.waiting.remove(&ticket))
        {
            // If the message is gone, it gives up its places itself.
            let _ = told.send((job, claim));
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
        held.tell(granted, Claim::Granted);
    }
}
