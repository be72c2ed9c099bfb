//! Several stores on one database: who acts for which channels.

use std::time::Duration;

use dirigent::ports::{Ownership, Standing};
use dirigent::store::{ChannelStore, CommitError};
use dirigent::{ChannelId, Clock, SystemClock};
use dirigent_store::{PostgresProblem, PostgresStore};

use crate::postgres::place::{Opened, Place};
use crate::shared::commits::{HERE, fact, request, stored};

/// Waits until this is so; a minute at most.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) -> Duration {
    let clock = SystemClock::new();
    let start = clock.now();
    while !is_so() {
        assert!(clock.now().since(start) < Duration::from_secs(60), "{what}: not within a minute");
        clock.sleep_until(clock.now() + Duration::from_millis(5)).await;
    }
    clock.now().since(start)
}

/// Has a store told what changed, as the driver does.
pub(crate) fn follow(store: &PostgresStore) {
    let store = store.clone();
    tokio::spawn(async move {
        loop {
            store.changed().await;
        }
    });
}

async fn joined(place: &Place) -> Opened {
    let opened = Opened::new(place.options()).await;
    follow(&opened.store);
    opened
}

fn channels() -> impl Iterator<Item = ChannelId> {
    (0..200).map(|number| ChannelId::new(100_000_000_000_000_000 + (number << 22)))
}

