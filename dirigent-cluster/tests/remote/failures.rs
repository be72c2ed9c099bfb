//! Processes that end, stand still and come back in the middle of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use dirigent::operate::EventOrLag;
use dirigent::ports::{ApiError, Identity, RegisterError};
use dirigent::{AgentId, Clock, IdentityStore, MemoryIdentities, Reply, Turn, async_trait};
use dirigent_cluster::Guests;
use dirigent_relay::{CarryError, HostId, InProcess, Relay};
use dirigent_testkit::ManualClock;
use futures_util::FutureExt;

use super::fixture::{Hall, Owner, Speaker, named};
use super::way::Ways;
use crate::fleet::SECOND;

/// An agent that says this in each turn, after a while.
fn steady(hall: &Hall, name: &str, takes: Duration) -> Speaker {
    let (clock, who) = (hall.fleet.clock.clone(), name.to_owned());
    let count = Arc::new(AtomicU64::new(0));
    hall.speaker(name, move |turn: Turn| {
        let (clock, count, who) = (clock.clone(), Arc::clone(&count), who.clone());
        async move {
            tokio::select! {
                () = clock.sleep_until(clock.now() + takes) => {}
                () = turn.cancelled() => return Err("taken away".into()),
            }
            let number = count.fetch_add(1, Ordering::Relaxed);
            let word = ["alpha", "beta", "gamma", "delta", "epsilon"]
                [usize::try_from(number % 5).unwrap()];
            Ok(Reply::text(format!("{word} {number} of {who}")))
        }
    })
}

fn ways(hall: &Hall) -> Ways {
    Ways::new(&hall.fleet.relay, &hall.fleet.clock, 1)
}

/// What went wrong in agents since the last look.
fn faults(events: &mut dirigent::operate::Events) -> Vec<String> {
    let mut faults = Vec::new();
    while let Some(Some(event)) = events.next().now_or_never() {
        if let EventOrLag::AgentFailed(failure) = event {
            faults.push(failure.fault.to_string());
        }
    }
    faults
}

async fn speaker(hall: &Hall, owner: &Owner) -> Option<String> {
    let status = owner.process.dirigent.channel(hall.fleet.channel).status().await.unwrap();
    status.unwrap().speaker.map(|agent| agent.as_str().to_owned())
}

#[tokio::test]
async fn a_process_that_is_killed_in_the_middle_of_a_call_loses_that_turn_and_no_other() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let poet = steady(&hall, "poet", SECOND * 100);
    let critic = steady(&hall, "critic", SECOND);
    let one = hall.home("one", &[poet]);
    let _two = hall.home("two", &[critic]);
    hall.chat(&a).await;
    hall.fleet.pass(SECOND * 3).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    one.kill();
    hall.fleet.relay.disconnect(&named("one"));
    hall.fleet.pass(SECOND * 2).await;
    assert_eq!(speaker(&hall, &a).await.as_deref(), Some("poet"), "it may come back");
    hall.fleet.pass(SECOND).await;
    assert_eq!(speaker(&hall, &a).await.as_deref(), Some("critic"));
    assert!(a.guests.processes()[0].is_lost);
    hall.fleet.pass(SECOND * 2).await;
    assert!(hall.posts().await.iter().all(|(who, _)| who == "critic"));
    // Where it is back, its agent is asked again.
    let poet = steady(&hall, "poet", SECOND);
    let _one = hall.home("one", &[poet]);
    hall.fleet.pass(SECOND * 5).await;
    hall.fleet.say(&a.process, "Is the poet back?").await;
    hall.fleet.pass(SECOND * 5).await;
    assert!(hall.posts().await.iter().any(|(who, _)| who == "poet"));
    assert_eq!(hall.floor.overlaps(), [""; 0]);
}

/// A registry whose reads take five seconds from when the test says so.
struct Slow {
    inner: Arc<MemoryIdentities>,
    clock: ManualClock,
    takes_time: Arc<AtomicBool>,
}

#[async_trait]
impl IdentityStore for Slow {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        if self.takes_time.load(Ordering::Relaxed) {
            self.clock.sleep_until(self.clock.now() + SECOND * 5).await;
        }
        self.inner.all().await
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        self.inner.register(identity).await
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        self.inner.remove(agent).await
    }
}

/// The way of process "two", which is cut once the caller has heard of it.
struct Once {
    relay: InProcess,
    guests: Guests,
}

#[async_trait]
impl Relay for Once {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        if self.guests.processes().iter().any(|process| process.host == named("two")) {
            return Err(CarryError::unreachable("cut off"));
        }
        self.relay.carry(to, rule, bytes).await
    }
}

