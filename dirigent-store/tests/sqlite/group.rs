//! Many callers at once.

use dirigent::ChannelId;
use dirigent::store::{ChannelStore, CommitError};
use futures_util::FutureExt as _;
use futures_util::future::join_all;

use crate::shared::commits::{HERE, fact, request, stored};
use crate::sqlite::place::Place;

#[tokio::test]
async fn of_two_commits_from_one_revision_one_is_made_whoever_else_commits() {
    let place = Place::new();
    let store = place.open();
    for expected in 0..5 {
        let number = expected + 1;
        let twice = (0..200_u64).flat_map(|id| [id, id]).map(ChannelId::new);
        let commits = twice.map(|channel| store.commit(request(channel, expected, number)));
        let mut made = 0;
        for outcome in join_all(commits).await {
            match outcome {
                Ok(revision) => {
                    assert_eq!(revision.get(), number);
                    made += 1;
                }
                Err(CommitError::Conflict { found }) => assert_eq!(found.get(), number),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(made, 200);
    }
    store.close().await.unwrap();
    let store = place.open();
    for id in store.channels().await.unwrap() {
        assert_eq!(stored(&store, id).await, Some((5, 5)));
    }
}

/// What was asked for is done even if nobody waits for the answer.
#[tokio::test]
async fn dropping_the_store_waits_for_what_it_was_asked() {
    let place = Place::new();
    let store = place.open();
    fact(&store, HERE, 0, 1).await;
    let _ = store.commit(request(HERE, 1, 2)).now_or_never();
    drop(store);
    assert_eq!(stored(&place.open(), HERE).await, Some((2, 2)));
}
