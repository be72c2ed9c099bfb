//! One story told to the store on PostgreSQL, to files and to memory: they answer alike.

use std::sync::{Arc, Mutex};

use dirigent::IdentityStore;
use dirigent::store::{ChannelStore, MemoryChannels};
use dirigent_cluster::PostgresStore;
use dirigent_store::{ChannelOptions, JsonChannels, JsonIdentities};

use crate::postgres::place::{Opened, Place};
use crate::shared::story::{HISTORY_MAX, Listener, tell_channels, tell_registries};

/// Opens the store, after the one before was closed.
fn opening(place: Place) -> impl Fn() -> Arc<PostgresStore> + Send + Sync {
    let last: Mutex<Option<Opened>> = Mutex::new(None);
    move || {
        let open = async {
            let before = last.lock().unwrap().take();
            if let Some(before) = before {
                before.close().await;
            }
            place.open_as(place.options().history_max(HISTORY_MAX)).await
        };
        let opened =
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(open));
        let store = Arc::new(opened.store.clone());
        *last.lock().unwrap() = Some(opened);
        store
    }
}

/// R046, R143, D77
#[tokio::test(flavor = "multi_thread")]
async fn the_database_answers_the_story_of_channels_as_the_other_stores_do() {
    for seed in 0..6 {
        let Some(place) = Place::new() else { return };
        let home = tempfile::tempdir().unwrap();
        let (memory, open) = (MemoryChannels::default(), opening(place));
        let listeners: Vec<Listener<dyn ChannelStore>> = vec![
            Listener::<dyn ChannelStore>::new("memory", move || Arc::new(memory.clone())),
            Listener::<dyn ChannelStore>::new("json", move || {
                let options = ChannelOptions::new(home.path()).history_max(HISTORY_MAX);
                Arc::new(JsonChannels::open(options).unwrap())
            }),
            Listener::<dyn ChannelStore>::new("postgres", move || open()),
        ];
        tell_channels(seed, listeners).await;
    }
}

/// R007, R014, D1
#[tokio::test(flavor = "multi_thread")]
async fn the_database_answers_the_story_of_registries_as_the_other_stores_do() {
    for seed in 0..6 {
        let Some(place) = Place::new() else { return };
        let home = tempfile::tempdir().unwrap();
        let open = opening(place);
        let listeners: Vec<Listener<dyn IdentityStore>> = vec![
            Listener::<dyn IdentityStore>::new("json", move || {
                Arc::new(JsonIdentities::open(home.path().join("agents.json")).unwrap())
            }),
            Listener::<dyn IdentityStore>::new("postgres", move || open()),
        ];
        tell_registries(seed, listeners).await;
    }
}
