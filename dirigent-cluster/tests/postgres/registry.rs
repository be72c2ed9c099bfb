//! Several stores on one database: what one process changes in the registry, the others learn.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dirigent::ports::Identity;
use dirigent::{AgentId, Dirigent, IdentityStore, SystemClock, UserId};
use dirigent_cluster::PostgresStore;
use dirigent_testkit::MemoryDiscord;
use futures_util::FutureExt;

use crate::postgres::leases::until;
use crate::postgres::place::{Opened, Place};

const ACCOUNT: u64 = 123_456_789_012_345_678;

fn identity(agent: &str, user: UserId) -> Identity {
    let agent_name = agent.to_owned();
    Identity { discord_user_id: user, agent_id: agent.into(), agent_name }
}

/// How often the store said that the registry had changed.
fn counted(store: &PostgresStore) -> Arc<AtomicUsize> {
    let (store, count) = (store.clone(), Arc::<AtomicUsize>::default());
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        loop {
            store.changed_elsewhere().await;
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    count
}

/// R178: no call of the host is needed. An agent that one process registers, removes, or gives another account is known to the
/// other one within a second or two.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_registry_reaches_the_driver_of_another_process() {
    let Some(place) = Place::new() else { return };
    let (first, second) = (Opened::new(place.options()).await, Opened::new(place.options()).await);
    let clock = Arc::new(SystemClock::new());
    let discord = MemoryDiscord::new(Arc::clone(&clock) as _);
    let (moderator, agents) = (discord.add_bot(), [discord.add_bot(), discord.add_bot()]);
    let store = second.store.clone();
    let (dirigent, driver) = Dirigent::builder(Arc::new(discord.account(moderator)))
        .channels(store.clone())
        .identities(store.clone())
        .ownership(store.clone())
        .build()
        .unwrap();
    let driver = tokio::spawn(driver.run());
    until("the driver runs", || second.store.share().0 > 0).await;
    let ada = AgentId::from("ada");
    let (register, again) = (identity("ada", agents[0]), identity("ada", agents[1]));
    let steps: [(&str, Option<Identity>, &[UserId]); 3] = [
        ("registered", Some(register), &agents[..1]),
        ("another account", Some(again), &agents[1..]),
        ("removed", None, &[]),
    ];
    for (what, change, expected) in steps {
        match change {
            Some(identity) => first.store.register(identity).await.unwrap(),
            None => assert!(first.store.remove(ada.clone()).await.unwrap()),
        }
        let took = until(what, || dirigent.agent_accounts() == expected).await;
        assert!(took < Duration::from_secs(2), "{what}: {took:?}");
    }
    driver.abort();
    first.close().await;
    second.close().await;
}

/// Also where notifications are kept back, and where a person changed the table.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_once_whoever_made_it_and_what_changes_nothing_is_not_told() {
    let Some(place) = Place::new() else { return };
    let (first, second) = (Opened::new(place.options()).await, Opened::new(place.options()).await);
    let told = counted(&second.store);
    let are = |count: usize| {
        let told = Arc::clone(&told);
        move || told.load(Ordering::SeqCst) == count
    };
    until("the first look", are(1)).await;
    let ada = identity("ada", UserId::new(ACCOUNT));
    first.store.register(ada.clone()).await.unwrap();
    until("registered", are(2)).await;
    // Each start of a host registers its agents.
    first.store.register(ada).await.unwrap();
    assert!(!first.store.remove("bob".into()).await.unwrap());
    // Raised without a notification: it is found by looking.
    place.sql("UPDATE dirigent.cluster SET registry = registry + 1");
    until("without a notification", are(3)).await;
    place.sql("UPDATE dirigent.identities SET name = '\"Ada\"'");
    until("by a person", are(4)).await;
    second.store.register(identity("bob", UserId::new(ACCOUNT + 1))).await.unwrap();
    until("by itself", are(5)).await;
    // A store that is opened later, or whose driver read the registry before its first look.
    let third = Opened::new(place.options()).await;
    until("at the start", {
        let told = counted(&third.store);
        move || told.load(Ordering::SeqCst) == 1
    })
    .await;
    until("second has looked again", || second.store.share().1 == 3).await;
    assert_eq!(told.load(Ordering::SeqCst), 5, "a change is told once");
    for opened in [first, second, third] {
        opened.close().await;
    }
}

/// The next look at the leases comes only after 6 s here.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_at_once_where_notifications_arrive() {
    let Some(place) = Place::new() else { return };
    let opened = place.open_as(place.options().ttl(Duration::from_secs(60))).await;
    let told = counted(&opened.store);
    let are = |count: usize| {
        let told = Arc::clone(&told);
        move || told.load(Ordering::SeqCst) == count
    };
    until("the first look", are(1)).await;
    opened.store.register(identity("ada", UserId::new(ACCOUNT))).await.unwrap();
    let took = until("registered", are(2)).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    place.sql("UPDATE dirigent.identities SET name = '\"Ada\"'");
    let took = until("by a person", are(3)).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    opened.close().await;
}

/// Waiting may be given up at any time.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_to_the_next_who_waits_where_one_has_given_up() {
    let Some(place) = Place::new() else { return };
    let opened = place.open().await;
    opened.store.changed_elsewhere().await;
    assert!(opened.store.changed_elsewhere().now_or_never().is_none());
    opened.store.register(identity("ada", UserId::new(ACCOUNT))).await.unwrap();
    opened.store.changed_elsewhere().await;
    opened.close().await;
}
