//! The leases of this process, and which of them the driver knows.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::ports::{Standing, Timestamp};
use dirigent::{ChannelId, Clock};
use dirigent_store::StoreError;
use tokio::sync::Notify;

use super::owners::Owners;
use crate::lease::{Epoch, HeldShard, LeaseAnswer, LeaseHeartbeat, Leases, SameName, Shard, Terms};

/// The leases, behind a lock that is only held for moments.
pub(super) struct LeaseDesk {
    clock: Arc<dyn Clock>,
    terms: Terms,
    state: Mutex<HeldLeases>,
    /// Wakes the writer for a heartbeat before the next one is due.
    pub(super) called: Notify,
    /// Wakes the driver's call of `changed`.
    changed: Notify,
}

struct HeldLeases {
    leases: Leases,
    /// The shards that the driver knows.
    shown: BTreeMap<Shard, Epoch>,
    /// `true` if something changed since the driver was told.
    has_news: bool,
    owners: Owners,
    /// How many shards were taken since the start.
    taken: u64,
}

impl LeaseDesk {
    pub(super) fn new(terms: Terms, shards: u16, clock: Arc<dyn Clock>) -> Self {
        let leases = Leases::new(terms, shards);
        let state = HeldLeases {
            leases,
            shown: BTreeMap::new(),
            has_news: false,
            owners: Owners::default(),
            taken: 0,
        };
        let (called, changed) = (Notify::new(), Notify::new());
        Self { clock, terms, state: Mutex::new(state), called, changed }
    }

    fn state(&self) -> MutexGuard<'_, HeldLeases> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn standing(&self, shard: Shard) -> Standing {
        let now = self.clock.now();
        let state = self.state();
        let epoch = state.leases.epoch(shard);
        // Elsewhere until the driver was told, so that it acts on no state from before.
        if epoch.is_some() && state.shown.get(&shard).copied() == epoch {
            state.leases.standing(shard, now)
        } else {
            Standing::Elsewhere
        }
    }

    /// Returns the epoch that a commit names.
    pub(super) fn epoch(&self, shard: Shard) -> Option<Epoch> {
        self.state().leases.epoch(shard)
    }

    /// Returns the shard's owner at the last look.
    pub(super) fn owner(&self, shard: Shard) -> Option<Arc<str>> {
        self.state().owners.of(shard)
    }

    /// Returns the processes at the last look.
    pub(super) fn processes(&self) -> Vec<Arc<str>> {
        self.state().owners.all()
    }

    /// Takes the owners that a look at the table found.
    pub(super) fn looked(&self, owners: Owners) {
        self.state().owners = owners;
    }

    pub(super) fn share(&self) -> (usize, u16) {
        let state = self.state();
        (state.leases.held().count(), state.leases.members())
    }

    pub(super) fn taken(&self) -> u64 {
        self.state().taken
    }

    pub(super) fn namesake(&self) -> Option<SameName> {
        self.state().leases.namesake()
    }

    pub(super) fn ahead(&self) -> usize {
        self.state().leases.ahead()
    }

    pub(super) fn resign(&self) {
        self.change(|leases, _| leases.resign());
        self.called.notify_one();
    }

    pub(super) fn end(&self) {
        self.change(|leases, _| leases.end());
        self.called.notify_one();
    }

    /// Abandons all leases because the link is gone, so that they expire.
    pub(super) fn drop_all(&self) {
        self.change(|leases, _| leases.abandon());
    }

    pub(super) fn look_now(&self) {
        self.state().leases.look_now();
        self.called.notify_one();
    }

    /// Returns whether the store is being closed. A connection that is lost now is not made again.
    pub(super) fn is_ending(&self) -> bool {
        self.state().leases.is_ending()
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().leases.is_over()
    }

    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.state().leases.next_deadline(self.clock.now())
    }

    pub(super) fn next_heartbeat(&self) -> Option<LeaseHeartbeat> {
        self.change(Leases::next_heartbeat)
    }

    pub(super) fn answered(&self, number: u64, answer: &LeaseAnswer) {
        if self.change(|leases, now| leases.answered(now, number, answer)) {
            self.state().taken += answer.taken.len() as u64;
        }
    }

    pub(super) fn failed(&self, number: u64) {
        self.change(|leases, now| leases.failed(now, number));
    }

    /// Changes the leases. Wakes the driver if that changed which shards are held, or which of them may start turns.
    fn change<T>(&self, change: impl FnOnce(&mut Leases, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut state = self.state();
        let outline = |leases: &Leases| {
            let of = |held: HeldShard| (held, leases.standing(held.shard, now) == Standing::Held);
            leases.held().map(of).collect::<Vec<_>>()
        };
        let before = outline(&state.leases);
        let changed = change(&mut state.leases, now);
        if before != outline(&state.leases) {
            state.has_news = true;
            self.changed.notify_one();
        }
        changed
    }

    /// Waits until the held shards have changed since the last return. Returns the channels of the shards that came.
    pub(super) async fn changed<F>(&self, read: impl Fn(Vec<Shard>) -> F) -> Vec<ChannelId>
    where
        F: Future<Output = Result<Vec<ChannelId>, StoreError>>,
    {
        loop {
            let news = self.news();
            let Some(came) = news else {
                self.changed.notified().await;
                continue;
            };
            let shards: Vec<_> = came.iter().map(|held| held.shard).collect();
            let channels = if shards.is_empty() { Ok(Vec::new()) } else { read(shards).await };
            match channels {
                Ok(channels) => {
                    self.show(&came);
                    return channels;
                }
                Err(StoreError::Closed { .. }) => std::future::pending().await,
                Err(error) => {
                    tracing::warn!(%error, "the channels of a new shard could not be read; trying again");
                    self.clock.sleep_until(self.clock.now() + self.terms.look_every).await;
                }
            }
        }
    }

    /// Returns the shards that came since the driver was told, if anything changed.
    fn news(&self) -> Option<Vec<HeldShard>> {
        let mut state = self.state();
        let HeldLeases { leases, shown, has_news, .. } = &mut *state;
        if !*has_news {
            return None;
        }
        shown.retain(|shard, epoch| leases.epoch(*shard) == Some(*epoch));
        Some(leases.held().filter(|held| !shown.contains_key(&held.shard)).collect())
    }

    /// Marks these shards as known to the driver. Later changes stay news.
    fn show(&self, came: &[HeldShard]) {
        let mut state = self.state();
        let HeldLeases { leases, shown, has_news, .. } = &mut *state;
        shown.extend(came.iter().map(|held| (held.shard, held.epoch)));
        *has_news = !leases.held().all(|held| shown.get(&held.shard) == Some(&held.epoch));
    }
}

#[cfg(test)]
mod tests;
