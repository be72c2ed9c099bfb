//! The contract of every registry.

use std::sync::{Arc, Mutex};

use dirigent::{IdentityStore, async_trait};
use dirigent_store::JsonIdentities;
use dirigent_store::ego::{EgoOptions, ScannedIdentities};
use dirigent_testkit::contract::{self, IdentityStoreHarness};

use crate::registry::place::Place;

/// Stores on files, each in a folder of its own.
struct OnFiles {
    /// Whether a scan stands before them.
    scanned: bool,
    /// The folders; the last is that of the store made last.
    places: Mutex<Vec<Place>>,
}

impl OnFiles {
    fn new(scanned: bool) -> Self {
        Self { scanned, places: Mutex::new(Vec::new()) }
    }

    fn open(&self, place: &Place) -> Arc<dyn IdentityStore> {
        let store: JsonIdentities = place.open();
        if self.scanned {
            let ego = place.folder().join("ego.json");
            Arc::new(ScannedIdentities::new(store, ego, EgoOptions::default()))
        } else {
            Arc::new(store)
        }
    }
}

#[async_trait]
impl IdentityStoreHarness for OnFiles {
    fn fresh(&self) -> Arc<dyn IdentityStore> {
        let place = Place::new();
        let store = self.open(&place);
        self.places.lock().unwrap().push(place);
        store
    }

    async fn reopened(&self, store: Arc<dyn IdentityStore>) -> Option<Arc<dyn IdentityStore>> {
        drop(store);
        Some(self.open(self.places.lock().unwrap().last().unwrap()))
    }
}

/// R007, R014, D1
#[tokio::test]
async fn the_registry_in_a_file_keeps_the_contract() {
    let report = contract::identity_store(&OnFiles::new(false)).await.unwrap();
    assert!(report.left_out().is_empty());
}

#[tokio::test]
async fn a_scan_before_it_keeps_the_contract() {
    let report = contract::identity_store(&OnFiles::new(true)).await.unwrap();
    assert!(report.left_out().is_empty());
}
