//! Checks of who may do what, and where.

use dirigent::{ChannelId, DiscordApi, ErrorKind, HistoryRequest, MessageId};

use super::{DiscordHarness, newest, post, posted};
use crate::contract::report::{Outcome, ensure, equal, is_refused, works};

/// An id that no chat has given: from the first milliseconds of Discord's time.
const NOWHERE: ChannelId = ChannelId::new(100_000_000_000_001);

pub(super) async fn the_account_knows_itself(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let first = works("me", account.me().await)?;
    let second = works("me", account.me().await)?;
    let other = works("the colleague's me", harness.colleague().me().await)?;
    equal("the account's id, asked again", &second, &first)?;
    ensure(first != other, "two accounts have the same id")
}

pub(super) async fn everybody_who_sees_the_channel_is_a_member_once(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let members = works("reading the members", account.members(channel).await)?;
    let me = works("me", account.me().await)?;
    let colleague = works("the colleague's me", harness.colleague().me().await)?;
    for user in [me, colleague, harness.person()] {
        let times = members.iter().filter(|member| **member == user).count();
        equal("how often a member is listed", &times, &1)?;
    }
    if let Some(stranger) = harness.stranger() {
        let stranger = works("the stranger's me", stranger.me().await)?;
        ensure(!members.contains(&stranger), "an account is listed that does not see the channel")?;
    }
    Ok(())
}

pub(super) async fn typing_in_an_own_channel_works(harness: &dyn DiscordHarness) -> Outcome {
    let channel = harness.fresh_channel().await;
    works("typing", harness.account().typing(channel).await)?;
    equal("messages", &newest(&*harness.account(), channel).await?.len(), &0)
}

pub(super) async fn a_channel_that_is_not_there_is_gone(harness: &dyn DiscordHarness) -> Outcome {
    everything_is_refused(&*harness.account(), NOWHERE, MessageId::new(1), ErrorKind::Gone).await
}

pub(super) async fn a_stranger_to_the_channel_is_forbidden(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let Some(stranger) = harness.stranger() else {
        return Ok(());
    };
    let channel = harness.fresh_channel().await;
    let message = posted(&*harness.account(), post(channel, "private", 1)).await?.id;
    everything_is_refused(&*stranger, channel, message, ErrorKind::Forbidden).await?;
    equal("messages", &newest(&*harness.account(), channel).await?.len(), &1)
}

async fn everything_is_refused(
    account: &dyn DiscordApi,
    channel: ChannelId,
    message: MessageId,
    kind: ErrorKind,
) -> Outcome {
    is_refused("a post", account.post(post(channel, "hello", 1)).await, kind)?;
    is_refused("a deletion", account.delete(channel, message).await, kind)?;
    is_refused("reading the members", account.members(channel).await, kind)?;
    for after in [None, Some(MessageId::new(1))] {
        let read = account.history(HistoryRequest { channel, after, limit: 10 }).await;
        is_refused("reading the history", read, kind)?;
    }
    Ok(())
}