/// It is read when a process announces an agent that was not known before. The process that calls is cut off from all others in that moment.
#[tokio::test]
async fn a_process_that_is_lost_while_the_registry_is_read_is_given_up() {
    let mut hall = Hall::new().await;
    let is_slow = Arc::<AtomicBool>::default();
    let slow = Slow {
        inner: Arc::clone(&hall.fleet.registry),
        clock: hall.fleet.clock.clone(),
        takes_time: Arc::clone(&is_slow),
    };
    let way = Arc::new(hall.fleet.relay.clone());
    let a = hall.owner_by("a", way, |builder| builder.identities(slow));
    let poet = steady(&hall, "poet", SECOND * 100);
    let one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    let user = hall.fleet.discord.add_bot();
    let (agent_id, agent_name) = (AgentId::from("clown"), "Clown".to_owned());
    hall.fleet.agents.push((agent_id.clone(), user));
    let identity = Identity { discord_user_id: user, agent_id, agent_name };
    hall.fleet.registry.register(identity).await.unwrap();
    is_slow.store(true, Ordering::Relaxed);
    one.kill();
    hall.fleet.relay.disconnect(&named("one"));
    let clown = steady(&hall, "clown", SECOND);
    let way = Once { relay: hall.fleet.relay.clone(), guests: a.guests.clone() };
    let _two = hall.home_by("two", Arc::new(way), &[clown]);
    hall.fleet.pass(SECOND * 6).await;
    let lost: Vec<_> = a.guests.processes().iter().map(|process| process.is_lost).collect();
    assert_eq!(lost, [true, true]);
    assert_ne!(speaker(&hall, &a).await.as_deref(), Some("poet"));
}

#[tokio::test]
async fn a_process_that_stands_still_for_half_a_minute_says_nothing_of_that_time() {
    let mut hall = Hall::new().await;
    let ways = ways(&hall);
    let a = hall.owner_by("a", ways.of("a"), |builder| builder);
    let poet = steady(&hall, "poet", SECOND * 5);
    let critic = steady(&hall, "critic", SECOND * 2);
    let one = hall.home_by("one", ways.of("one"), &[poet]);
    let _two = hall.home_by("two", ways.of("two"), &[critic]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    ways.cut("one");
    one.stand_still(true);
    hall.fleet.pass(SECOND * 30).await;
    assert!(hall.posts().await.iter().all(|(who, _)| who == "critic"));
    ways.mend("one");
    one.stand_still(false);
    hall.fleet.settle().await;
    assert!(
        !hall.floor.running().contains(&"poet".to_owned()),
        "its call is over, and was not polled"
    );
    hall.fleet.pass(SECOND * 3).await;
    hall.fleet.say(&a.process, "And the poet?").await;
    hall.fleet.pass(SECOND * 20).await;
    assert!(hall.posts().await.iter().any(|(who, _)| who == "poet"));
    assert_eq!(hall.floor.overlaps(), [""; 0]);
}

/// At that moment and not with the next announcement, by when the process that called it may have called the next agent.
#[tokio::test]
async fn a_call_is_dropped_three_seconds_after_the_last_announcement_that_was_heard() {
    let mut hall = Hall::new().await;
    let ways = ways(&hall);
    let a = hall.owner_by("a", ways.of("a"), |builder| builder);
    let poet = steady(&hall, "poet", SECOND * 100);
    let one = hall.home_by("one", ways.of("one"), &[poet]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    ways.cut("one");
    // From now on announcements are sent at half seconds.
    hall.fleet.pass(SECOND / 2).await;
    let account = hall.fleet.discord.account(hall.fleet.moderator);
    one.hosting.host("clown", steady(&hall, "clown", SECOND), account);
    hall.fleet.pass(Duration::from_millis(2_499)).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    hall.fleet.pass(Duration::from_millis(1)).await;
    assert_eq!(hall.floor.running(), [""; 0]);
}

#[tokio::test]
async fn a_process_that_is_started_anew_is_noticed_at_once() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let poet = steady(&hall, "poet", SECOND * 100);
    let one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    let mut events = a.process.dirigent.events();
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    one.kill();
    hall.fleet.pass(Duration::from_millis(500)).await;
    let poet = steady(&hall, "poet", SECOND);
    let _one = hall.home("one", &[poet]);
    hall.fleet.settle().await;
    assert_eq!(faults(&mut events), ["one was started anew during the call"]);
    assert!(!a.guests.processes()[0].is_lost);
    hall.fleet.say(&a.process, "Once more").await;
    hall.fleet.pass(SECOND * 3).await;
    assert!(!hall.posts().await.is_empty());
}

/// A rolling restart: what runs ends, what comes meanwhile is done by the new process, and no turn is lost.
#[tokio::test]
async fn a_process_that_drains_before_it_is_started_anew_loses_no_turn() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let agents = |hall: &Hall| ["poet", "critic"].map(|name| steady(hall, name, SECOND * 2));
    let one = {
        let agents = agents(&hall);
        hall.home("one", &agents)
    };
    hall.chat(&a).await;
    let mut events = a.process.dirigent.events();
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    let hosting = one.hosting.clone();
    let draining = tokio::spawn(async move { hosting.drain().await });
    hall.fleet.pass(Duration::from_millis(500)).await;
    assert!(!draining.is_finished(), "a call is under way");
    hall.fleet.pass(SECOND).await;
    assert!(draining.is_finished(), "the turn is over");
    assert_eq!(hall.posts().await.len(), 1);
    assert_eq!(speaker(&hall, &a).await.as_deref(), Some("critic"));
    assert_eq!(hall.floor.running(), [""; 0], "it is taken by the next process");
    one.kill();
    hall.fleet.relay.disconnect(&named("one"));
    hall.fleet.pass(SECOND).await;
    let _one = {
        let agents = agents(&hall);
        hall.home("one", &agents)
    };
    hall.fleet.pass(SECOND * 3).await;
    let posts = hall.posts().await;
    assert_eq!(posts[1].0, "critic");
    assert_eq!(faults(&mut events), [""; 0]);
}

