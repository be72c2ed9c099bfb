//! What is lost when the file is damaged, and what is not.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use dirigent::store::{Barred, ChannelStore, CommitError, LoadError};
use dirigent::{ChannelId, IdentityStore};
use dirigent_store::{BadFile, OpenError, SqliteProblem, SqliteStore, StoreError};

use crate::shared::commits::{
    HERE, THERE, barred, cause, fact, failure, replacement, request, stored, turn,
};
use crate::sqlite::place::{Place, spoil};

/// Overwrites a part of a file.
fn overwrite(path: &Path, from: u64, content: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(content).unwrap();
}

/// All files, by name.
fn all(place: &Place) -> Vec<(String, Vec<u8>)> {
    let names = place.names().into_iter();
    names.map(|name| (name.clone(), fs::read(place.folder().join(name)).unwrap())).collect()
}

/// The store is not opened, again and again, and every file stays as it was; told to begin anew, it
/// starts empty, works, and says what was kept.
async fn is_refused_until_it_is_to_begin_anew(place: &Place, kept: &str) {
    let before = all(place);
    for _ in 0..2 {
        let error = SqliteStore::open(place.path()).unwrap_err();
        let OpenError::Damaged { path, source } = &error else { panic!("{error}") };
        assert_eq!((path.file_name(), source), (place.path().file_name(), &BadFile::BadDatabase));
        assert!(error.to_string().contains("open_or_begin_anew"), "{error}");
        assert!(all(place) == before, "it was touched");
    }
    let store = SqliteStore::open_or_begin_anew(place.path()).unwrap();
    let [SqliteProblem::KeptAside { kept: path, reason }] = &store.problems()[..] else {
        panic!("{:?}", store.problems());
    };
    assert_eq!(path.file_name().unwrap(), kept);
    assert_eq!(*reason, BadFile::BadDatabase);
    assert!(store.problems()[0].to_string().starts_with("the database is kept as"));
    assert_eq!(store.channels().await.unwrap(), []);
    fact(&store, HERE, 0, 7).await;
    store.close().await.unwrap();
    let store = place.open();
    assert_eq!(store.problems(), []);
    assert_eq!(stored(&store, HERE).await, Some((1, 7)));
}

/// F26
#[tokio::test]
async fn what_is_no_database_is_refused_and_kept_where_it_is_to_begin_anew() {
    let place = Place::new();
    fs::create_dir(place.folder()).unwrap();
    for (number, content) in [&b"no database"[..], &[0xff; 8_192]].into_iter().enumerate() {
        fs::write(place.path(), content).unwrap();
        let kept = format!("dirigent.sqlite.corrupt-{}", number + 1);
        is_refused_until_it_is_to_begin_anew(&place, &kept).await;
        assert_eq!(fs::read(place.folder().join(kept)).unwrap(), content);
    }
    assert_eq!(place.names().len(), 3);
}

/// F26
#[tokio::test]
async fn a_damaged_page_is_found_before_anything_is_built_on_it() {
    let place = Place::new();
    let store = place.open();
    for number in 0..50 {
        fact(&store, ChannelId::new(number), 0, number).await;
    }
    store.close().await.unwrap();
    let size = fs::metadata(place.path()).unwrap().len();
    overwrite(&place.path(), size / 2 / 4_096 * 4_096, &[0xa5; 4_096]);
    let damaged = fs::read(place.path()).unwrap();
    is_refused_until_it_is_to_begin_anew(&place, "dirigent.sqlite.corrupt-1").await;
    assert_eq!(fs::read(place.folder().join("dirigent.sqlite.corrupt-1")).unwrap(), damaged);
}

/// F26
#[tokio::test]
async fn what_stands_beside_a_damaged_database_is_kept_with_it() {
    let place = Place::new();
    let store = place.open();
    fact(&store, HERE, 0, 1).await;
    let killed = place.as_killed();
    assert_eq!(killed.names(), ["dirigent.sqlite", "dirigent.sqlite-wal"]);
    let log = fs::read(killed.folder().join("dirigent.sqlite-wal")).unwrap();
    // As it was killed, it opens.
    assert_eq!(stored(&killed.as_killed().open(), HERE).await, Some((1, 1)));
    // A log that names another place for its pages is no use without its database.
    fs::write(killed.path(), vec![0xa5; 20_000]).unwrap();
    fs::write(killed.folder().join("dirigent.sqlite-wal"), &log[..log.len() / 2]).unwrap();
    fs::write(killed.folder().join("dirigent.sqlite-shm"), "index").unwrap();
    is_refused_until_it_is_to_begin_anew(&killed, "dirigent.sqlite.corrupt-1").await;
    let kept = |end| fs::read(killed.folder().join(format!("dirigent.sqlite.corrupt-1{end}")));
    assert_eq!(kept("").unwrap(), vec![0xa5; 20_000]);
    assert_eq!(kept("-wal").unwrap(), &log[..log.len() / 2]);
    assert_eq!(kept("-shm").unwrap(), b"index");
}

