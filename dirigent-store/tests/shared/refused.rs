//! What stores of every kind refuse alike.

use dirigent::ChannelId;
use dirigent::ports::ApiError;
use dirigent::store::{ChannelStore, Commit, Durability};
use dirigent_store::{Action, StoreError};

use crate::shared::commits::{HERE, cause, failed, failure, large, request};
use crate::shared::mount::{Mount, image};

/// A disk that says yes and then breaks: a file system on a disk with less room than it promised. None where nothing can
/// be mounted.
pub(crate) struct BreakingDisk {
    pub(crate) disk: Mount,
    /// The disk below it.
    _small: Mount,
}

impl BreakingDisk {
    pub(crate) fn new() -> Option<Self> {
        let small = Mount::small(3_072)?;
        let image = image(small.path().join("image"), 64)?;
        Some(Self { disk: Mount::looped(image)?, _small: small })
    }
}

/// Commits until the disk breaks, after which nothing is taken. Returns how the last commit failed.
pub(crate) async fn broken(store: &dyn ChannelStore) -> ApiError {
    let mut error = None;
    for number in 0..2_000 {
        let commit = large(ChannelId::new(number + 1), 0, format!("{number}").repeat(100_000));
        let commit = Commit { durability: Durability::Fact, ..commit };
        if let Err(failed) = store.commit(commit).await {
            error = Some(failure(Err(failed)));
            break;
        }
    }
    let error = error.expect("the disk never broke");
    assert!(matches!(cause(&error), StoreError::Io { action: Action::Sync, .. }), "{error:?}");
    for error in [
        failure(store.commit(request(HERE, 0, 1)).await),
        failed(store.load(HERE).await),
        store.channels().await.unwrap_err(),
        store.history(HERE).await.unwrap_err(),
        store.add_agent("zoe".into()).await.unwrap_err(),
    ] {
        is_broken(&error);
    }
    error
}

/// A call is refused because a sync failed before.
pub(crate) fn is_broken(error: &ApiError) {
    let StoreError::Broken { .. } = cause(error) else { panic!("{error:?}") };
    assert!(cause(error).to_string().ends_with("open the store again"));
}
