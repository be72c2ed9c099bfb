//! A database that is away, stands still, takes no writes, or has no room: what is asked fails as something that may be repeated,
//! and what was acknowledged is there afterwards.

use dirigent::ports::{ApiError, Certainty, ErrorKind, Ownership, Standing};
use dirigent::store::ChannelStore;
use dirigent_cluster::PostgresProblem;

use crate::postgres::leases::{follow, found, until};
use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact, failure, request, stored, turn};

async fn opened(place: &Place) -> Opened {
    let opened = Opened::new(place.options()).await;
    follow(&opened.store);
    until("held", || opened.store.standing(HERE) == Standing::Held).await;
    opened
}

/// The meaning of the server's code is in the error and among the problems; the server's own text, which may quote a record, is not.
fn says(opened: &Opened, error: &ApiError, code: &str, meaning: &str) {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    assert!(cause.contains(meaning) && cause.contains(code), "{cause}");
    let problems = opened.store.problems();
    let is_it = |problem: &PostgresProblem| matches!(problem, PostgresProblem::Refused { code: found, why } if found == code && why.contains(meaning));
    assert!(problems.iter().any(is_it), "{problems:?}");
    let all = format!("{error:?} {problems:?}");
    assert!(!all.contains("no room") && !all.contains("cannot execute"), "{all}");
}

fn may_be_repeated(error: &ApiError) {
    assert_eq!(error.kind(), ErrorKind::Store, "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_leases_lapse_and_afterwards_they_are_the_same() {
    let Some(place) = Place::of_its_own() else { return };
    let opened = opened(&place).await;
    fact(&opened.store, HERE, 0, 1).await;
    let epochs = "SELECT string_agg(epoch::text, ' ' ORDER BY shard) FROM dirigent.shards";
    let before = place.sql(epochs);
    place.server.stop("immediate").unwrap();
    may_be_repeated(&failure(opened.store.commit(request(HERE, 1, 2)).await));
    may_be_repeated(&opened.store.channels().await.unwrap_err());
    until("quiet", || opened.store.standing(HERE) == Standing::Quiet).await;
    until("lapsed", || opened.store.standing(HERE) == Standing::Lapsed).await;
    place.server.start_again("").unwrap();
    until("held again", || opened.store.standing(HERE) == Standing::Held).await;
    assert_eq!(place.sql(epochs), before);
    // Whether the commit that was cut off was made is known from what is stored.
    let (revision, _) = stored(&opened.store, HERE).await.unwrap();
    turn(&opened.store, HERE, revision, 3).await;
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_stands_still_leases_lapse_and_what_was_asked_is_in_doubt() {
    let Some(place) = Place::of_its_own() else { return };
    let opened = opened(&place).await;
    fact(&opened.store, HERE, 0, 1).await;
    place.server.pause().unwrap();
    let error = failure(opened.store.commit(request(HERE, 1, 2)).await);
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Store, Certainty::Unknown));
    until("lapsed", || opened.store.standing(HERE) == Standing::Lapsed).await;
    place.server.resume().unwrap();
    until("held again", || opened.store.standing(HERE) == Standing::Held).await;
    let (revision, _) = stored(&opened.store, HERE).await.unwrap();
    turn(&opened.store, HERE, revision, 3).await;
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_takes_no_writes_changes_nothing_and_the_leases_lapse() {
    let Some(place) = Place::of_its_own() else { return };
    let opened = opened(&place).await;
    fact(&opened.store, HERE, 0, 1).await;
    let set = |value: &str| {
        place.sql(&format!("ALTER SYSTEM SET default_transaction_read_only = {value}"));
        place.sql("SELECT pg_reload_conf()");
    };
    set("on");
    until("lapsed", || opened.store.standing(HERE) == Standing::Lapsed).await;
    let error = failure(opened.store.commit(request(HERE, 1, 2)).await);
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Store, Certainty::NotDone));
    says(&opened, &error, "25006", "read-only");
    // Reading goes on.
    assert_eq!(stored(&opened.store, HERE).await, Some((1, 1)));
    let reset = "BEGIN READ WRITE; COMMIT";
    place.sql(reset);
    place.server.stop("fast").unwrap();
    place.server.start_again("-c default_transaction_read_only=off").unwrap();
    until("held again", || opened.store.standing(HERE) == Standing::Held).await;
    turn(&opened.store, HERE, 1, 2).await;
    opened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_room_refuses_a_commit_and_takes_it_later() {
    let Some(place) = Place::new() else { return };
    let opened = opened(&place).await;
    fact(&opened.store, HERE, 0, 1).await;
    place.sql(
        "CREATE FUNCTION full_disk() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no room' \
         USING ERRCODE = '53100'; END $$ LANGUAGE plpgsql;
         CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON dirigent.channels \
         FOR EACH ROW EXECUTE FUNCTION full_disk()",
    );
    let error = failure(opened.store.commit(request(HERE, 1, 2)).await);
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Store, Certainty::NotDone));
    says(&opened, &error, "53100", "the disk of the database's server is full");
    assert_eq!(stored(&opened.store, HERE).await, Some((1, 1)));
    place.sql("DROP TRIGGER full_disk ON dirigent.channels");
    turn(&opened.store, HERE, 1, 2).await;
    opened.close().await;
}

/// Connections that are cut while many commit: each commit that was acknowledged is stored, and each channel goes on.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_stored_whenever_the_connections_are_cut() {
    let Some(place) = Place::new() else { return };
    let opened = opened(&place).await;
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE application_name = 'dirigent' AND datname = current_database()";
    let mut revision = 0;
    for round in 0..12 {
        let cutting = tokio::task::spawn_blocking({
            let place = place.clone();
            move || place.sql(cut)
        });
        let mut acknowledged = revision;
        for number in 0..40 {
            match opened.store.commit(request(HERE, revision, number)).await {
                Ok(made) => {
                    revision = made.get();
                    acknowledged = revision;
                }
                Err(_) => break,
            }
        }
        cutting.await.unwrap();
        until("held", || opened.store.standing(HERE) == Standing::Held).await;
        let found = found(&opened.store).await;
        assert!(found == acknowledged || found == acknowledged + 1, "round {round}: {found}");
        revision = found;
    }
    opened.close().await;
}
