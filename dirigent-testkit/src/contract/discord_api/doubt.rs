//! Checks of what an implementation concludes from failures.

use std::time::Duration;

use dirigent::ports::{ApiError, Certainty, ErrorKind, Post, Posted};

use super::harness::{DiscordHarness, ids, newest, post, posted};
use crate::contract::report::{Outcome, equal, is_refused};
use crate::memory_discord::Fault;

pub(super) async fn a_lost_answer_leaves_doubt_and_the_nonce_ends_it(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    harness.break_next_post(Fault::LostAnswer);
    let first = account.post(post(channel, "once", 1)).await;
    is_doubtful(first, ErrorKind::NoAnswer)?;
    let made = ids(&newest(&*account, channel).await?);
    equal("messages that the doubtful post made", &made.len(), &1)?;
    let again = repeated(harness, post(channel, "once", 1)).await?;
    equal("the id of the repeated post", &Some(again.id), &made.first().copied())?;
    equal("messages", &ids(&newest(&*account, channel).await?), &made)
}

pub(super) async fn a_post_that_never_arrived_leaves_doubt_too(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    harness.break_next_post(Fault::NotDelivered);
    let first = account.post(post(channel, "once", 1)).await;
    is_doubtful(first, ErrorKind::NoAnswer)?;
    equal("messages before repeating", &newest(&*account, channel).await?.len(), &0)?;
    let again = repeated(harness, post(channel, "once", 1)).await?;
    equal("messages", &ids(&newest(&*account, channel).await?), &vec![again.id])
}

pub(super) async fn a_server_error_leaves_doubt(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    for (fault, made) in [(Fault::ServerErrorApplied, 1), (Fault::ServerErrorNotApplied, 0)] {
        let channel = harness.fresh_channel().await;
        harness.break_next_post(fault);
        let first = account.post(post(channel, "once", 1)).await;
        is_doubtful(first, ErrorKind::Unavailable)?;
        equal("messages before repeating", &newest(&*account, channel).await?.len(), &made)?;
        let again = repeated(harness, post(channel, "once", 1)).await?;
        equal("messages", &ids(&newest(&*account, channel).await?), &vec![again.id])?;
    }
    Ok(())
}

pub(super) async fn a_rate_limit_says_how_long_to_wait(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let retry_after = Duration::from_secs(2);
    harness.break_next_post(Fault::RateLimited { retry_after });
    let refused = account.post(post(channel, "too much", 1)).await;
    let wait = refused.as_ref().err().and_then(ApiError::retry_after);
    is_refused("a post beyond the limit", refused, ErrorKind::RateLimited)?;
    equal("how long to wait", &wait, &Some(retry_after))?;
    equal("messages", &newest(&*account, channel).await?.len(), &0)
}

/// Posts again, as soon as the account knows the result of the first attempt.
async fn repeated(harness: &dyn DiscordHarness, post: Post) -> Result<Posted, String> {
    let account = harness.account();
    let wait = account.post(post.clone()).await.err().and_then(|error| error.retry_after());
    harness.pass(wait.unwrap_or_default()).await;
    posted(&*account, post).await
}

/// Fails unless the result is an error of this kind, after which the request may have been
/// performed.
fn is_doubtful<T>(result: Result<T, ApiError>, kind: ErrorKind) -> Outcome {
    let Err(error) = result else {
        return Err(format!("it worked; expected {kind:?}"));
    };
    equal("the error's kind", &error.kind(), &kind)?;
    equal("what is certain", &error.certainty(), &Certainty::Unknown)
}
