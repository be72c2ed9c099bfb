//! The database does what every store and every registry must do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use dirigent::store::{Barred, ChannelStore};
use dirigent::{ChannelId, IdentityStore, async_trait};
use dirigent_cluster::PostgresStore;
use dirigent_testkit::contract::{self, ChannelStoreHarness, IdentityStoreHarness};

use crate::postgres::place::{Opened, Place, server, spoil};

/// Each store in a database of its own.
#[derive(Default)]
struct Harness {
    /// Each store that was made, by its address in memory.
    stores: Mutex<HashMap<usize, (Place, Opened)>>,
}

impl Harness {
    fn open(&self, place: Place) -> Arc<PostgresStore> {
        let opened = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(place.open())
        });
        let store = Arc::new(opened.store.clone());
        self.stores.lock().unwrap().insert(Arc::as_ptr(&store).addr(), (place, opened));
        store
    }

    async fn closed(&self, address: usize) -> Place {
        let (place, opened) = self.stores.lock().unwrap().remove(&address).unwrap();
        let store = opened.store.clone();
        opened.close().await;
        assert!(store.channels().await.is_err(), "a closed store still answers");
        place
    }
}

#[async_trait]
impl ChannelStoreHarness for Harness {
    fn fresh(&self) -> Arc<dyn ChannelStore> {
        self.open(Place::new().unwrap())
    }

    async fn reopened(&self, store: Arc<dyn ChannelStore>) -> Option<Arc<dyn ChannelStore>> {
        let place = self.closed(Arc::as_ptr(&store).cast::<()>().addr()).await;
        Some(self.open(place))
    }

    async fn spoilt(
        &self,
        store: Arc<dyn ChannelStore>,
        channel: ChannelId,
        how: Barred,
    ) -> Option<Arc<dyn ChannelStore>> {
        let place = self.closed(Arc::as_ptr(&store).cast::<()>().addr()).await;
        spoil(&place, channel, how);
        Some(self.open(place))
    }
}

#[async_trait]
impl IdentityStoreHarness for Harness {
    fn fresh(&self) -> Arc<dyn IdentityStore> {
        self.open(Place::new().unwrap())
    }

    async fn reopened(&self, store: Arc<dyn IdentityStore>) -> Option<Arc<dyn IdentityStore>> {
        let place = self.closed(Arc::as_ptr(&store).cast::<()>().addr()).await;
        Some(self.open(place))
    }
}

/// R046, R143, D77
#[tokio::test(flavor = "multi_thread")]
async fn the_database_keeps_the_contract_of_channels() {
    if server().is_none() {
        return;
    }
    let report = contract::channel_store(&Harness::default()).await.unwrap();
    assert!(report.left_out().is_empty());
}

/// R007, R014, D1
#[tokio::test(flavor = "multi_thread")]
async fn the_database_keeps_the_contract_of_registries() {
    if server().is_none() {
        return;
    }
    let report = contract::identity_store(&Harness::default()).await.unwrap();
    assert!(report.left_out().is_empty());
}
