//! The store of channels does what every store must do.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dirigent::store::{Barred, ChannelStore};
use dirigent::{ChannelId, async_trait};
use dirigent_store::JsonChannels;
use dirigent_testkit::contract::{self, ChannelStoreHarness};

use crate::channels::place::Place;
use crate::channels::record::with_checksum;

/// Each store in a folder of its own.
struct Harness {
    home: tempfile::TempDir,
    /// Where each store lies that was made, by its address.
    stores: Mutex<HashMap<usize, (PathBuf, JsonChannels)>>,
}

impl Harness {
    fn open(&self, path: PathBuf) -> Arc<dyn ChannelStore> {
        let store = JsonChannels::open(&path).unwrap();
        let shared: Arc<dyn ChannelStore> = Arc::new(store.clone());
        self.stores.lock().unwrap().insert(address(&shared), (path, store));
        shared
    }
}

fn address(store: &Arc<dyn ChannelStore>) -> usize {
    Arc::as_ptr(store).cast::<()>().addr()
}

#[async_trait]
impl ChannelStoreHarness for Harness {
    fn fresh(&self) -> Arc<dyn ChannelStore> {
        self.open(tempfile::tempdir_in(self.home.path()).unwrap().keep())
    }

    async fn reopened(&self, store: Arc<dyn ChannelStore>) -> Option<Arc<dyn ChannelStore>> {
        let (path, open) = self.stores.lock().unwrap().remove(&address(&store)).unwrap();
        open.close().await.unwrap();
        assert!(store.channels().await.is_err(), "a closed store still answers");
        Some(self.open(path))
    }

    async fn spoilt(
        &self,
        store: Arc<dyn ChannelStore>,
        channel: ChannelId,
        how: Barred,
    ) -> Option<Arc<dyn ChannelStore>> {
        let (path, open) = self.stores.lock().unwrap().remove(&address(&store)).unwrap();
        open.close().await.unwrap();
        let file = Place::at(&path).main(channel);
        let sound = fs::read_to_string(&file).unwrap();
        let spoilt = match how {
            Barred::Damaged => sound[..sound.len() / 2].to_owned(),
            Barred::OtherVersion => with_checksum(&sound.replacen("\"chat\"", "\"assembly\"", 1)),
        };
        assert_ne!(spoilt, sound);
        fs::write(file, spoilt).unwrap();
        Some(self.open(path))
    }
}

/// R046, R143, D77
#[tokio::test]
async fn the_store_keeps_the_contract() {
    let harness = Harness { home: tempfile::tempdir().unwrap(), stores: Mutex::default() };
    let report = contract::channel_store(&harness).await.unwrap();
    assert!(report.left_out().is_empty(), "{report:?}");
}
