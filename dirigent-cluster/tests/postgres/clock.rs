//! The database's clock is set back, so that what was stored before lasts for longer than a lease can. Here the rows are moved
//! instead: only the difference counts.

use std::time::Duration;

use dirigent::ports::{Ownership, Standing};
use dirigent::{Clock, SystemClock};
use dirigent_cluster::{PostgresOptions, PostgresProblem};

use crate::postgres::leases::{follow, until};
use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact};

/// All that other processes wrote lies an hour ahead.
const SET_BACK: &str = "UPDATE dirigent.members SET expires_at = expires_at + interval '1 hour', since = since + interval '1 hour';
    UPDATE dirigent.shards SET expires_at = expires_at + interval '1 hour'";

async fn joined(options: PostgresOptions) -> Opened {
    let opened = Opened::new(options).await;
    follow(&opened.store);
    opened
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_left_before_the_clock_went_back_is_taken_over_after_ttl_and_margin() {
    let Some(place) = Place::new() else { return };
    let first = joined(place.options().process("bot-1")).await;
    until("alone", || first.store.share() == (8, 1)).await;
    until("held", || first.store.standing(HERE) == Standing::Held).await;
    fact(&first.store, HERE, 0, 1).await;
    let second = joined(place.options().process("bot-2")).await;
    until("shared", || first.store.share() == (4, 2) && second.store.share() == (4, 2)).await;
    first.kill().await;
    place.sql(SET_BACK);
    let start = SystemClock::new().now();
    // A supervisor starts it again under its name, which the row of the killed one still has.
    let again = joined(place.options().process("bot-1")).await;
    let all = || again.store.share() == (4, 2) && second.store.share() == (4, 2);
    until("taken over by both", all).await;
    let took = SystemClock::new().now().since(start);
    assert!(took >= Place::TTL + Place::TTL / 10, "its holder may trust it for so long: {took:?}");
    for store in [&second.store, &again.store] {
        let problems = store.problems();
        assert!(problems.contains(&PostgresProblem::ClockSetBack), "{problems:?}");
        let blames = problems.iter().any(|it| matches!(it, PostgresProblem::SameName { .. }));
        assert!(!blames, "{problems:?}");
    }
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.members"), "2");
    let holder = [&second.store, &again.store];
    until("held", || holder.iter().any(|store| store.standing(HERE) == Standing::Held)).await;
    let holder = holder.into_iter().find(|store| store.standing(HERE) == Standing::Held).unwrap();
    fact(holder, HERE, 1, 2).await;
    again.close().await;
    second.close().await;
}

/// Each sees what the other has last for an hour, until the other renews it.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_renews_keeps_what_it_has_when_the_clock_goes_back() {
    let Some(place) = Place::new() else { return };
    // Long enough that none of them loses a lease on a machine that is busy.
    let options = |name: &str| place.options().process(name).ttl(Duration::from_secs(20));
    let first = joined(options("bot-1")).await;
    until("alone", || first.store.share() == (8, 1)).await;
    let second = joined(options("bot-2")).await;
    until("shared", || first.store.share() == (4, 2) && second.store.share() == (4, 2)).await;
    let rows =
        "SELECT string_agg(format('%s %s', owner, epoch), ',' ORDER BY shard) FROM dirigent.shards";
    let before = place.sql(rows);
    place.sql(SET_BACK);
    let is_ahead = "SELECT count(*) FROM dirigent.shards WHERE expires_at > clock_timestamp() + interval '1 minute'";
    until("renewed", || place.sql(is_ahead) == "0").await;
    assert_eq!(place.sql(rows), before);
    first.close().await;
    second.close().await;
}
