//! Commits of records that are known by a number.

use std::sync::Arc;

use dirigent::ChannelId;
use dirigent::ports::{ApiError, Certainty, ErrorKind};
use dirigent::store::{
    Barred, ChannelRecord, ChannelStore, Commit, CommitError, Discussion, Durability, LoadError,
    Revision,
};
use dirigent_store::StoreError;

pub(crate) const HERE: ChannelId = ChannelId::new(100_000_000_000_000_001);
pub(crate) const THERE: ChannelId = ChannelId::new(100_000_000_000_000_002);

/// A record that is known by its number, of some kilobytes.
pub(crate) fn marked(number: u64) -> ChannelRecord {
    let mut record = ChannelRecord::default();
    record.snapshot.state.rng.0 = number;
    record.discussion = Some(Arc::new(Discussion {
        callback: THERE,
        callback_guild: None,
        guide: format!("{number} \u{1f914} ").repeat(200),
    }));
    record
}

/// The number by which a record is known, if it is whole.
pub(crate) fn mark(record: &ChannelRecord) -> u64 {
    let number = record.snapshot.state.rng.0;
    assert_eq!(*record, marked(number), "the record is not whole");
    number
}

/// A commit of a marked record.
pub(crate) fn request(channel: ChannelId, expected: u64, number: u64) -> Commit {
    Commit {
        channel,
        expected: Revision::new(expected),
        record: marked(number).into(),
        durability: Durability::Turn,
        transitions: Vec::new().into(),
        replaces_damaged: false,
    }
}

/// Saves a turn.
pub(crate) async fn turn(store: &dyn ChannelStore, channel: ChannelId, expected: u64, number: u64) {
    let made = store.commit(request(channel, expected, number)).await.unwrap();
    assert_eq!(made, Revision::new(expected + 1));
}

/// Saves a fact.
pub(crate) async fn fact(store: &dyn ChannelStore, channel: ChannelId, expected: u64, number: u64) {
    let commit = Commit { durability: Durability::Fact, ..request(channel, expected, number) };
    let made = store.commit(commit).await.unwrap();
    assert_eq!(made, Revision::new(expected + 1));
}

/// What a commit hands over is dropped before the commit is answered: the driver uses its memory again.
pub(crate) async fn nothing_of_a_commit_is_kept(store: &dyn ChannelStore, channel: ChannelId) {
    for (expected, durability) in [(0, Durability::Fact), (1, Durability::Turn)] {
        let commit = Commit { durability, ..request(channel, expected, expected + 1) };
        let (record, transitions) = (Arc::clone(&commit.record), Arc::clone(&commit.transitions));
        store.commit(commit).await.unwrap();
        let shares = (Arc::strong_count(&record), Arc::strong_count(&transitions));
        assert_eq!(shares, (1, 1), "{durability:?}");
    }
}

/// The revision and the mark of what is stored.
pub(crate) async fn stored(store: &dyn ChannelStore, channel: ChannelId) -> Option<(u64, u64)> {
    let found = store.load(channel).await.unwrap()?;
    Some((found.revision.get(), mark(&found.record)))
}

/// An operator's commit, which may take the place of a damaged record.
pub(crate) fn replacement(channel: ChannelId, number: u64) -> Commit {
    Commit { replaces_damaged: true, ..request(channel, 0, number) }
}

/// What bars a channel; it must be barred, and for commits as well.
pub(crate) async fn barred(store: &dyn ChannelStore, channel: ChannelId) -> Barred {
    let barred = store.load(channel).await.expect_err("it was loaded").barred();
    match store.commit(request(channel, 0, 99)).await {
        Err(CommitError::Barred(found)) => assert_eq!(Some(found), barred),
        other => panic!("expected a barred commit, found {other:?}"),
    }
    assert!(store.channels().await.unwrap().contains(&channel), "it is not listed any more");
    barred.expect("the store failed")
}

/// The failure of a load that may work the next time.
pub(crate) fn failed<T: std::fmt::Debug>(outcome: Result<T, LoadError>) -> ApiError {
    match outcome {
        Err(LoadError::Store(error)) => error,
        other => panic!("expected a failure, found {other:?}"),
    }
}

/// What a store's error says.
pub(crate) fn cause(error: &ApiError) -> &StoreError {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()).unwrap()
}

/// The failure of a commit that was no conflict.
pub(crate) fn failure(outcome: Result<Revision, CommitError>) -> ApiError {
    match outcome {
        Err(CommitError::Store(error)) => error,
        other => panic!("expected a failure, found {other:?}"),
    }
}

/// A commit whose record has so many bytes.
pub(crate) fn large(channel: ChannelId, expected: u64, text: String) -> Commit {
    let mut commit = request(channel, expected, 2);
    let record = Arc::make_mut(&mut commit.record);
    Arc::make_mut(record.discussion.as_mut().unwrap()).guide = text;
    commit
}

/// What no repetition of the same commit would change is told by its kind, and the channel goes on.
pub(crate) async fn too_large(store: &dyn ChannelStore) {
    fact(store, HERE, 0, 1).await;
    for durability in [Durability::Turn, Durability::Fact] {
        let commit = Commit { durability, ..large(HERE, 1, "x".repeat(65 << 20)) };
        let error = failure(store.commit(commit).await);
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Invalid, Certainty::NotDone));
        assert!(matches!(cause(&error), StoreError::TooLarge { .. }), "{error:?}");
        assert_eq!(stored(store, HERE).await, Some((1, 1)));
    }
    turn(store, HERE, 1, 2).await;
    assert_eq!(stored(store, HERE).await, Some((2, 2)));
}
