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
mod fixture;
mod hosted;
pub(crate) mod line;
mod minutes;
mod outages;

use dirigent_loopback::RestRoute;
use dirigent_testkit::told;

use fixture::{Agents, Fixture};

/// How many turns are taken in all.
fn turns() -> u64 {
    told("SOAK_TURNS").unwrap_or(400)
}

async fn soak(agents: Agents) {
    let seed = told("SOAK_SEED").unwrap_or(1);
    let mut fixture = Fixture::build(agents, seed).await;
    fixture.set_faults(faults::rest(seed), faults::gateway(seed));
    fixture.talk(turns() / 2).await;
    fixture.forbid_a_post();
    fixture.talk(turns()).await;
    fixture.clear_faults();
    fixture.fall_silent().await;
    fixture.report("with faults");
    fixture.check().await;
}

/// F22: nothing is posted twice, no turn is taken twice or stalls, and the ban is far.
#[tokio::test(flavor = "current_thread")]
async fn hosted_agents_take_every_turn_once_whatever_fails() {
    soak(Agents::Hosted).await;
}

/// The same with personas, whose posts have no nonce.
#[tokio::test(flavor = "current_thread")]
async fn personas_take_every_turn_once_whatever_fails() {
    soak(Agents::Personas).await;
}

/// F13, F22: the same with agents that ask, woken by triggers.
#[tokio::test(flavor = "current_thread")]
async fn asking_agents_take_every_turn_once_whatever_fails() {
    soak(Agents::Asking).await;
}

/// A hosted turn costs its reply. Who is in the channel is read once and then known from the gateway.
#[tokio::test(flavor = "current_thread")]
async fn a_hosted_turn_costs_one_request() {
    let mut fixture = Fixture::build(Agents::Hosted, 2).await;
    let before = fixture.traffic();
    fixture.talk(turns()).await;
    fixture.fall_silent().await;
    let spent = fixture.spent_since(&before);
    fixture.report("without faults");
    fixture.check().await;
    let turns = fixture.turns();
    assert_eq!(spent.of(RestRoute::CreateMessage), turns, "a post a turn");
    // Members are read once. A history is read now and then, for lost events: 114 times in 10,000 turns.
    assert!(spent.total() <= turns + 10 + turns / 50, "{spent:?}");
}

/// A persona's turn costs its reply, too. Each has a webhook in each channel, for which the list is read once.
#[tokio::test(flavor = "current_thread")]
async fn a_personas_turn_costs_one_request() {
    let mut fixture = Fixture::build(Agents::Personas, 2).await;
    let before = fixture.traffic();
    fixture.talk(turns()).await;
    fixture.fall_silent().await;
    let spent = fixture.spent_since(&before);
    fixture.report("without faults");
    fixture.check().await;
    let turns = fixture.turns();
    assert_eq!(spent.of(RestRoute::CreateFollowup), turns, "a post a turn");
    assert!(spent.total() <= turns + 40 + turns / 50, "{spent:?}");
}

/// A triggered turn costs the trigger and its deletion, beside the reply that the agent's host posts.
#[tokio::test(flavor = "current_thread")]
async fn a_triggered_turn_costs_two_requests() {
    let mut fixture = Fixture::build(Agents::Asking, 3).await;
    let before = fixture.traffic();
    fixture.talk(turns()).await;
    let spent = fixture.spent_since(&before);
    fixture.fall_silent().await;
    fixture.report("without faults");
    fixture.check().await;
    let turns = fixture.turns();
    // The last of them may be under way.
    assert!(spent.of(RestRoute::DeleteMessage).abs_diff(turns) <= 2, "{spent:?}");
    assert!(spent.of(RestRoute::CreateMessage).abs_diff(2 * turns) <= 4, "{spent:?}");
    assert!(spent.total() <= 3 * turns + 16 + turns / 50, "{spent:?}");
}