/// R178: whom to ask for a channel. A process without a name is asked nothing.
#[tokio::test(flavor = "multi_thread")]
async fn each_named_process_knows_by_name_which_one_acts_for_a_channel() {
    let Some(place) = Place::new() else { return };
    let first = Opened::new(place.options().process("bot-1")).await;
    let second = Opened::new(place.options().process("bot-2")).await;
    let nameless = joined(&place).await;
    follow(&first.store);
    follow(&second.store);
    let names = |store: &PostgresStore| {
        store.processes().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    until("each knows both", || {
        [&first, &second].iter().all(|opened| names(&opened.store) == ["bot-1", "bot-2"])
    })
    .await;
    assert!(names(&nameless.store).is_empty());
    let is_true = |channel: ChannelId| {
        let owners = [&first, &second].map(|opened| opened.store.owner(channel));
        let of = |opened: &Opened, name: &str| {
            let holds = opened.store.standing(channel) != Standing::Elsewhere;
            owners.iter().all(|owner| (owner.as_deref() == Some(name)) == holds)
        };
        of(&first, "bot-1") && of(&second, "bot-2")
    };
    until("it is so of every channel", || channels().all(is_true)).await;
    first.store.resign();
    first.store.close().await;
    until("one is gone", || names(&second.store) == ["bot-2"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_the_shards_and_hand_them_over_when_one_comes_or_goes() {
    let Some(place) = Place::new() else { return };
    let first = joined(&place).await;
    until("alone", || first.store.share() == (8, 1)).await;
    fact(&first.store, HERE, 0, 1).await;
    let second = joined(&place).await;
    until("shared by two", || first.store.share() == (4, 2) && second.store.share() == (4, 2))
        .await;
    for channel in channels() {
        let both = [&first.store, &second.store].map(|store| store.standing(channel));
        assert!(both.contains(&Standing::Elsewhere), "{both:?}");
    }
    let third = joined(&place).await;
    let shares = || [&first, &second, &third].map(|opened| opened.store.share().0);
    until("shared by three", || {
        shares().iter().all(|share| (2..=3).contains(share)) && shares().iter().sum::<usize>() == 8
    })
    .await;
    // In order, what one leaves is the others' at once.
    first.close().await;
    let took = until("taken over", || second.store.share().0 + third.store.share().0 == 8).await;
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    second.close().await;
    until("alone again", || third.store.share() == (8, 1)).await;
    assert_eq!(stored(&third.store, HERE).await, Some((1, 1)));
    fact(&third.store, HERE, 1, 2).await;
    third.close().await;
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.shards WHERE owner IS NULL"), "8");
    assert_eq!(place.sql("SELECT count(*) FROM dirigent.members"), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_held_is_taken_over_within_the_ttl_and_a_fifth() {
    let Some(place) = Place::new() else { return };
    let first = joined(&place).await;
    until("alone", || first.store.share() == (8, 1)).await;
    fact(&first.store, HERE, 0, 1).await;
    let second = joined(&place).await;
    until("shared", || second.store.share() == (4, 2)).await;
    let (store, start) = (first.store.clone(), SystemClock::new().now());
    first.kill().await;
    assert_eq!(store.standing(HERE), Standing::Elsewhere);
    assert!(store.load(HERE).await.is_err(), "a store without its link answers");
    until("taken over", || second.store.standing(HERE) == Standing::Held).await;
    let took = SystemClock::new().now().since(start);
    assert!(took < Duration::from_millis(2_600), "{took:?}");
    fact(&second.store, HERE, 1, 2).await;
    second.close().await;
}

/// Whoever resigns starts nothing new, and still stores what is under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_resigned_is_quiet_and_stores_until_it_is_closed() {
    let Some(place) = Place::new() else { return };
    let opened = joined(&place).await;
    until("alone", || opened.store.standing(HERE) == Standing::Held).await;
    opened.store.resign();
    assert_eq!(opened.store.standing(HERE), Standing::Quiet);
    until("known", || place.sql("SELECT count(*) FROM dirigent.members") == "0").await;
    fact(&opened.store, HERE, 0, 1).await;
    let store = opened.store.clone();
    opened.close().await;
    assert!(matches!(store.commit(request(HERE, 1, 2)).await, Err(CommitError::Elsewhere)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_driver_is_told_which_channels_came_before_they_are_held() {
    let Some(place) = Place::new() else { return };
    let first = place.open().await;
    for channel in channels() {
        first.store.commit(request(channel, 0, 1)).await.unwrap();
    }
    let second = Opened::new(place.options()).await;
    follow(&first.store);
    until("handed over", || second.store.share().0 == 4).await;
    assert!(channels().all(|channel| second.store.standing(channel) == Standing::Elsewhere));
    let mut came = Vec::new();
    while channels().filter(|channel| second.store.standing(*channel) == Standing::Held).count()
        < 50
    {
        came.extend(second.store.changed().await);
    }
    let held: Vec<_> =
        channels().filter(|channel| second.store.standing(*channel) == Standing::Held).collect();
    came.sort_unstable();
    assert_eq!(came, held);
    first.close().await;
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_give_an_agent_one_key_and_an_account_one_owner() {
    use dirigent::IdentityStore;
    use dirigent::ports::Identity;
    let Some(place) = Place::new() else { return };
    let (first, second) = (joined(&place).await, joined(&place).await);
    let names: Vec<String> = (0..40).map(|number| format!("agent-{number}")).collect();
    let adds = names.iter().flat_map(|name| {
        [&first.store, &second.store].map(|store| store.add_agent(name.as_str().into()))
    });
    let keys = futures_util::future::try_join_all(adds).await.unwrap();
    let mut firsts = Vec::new();
    for pair in keys.chunks(2) {
        assert_eq!(pair[0], pair[1]);
        firsts.push(pair[0].get());
    }
    firsts.sort_unstable();
    assert_eq!(firsts, (0..40).collect::<Vec<_>>());
    let identity = |agent: &str| Identity {
        discord_user_id: dirigent::UserId::new(123_456_789_012_345_678),
        agent_id: agent.into(),
        agent_name: agent.to_owned(),
    };
    let (one, two) = tokio::join!(
        first.store.register(identity("agent-1")),
        second.store.register(identity("agent-2")),
    );
    assert_eq!(usize::from(one.is_ok()) + usize::from(two.is_ok()), 1, "{one:?} {two:?}");
    assert_eq!(first.store.all().await.unwrap(), second.store.all().await.unwrap());
    first.close().await;
    second.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_that_arrive_are_no_problem() {
    let Some(place) = Place::new() else { return };
    let opened = joined(&place).await;
    until("alone", || opened.store.share() == (8, 1)).await;
    fact(&opened.store, HERE, 0, 1).await;
    assert!(!opened.store.problems().contains(&PostgresProblem::Silent));
    opened.close().await;
}
