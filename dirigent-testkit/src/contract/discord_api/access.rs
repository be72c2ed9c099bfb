//! Checks of permissions.

use dirigent::ports::{ErrorKind, HistoryRequest};
use dirigent::{ChannelId, DiscordApi, MessageId, UserId};

use super::harness::{DiscordHarness, newest, post, posted};
use crate::contract::report::{Outcome, ensure, equal, is_refused, works};

/// An id that no chat has given, because its time is in the first milliseconds of Discord's epoch.
const NOWHERE: ChannelId = ChannelId::new(100_000_000_000_001);

/// An account that no chat has, from the same time.
const NO_ACCOUNT: UserId = UserId::new(100_000_000_000_002);

pub(super) async fn the_account_knows_itself(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let first = works("me", account.me().await)?;
    let second = works("me", account.me().await)?;
    let other = works("the colleague's me", harness.colleague().me().await)?;
    equal("the account's id, asked again", &second, &first)?;
    ensure(first != other, "two accounts have the same id")
}

pub(super) async fn those_who_see_the_channel_are_its_members(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let me = works("me", account.me().await)?;
    let colleague = works("the colleague's me", harness.colleague().me().await)?;
    let mut expected = vec![me, colleague, harness.person()];
    let mut asked = expected.clone();
    // An account that the chat does not know is no error.
    asked.push(NO_ACCOUNT);
    if let Some(stranger) = harness.stranger() {
        asked.push(works("the stranger's me", stranger.me().await)?);
    }
    let mut members = works("reading the members", account.members(channel, asked).await)?;
    members.sort_unstable();
    expected.sort_unstable();
    equal("those who see the channel", &members, &expected)?;
    let some = works("reading one member", account.members(channel, vec![colleague]).await)?;
    equal("those of one account who see the channel", &some, &vec![colleague])?;
    let none = works("reading no member", account.members(channel, Vec::new()).await)?;
    equal("those of no account who see the channel", &none.len(), &0)
}

/// Asks about more accounts than one request for each would allow.
pub(super) async fn many_accounts_may_be_asked_about(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let me = works("me", account.me().await)?;
    let strangers = (1..=100).map(|number| UserId::new(NO_ACCOUNT.get() + number));
    let asked = std::iter::once(me).chain(strangers).collect();
    let members = works("reading the members", account.members(channel, asked).await)?;
    equal("those who see the channel", &members, &vec![me])
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
    let me = works("me", account.me().await)?;
    is_refused("reading the members", account.members(channel, vec![me]).await, kind)?;
    for after in [None, Some(MessageId::new(1))] {
        let read = account.history(HistoryRequest { channel, after, limit: 10 }).await;
        is_refused("reading the history", read, kind)?;
    }
    Ok(())
}
