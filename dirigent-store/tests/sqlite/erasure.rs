//! What is erased is in no file.

use crate::shared::erased::{delete, holders, talk};
use crate::sqlite::place::Place;

#[tokio::test]
async fn a_reply_that_was_posted_is_in_no_file_of_a_store_that_was_closed() {
    let place = Place::new();
    let store = place.open();
    talk(&store, &place.folder()).await;
    store.close().await.unwrap();
    assert_eq!(holders(&place.folder()), [] as [&str; 0]);
}

#[tokio::test]
async fn a_channel_that_was_deleted_is_in_no_file_of_the_store() {
    let place = Place::new();
    let store = place.open();
    delete(&store, &place.folder()).await;
    store.close().await.unwrap();
    assert_eq!(holders(&place.folder()), [] as [&str; 0]);
}
