//! What stands in the tables, and what a commit must be made under.

use dirigent::store::{ChannelStore, Commit, CommitError, Durability};

use crate::postgres::place::Place;
use crate::shared::commits::{
    HERE, THERE, cause, fact, nothing_of_a_commit_is_kept, request, stored, too_large, turn,
};
use crate::shared::story::transition;
use dirigent::ports::Certainty;
use dirigent_cluster::PostgresStore;
use dirigent_store::{BadFile, OpenError, StoreError};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_commit_is_kept_by_the_database() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    nothing_of_a_commit_is_kept(&opened.store, HERE).await;
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_is_too_large_is_refused_and_the_channel_goes_on() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    too_large(&opened.store).await;
    opened.close().await;
}

/// More commits at once than others have lines: what is too old is cut of each channel, and of no other.
#[tokio::test(flavor = "multi_thread")]
async fn of_each_history_the_newest_lines_stay_in_the_table_and_no_others() {
    let Some(place) = Place::new() else { return };
    let count = "SELECT string_agg(format('%s: %s to %s', of, least, most), ', ') FROM (
        SELECT count(*) AS of, min(number) AS least, max(number) AS most FROM dirigent.history
        GROUP BY channel ORDER BY channel) AS kept";
    for (history_max, revision, expected) in [
        (4, 0, "4: 1 to 4, 2: 1 to 2"),
        (4, 1, "4: 5 to 8, 4: 1 to 4"),
        (1, 2, "1: 9 to 9, 1: 5 to 5"),
    ] {
        let opened = place.open_as(place.options().history_max(history_max)).await;
        let commit = |channel, lines: u32| {
            let transitions = (0..lines).map(transition).collect::<Vec<_>>().into();
            opened.store.commit(Commit { transitions, ..request(channel, revision, 1) })
        };
        let (long, short) = tokio::join!(commit(HERE, 5), commit(THERE, 2));
        assert!(long.is_ok() && short.is_ok());
        assert_eq!(place.sql(count), expected);
        opened.close().await;
    }
}

/// F27
#[tokio::test(flavor = "multi_thread")]
async fn unknown_fields_survive_a_commit_whether_it_was_loaded_before_or_not() {
    for loads in [true, false] {
        let Some(place) = Place::new() else { return };
        let opened = place.open().await;
        fact(&opened.store, HERE, 0, 1).await;
        opened.close().await;
        let record = place.sql("SELECT record FROM dirigent.channels");
        let newer = record.replacen("\"mode\"", "\"later\": [1e3],\n    \"mode\"", 1);
        let sum = crc32fast::hash(format!("2 {HERE} 1 {newer}").as_bytes());
        place.sql(&format!(
            "UPDATE dirigent.channels SET record = $x${newer}$x$, checksum = '{sum:08x}'"
        ));
        let opened = place.open().await;
        if loads {
            assert_eq!(stored(&opened.store, HERE).await, Some((1, 1)));
        }
        turn(&opened.store, HERE, 1, 2).await;
        turn(&opened.store, HERE, 2, 3).await;
        assert_eq!(opened.store.problems(), []);
        opened.close().await;
        let record = place.sql("SELECT record FROM dirigent.channels");
        assert!(record.contains("\"later\": [1e3]"), "{record}");
    }
}

/// Two processes on one database: whose shard it is not any more cannot commit, whatever revision it names, and whether owner
/// or epoch has changed.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_under_an_epoch_that_is_over_is_refused_and_changes_nothing() {
    for change in ["owner = 7, epoch = epoch + 1", "owner = 7", "epoch = epoch + 1"] {
        let Some(place) = Place::new() else { return };
        let opened = place.open_as(place.options().ttl(std::time::Duration::from_secs(600))).await;
        fact(&opened.store, HERE, 0, 1).await;
        // As if another process had taken all shards over; this one does not know yet.
        let hour = "expires_at = now() + interval '1 hour'";
        place.sql(&format!("UPDATE dirigent.shards SET {change}, {hour}"));
        for durability in [Durability::Fact, Durability::Turn] {
            let commit = Commit { durability, ..request(HERE, 1, 2) };
            let refused = opened.store.commit(commit).await;
            assert!(matches!(refused, Err(CommitError::Elsewhere)), "{change}: {refused:?}");
            let first = opened.store.commit(request(THERE, 0, 2)).await;
            assert!(matches!(first, Err(CommitError::Elsewhere)), "{change}: {first:?}");
        }
        assert!(opened.store.delete(HERE).await.is_err(), "{change}");
        assert_eq!(stored(&opened.store, HERE).await, Some((1, 1)));
        assert_eq!(stored(&opened.store, THERE).await, None);
        opened.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_of_two_who_both_believe_in_it_is_made_once() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    fact(&opened.store, HERE, 0, 1).await;
    // Beside the store, as a process would whose shard this was.
    place.sql("UPDATE dirigent.channels SET revision = 2");
    let beaten = opened.store.commit(request(HERE, 1, 2)).await;
    assert!(
        matches!(beaten, Err(CommitError::Conflict { found }) if found.get() == 2),
        "{beaten:?}"
    );
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_another_version_or_another_cluster_are_refused_and_left_alone() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    fact(&opened.store, HERE, 0, 1).await;
    opened.close().await;
    for other in [
        place.options().cluster("another"),
        place.options().shards(9),
        place.options().ttl(std::time::Duration::from_secs(3)),
    ] {
        let refused = PostgresStore::open(other).await.unwrap_err();
        assert!(
            matches!(&refused, OpenError::OtherCluster { found, .. } if found.starts_with("dirigent, with 8 "))
        );
    }
    let version = place.sql("SELECT number FROM dirigent.version");
    // Up to version 4 records have other names for some fields.
    for found in [1, 4, 99] {
        place.sql(&format!("UPDATE dirigent.version SET number = {found}"));
        let refused = PostgresStore::open(place.options()).await.unwrap_err();
        let OpenError::Store(StoreError::BadFile { source, .. }) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(source, BadFile::OtherVersion { found, reads: 5 });
        assert_eq!(place.sql("SELECT number FROM dirigent.version"), found.to_string());
    }
    place.sql(&format!("UPDATE dirigent.version SET number = {version}"));
    let opened = place.open().await;
    assert_eq!(stored(&opened.store, HERE).await, Some((1, 1)));
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_that_open_an_empty_database_at_once_make_its_tables_once() {
    let Some(place) = Place::new() else { return };
    let opening = (0..6).map(|_| PostgresStore::open(place.options()));
    for opened in futures_util::future::join_all(opening).await {
        let (_, _) = opened.unwrap();
    }
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.cluster"), "1");
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.shards"), "8");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_names_neither_a_password_nor_what_was_to_be_stored() {
    let refused = PostgresStore::open("postgresql://bot:hush@127.0.0.1:9/bot").await.unwrap_err();
    let said = format!("{refused} {refused:?}");
    assert!(!said.contains("hush") && said.contains("127.0.0.1:9/bot"), "{said}");
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    place.sql("ALTER TABLE dirigent.channels ADD CHECK (record = 'nothing')");
    let refused = opened.store.commit(request(HERE, 0, 4_711)).await;
    let Err(CommitError::Store(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(error.certainty(), Certainty::NotDone);
    let said = format!("{error} {error:?} {}", cause(&error));
    assert!(!said.contains("4711") && !said.contains("guide"), "{said}");
    opened.close().await;
}
