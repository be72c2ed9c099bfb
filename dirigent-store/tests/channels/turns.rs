//! Turns are written at once and synced behind; facts are synced at once.

use std::fs;
use std::sync::Arc;

use dirigent::hooks::{RunId, TurnId};
use dirigent::ports::Nonce;
use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelStore, Durability, Outgoing, OutgoingPart, ReplyEnd};
use dirigent::{ChannelId, MessageId};
use dirigent_store::{ChannelOptions, FileDurability, JsonChannels, OpenError, StoreError};

use crate::channels::place::{
    HERE, Place, THERE, cause, fact, failed, in_turn, request, stored, turn, written,
};

/// D77
#[tokio::test]
async fn a_turn_is_in_the_log_until_it_becomes_its_channels_file() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    for number in 2..20 {
        turn(&store, HERE, number - 1, number).await;
        assert_eq!(in_turn(&place, HERE), Some((number, number)));
        assert_eq!(written(&place.main(HERE)), (1, 1), "a turn became a file before its time");
    }
    store.close().await.unwrap();
    assert_eq!(written(&place.main(HERE)), (19, 19));
    assert_eq!(place.names(), [format!("{HERE}.json")]);
    assert!(place.logs().is_empty());
}

/// D77
#[tokio::test]
async fn a_fact_takes_the_turns_before_it_along() {
    let (place, store) = Place::opened();
    turn(&store, HERE, 0, 1).await;
    turn(&store, THERE, 0, 2).await;
    fact(&store, HERE, 1, 3).await;
    assert_eq!(written(&place.main(HERE)), (2, 3));
    assert_eq!(place.names().iter().filter(|name| name.starts_with(&HERE.to_string())).count(), 1);
    assert_eq!(in_turn(&place, THERE), Some((1, 2)));
    store.close().await.unwrap();
    assert_eq!(written(&place.main(HERE)), (2, 3), "an older turn was synced over the fact");
}

/// How many bytes are written for each part of a reply that is posted, beside the reply itself.
async fn bytes_a_part(parts: usize) -> u64 {
    let (place, store) = Place::opened();
    let size = || place.logs().iter().map(|log| fs::metadata(log).unwrap().len()).sum::<u64>();
    let part = |number: usize| OutgoingPart {
        content: format!("{number} ").repeat(400).into(),
        nonce: Nonce::from_parts(1, 2, number as u64),
        posted: None,
    };
    let mut outgoing = Outgoing {
        agent: AgentKey::new(1),
        turn: TurnId::new(1),
        run: RunId::new(5),
        end: ReplyEnd::Finished,
        parts: (0..parts).map(part).collect(),
        after: None,
        composed_at: None,
        doubt_since: None,
        waiting_since: None,
        extras: None,
    };
    let mut before = 0;
    for posted in 0..=parts {
        let mut commit = request(HERE, posted as u64, 1);
        Arc::make_mut(&mut commit.record).outgoing = Some(Arc::new(outgoing.clone()));
        Arc::make_mut(&mut commit.record).heard = Some(MessageId::new(posted as u64 + 1));
        store.commit(commit).await.unwrap();
        if posted == 0 {
            before = size();
        }
        if let Some(part) = outgoing.parts.get_mut(posted) {
            part.posted = Some(MessageId::new(posted as u64 + 1));
        }
    }
    let written = (size() - before) / parts as u64;
    let found = store.load(HERE).await.unwrap().unwrap().record.outgoing.unwrap();
    assert!(found.parts.iter().all(|part| part.posted.is_some()));
    written
}

/// With each part that is posted, what changed is written; the whole reply again no sooner than the changes together
/// are as long as it is. So a part costs at most twice what changes.
#[tokio::test]
async fn what_is_written_for_a_part_of_a_reply_does_not_grow_with_the_reply() {
    let (few, many) = (bytes_a_part(20).await, bytes_a_part(200).await);
    assert!(many < 2 * few && many < 6_000, "{few} bytes a part of 20, {many} of 200");
}