/// A process that resigns waits for the calls that it has made: they go on, however long they take, and their replies are posted.
#[tokio::test]
async fn a_call_of_a_process_that_is_about_to_end_goes_on() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let poet = steady(&hall, "poet", SECOND * 20);
    let critic = steady(&hall, "critic", SECOND);
    let _one = hall.home("one", &[poet, critic]);
    hall.chat(&a).await;
    hall.fleet.pass(SECOND * 3).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    hall.fleet.table.resign(&named("a"));
    let dirigent = a.process.dirigent.clone();
    let ended = tokio::spawn(async move { dirigent.shutdown(SECOND * 30).await });
    hall.fleet.pass(SECOND * 25).await;
    ended.await.unwrap();
    let posts = hall.posts().await;
    assert_eq!(posts.iter().filter(|(who, _)| who == "poet").count(), 1, "{posts:?}");
}

/// After a restart of the database a process is not named before it has renewed its leases.
#[tokio::test]
async fn agents_stay_online_for_a_process_that_is_not_named_for_a_moment() {
    let mut hall = Hall::new().await;
    let a = hall.owner("a");
    let poet = steady(&hall, "poet", SECOND);
    let _one = hall.home("one", &[poet]);
    hall.chat(&a).await;
    hall.fleet.pass(SECOND * 3).await;
    hall.fleet.table.resign(&named("a"));
    hall.fleet.pass(SECOND * 8).await;
    assert!(!a.guests.processes()[0].is_lost);
    hall.fleet.pass(SECOND * 8).await;
    assert!(a.guests.processes()[0].is_lost, "it has ended");
}

/// The process that acts for the channel ends in the middle of a call, and another takes the channel over.
#[tokio::test]
async fn a_call_of_a_process_that_ended_is_over_when_its_successor_calls() {
    let mut hall = Hall::new().await;
    let ways = ways(&hall);
    let mut a = hall.owner_by("a", ways.of("a"), |builder| builder);
    let b = hall.owner_by("b", ways.of("b"), |builder| builder);
    let poet = steady(&hall, "poet", SECOND * 5);
    let critic = steady(&hall, "critic", SECOND * 5);
    let _one = hall.home_by("one", ways.of("one"), &[poet]);
    let _two = hall.home_by("two", ways.of("two"), &[critic]);
    hall.chat(&a).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    assert_eq!(hall.floor.running(), ["poet"]);
    a.process.kill();
    hall.fleet.relay.disconnect(&named("a"));
    hall.fleet.pass(SECOND * 12).await;
    assert!(hall.posts().await.is_empty(), "what it answered was for the dead process");
    assert_eq!(hall.floor.running(), [""; 0]);
    hall.fleet.table.give(hall.fleet.channel, Some(&named("b")));
    hall.fleet.pass(SECOND * 4).await;
    hall.fleet.say(&b.process, "Go on").await;
    hall.fleet.pass(SECOND * 30).await;
    let posts = hall.posts().await;
    assert!(posts.len() >= 4, "{posts:?}");
    let mut texts: Vec<_> = posts.iter().map(|(_, text)| text).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), posts.len());
    assert_eq!(hall.floor.overlaps(), [""; 0]);
}

/// The channel changes hands while the call runs: its earlier owner's call is cancelled by that of the next one.
#[tokio::test]
async fn a_channel_that_is_taken_over_at_once_has_one_agent_at_a_time() {
    let mut hall = Hall::new().await;
    let mut a = hall.owner("a");
    let b = hall.owner("b");
    let poet = steady(&hall, "poet", SECOND * 5);
    let critic = steady(&hall, "critic", SECOND * 5);
    let _one = hall.home("one", &[poet, critic]);
    hall.chat(&a).await;
    hall.fleet.pass(SECOND).await;
    hall.fleet.say(&a.process, "Hello").await;
    hall.fleet.pass(SECOND).await;
    a.process.kill();
    hall.fleet.table.give(hall.fleet.channel, Some(&named("b")));
    hall.fleet.say(&b.process, "Go on").await;
    hall.fleet.pass(SECOND * 30).await;
    assert!(hall.posts().await.len() >= 3);
    assert_eq!(hall.floor.overlaps(), [""; 0]);
}