/// A process may end while it keeps a database aside.
#[tokio::test]
async fn a_log_without_its_database_is_kept() {
    let place = Place::new();
    fs::create_dir(place.folder()).unwrap();
    fs::write(place.folder().join("dirigent.sqlite-wal"), "a log").unwrap();
    is_refused_until_it_is_to_begin_anew(&place, "dirigent.sqlite.corrupt-1").await;
    let kept = place.folder().join("dirigent.sqlite.corrupt-1-wal");
    assert_eq!(fs::read(kept).unwrap(), b"a log");
}

/// Opening fails like this and leaves every file as it was.
fn is_left_alone(place: &Place, expected: &BadFile) {
    let before = all(place);
    let error = SqliteStore::open(place.path()).unwrap_err();
    let OpenError::Store(StoreError::BadFile { source, .. }) = error else { panic!("{error}") };
    assert_eq!(source, *expected);
    // Nor is it kept aside: it is no damage.
    assert!(SqliteStore::open_or_begin_anew(place.path()).is_err());
    assert!(all(place) == before, "it was touched");
}

/// F27
#[tokio::test]
async fn another_version_is_refused_and_left_alone() {
    let place = Place::new();
    let store = place.open();
    fact(&store, HERE, 0, 1).await;
    store.close().await.unwrap();
    let newer = rusqlite::Connection::open(place.path()).unwrap();
    newer.execute_batch("PRAGMA user_version = 3; CREATE TABLE later (a)").unwrap();
    // As the newer version was killed, its log beside it; then as it was closed.
    let killed = place.as_killed();
    fs::remove_file(killed.folder().join("dirigent.sqlite-shm")).unwrap();
    is_left_alone(&killed, &BadFile::OtherVersion { found: 3, reads: 2 });
    drop(newer);
    is_left_alone(&place, &BadFile::OtherVersion { found: 3, reads: 2 });
    // Version 1 has other names for some fields of records.
    place.change("PRAGMA user_version = 1");
    let older = BadFile::OtherVersion { found: 1, reads: 2 };
    assert!(older.to_string().ends_with("go on with the older version that wrote it"), "{older}");
    is_left_alone(&place, &older);
    place.change("PRAGMA user_version = 2");
    assert_eq!(stored(&place.open(), HERE).await, Some((1, 1)));
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    for sql in ["CREATE TABLE theirs (a)", "PRAGMA user_version = 1"] {
        let place = Place::new();
        fs::create_dir(place.folder()).unwrap();
        place.change(sql);
        is_left_alone(&place, &BadFile::WrongShape { expected: "a database of this store" });
    }
}

/// F26
#[tokio::test]
async fn a_damaged_record_bars_its_channel_across_restarts_and_the_rest_loads() {
    let place = Place::new();
    let store = place.open();
    fact(&store, HERE, 0, 1).await;
    turn(&store, HERE, 1, 2).await;
    fact(&store, THERE, 0, 3).await;
    store.close().await.unwrap();
    spoil(&place.path(), HERE, Barred::Damaged);
    let read = format!("SELECT record FROM channels WHERE id = {HERE}");
    let damaged = place.text(&read);
    for _ in 0..3 {
        let store = place.open();
        assert_eq!(store.problems(), []);
        assert_eq!(barred(&store, HERE).await, Barred::Damaged);
        assert_eq!(stored(&store, THERE).await, Some((1, 3)));
        let (reason, bars) = (BadFile::Checksum, Barred::Damaged);
        let problem = SqliteProblem::BadRecord { channel: HERE, reason, bars };
        assert!(problem.to_string().contains("gives the channel a mode"), "{problem}");
        assert_eq!(store.problems(), [problem]);
        store.close().await.unwrap();
        assert_eq!(place.text(&read), damaged);
    }
    // An operator's commit takes its place, and what is left of it is kept.
    let store = place.open();
    assert_eq!(store.commit(replacement(HERE, 5)).await.unwrap().get(), 1);
    fact(&store, HERE, 1, 6).await;
    store.close().await.unwrap();
    let kept = "SELECT record FROM corrupt WHERE reason LIKE '%checksum%'";
    assert_eq!(place.text(kept), damaged);
    assert_eq!(place.text("SELECT CAST(count(*) AS TEXT) FROM corrupt"), "1");
    assert_eq!(stored(&place.open(), HERE).await, Some((2, 6)));
}

