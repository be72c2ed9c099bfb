//! Two processes of one name: the one that began later waits until the other has ended.

use std::time::Duration;

use dirigent::ports::{Ownership, Standing};
use dirigent::{Clock, SystemClock};
use dirigent_cluster::lease::SameName;
use dirigent_cluster::{PostgresProblem, PostgresStore};

use crate::postgres::leases::{follow, until};
use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact};

/// As after a kill: the TTL, and two looks.
const TAKE_OVER: Duration = Duration::from_millis(2_600);

async fn named(place: &Place, name: &str) -> Opened {
    let opened = Opened::new(place.options().process(name)).await;
    follow(&opened.store);
    opened
}

fn problem(which: SameName) -> PostgresProblem {
    PostgresProblem::SameName { name: "bot-1".to_owned(), which }
}

fn shards(store: &PostgresStore) -> usize {
    store.share().0
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_processes_of_one_name_the_later_one_waits_and_both_say_so() {
    let Some(place) = Place::new() else { return };
    let first = named(&place, "bot-1").await;
    until("alone", || first.store.share() == (8, 1)).await;
    let second = named(&place, "bot-1").await;
    let took = until("it says so", || {
        second.store.problems() == [problem(SameName::Earlier)]
            && first.store.problems() == [problem(SameName::Later)]
    })
    .await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    let said = second.store.problems()[0].to_string();
    assert!(said.contains("bot-1") && said.contains("PostgresOptions::process"), "{said}");
    // A third process, of another name, has its share; the one that waits does not count.
    let third = named(&place, "bot-2").await;
    until("shared by two", || {
        first.store.share() == (4, 2) && third.store.share() == (4, 2) && shards(&second.store) == 0
    })
    .await;
    // A lease is held once the driver was told of it.
    until("held by one", || {
        [&first, &third].iter().any(|opened| opened.store.standing(HERE) == Standing::Held)
    })
    .await;
    assert_eq!(second.store.standing(HERE), Standing::Elsewhere);
    third.close().await;
    until("alone again", || first.store.share() == (8, 1)).await;
    fact(&first.store, HERE, 0, 1).await;
    // When the first ends in order, the second has all at once.
    first.close().await;
    let took = until("its turn", || shards(&second.store) == 8).await;
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    until("held", || second.store.standing(HERE) == Standing::Held).await;
    fact(&second.store, HERE, 1, 2).await;
    assert_eq!(second.store.problems(), [problem(SameName::Earlier)]);
    second.close().await;
}

/// A supervisor starts a process again under its name while the row of the one that was killed still stands.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_killed_does_not_keep_its_successor_waiting() {
    let Some(place) = Place::new() else { return };
    let other = named(&place, "bot-2").await;
    until("alone", || other.store.share() == (8, 1)).await;
    let first = named(&place, "bot-1").await;
    until("shared", || first.store.share() == (4, 2) && other.store.share() == (4, 2)).await;
    first.kill().await;
    let start = SystemClock::new().now();
    let again = named(&place, "bot-1").await;
    until("a member", || again.store.share().1 >= 2).await;
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.members WHERE name = 'bot-1'"), "2");
    until("its share", || again.store.share() == (4, 2) && other.store.share() == (4, 2)).await;
    let took = SystemClock::new().now().since(start);
    assert!(took < TAKE_OVER, "{took:?}");
    for opened in [&again, &other] {
        assert_eq!(opened.store.problems(), []);
    }
    again.close().await;
    other.close().await;
}

/// One process after the other, the new one a moment too early: the old one gives its channels back in its own time.
#[tokio::test(flavor = "multi_thread")]
async fn a_successor_that_starts_while_its_predecessor_leaves_is_no_mistake() {
    let Some(place) = Place::new() else { return };
    let first = named(&place, "bot-1").await;
    until("held", || first.store.standing(HERE) == Standing::Held).await;
    first.store.resign();
    until("known", || place.sql("SELECT count(*) FROM dirigent.members") == "0").await;
    let second = named(&place, "bot-1").await;
    until("a member", || second.store.share().1 == 1).await;
    let renewed = || place.sql("SELECT max(expires_at) FROM dirigent.shards");
    let before = renewed();
    until("the first renews what it has", || renewed() != before).await;
    fact(&first.store, HERE, 0, 1).await;
    let store = first.store.clone();
    first.close().await;
    until("handed over", || shards(&second.store) == 8).await;
    assert_eq!((store.problems(), second.store.problems()), (Vec::new(), Vec::new()));
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_any_number_of_processes_of_one_name_one_acts() {
    let Some(place) = Place::new() else { return };
    let mut all = Vec::new();
    for opened in futures_util::future::join_all((0..4).map(|_| named(&place, "bot-1"))).await {
        all.push(opened);
    }
    while !all.is_empty() {
        let held = |all: &[Opened]| {
            let mut shares: Vec<_> = all.iter().map(|opened| shards(&opened.store)).collect();
            shares.sort_unstable();
            shares
        };
        let mut expected = vec![0; all.len() - 1];
        expected.push(8);
        until("one acts", || held(&all) == expected).await;
        let acts = all.iter().position(|opened| shards(&opened.store) == 8).unwrap();
        all.swap_remove(acts).close().await;
    }
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.members"), "0");
}

/// The database's clock tells microseconds, and two processes may begin in the same one: still one of them acts.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_processes_of_one_name_that_began_in_the_same_moment_one_acts() {
    let Some(place) = Place::new() else { return };
    place.open().await.close().await;
    place.sql("ALTER TABLE dirigent.members ALTER since SET DEFAULT '2026-11-27 12:00:00+00'");
    let all = [named(&place, "bot-1").await, named(&place, "bot-1").await];
    let acts = |which: usize| {
        let (acts, waits) = (&all[which].store, &all[1 - which].store);
        // The one that waits is no member any more, so that the other may have forgotten it before it holds all.
        acts.problems().iter().all(|it| *it == problem(SameName::Later))
            && waits.problems() == [problem(SameName::Earlier)]
            && (shards(acts), shards(waits)) == (8, 0)
    };
    until("one acts", || acts(0) || acts(1)).await;
    let [first, second] = all;
    let (acts, waits) = if shards(&first.store) == 8 { (first, second) } else { (second, first) };
    acts.close().await;
    until("its turn", || shards(&waits.store) == 8).await;
    waits.close().await;
}

/// The database's clock was set back an hour after the first of two began: it was there before the other one all the same.
#[tokio::test(flavor = "multi_thread")]
async fn since_when_a_process_is_there_goes_back_with_the_clock_of_the_database_and_never_on() {
    let Some(place) = Place::new() else { return };
    let first = named(&place, "bot-1").await;
    until("alone", || first.store.share() == (8, 1)).await;
    let member = |column: &str| {
        place.sql(&format!("SELECT {column} FROM dirigent.members ORDER BY since LIMIT 1"))
    };
    let beats = async || {
        let before = member("expires_at");
        until("a beat", || member("expires_at") != before).await;
    };
    let since = member("since");
    beats().await;
    assert_eq!(member("since"), since, "a beat is no new beginning");
    place.sql("UPDATE dirigent.members SET since = since + interval '1 hour'");
    until("it is not ahead", || member("since <= clock_timestamp()") == "t").await;
    let second = named(&place, "bot-1").await;
    until("the later one waits", || {
        second.store.problems() == [problem(SameName::Earlier)]
            && first.store.problems() == [problem(SameName::Later)]
    })
    .await;
    assert_eq!((shards(&first.store), shards(&second.store)), (8, 0));
    first.close().await;
    until("its turn", || shards(&second.store) == 8).await;
    second.close().await;
}
