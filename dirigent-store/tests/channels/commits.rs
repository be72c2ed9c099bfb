//! Commits: facts and turn state alike are on the disk when they are answered, in order.

use std::sync::Arc;

use dirigent::ChannelId;
use dirigent::store::{ChannelStore, Durability};
use dirigent_store::{ChannelOptions, JsonChannels, OpenError, StoreError};

use crate::channels::place::{HERE, Place, cause, fact, failed, request, stored, turn, written};

/// D77
#[tokio::test]
async fn a_channel_is_one_file_that_is_replaced_with_each_commit() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    for number in 2..20 {
        turn(&store, HERE, number - 1, number).await;
        assert_eq!(written(&place.main(HERE)), (number, number));
        assert_eq!(place.names(), [format!("{HERE}.json")]);
    }
    store.close().await.unwrap();
    assert_eq!(written(&place.main(HERE)), (19, 19));
    assert_eq!(place.names(), [format!("{HERE}.json")]);
}

/// R046
#[tokio::test]
async fn the_last_handle_finishes_what_was_asked() {
    let (place, store) = Place::opened();
    let clone = store.clone();
    let mut attempts: Vec<_> = (0..40)
        .map(|number| Box::pin(clone.commit(request(ChannelId::new(number), 0, 1))))
        .collect();
    for attempt in &mut attempts {
        assert!(futures_util::FutureExt::now_or_never(attempt).is_none());
    }
    drop(attempts);
    drop(store);
    drop(clone);
    assert_eq!(place.names().len(), 40);
    assert!((0..40).all(|number| written(&place.main(ChannelId::new(number))) == (1, 1)));
}

/// D77
#[tokio::test]
async fn what_a_killed_process_left_is_what_the_next_one_goes_on_from() {
    let (place, store) = Place::opened();
    turn(&store, HERE, 0, 1).await;
    // As a killed process leaves it: without a close.
    let copy = Place::new();
    std::fs::create_dir_all(copy.main(HERE).parent().unwrap()).unwrap();
    std::fs::copy(place.main(HERE), copy.main(HERE)).unwrap();
    let next = copy.open();
    assert_eq!(next.channels().await.unwrap(), [HERE]);
    turn(&next, HERE, 1, 2).await;
    assert_eq!(stored(&next, HERE).await, Some((2, 2)));
}

/// Commits of many channels are made at once, and each is there when it is answered.
#[tokio::test]
async fn commits_at_once_are_all_there() {
    let place = Place::new();
    let store = Arc::new(place.open());
    let mut facts = tokio::task::JoinSet::new();
    for number in 1..=200 {
        let store = Arc::clone(&store);
        facts.spawn(async move {
            fact(&*store, ChannelId::new(number), 0, number).await;
            number
        });
    }
    while let Some(number) = facts.join_next().await {
        let number = number.unwrap();
        assert_eq!(written(&place.main(ChannelId::new(number))), (1, number));
    }
    assert_eq!(store.channels().await.unwrap().len(), 200);
}

/// What is asked of a channel while its fact is on the way waits for it.
#[tokio::test]
async fn a_channel_is_asked_in_order() {
    let (_place, store) = Place::opened();
    let mut first = request(HERE, 0, 1);
    first.durability = Durability::Fact;
    let mut third = request(HERE, 2, 3);
    third.durability = Durability::Fact;
    let stale = request(HERE, 0, 9);
    let (one, two, read, no, three, end) = tokio::join!(
        store.commit(first),
        store.commit(request(HERE, 1, 2)),
        store.load(HERE),
        store.commit(stale),
        store.commit(third),
        store.load(HERE),
    );
    assert_eq!((one.unwrap().get(), two.unwrap().get(), three.unwrap().get()), (1, 2, 3));
    assert_eq!(read.unwrap().unwrap().revision.get(), 2);
    assert!(no.is_err());
    assert_eq!(end.unwrap().unwrap().revision.get(), 3);
    assert_eq!(stored(&store, HERE).await, Some((3, 3)));
}

/// A caller who goes away stops nothing.
#[tokio::test]
async fn a_commit_whose_caller_is_gone_is_made() {
    let (_place, store) = Place::opened();
    let mut commit = request(HERE, 0, 1);
    commit.durability = Durability::Fact;
    let mut attempt = Box::pin(store.commit(commit));
    assert!(futures_util::FutureExt::now_or_never(&mut attempt).is_none());
    drop(attempt);
    assert_eq!(stored(&store, HERE).await, Some((1, 1)));
}

#[tokio::test]
async fn a_closed_store_says_so_and_lets_the_next_one_in() {
    let (place, store) = Place::opened();
    turn(&store, HERE, 0, 1).await;
    let error = JsonChannels::open(place.root()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    store.close().await.unwrap();
    let error = failed(store.load(HERE).await);
    assert!(matches!(cause(&error), StoreError::Closed { .. }), "{error:?}");
    store.close().await.unwrap();
    let next = place.open();
    assert_eq!(stored(&next, HERE).await, Some((1, 1)));
    // One that was never used, too.
    drop(next);
    place.open().close().await.unwrap();
    place.open();
}

/// What may be sent, shared and cloned is part of the interface, and easily lost unnoticed.
#[test]
fn stores_and_what_they_tell_travel_between_tasks() {
    const fn cloned<T: Clone + Send + Sync + 'static>() {}
    cloned::<JsonChannels>();
    cloned::<ChannelOptions>();
    cloned::<dirigent_store::ChannelProblem>();
    cloned::<dirigent_store::ParsedChannel>();
}

/// What a registry opens from, a store of channels does, too.
#[test]
fn a_store_opens_from_any_kind_of_path() {
    let place = Place::new();
    let path = place.root().to_owned();
    JsonChannels::open(&path).unwrap();
    JsonChannels::open(path.as_path()).unwrap();
    JsonChannels::open(path.to_str().unwrap()).unwrap();
    JsonChannels::open(path.to_str().unwrap().to_owned()).unwrap();
    JsonChannels::open(path).unwrap();
}

#[tokio::test]
async fn nothing_of_a_commit_is_kept() {
    let (_place, store) = Place::opened();
    crate::shared::commits::nothing_of_a_commit_is_kept(&store, HERE).await;
}
