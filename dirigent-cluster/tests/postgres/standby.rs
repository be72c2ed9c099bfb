//! A server with a synchronous standby that takes its place: nothing that was acknowledged is lost, and the server that it
//! replaced acknowledges nothing any more.

use std::time::Duration;

use dirigent::ports::{Ownership, Standing};
use dirigent::store::ChannelStore;
use dirigent::{Clock, SystemClock};

use crate::postgres::leases::{follow, found, until};
use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact, request, turn};

/// The first place is the server alone, the second it and its standby, whichever takes writes.
fn mirrored() -> Option<[Place; 2]> {
    let place = Place::of_its_own()?;
    place.server.add_standby().unwrap();
    let both = Place { address: place.server.address_of_both("d0"), ..place.clone() };
    Some([place, both])
}

async fn joined(place: &Place) -> Opened {
    let opened = Opened::new(place.options()).await;
    follow(&opened.store);
    until("held", || opened.store.standing(HERE) == Standing::Held).await;
    opened
}

/// Fails over three times while one commits as fast as it can.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_on_the_standby_that_takes_over() {
    let Some([_, both]) = mirrored() else { return };
    let opened = joined(&both).await;
    let epochs = "SELECT string_agg(epoch::text, ' ' ORDER BY shard) FROM dirigent.shards";
    let before = both.sql(epochs);
    let mut revision = 0;
    for round in 0..3 {
        turn(&opened.store, HERE, revision, round).await;
        revision += 1;
        let failing = tokio::task::spawn_blocking({
            let both = both.clone();
            move || both.server.fail_over().unwrap()
        });
        let mut acknowledged = revision;
        for number in 0.. {
            match opened.store.commit(request(HERE, revision, number)).await {
                Ok(made) => {
                    revision = made.get();
                    acknowledged = revision;
                }
                Err(_) => break,
            }
        }
        failing.await.unwrap();
        until("held", || opened.store.standing(HERE) == Standing::Held).await;
        let found = found(&opened.store).await;
        // The last one may have been on its way.
        assert!(found == acknowledged || found == acknowledged + 1, "round {round}: {found}");
        turn(&opened.store, HERE, found, 7).await;
        revision = found + 1;
        both.server.add_standby().unwrap();
    }
    // It is one cluster all the time, whose leases lapse and are renewed.
    assert_eq!(both.sql(epochs), before);
    opened.close().await;
}

/// The server stands still, its standby takes its place, and the server goes on: one process knows only that server.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_replaced_and_goes_on_acknowledges_nothing() {
    let Some([alone, both]) = mirrored() else { return };
    let old = joined(&alone).await;
    fact(&old.store, HERE, 0, 1).await;
    both.server.pause().unwrap();
    let folder = both.server.folder().to_owned();
    both.server.promote().unwrap();
    let new = Opened::new(both.options()).await;
    follow(&new.store);
    until("taken over", || new.store.standing(HERE) == Standing::Held).await;
    assert_eq!(old.store.standing(HERE), Standing::Lapsed);
    go_on(&folder);
    let clock = SystemClock::new();
    let both_commit = async {
        for revision in 1..40 {
            turn(&new.store, HERE, revision, 100 + revision).await;
            let refused = old.store.commit(request(HERE, revision, 666));
            let over = clock.sleep_until(clock.now() + Duration::from_millis(50));
            tokio::select! {
                refused = refused => assert!(refused.is_err(), "the old server acknowledged a commit"),
                () = over => {}
            }
            assert!(old.store.standing(HERE) >= Standing::Lapsed);
        }
    };
    both_commit.await;
    let found = new.store.load(HERE).await.unwrap().unwrap();
    assert_eq!(found.revision.get(), 40);
    old.kill().await;
    new.close().await;
}

/// The first server's processes go on.
fn go_on(folder: &std::path::Path) {
    let pid = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
    let pid = pid.lines().next().unwrap().to_owned();
    let go_on = |how: &[&str]| {
        std::process::Command::new("pkill").args(how).status().unwrap();
    };
    go_on(&["-CONT", "-P", &pid]);
    std::process::Command::new("kill").args(["-CONT", &pid]).status().unwrap();
}
