//! Disks that are full, that nobody may write, and that break.

use std::fs;
use std::io::ErrorKind;

use dirigent::ports::Certainty;
use dirigent::store::{Barred, ChannelStore, Commit, Durability};
use dirigent_store::{Action, JsonChannels, StoreError};

use crate::channels::place::{
    HERE, Place, THERE, barred, cause, fact, failure, replacement, request, stored, turn,
};
use crate::channels::unchangeable::Unchangeable;
use crate::shared::commits::too_large;
use crate::shared::mount::Mount;
use crate::shared::refused::{BreakingDisk, broken};

/// A commit fails like this, with nothing done.
async fn is_refused(store: &JsonChannels, revision: u64, kind: ErrorKind) {
    for durability in [Durability::Turn, Durability::Fact] {
        let commit = Commit { durability, ..request(HERE, revision, 99) };
        let error = failure(store.commit(commit).await);
        assert_eq!(error.certainty(), Certainty::NotDone);
        let StoreError::Io { action: Action::Write, source, .. } = cause(&error) else {
            panic!("{error:?}");
        };
        assert_eq!(source.kind(), kind);
        assert_eq!(stored(store, HERE).await, Some((revision, revision)));
    }
}

/// F26
#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_no_reason_to_open_anew() {
    let Some(disk) = Mount::small(256) else { return };
    let place = Place::at(disk.path().join("state"));
    let store = place.open();
    fact(&store, HERE, 0, 1).await;
    turn(&store, HERE, 1, 2).await;
    let before = place.names();
    let filler = disk.path().join("filler");
    assert!(fs::write(&filler, vec![7; 1 << 20]).is_err(), "the disk is never full");
    is_refused(&store, 2, ErrorKind::StorageFull).await;
    assert_eq!(place.names(), before, "a temporary file is left");
    fs::remove_file(&filler).unwrap();
    turn(&store, HERE, 2, 3).await;
    fact(&store, HERE, 3, 4).await;
    store.close().await.unwrap();
    assert_eq!(stored(&place.open(), HERE).await, Some((4, 4)));
}

/// F26
#[tokio::test]
async fn a_folder_that_cannot_be_written_keeps_what_it_has() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    fact(&store, HERE, 1, 2).await;
    fact(&store, THERE, 0, 1).await;
    fs::write(place.main(THERE), "no JSON").unwrap();
    assert_eq!(barred(&store, THERE).await, Barred::Damaged);
    let folders = vec![place.root().join("channels"), place.root().to_owned()];
    let Some(unchangeable) = Unchangeable::new(folders) else { return };
    is_refused(&store, 2, ErrorKind::PermissionDenied).await;
    // What cannot be kept is not replaced.
    let error = failure(store.commit(replacement(THERE, 3)).await);
    assert!(matches!(cause(&error), StoreError::Io { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(place.main(THERE)).unwrap(), "no JSON");
    assert!(store.add_agent("zoe".into()).await.is_err());
    drop(unchangeable);
    assert_eq!(barred(&store, THERE).await, Barred::Damaged);
    store.commit(replacement(THERE, 3)).await.unwrap();
    assert_eq!(stored(&store, THERE).await, Some((1, 3)));
    assert_eq!(store.add_agent("adam".into()).await.unwrap().get(), 0);
    turn(&store, HERE, 2, 3).await;
    store.close().await.unwrap();
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_taken_until_the_store_is_opened_again() {
    let Some(breaking) = BreakingDisk::new() else { return };
    let place = Place::at(breaking.disk.path().join("state"));
    broken(&place.open()).await;
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused_for_good_and_changes_nothing() {
    too_large(&Place::new().open()).await;
}