/// What many channels wrote in one file becomes their files, and the log goes, as soon as that is full.
#[tokio::test]
async fn a_full_log_becomes_files_without_being_asked() {
    let (place, store) = Place::opened();
    let mut last = 0;
    while place.logs().iter().all(|path| path.ends_with("turns-1.log")) {
        last += 1;
        for number in 1..=40 {
            turn(&store, ChannelId::new(number), last - 1, last).await;
        }
    }
    // Whoever comes later finds it done; how long it takes is the disk's affair.
    while place.logs().len() > 1 || place.files().len() < 40 {
        let _ = store.channels().await.unwrap();
        std::thread::yield_now();
    }
    assert_eq!(place.files().len(), 40);
    for number in 1..=40 {
        assert_eq!(stored(&store, ChannelId::new(number)).await, Some((last, last)));
        assert!(written(&place.main(ChannelId::new(number))).0 >= last - 1);
    }
    store.close().await.unwrap();
    assert!(place.logs().is_empty());
}

/// R046
#[tokio::test]
async fn the_last_handle_syncs_what_is_left() {
    let (place, store) = Place::opened();
    turn(&store, HERE, 0, 1).await;
    let clone = store.clone();
    drop(store);
    turn(&clone, HERE, 1, 2).await;
    drop(clone);
    assert_eq!(written(&place.main(HERE)), (2, 2));
    assert_eq!(place.names().len(), 1);
    assert!(place.logs().is_empty());
}

/// D77
#[tokio::test]
async fn turns_of_a_process_that_was_killed_are_synced_by_the_next() {
    let (place, store) = Place::opened();
    fact(&store, HERE, 0, 1).await;
    turn(&store, HERE, 1, 2).await;
    let left = fs::read(&place.logs()[0]).unwrap();
    let path = place.log();
    let first = fs::read(place.main(HERE)).unwrap();
    store.close().await.unwrap();
    // As a killed process leaves it.
    fs::write(place.main(HERE), first).unwrap();
    fs::write(&path, left).unwrap();
    let store = place.lazy();
    assert_eq!(store.channels().await.unwrap(), [HERE]);
    store.close().await.unwrap();
    assert_eq!(written(&place.main(HERE)), (2, 2));
    assert_eq!(place.names().len(), 1);
}

/// The log is synced, and the folder that is made before a channel's first turn is synced with its first file.
#[tokio::test]
async fn a_turn_whose_folder_a_power_cut_took_becomes_its_channels_file() {
    let (place, store) = Place::opened();
    turn(&store, HERE, 0, 1).await;
    let (path, left) = place.left(store).await;
    fs::write(&path, left).unwrap();
    fs::remove_dir_all(place.main(HERE).parent().unwrap()).unwrap();
    let store = place.lazy();
    assert_eq!(stored(&store, HERE).await, Some((1, 1)));
    store.close().await.unwrap();
    assert_eq!(written(&place.main(HERE)), (1, 1));
    assert!(place.logs().is_empty());
}

/// Facts of many channels wait for the disk together, and each is there when it is answered.
#[tokio::test]
async fn facts_at_once_are_all_there() {
    let place = Place::new();
    let store = Arc::new(place.lazy());
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
    let next = place.lazy();
    assert_eq!(stored(&next, HERE).await, Some((1, 1)));
    // One that was never used, too.
    drop(next);
    place.lazy().close().await.unwrap();
    place.lazy();
}

#[tokio::test]
async fn without_syncs_everything_is_in_one_file() {
    let (place, store) = Place::opened();
    turn(&store, HERE, 0, 1).await;
    let old = fs::read(&place.logs()[0]).unwrap();
    let path = place.log();
    store.close().await.unwrap();
    fs::write(&path, old).unwrap();
    fs::remove_file(place.main(HERE)).unwrap();
    let options = ChannelOptions::new(place.root()).durability(FileDurability::None);
    let store = JsonChannels::open(options).unwrap();
    turn(&store, HERE, 1, 2).await;
    fact(&store, HERE, 2, 3).await;
    fact(&store, THERE, 0, 4).await;
    assert_eq!(place.names(), [format!("{HERE}.json"), format!("{THERE}.json")]);
    assert!(place.logs().is_empty());
    assert_eq!(written(&place.main(HERE)), (3, 3));
    store.close().await.unwrap();
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
