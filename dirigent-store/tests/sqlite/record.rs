//! What stands in the tables.

use std::fs;

use dirigent::snapshot::AgentKey;
use dirigent::store::ChannelStore;
use dirigent_core::snapshot::Slot;
use dirigent_store::JsonChannels;

use crate::shared::commits::{HERE, fact, request, stored, turn};
use crate::sqlite::place::Place;

/// The text is that of the file, but for what stands around it.
#[tokio::test]
async fn a_record_is_written_as_in_a_file() {
    let place = Place::new();
    let home = tempfile::tempdir().unwrap();
    let files = JsonChannels::open(home.path()).unwrap();
    let store = place.open();
    for store in [&files as &dyn ChannelStore, &store] {
        store.add_agent("zoe".into()).await.unwrap();
        let mut commit = request(HERE, 0, 1);
        std::sync::Arc::make_mut(&mut commit.record).snapshot.state.roster.list.slots =
            vec![Slot::new(AgentKey::new(0))];
        store.commit(commit).await.unwrap();
    }
    store.close().await.unwrap();
    files.close().await.unwrap();
    let record = place.text("SELECT record FROM channels");
    let checksum = place.text("SELECT checksum FROM channels");
    assert!(record.contains("\"zoe\""));
    let file = fs::read_to_string(home.path().join(format!("channels/{HERE}.json"))).unwrap();
    assert!(file.ends_with(&format!(
        "  \"revision\": 1,\n  \"checksum\": \"{checksum}\",\n  \"record\": {record}\n}}\n"
    )));
}

/// F27
#[tokio::test]
async fn unknown_fields_survive_a_commit_whether_it_was_loaded_before_or_not() {
    for loads in [true, false] {
        let place = Place::new();
        let store = place.open();
        fact(&store, HERE, 0, 1).await;
        store.close().await.unwrap();
        let record = place.text("SELECT record FROM channels");
        let newer = record.replacen("\"mode\"", "\"later\": [1e3],\n    \"mode\"", 1);
        let mut sum = crc32fast::Hasher::new();
        sum.update(format!("2 {HERE} 1 {newer}").as_bytes());
        let sum = sum.finalize();
        place.change(&format!("UPDATE channels SET record = '{newer}', checksum = '{sum:08x}'"));
        let store = place.open();
        if loads {
            assert_eq!(stored(&store, HERE).await, Some((1, 1)));
        }
        turn(&store, HERE, 1, 2).await;
        // What a transaction that was undone had learned must be learned again.
        store.close().await.unwrap();
        let store = place.open();
        fact(&store, HERE, 2, 3).await;
        assert_eq!(store.problems(), []);
        store.close().await.unwrap();
        let record = place.text("SELECT record FROM channels");
        assert!(record.contains("\"later\": [1e3]"), "{record}");
    }
}

/// F26
#[tokio::test]
async fn keys_whose_names_were_removed_keep_their_places() {
    let place = Place::new();
    let store = place.open();
    for name in ["zoe", "adam", "mia"] {
        store.add_agent(name.into()).await.unwrap();
    }
    store.close().await.unwrap();
    place.change("DELETE FROM agents WHERE name = 'adam'");
    let store = place.open();
    let agents = store.agents().await.unwrap();
    assert_eq!(agents, ["zoe", "lost agent 1", "mia"].map(Into::into));
    assert_eq!(store.add_agent("new".into()).await.unwrap(), AgentKey::new(3));
}

/// A store that keeps fewer cuts what is there.
#[tokio::test]
async fn a_history_is_cut_with_every_commit() {
    let place = Place::new();
    for (max, kept) in [(100, 60), (4, 4), (0, 4)] {
        let store = place.keeping(max);
        let (revision, _) = stored(&store, HERE).await.unwrap_or_default();
        for number in 0..30 {
            let mut commit = request(HERE, revision + u64::from(number), 1);
            commit.transitions =
                [number, number + 1].map(crate::shared::story::transition).to_vec().into();
            store.commit(commit).await.unwrap();
        }
        let history = store.history(HERE).await.unwrap();
        assert_eq!(history.len(), max.min(60));
        store.close().await.unwrap();
        let count = place.text("SELECT CAST(count(*) AS TEXT) FROM history");
        assert_eq!(count, kept.to_string());
    }
}

#[tokio::test]
async fn nothing_of_a_commit_is_kept() {
    let place = Place::new();
    crate::shared::commits::nothing_of_a_commit_is_kept(&place.open(), HERE).await;
}
