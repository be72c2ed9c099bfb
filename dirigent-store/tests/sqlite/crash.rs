//! Processes that are killed.

use dirigent_store::{OpenError, SqliteStore};
use dirigent_testkit::Random;

use crate::shared::process::{Acknowledged, Player, hold, role, write_and_pause, write_for_ever};
use crate::sqlite::place::Place;

pub(super) const PLAYER: Player =
    Player("sqlite::crash::a_process_killed_at_any_point_loses_nothing_it_acknowledged");

/// What the other processes of the tests here do.
async fn play(role: &str, path: &str) {
    let store = SqliteStore::open(path).unwrap();
    match role {
        "hold" => hold(),
        "write" => write_for_ever(&store).await,
        "pause" => write_and_pause(&store).await,
        other => panic!("{other} is no role"),
    }
}

#[test]
fn a_second_process_is_kept_out_until_the_first_ends() {
    let place = Place::new();
    PLAYER.while_held(&place.path(), || {
        let error = SqliteStore::open(place.path()).unwrap_err();
        assert!(matches!(error, OpenError::InUse { .. }), "{error}");
        assert!(error.to_string().contains("dirigent.sqlite is open already"), "{error}");
    });
    place.open();
}

#[tokio::test]
async fn a_second_opener_is_kept_out_until_the_first_is_closed() {
    let place = Place::new();
    let store = place.open();
    assert!(matches!(SqliteStore::open(place.path()), Err(OpenError::InUse { .. })));
    store.close().await.unwrap();
    let again = place.open();
    drop(again);
    place.open();
}

/// Another program may have the database, which knows nothing of our lock.
#[test]
fn a_database_that_another_program_writes_is_in_use() {
    let place = Place::new();
    drop(place.open());
    let other = rusqlite::Connection::open(place.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(SqliteStore::open(place.path()), Err(OpenError::InUse { .. })));
    drop(other);
    place.open();
}

/// R046, R143, D77
#[tokio::test]
async fn a_process_killed_at_any_point_loses_nothing_it_acknowledged() {
    if let Some((role, path)) = role() {
        return play(&role, &path).await;
    }
    let place = Place::new();
    let mut random = Random::new(0x6b69_6c6c);
    let mut known = Acknowledged::default();
    for round in 0..60 {
        PLAYER.killed_after(random.draw() % 40, "write", &place.path(), &mut known);
        let store = place.open();
        known.is_in(&store, round).await;
        assert_eq!(store.problems(), []);
        store.close().await.unwrap();
        assert_eq!(place.names(), ["dirigent.sqlite"], "something is left beside it");
    }
    known.is_worth_it(300);
}
