//! The database does what every store and every registry must do.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dirigent::store::{Barred, ChannelStore};
use dirigent::{ChannelId, IdentityStore, async_trait};
use dirigent_store::{FileDurability, SqliteOptions, SqliteStore};
use dirigent_testkit::contract::{self, ChannelStoreHarness, IdentityStoreHarness};

use crate::sqlite::place::spoil;

/// Each store in a file of its own.
struct Harness {
    home: tempfile::TempDir,
    durability: FileDurability,
    /// Each store that was made, by its address.
    stores: Mutex<HashMap<usize, SqliteStore>>,
}

impl Harness {
    fn new(durability: FileDurability) -> Self {
        Self { home: tempfile::tempdir().unwrap(), durability, stores: Mutex::default() }
    }

    fn path(&self) -> PathBuf {
        tempfile::tempdir_in(self.home.path()).unwrap().keep().join("any.sqlite")
    }

    fn open(&self, path: PathBuf) -> Arc<SqliteStore> {
        let store = SqliteStore::open(SqliteOptions::new(path).durability(self.durability));
        let store = Arc::new(store.unwrap());
        self.stores.lock().unwrap().insert(Arc::as_ptr(&store).addr(), (*store).clone());
        store
    }

    async fn again(&self, address: usize) -> Arc<SqliteStore> {
        let store = self.stores.lock().unwrap().remove(&address).unwrap();
        store.close().await.unwrap();
        assert!(store.channels().await.is_err(), "a closed store still answers");
        self.open(store.path().to_owned())
    }
}

#[async_trait]
impl ChannelStoreHarness for Harness {
    fn fresh(&self) -> Arc<dyn ChannelStore> {
        self.open(self.path())
    }

    async fn reopened(&self, store: Arc<dyn ChannelStore>) -> Option<Arc<dyn ChannelStore>> {
        Some(self.again(Arc::as_ptr(&store).cast::<()>().addr()).await)
    }

    async fn spoilt(
        &self,
        store: Arc<dyn ChannelStore>,
        channel: ChannelId,
        how: Barred,
    ) -> Option<Arc<dyn ChannelStore>> {
        let store = self.stores.lock().unwrap().remove(&Arc::as_ptr(&store).cast::<()>().addr());
        let store = store.unwrap();
        store.close().await.unwrap();
        spoil(store.path(), channel, how);
        Some(self.open(store.path().to_owned()))
    }
}

#[async_trait]
impl IdentityStoreHarness for Harness {
    fn fresh(&self) -> Arc<dyn IdentityStore> {
        self.open(self.path())
    }

    async fn reopened(&self, store: Arc<dyn IdentityStore>) -> Option<Arc<dyn IdentityStore>> {
        Some(self.again(Arc::as_ptr(&store).cast::<()>().addr()).await)
    }
}

/// R046, R143, D77
#[tokio::test]
async fn the_database_keeps_the_contract_of_channels() {
    for durability in [FileDurability::Full, FileDurability::None] {
        let report = contract::channel_store(&Harness::new(durability)).await.unwrap();
        assert!(report.left_out().is_empty());
    }
}

/// R007, R014, D1
#[tokio::test]
async fn the_database_keeps_the_contract_of_registries() {
    for durability in [FileDurability::Full, FileDurability::None] {
        let report = contract::identity_store(&Harness::new(durability)).await.unwrap();
        assert!(report.left_out().is_empty());
    }
}