/// F27
#[tokio::test]
async fn a_newer_versions_record_bars_its_channel_and_is_left_alone() {
    let place = Place::new();
    let store = place.open();
    fact(&store, HERE, 0, 1).await;
    fact(&store, THERE, 0, 3).await;
    store.close().await.unwrap();
    spoil(&place.path(), HERE, Barred::OtherVersion);
    let read = format!("SELECT record FROM channels WHERE id = {HERE}");
    let newer = place.text(&read);
    for _ in 0..2 {
        let store = place.open();
        assert_eq!(barred(&store, HERE).await, Barred::OtherVersion);
        let refused = store.commit(replacement(HERE, 5)).await;
        assert!(matches!(refused, Err(CommitError::Barred(Barred::OtherVersion))), "{refused:?}");
        assert_eq!(stored(&store, THERE).await, Some((1, 3)));
        let (reason, bars) = (BadFile::UnknownValue, Barred::OtherVersion);
        assert_eq!(store.problems(), [SqliteProblem::BadRecord { channel: HERE, reason, bars }]);
        store.close().await.unwrap();
        assert_eq!(place.text(&read), newer);
    }
}

/// Rows that are no text, and a revision that is not the checksum's.
#[tokio::test]
async fn a_row_of_any_shape_bars_its_channel_alone() {
    let place = Place::new();
    for change in [
        "record = ''",
        "record = CAST(x'ff00' AS TEXT)",
        "checksum = 'ffffffff'",
        "revision = -1",
        "id = 5",
    ] {
        let store = place.open();
        for number in 0..2 {
            fact(&store, ChannelId::new(1 + number), 0, 1).await;
        }
        store.close().await.unwrap();
        place.change(&format!("UPDATE channels SET {change} WHERE id = 1"));
        let store = place.open();
        let spoilt = ChannelId::new(if change == "id = 5" { 5 } else { 1 });
        assert_eq!(barred(&store, spoilt).await, Barred::Damaged, "{change}");
        assert_eq!(stored(&store, ChannelId::new(2)).await, Some((1, 1)), "{change}");
        assert_eq!(store.problems().len(), 1, "{change}");
        store.commit(replacement(spoilt, 3)).await.unwrap();
        assert_eq!(stored(&store, spoilt).await, Some((1, 3)), "{change}");
        store.close().await.unwrap();
        place.change("DELETE FROM channels");
    }
    assert_eq!(place.text("SELECT CAST(count(*) AS TEXT) FROM corrupt"), "5");
}

/// F26
#[tokio::test]
async fn a_damage_that_comes_while_it_is_open_ends_it() {
    let place = Place::new();
    let store = place.open();
    for number in 0..4_000 {
        let request = request(ChannelId::new(number), 0, number);
        drop(tokio::spawn({
            let store = store.clone();
            async move { store.commit(request).await.unwrap() }
        }));
    }
    while store.channels().await.unwrap().len() < 4_000 {
        tokio::task::yield_now().await;
    }
    store.close().await.unwrap();
    let store = place.open();
    let size = fs::metadata(place.path()).unwrap().len();
    overwrite(&place.path(), 4_096, &vec![0xa5; usize::try_from(size).unwrap() - 4_096]);
    let mut failed = None;
    for number in 0..4_000 {
        if let Err(LoadError::Store(error)) = store.load(ChannelId::new(number)).await {
            failed = Some(error);
            break;
        }
    }
    let failed = failed.expect("the damage was not noticed");
    let is_damage = |error: &StoreError| {
        matches!(error, StoreError::BadFile { source: BadFile::BadDatabase, .. })
    };
    assert!(is_damage(cause(&failed)));
    assert!(is_damage(cause(&store.all().await.unwrap_err())));
    assert!(is_damage(cause(&failure(store.commit(request(HERE, 0, 1)).await))));
    let damaged = fs::read(place.path()).unwrap();
    store.close().await.unwrap();
    assert!(fs::read(place.path()).unwrap() == damaged, "it was touched");
    is_refused_until_it_is_to_begin_anew(&place, "dirigent.sqlite.corrupt-1").await;
}
