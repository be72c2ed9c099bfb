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
    let store = place.lazy();
    fact(&store, HERE, 0, 1).await;
    turn(&store, HERE, 1, 2).await;
    let before = place.names();
    let filler = disk.path().join("filler");
    assert!(fs::write(&filler, vec![7; 1 << 20]).is_err(), "the disk is never full");
    // The log may have room in its last block.
    let mut last = 2;
    while store.commit(request(HERE, last, last + 1)).await.is_ok() {
        last += 1;
        assert!(last < 9, "the disk is never full");
    }
    is_refused(&store, last, ErrorKind::StorageFull).await;
    assert_eq!(place.names(), before, "a temporary file is left");
    fs::remove_file(&filler).unwrap();
    turn(&store, HERE, last, last + 1).await;
    fact(&store, HERE, last + 1, last + 2).await;
    store.close().await.unwrap();
    assert_eq!(stored(&place.lazy(), HERE).await, Some((last + 2, last + 2)));
}

/// A turn that found no room to be synced is still there, and synced later.
#[tokio::test]
async fn a_turn_that_could_not_be_synced_is_not_lost() {
    let Some(disk) = Mount::small(256) else { return };
    let place = Place::at(disk.path().join("state"));
    let store = place.lazy();
    turn(&store, HERE, 0, 1).await;
    let filler = disk.path().join("filler");
    assert!(fs::write(&filler, vec![7; 1 << 20]).is_err());
    let error = store.close().await.unwrap_err();
    assert_eq!(error.certainty(), Certainty::NotDone);
    assert_eq!((place.names().len(), place.logs().len()), (0, 1));
    fs::remove_file(&filler).unwrap();
    let store = place.lazy();
    assert_eq!(stored(&store, HERE).await, Some((1, 1)));
    store.close().await.unwrap();
    assert_eq!(place.names(), [format!("{HERE}.json")]);
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
    let folders = [HERE, THERE].map(|channel| place.main(channel).parent().unwrap().to_owned());
    let folders = folders.into_iter().chain([place.root().to_owned()]).collect();
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
    broken(&place.lazy()).await;
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused_for_good_and_changes_nothing() {
    too_large(&Place::new().lazy()).await;
}
