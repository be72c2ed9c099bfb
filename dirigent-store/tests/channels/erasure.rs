//! What is erased is in no file.

use std::fs;

use dirigent::ChannelId;
use dirigent::store::ChannelStore;

use crate::channels::place::{Place, request, stored};
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

/// The record goes last. In which order a folder names its files is chance, so many channels are tried.
#[tokio::test]
async fn a_channel_that_could_not_be_erased_does_not_begin_anew() {
    let (place, store) = Place::opened();
    for channel in (1..=24).map(ChannelId::new) {
        store.commit(request(channel, 0, 1)).await.unwrap();
        let history = place.main(channel).with_extension("history.jsonl");
        fs::create_dir(&history).unwrap();
        assert!(store.delete(channel).await.is_err());
        assert!(store.commit(request(channel, 0, 1)).await.is_err());
        assert_eq!(stored(&store, channel).await, Some((1, 1)));
        fs::remove_dir(history).unwrap();
        assert!(store.delete(channel).await.unwrap());
        store.commit(request(channel, 0, 2)).await.unwrap();
        assert_eq!(stored(&store, channel).await, Some((1, 2)));
    }
    store.close().await.unwrap();
}

/// No older state stays beside the newest one, so the store need not be closed for it.
#[tokio::test]
async fn a_reply_that_was_posted_is_in_no_file_of_a_store_that_is_open() {
    let (place, store) = Place::opened();
    talk(&store, place.root()).await;
    assert_eq!(holders(place.root()), [] as [&str; 0]);
    store.close().await.unwrap();
}
