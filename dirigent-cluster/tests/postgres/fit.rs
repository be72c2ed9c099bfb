//! A database that does not fit is refused when it is opened, in one line that says why and what to do.

use std::time::Duration;

use dirigent_cluster::{PostgresOptions, PostgresProblem, PostgresStore};
use dirigent_store::{OpenError, StoreError};

use crate::postgres::leases::until;
use crate::postgres::place::Place;

/// What a `main` would print that returns the error.
async fn refused(options: PostgresOptions) -> String {
    let error = PostgresStore::open(options).await.expect_err("it is refused");
    assert!(matches!(error, OpenError::Store(StoreError::Server { .. })), "{error}");
    let text = format!("{error:?}");
    assert!(!text.contains('\n'), "{text}");
    text
}

/// The options with another user or database.
fn instead(place: &Place, what: &str, by: &str) -> PostgresOptions {
    let words = place.address.split(' ');
    let words = words.map(|word| if word.starts_with(what) { by } else { word });
    PostgresOptions::new(words.collect::<Vec<_>>().join(" ")).shards(8).ttl(Place::TTL)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_refuses_is_said_with_its_meaning_when_the_store_is_opened() {
    let Some(place) = Place::new() else { return };
    place.open().await.close().await;
    let name = place.sql("SELECT current_database()");
    place.sql(&format!(
        "CREATE ROLE stranger_{name} LOGIN;
         CREATE ROLE reader_{name} LOGIN;
         GRANT USAGE ON SCHEMA dirigent TO reader_{name};
         GRANT SELECT ON ALL TABLES IN SCHEMA dirigent TO reader_{name};
         CREATE ROLE keeper_{name} LOGIN;
         GRANT USAGE ON SCHEMA dirigent TO keeper_{name};
         GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA dirigent TO keeper_{name}"
    ));
    let user = |role: &str| instead(&place, "user=", &format!("user={role}_{name}"));
    for (options, code, says) in [
        (instead(&place, "dbname=", "dbname=nowhere"), "3D000", "no database of this name"),
        (instead(&place, "user=", "user=nobody"), "28000", "does not let this role in"),
        (user("stranger"), "42501", "lacks a right"),
        // It could read everything, and would hold nothing for ever.
        (user("reader"), "", "may not write the table dirigent.channels"),
        (user("keeper"), "", "may not write the table dirigent.history"),
    ] {
        let text = refused(options).await;
        assert!(text.contains(code) && text.contains(says), "{text}");
    }
}

/// A standby may be promoted, so this is no reason not to open.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_read_only_is_opened_and_named_as_a_problem() {
    let Some(place) = Place::new() else { return };
    place.open().await.close().await;
    let name = place.sql("SELECT current_database()");
    place.sql(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    let (store, link) = PostgresStore::open(place.options()).await.unwrap();
    let problems = store.problems();
    assert!(
        matches!(&problems[..], [PostgresProblem::Refused { code, why }] if code == "25006" && why.contains("no channel")),
        "{problems:?}"
    );
    drop(link);
}

/// As of a process that was stopped while it made them.
#[tokio::test(flavor = "multi_thread")]
async fn a_lock_on_the_making_of_the_tables_is_waited_for_three_ttls_and_then_named() {
    const LOCK: i64 = 0x6469_7267;
    let Some(place) = Place::new() else { return };
    let holding = tokio::task::spawn_blocking({
        let place = place.clone();
        move || {
            let hold = format!("SELECT pg_advisory_lock({LOCK}); SELECT pg_sleep(600)");
            // It is ended below.
            place.server.sql(&place.address, &hold).unwrap_err()
        }
    });
    let sleeps =
        "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    until("held", || place.sql(&format!("SELECT count(*) {sleeps}")) == "1").await;
    // It makes no tables, so its TTL may be another one.
    let text = refused(place.options().ttl(Duration::from_millis(500))).await;
    assert!(text.contains("another session makes the tables"), "{text}");
    // One that waits goes on when it is free, for as long as a busy machine may need.
    let options = || place.options().ttl(Duration::from_secs(20));
    let opening = tokio::spawn(PostgresStore::open(options()));
    place.sql(&format!("SELECT pg_terminate_backend(pid) {sleeps}"));
    holding.await.unwrap();
    // Whether it still waited depends on the machine; afterwards it opens in any case.
    drop(opening.await.unwrap());
    let (store, link) = PostgresStore::open(options()).await.unwrap();
    assert!(store.problems().is_empty());
    drop(link);
    // Where nothing is to be made the lock is not asked for.
    let holding = tokio::task::spawn_blocking({
        let place = place.clone();
        move || {
            let hold = format!("SELECT pg_advisory_lock({LOCK}); SELECT pg_sleep(600)");
            place.server.sql(&place.address, &hold).unwrap_err()
        }
    });
    until("held", || place.sql(&format!("SELECT count(*) {sleeps}")) == "1").await;
    drop(PostgresStore::open(options()).await.unwrap());
    place.sql(&format!("SELECT pg_terminate_backend(pid) {sleeps}"));
    holding.await.unwrap();
}
