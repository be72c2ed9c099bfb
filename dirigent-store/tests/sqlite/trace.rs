//! One story told to every store that needs no server: they answer alike.

use std::sync::Arc;

use dirigent::IdentityStore;
use dirigent::store::{ChannelStore, MemoryChannels};
use dirigent_store::{ChannelOptions, JsonChannels, JsonIdentities, SqliteOptions, SqliteStore};

use crate::shared::story::{HISTORY_MAX, Listener, tell_channels, tell_registries};

/// R046, R143, D77
#[tokio::test]
async fn all_stores_of_channels_answer_one_story_alike() {
    for seed in 0..12 {
        let home = tempfile::tempdir().unwrap();
        let (folder, file) = (home.path().join("json"), home.path().join("any.sqlite"));
        let memory = MemoryChannels::default();
        let listeners: Vec<Listener<dyn ChannelStore>> = vec![
            Listener::<dyn ChannelStore>::new("memory", move || Arc::new(memory.clone())),
            Listener::<dyn ChannelStore>::new("json", move || {
                let options = ChannelOptions::new(&folder).history_max(HISTORY_MAX);
                Arc::new(JsonChannels::open(options).unwrap())
            }),
            Listener::<dyn ChannelStore>::new("sqlite", move || {
                let options = SqliteOptions::new(&file).history_max(HISTORY_MAX);
                Arc::new(SqliteStore::open(options).unwrap())
            }),
        ];
        tell_channels(seed, listeners).await;
    }
}

/// R007, R014, D1
#[tokio::test]
async fn all_registries_answer_one_story_alike() {
    for seed in 0..12 {
        let home = tempfile::tempdir().unwrap();
        let (json, file) = (home.path().join("agents.json"), home.path().join("any.sqlite"));
        let listeners: Vec<Listener<dyn IdentityStore>> = vec![
            Listener::<dyn IdentityStore>::new("json", move || {
                Arc::new(JsonIdentities::open(&json).unwrap())
            }),
            Listener::<dyn IdentityStore>::new("sqlite", move || {
                Arc::new(SqliteStore::open(&*file).unwrap())
            }),
        ];
        tell_registries(seed, listeners).await;
    }
}
