//! What is erased is in no file.

use std::fs;

use dirigent::store::{Barred, ChannelStore};

use crate::channels::place::{HERE, Place, THERE, barred, frame, request};
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

/// What bars a channel stays, and no text of another channel with it.
#[tokio::test]
async fn a_turn_that_cannot_become_a_file_keeps_no_texts_of_other_channels() {
    let (place, store) = Place::opened();
    talk(&store, place.root()).await;
    let (path, texts) = place.left(store).await;
    let newer = frame(THERE, 4, 0, b"{\"version\": 3, \"all\": [\"elsewhere\"]}\n");
    fs::write(&path, [texts.into_bytes(), newer.clone()].concat()).unwrap();
    assert_eq!(holders(place.root()), ["turns-1.log"]);
    for _ in 0..2 {
        let store = place.lazy();
        assert_eq!(barred(&store, THERE).await, Barred::OtherVersion);
        store.close().await.unwrap();
        assert_eq!(holders(place.root()), [] as [&str; 0]);
        assert_eq!(fs::read(place.log()).unwrap(), newer);
    }
}

/// What is damaged names no channel, so it goes with any that is deleted.
#[tokio::test]
async fn a_deleted_channels_damaged_turns_are_in_no_file_but_the_copy_that_was_kept() {
    let (place, store) = Place::opened();
    talk(&store, place.root()).await;
    let (path, texts) = place.left(store).await;
    fs::write(&path, texts.replace(&format!("turn {HERE}"), "turn 9")).unwrap();
    let store = place.lazy();
    assert_eq!(store.problems().len(), 1);
    assert!(store.delete(HERE).await.unwrap());
    store.close().await.unwrap();
    assert_eq!(holders(place.root()), ["turns-1.log.corrupt-1"]);
}

/// An older turn that came back would have a higher revision than what is committed anew.
#[tokio::test]
async fn a_channel_that_could_not_be_erased_does_not_begin_anew() {
    let (place, store) = Place::opened();
    talk(&store, place.root()).await;
    let unreadable = place.root().join("turns-9.log");
    fs::create_dir(&unreadable).unwrap();
    assert!(store.delete(HERE).await.is_err());
    assert!(store.commit(request(HERE, 0, 1)).await.is_err());
    fs::remove_dir(unreadable).unwrap();
    assert!(store.delete(HERE).await.unwrap());
    store.commit(request(HERE, 0, 1)).await.unwrap();
    store.close().await.unwrap();
    assert_eq!(holders(place.root()), [] as [&str; 0]);
}
