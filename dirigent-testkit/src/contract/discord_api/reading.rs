//! Checks of reading the history.

use dirigent::MessageId;
use dirigent::ports::{AuthorKind, ChatKind, ErrorKind, HistoryRequest};

use super::harness::{DiscordHarness, ids, newest, page, post, posted};
use crate::contract::report::{Outcome, ensure, equal, is_refused};

pub(super) async fn a_quiet_channel_has_an_empty_history(harness: &dyn DiscordHarness) -> Outcome {
    let channel = harness.fresh_channel().await;
    equal("messages", &newest(&*harness.account(), channel).await?.len(), &0)
}

pub(super) async fn without_a_start_the_newest_come(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let mut all = Vec::new();
    for number in 1..=5 {
        all.push(posted(&*account, post(channel, "a message", number)).await?.id);
    }
    let found = page(&*account, HistoryRequest { channel, after: None, limit: 3 }).await?;
    equal("the newest three", &ids(&found), &all.split_off(2))
}

pub(super) async fn pages_after_a_message_follow_on_each_other(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let mut all = Vec::new();
    for number in 1..=7 {
        all.push(posted(&*account, post(channel, "a message", number)).await?.id);
    }
    let mut read = Vec::new();
    let mut after = Some(MessageId::new(0));
    for _ in 0..=all.len() {
        let found = ids(&page(&*account, HistoryRequest { channel, after, limit: 3 }).await?);
        let Some(last) = found.last() else { break };
        after = Some(*last);
        read.extend(found);
    }
    equal("all pages together", &read, &all)
}

pub(super) async fn nothing_comes_after_the_newest(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let last = posted(&*account, post(channel, "the last", 1)).await?.id;
    let found = page(&*account, HistoryRequest { channel, after: Some(last), limit: 100 }).await?;
    equal("messages", &found.len(), &0)
}

pub(super) async fn a_page_has_one_to_a_hundred_messages(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    posted(&*account, post(channel, "a message", 1)).await?;
    for limit in [1, 100] {
        let found = page(&*account, HistoryRequest { channel, after: None, limit }).await?;
        equal(&format!("messages on a page of {limit}"), &found.len(), &1)?;
    }
    for limit in [0, 101] {
        let refused = account.history(HistoryRequest { channel, after: None, limit }).await;
        is_refused(&format!("a page of {limit}"), refused, ErrorKind::Invalid)?;
    }
    Ok(())
}

pub(super) async fn a_persons_message_is_a_persons(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let said = harness.person_says(channel, "hello").await;
    let messages = newest(&*account, channel).await?;
    let [message] = messages.as_slice() else {
        return Err(format!("one message became {}", messages.len()));
    };
    equal("its id", &message.id, &said)?;
    equal("its author", &message.author, &harness.person())?;
    equal("its author's kind", &message.author_kind, &AuthorKind::Human)?;
    equal("its kind", &message.kind, &ChatKind::Default)?;
    ensure(&*message.content == "hello", "its text is another one")
}
