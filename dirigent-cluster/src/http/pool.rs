//! Which connections there are: one to each process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent_relay::HostId;
use tokio::sync::watch;

use super::address::HostAddress;
use super::error::HttpError;
use super::exchange::Line;

/// So long after a failure no connection is tried again, and questions fail at once: a process that is away costs no more than
/// ten attempts a second, however many questions there are.
const FAILED_FOR: Duration = Duration::from_millis(100);

/// What a connection is.
#[derive(Clone)]
pub(super) enum Phase {
    /// It is being made.
    Connecting,
    /// Open, as far as is known.
    Ready(Line),
    /// It could not be made.
    Failed {
        why: HttpError,
        /// When the next may be tried.
        until: Timestamp,
    },
    /// It has ended.
    Lost,
}

impl Phase {
    pub(super) fn failed(why: HttpError, now: Timestamp) -> Self {
        Self::Failed { why, until: now + FAILED_FOR }
    }
}

/// A connection that is to be made.
pub(super) struct Order {
    pub(super) address: HostAddress,
    pub(super) phase: watch::Sender<Phase>,
}

/// The connections, by process.
#[derive(Default)]
pub(super) struct Pool {
    slots: Mutex<HashMap<HostId, Slot>>,
}

struct Slot {
    address: HostAddress,
    phase: watch::Receiver<Phase>,
}

impl Slot {
    fn is_usable(&self, address: &HostAddress, now: Timestamp) -> bool {
        self.address == *address
            && match &*self.phase.borrow() {
                Phase::Connecting | Phase::Ready(_) => true,
                Phase::Failed { until, .. } => now < *until,
                Phase::Lost => false,
            }
    }
}

impl Pool {
    /// The connection to this process at this address; where there is none, one is ordered.
    pub(super) fn connection(
        &self,
        host: &HostId,
        address: &HostAddress,
        now: Timestamp,
        order: impl FnOnce(Order),
    ) -> watch::Receiver<Phase> {
        let mut slots = self.slots();
        if let Some(slot) = slots.get(host).filter(|slot| slot.is_usable(address, now)) {
            return slot.phase.clone();
        }
        let (sender, phase) = watch::channel(Phase::Connecting);
        slots.insert(host.clone(), Slot { address: address.clone(), phase: phase.clone() });
        order(Order { address: address.clone(), phase: sender });
        phase
    }

    /// This connection is of no use any more. Another that was made since then is kept.
    pub(super) fn forget(&self, host: &HostId, phase: &watch::Receiver<Phase>) {
        let mut slots = self.slots();
        if slots.get(host).is_some_and(|slot| slot.phase.same_channel(phase)) {
            slots.remove(host);
        }
    }

    /// The process has no address any more.
    pub(super) fn remove(&self, host: &HostId) {
        self.slots().remove(host);
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<HostId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of questions over a connection that ended, the first makes a new one, and the others find it ended later.
    #[test]
    fn a_connection_that_was_made_since_is_not_forgotten() {
        let pool = Pool::default();
        let (host, now): (HostId, _) = ("bot-1".parse().unwrap(), Timestamp::from_millis(0));
        let address: HostAddress = "localhost:7443".parse().unwrap();
        let mut orders = Vec::new();
        let mut connection =
            || pool.connection(&host, &address, now, |order: Order| orders.push(order.phase));
        let first = connection();
        assert!(connection().same_channel(&first));
        pool.forget(&host, &first);
        let second = connection();
        assert!(!second.same_channel(&first));
        pool.forget(&host, &first);
        assert!(connection().same_channel(&second));
        assert_eq!(orders.len(), 2);
    }
}
