//! Records that cannot be read. They bar their channel, and never count as missing.

use std::sync::Arc;

use dirigent::store::{
    Barred, ChannelRecord, ChannelStore, Commit, CommitError, LoadError, Revision,
};

use super::super::report::{Outcome, equal, works};
use super::{
    ChannelStoreHarness, HERE, THERE, commit, discussing, dormant, holds, replying, request,
    talking,
};

/// Returns a commit that may replace a damaged record.
fn replacement(expected: u64, record: &ChannelRecord) -> Commit {
    Commit { replaces_damaged: true, ..request(HERE, expected, record) }
}

/// Creates two channels with a record, so that one can be spoilt.
async fn two_channels(
    harness: &dyn ChannelStoreHarness,
    how: Barred,
) -> Result<Arc<dyn ChannelStore>, String> {
    let store = harness.fresh();
    commit(&*store, HERE, 0, &dormant()).await?;
    commit(&*store, HERE, 1, &replying()).await?;
    commit(&*store, THERE, 0, &talking()).await?;
    let spoilt = harness.spoilt(store, HERE, how).await;
    spoilt.ok_or_else(|| "no record can be spoilt any more".to_owned())
}

/// Checks that the channel cannot be used, that the other one can, and that both are listed.
async fn is_barred(store: &dyn ChannelStore, expected: Barred) -> Outcome {
    match store.load(HERE).await {
        Err(error @ LoadError::Barred { .. }) => {
            equal("what bars the channel", &error.barred(), &Some(expected))?;
        }
        Err(error) => return Err(format!("the load failed instead of being barred: {error}")),
        Ok(None) => return Err("a record that cannot be read is taken for none".to_owned()),
        Ok(Some(_)) => return Err("a record that cannot be read was loaded".to_owned()),
    }
    for revision in 0..4 {
        refuses(store, request(HERE, revision, &dormant()), expected).await?;
    }
    equal("channels", &works("channels", store.channels().await)?, &vec![HERE, THERE])?;
    holds(store, THERE, 1, &talking()).await
}

async fn refuses(store: &dyn ChannelStore, commit: Commit, expected: Barred) -> Outcome {
    match store.commit(commit).await {
        Err(CommitError::Barred(barred)) => equal("what bars the commit", &barred, &expected),
        Err(error) => Err(format!("a commit failed instead of being barred: {error}")),
        Ok(_) => Err("a commit over a record that cannot be read was made".to_owned()),
    }
}

pub(super) async fn a_damaged_record_bars_its_channel_alone_and_stays_listed(
    harness: &dyn ChannelStoreHarness,
) -> Outcome {
    let mut store = two_channels(harness, Barred::Damaged).await?;
    for _ in 0..3 {
        is_barred(&*store, Barred::Damaged).await?;
        match harness.reopened(store).await {
            Some(again) => store = again,
            None => return Ok(()),
        }
    }
    is_barred(&*store, Barred::Damaged).await
}

pub(super) async fn a_damaged_record_is_replaced_by_a_commit_that_says_so_and_by_no_other(
    harness: &dyn ChannelStoreHarness,
) -> Outcome {
    let store = two_channels(harness, Barred::Damaged).await?;
    // It counts as revision 0, and only as that.
    match store.commit(replacement(2, &dormant())).await {
        Err(CommitError::Conflict { found }) => equal("found", &found, &Revision::default())?,
        other => return Err(format!("expected a conflict, found {other:?}")),
    }
    is_barred(&*store, Barred::Damaged).await?;
    let made = works("the replacement", store.commit(replacement(0, &discussing())).await)?;
    holds(&*store, HERE, made.get(), &discussing()).await?;
    // It works only once. From here on it is a commit like any other.
    match store.commit(replacement(0, &dormant())).await {
        Err(CommitError::Conflict { found }) => equal("found", &found, &made)?,
        other => return Err(format!("expected a conflict, found {other:?}")),
    }
    let made = works("commit", store.commit(request(HERE, made.get(), &talking())).await)?;
    equal("channels", &works("channels", store.channels().await)?, &vec![HERE, THERE])?;
    let Some(store) = harness.reopened(store).await else {
        return Ok(());
    };
    holds(&*store, HERE, made.get(), &talking()).await?;
    holds(&*store, THERE, 1, &talking()).await
}

pub(super) async fn a_newer_record_bars_its_channel_alone_and_is_never_replaced(
    harness: &dyn ChannelStoreHarness,
) -> Outcome {
    let mut store = two_channels(harness, Barred::OtherVersion).await?;
    for _ in 0..3 {
        is_barred(&*store, Barred::OtherVersion).await?;
        refuses(&*store, replacement(0, &dormant()), Barred::OtherVersion).await?;
        match harness.reopened(store).await {
            Some(again) => store = again,
            None => return Ok(()),
        }
    }
    is_barred(&*store, Barred::OtherVersion).await
}

pub(super) async fn a_damaged_record_can_be_deleted_and_a_newer_one_cannot(
    harness: &dyn ChannelStoreHarness,
) -> Outcome {
    let store = two_channels(harness, Barred::OtherVersion).await?;
    match store.delete(HERE).await {
        Err(error) => equal("what bars it", &error.barred(), &Some(Barred::OtherVersion))?,
        Ok(_) => return Err("a newer version's record was deleted".to_owned()),
    }
    is_barred(&*store, Barred::OtherVersion).await?;
    let store = two_channels(harness, Barred::Damaged).await?;
    equal("deleted", &works("delete", store.delete(HERE).await)?, &true)?;
    equal("channels", &works("channels", store.channels().await)?, &vec![THERE])?;
    commit(&*store, HERE, 0, &dormant()).await?;
    holds(&*store, HERE, 1, &dormant()).await
}
