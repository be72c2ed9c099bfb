//! Disks that are full.

use std::fs;
use std::io::ErrorKind;

use dirigent::ports::{Certainty, Identity, RegisterError};
use dirigent::store::{ChannelStore, Commit, Durability};
use dirigent::{IdentityStore, UserId};
use dirigent_store::{Action, OpenError, SqliteStore, StoreError};

use crate::shared::commits::{HERE, THERE, cause, fact, failure, request, stored, too_large, turn};
use crate::shared::mount::Mount;
use crate::shared::refused::{BreakingDisk, broken, is_broken};
use crate::sqlite::place::names;

fn identity(number: u64) -> Identity {
    Identity {
        discord_user_id: UserId::new(100_000_000_000_000_000 + number),
        agent_id: format!("agent-{number}").into(),
        agent_name: "n".repeat(100),
    }
}

/// A disk of which some file takes all that is left.
struct FullDisk {
    disk: Mount,
    store: SqliteStore,
}

impl FullDisk {
    /// One channel with two commits, an agent with a key and an identity, and no room for more; none where nothing can be
    /// mounted.
    async fn new() -> Option<Self> {
        let disk = Mount::small(512)?;
        let store = SqliteStore::open(disk.path().join("any.sqlite")).unwrap();
        fact(&store, HERE, 0, 1).await;
        turn(&store, HERE, 1, 2).await;
        store.register(identity(0)).await.unwrap();
        store.add_agent("zoe".into()).await.unwrap();
        let full = fs::write(disk.path().join("filler"), vec![7; 1 << 20]);
        assert!(full.is_err(), "the disk is never full");
        let disk = Self { disk, store };
        disk.fill_last_page().await;
        Some(disk)
    }

    /// What is left of a page may still hold something.
    async fn fill_last_page(&self) {
        for number in 3..9 {
            let (revision, _) = stored(&self.store, HERE).await.unwrap();
            let commit = Commit { durability: Durability::Fact, ..request(HERE, revision, number) };
            if self.store.commit(commit).await.is_err() {
                return;
            }
        }
        panic!("the disk is never full");
    }

    fn make_room(&self) {
        fs::remove_file(self.disk.path().join("filler")).unwrap();
    }
}

/// F26
#[tokio::test]
async fn a_commit_that_finds_no_room_changes_nothing() {
    let Some(FullDisk { disk: _disk, store }) = FullDisk::new().await else { return };
    let before = stored(&store, HERE).await.unwrap();
    for durability in [Durability::Turn, Durability::Fact] {
        let commit = Commit { durability, ..request(HERE, before.0, 90) };
        let error = failure(store.commit(commit).await);
        assert_eq!(
            (error.kind(), error.certainty()),
            (dirigent::ports::ErrorKind::Store, Certainty::NotDone)
        );
        let StoreError::Io { action: Action::Write, source, .. } = cause(&error) else {
            panic!("{error:?}");
        };
        assert_eq!(source.kind(), ErrorKind::StorageFull);
        assert_eq!(stored(&store, HERE).await, Some(before));
    }
}

/// F26
#[tokio::test]
async fn a_full_disk_takes_no_agent_and_forgets_none() {
    let Some(FullDisk { disk: _disk, store }) = FullDisk::new().await else { return };
    let error = store.register(identity(1)).await.unwrap_err();
    assert!(matches!(error, RegisterError::Store(_)), "{error}");
    assert_eq!(store.all().await.unwrap(), [identity(0)]);
    store.add_agent("adam".into()).await.unwrap_err();
    assert_eq!(store.agents().await.unwrap(), ["zoe".into()]);
}

/// F26
#[tokio::test]
async fn a_store_goes_on_once_a_full_disk_has_room_again() {
    let Some(full) = FullDisk::new().await else { return };
    full.make_room();
    let FullDisk { disk, store } = full;
    let (revision, _) = stored(&store, HERE).await.unwrap();
    turn(&store, HERE, revision, 50).await;
    fact(&store, THERE, 0, 51).await;
    store.add_agent("adam".into()).await.unwrap();
    store.close().await.unwrap();
    let store = SqliteStore::open(disk.path().join("any.sqlite")).unwrap();
    assert_eq!(stored(&store, HERE).await, Some((revision + 1, 50)));
    assert_eq!(stored(&store, THERE).await, Some((1, 51)));
    assert_eq!(store.agents().await.unwrap(), ["zoe", "adam"].map(Into::into));
    assert_eq!(store.problems(), []);
}

#[tokio::test]
async fn a_database_that_finds_no_room_is_not_opened_and_can_be_later() {
    let Some(disk) = Mount::small(256) else { return };
    let filler = disk.path().join("filler");
    assert!(fs::write(&filler, vec![7; 1 << 20]).is_err(), "the disk is never full");
    let path = disk.path().join("any.sqlite");
    let error = SqliteStore::open(&*path).unwrap_err();
    assert!(matches!(error, OpenError::Store(StoreError::Io { .. })), "{error}");
    fs::remove_file(&filler).unwrap();
    let store = SqliteStore::open(&*path).unwrap();
    fact(&store, HERE, 0, 1).await;
    assert_eq!(store.problems(), []);
    store.close().await.unwrap();
    assert_eq!(names(disk.path()), ["any.sqlite"]);
}

#[test]
fn what_is_no_ordinary_file_is_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let error = SqliteStore::open(home.path()).unwrap_err();
    assert!(matches!(error, OpenError::Store(StoreError::Io { action: Action::Read, .. })));
}

#[tokio::test]
async fn an_identity_that_is_none_is_refused() {
    let store = crate::sqlite::place::Place::new().open();
    let refused = store.register(Identity { discord_user_id: UserId::new(12), ..identity(1) });
    let RegisterError::Store(error) = refused.await.unwrap_err() else { panic!() };
    assert_eq!(error.kind(), dirigent::ports::ErrorKind::Invalid);
    assert_eq!(store.all().await.unwrap(), []);
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = crate::sqlite::place::Place::new();
    let store = place.open();
    fact(&store, HERE, 0, 1).await;
    assert_eq!(place.names(), ["dirigent.sqlite", "dirigent.sqlite-wal"]);
    for name in place.names() {
        let mode = fs::metadata(place.folder().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_taken_until_the_store_is_opened_again() {
    let Some(breaking) = BreakingDisk::new() else { return };
    let store = SqliteStore::open(breaking.disk.path().join("any.sqlite")).unwrap();
    assert_eq!(broken(&store).await.certainty(), Certainty::Unknown);
    let RegisterError::Store(registering) = store.register(identity(0)).await.unwrap_err() else {
        panic!("the account is taken");
    };
    is_broken(&registering);
    is_broken(&store.all().await.unwrap_err());
}

#[tokio::test]
async fn a_record_that_is_too_large_is_refused_for_good_and_changes_nothing() {
    too_large(&crate::sqlite::place::Place::new().open()).await;
}
