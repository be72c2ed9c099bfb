//! A pooler in between that gives out connections for the length of a transaction: no session lasts, and no notification arrives.

use std::time::Duration;

use dirigent::ports::{Ownership, Standing};
use dirigent::store::ChannelStore;
use dirigent_cluster::{PostgresProblem, PostgresStore};

use crate::postgres::leases::{follow, until};
use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact, request, stored};

/// The place behind a pooler; `None`, and said aloud, where there is none.
fn pooled(mode: &str) -> Option<Place> {
    let place = Place::of_its_own()?;
    let address = place.server.add_pooler("d0", mode).unwrap();
    if address.is_none() {
        eprintln!("skipped: no pooler is installed (Debian: apt-get install pgbouncer)");
    }
    Some(Place { address: address?, ..place })
}

async fn joined(place: &Place) -> Opened {
    let opened = Opened::new(place.options()).await;
    follow(&opened.store);
    opened
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_pooler_the_store_notices_that_it_hears_nothing_and_finds_by_looking() {
    let Some(place) = pooled("transaction") else { return };
    let first = joined(&place).await;
    until("alone", || first.store.share() == (8, 1)).await;
    until("noticed", || first.store.problems().contains(&PostgresProblem::Silent)).await;
    fact(&first.store, HERE, 0, 1).await;
    let second = joined(&place).await;
    until("shared", || first.store.share() == (4, 2) && second.store.share() == (4, 2)).await;
    let channel = |number: u64| dirigent::ChannelId::new(HERE.get() + (number << 22));
    let holder = |number| {
        let both = [&first.store, &second.store];
        both.into_iter().find(|store| store.standing(channel(number)) == Standing::Held)
    };
    // The driver of each is told a moment after the table.
    until("each channel is one's", || (1..=100).all(|number| holder(number).is_some())).await;
    let commits = (1..=100).map(|number| {
        let store = holder(number).expect("each channel is one's").clone();
        async move { store.commit(request(channel(number), 0, number)).await }
    });
    futures_util::future::try_join_all(commits).await.unwrap();
    // What one gives back the other finds with its next look, a tenth of the TTL later.
    first.close().await;
    let took = until("taken over", || second.store.share().0 == 8).await;
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    assert_eq!(second.store.channels().await.unwrap().len(), 101);
    assert_eq!(stored(&second.store, HERE).await, Some((1, 1)));
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_pooler_what_a_killed_process_held_is_taken_over_in_time() {
    let Some(place) = pooled("transaction") else { return };
    let first = joined(&place).await;
    until("alone", || first.store.share() == (8, 1)).await;
    fact(&first.store, HERE, 0, 1).await;
    let second = joined(&place).await;
    until("shared", || second.store.share() == (4, 2)).await;
    first.kill().await;
    let took = until("taken over", || second.store.standing(HERE) == Standing::Held).await;
    assert!(took < Duration::from_millis(2_600), "{took:?}");
    fact(&second.store, HERE, 1, 2).await;
    second.close().await;
}

/// One statement at a time is all that the store needs, but for the tables themselves.
#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_lends_connections_for_a_statement_is_named_where_the_tables_are_to_be_made()
{
    let Some(place) = pooled("statement") else { return };
    let refused = PostgresStore::open(place.options()).await.err().map(|error| error.to_string());
    assert!(
        refused.as_ref().is_some_and(|text| text.contains("pool_mode = transaction")),
        "{refused:?}"
    );
    let direct = Place { address: place.server.address("d0"), ..place.clone() };
    direct.open().await.close().await;
    let opened = joined(&place).await;
    until("held", || opened.store.standing(HERE) == Standing::Held).await;
    fact(&opened.store, HERE, 0, 1).await;
    opened.close().await;
}
