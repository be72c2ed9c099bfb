//! What is erased is in no file.

use std::fs;

use dirigent::store::ChannelStore;

use crate::channels::place::{HERE, Place, request, stored};
use crate::shared::erased::{delete, holders, talk};

#[tokio::test]
async fn a_reply_that_was_posted_is_in_no_file_of_a_store_that_was_closed() {
    let (place, store) = Place::opened();
    talk(&store, place.root()).await;
    store.close().await.unwrap();
    assert_eq!(holders(place.root()), [] as [&str; 0]);
}

#[tokio::test]
async fn a_channel_that_was_deleted_is_in_no_file_of_the_store() {
    let (place, store) = Place::opened();
    delete(&store, place.root()).await;
    store.close().await.unwrap();
    assert_eq!(holders(place.root()), [] as [&str; 0]);
}

/// The record goes last.
#[tokio::test]
async fn a_channel_that_could_not_be_erased_does_not_begin_anew() {
    let (place, store) = Place::opened();
    talk(&store, place.root()).await;
    let history = place.main(HERE).with_extension("history.jsonl");
    fs::create_dir(&history).unwrap();
    assert!(store.delete(HERE).await.is_err());
    assert!(store.commit(request(HERE, 0, 1)).await.is_err());
    assert_eq!(stored(&store, HERE).await, Some((6, 2)));
    fs::remove_dir(history).unwrap();
    assert!(store.delete(HERE).await.unwrap());
    store.commit(request(HERE, 0, 1)).await.unwrap();
    store.close().await.unwrap();
    assert_eq!(holders(place.root()), [] as [&str; 0]);
}

/// No older state stays beside the newest one, so the store need not be closed for it.
#[tokio::test]
async fn a_reply_that_was_posted_is_in_no_file_of_a_store_that_is_open() {
    let (place, store) = Place::opened();
    talk(&store, place.root()).await;
    assert_eq!(holders(place.root()), [] as [&str; 0]);
    store.close().await.unwrap();
}
