//! Hundreds of turns through twilight's gateway and this adapter against the loopback Discord, while requests
//! and connections fail; and what a turn costs in requests when nothing does.
//!
//! Sockets are real, time is not: it moves on when nothing happens without it. `SOAK_TURNS` says how many
//! turns are taken (1,000 if nothing is said), `SOAK_SEED` what goes wrong when:
//!
//! ```text
//! SOAK_TURNS=10000 SOAK_SEED=7 cargo test -p dirigent-discord --test all soak:: -- --nocapture --test-threads 1
//! ```
//!
//! In `outages` parts of Discord are away for 15 seconds and for 10 minutes of the room's time:
//!
//! ```text
//! cargo test -p dirigent-discord --test all soak::outages
//! ```

mod asking;
mod faults;
mod hosted;
mod house;
mod line;
mod minutes;
mod outages;

use dirigent_loopback::Endpoint;

use house::{Agents, House};

fn told(name: &str, unless: u64) -> u64 {
    std::env::var(name).map_or(unless, |told| told.parse().unwrap())
}

/// How many turns are taken in all.
fn turns() -> u64 {
    told("SOAK_TURNS", 400)
}

async fn soak(agents: Agents) {
    let seed = told("SOAK_SEED", 1);
    let mut house = House::build(agents, seed).await;
    house.set_faults(faults::rest(seed), faults::gateway(seed));
    house.talk(turns() / 2).await;
    house.forbid_a_post();
    house.talk(turns()).await;
    house.clear_faults();
    house.fall_silent().await;
    house.report("with faults");
    house.check().await;
}

/// F22: nothing is posted twice, no turn is taken twice or stalls, and the ban is far.
#[tokio::test(flavor = "current_thread")]
async fn hosted_agents_take_every_turn_once_whatever_fails() {
    soak(Agents::Hosted).await;
}

/// F13, F22: the same with agents that ask, woken by triggers.
#[tokio::test(flavor = "current_thread")]
async fn asking_agents_take_every_turn_once_whatever_fails() {
    soak(Agents::Asking).await;
}

/// A hosted turn costs its reply. Who is in the channel is read once and then known from the gateway.
#[tokio::test(flavor = "current_thread")]
async fn a_hosted_turn_costs_one_request() {
    let mut house = House::build(Agents::Hosted, 2).await;
    let before = house.traffic();
    house.talk(turns()).await;
    house.fall_silent().await;
    let spent = house.spent_since(&before);
    house.report("without faults");
    house.check().await;
    let turns = house.turns();
    assert_eq!(spent.of(Endpoint::CreateMessage), turns, "a post a turn");
    // Members are read once. A history is read now and then, for lost events: 114 times in 10,000 turns.
    assert!(spent.total() <= turns + 10 + turns / 50, "{spent:?}");
}

/// A triggered turn costs the trigger and its deletion, beside the reply that the agent's host posts.
#[tokio::test(flavor = "current_thread")]
async fn a_triggered_turn_costs_two_requests() {
    let mut house = House::build(Agents::Asking, 3).await;
    let before = house.traffic();
    house.talk(turns()).await;
    let spent = house.spent_since(&before);
    house.fall_silent().await;
    house.report("without faults");
    house.check().await;
    let turns = house.turns();
    // The last of them may be under way.
    assert!(spent.of(Endpoint::DeleteMessage).abs_diff(turns) <= 2, "{spent:?}");
    assert!(spent.of(Endpoint::CreateMessage).abs_diff(2 * turns) <= 4, "{spent:?}");
    assert!(spent.total() <= 3 * turns + 16 + turns / 50, "{spent:?}");
}
