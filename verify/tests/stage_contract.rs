//! The store of the stage keeps the contract of stores, whatever a test does to its records.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use dirigent::ChannelId;
use dirigent::store::{Barred, ChannelStore};
use dirigent_testkit::contract;
use dirigent_verify::stage::{Setup, StageStore};

/// The store of a stage, whose records a test can bar.
struct OnStage(Mutex<HashMap<usize, StageStore>>);

fn address(store: &Arc<dyn ChannelStore>) -> usize {
    Arc::as_ptr(store).cast::<()>().addr()
}

impl OnStage {
    fn open(&self, store: StageStore) -> Arc<dyn ChannelStore> {
        let shared: Arc<dyn ChannelStore> = Arc::new(store.clone());
        self.0.lock().unwrap().insert(address(&shared), store);
        shared
    }
}

#[async_trait]
impl contract::ChannelStoreHarness for OnStage {
    fn fresh(&self) -> Arc<dyn ChannelStore> {
        self.open(Setup::new().stage().store().clone())
    }

    async fn reopened(&self, store: Arc<dyn ChannelStore>) -> Option<Arc<dyn ChannelStore>> {
        let open = self.0.lock().unwrap().get(&address(&store)).unwrap().clone();
        Some(self.open(open))
    }

    async fn spoilt(
        &self,
        store: Arc<dyn ChannelStore>,
        channel: ChannelId,
        how: Barred,
    ) -> Option<Arc<dyn ChannelStore>> {
        let open = self.0.lock().unwrap().get(&address(&store)).unwrap().clone();
        open.bar(channel, how);
        Some(self.open(open))
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_store_of_the_stage_bars_channels_as_a_store_must() {
    let report = contract::channel_store(&OnStage(Mutex::default())).await.unwrap();
    assert!(report.left_out().is_empty(), "{report:?}");
}
