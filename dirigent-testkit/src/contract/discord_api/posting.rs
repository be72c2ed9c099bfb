//! Checks of posting and deleting.

use std::time::Duration;

use dirigent::ports::{AuthorKind, ChatKind, ErrorKind};

use super::harness::{DiscordHarness, ids, newest, post, posted};
use crate::contract::report::{Outcome, ensure, equal, is_refused, works};

/// The most that the chat's clock may differ from the harness's.
const CLOCKS_APART: Duration = Duration::from_secs(10);

pub(super) async fn a_posted_message_is_read_back(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let me = works("me", account.me().await)?;
    let answer = posted(&*account, post(channel, "Straße – 東京 🎻", 1)).await?;
    ensure(!answer.deduplicated, "a first post counts as repeated")?;
    let messages = newest(&*account, channel).await?;
    let [message] = messages.as_slice() else {
        return Err(format!("one post made {} messages", messages.len()));
    };
    equal("its id", &message.id, &answer.id)?;
    equal("its channel", &message.channel, &channel)?;
    equal("its author", &message.author, &me)?;
    equal("its author's kind", &message.author_kind, &AuthorKind::Bot)?;
    equal("its kind", &message.kind, &ChatKind::Default)?;
    ensure(&*message.content == "Straße – 東京 🎻", "its text is another one")
}

/// Messages from while the process was down are answered by their time.
pub(super) async fn the_id_of_a_message_says_when_it_was_sent(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let earliest = harness.now().saturating_sub(CLOCKS_APART);
    let said = harness.person_says(channel, "now").await;
    let posted = posted(&*harness.colleague(), post(channel, "and now", 1)).await?.id;
    let latest = harness.now() + CLOCKS_APART;
    for (message, of) in newest(&*account, channel).await?.iter().zip([said, posted]) {
        equal("the message", &message.id, &of)?;
        let told = account.sent_at(of);
        let is_now = earliest <= told && told <= latest;
        ensure(is_now, "sent_at tells another time than that at which the message was sent")?;
        equal("the time in the history", &message.sent_at, &told)?;
    }
    Ok(())
}

pub(super) async fn ids_rise_over_all_accounts(harness: &dyn DiscordHarness) -> Outcome {
    let channel = harness.fresh_channel().await;
    let first = posted(&*harness.account(), post(channel, "one", 1)).await?.id;
    let second = posted(&*harness.colleague(), post(channel, "two", 1)).await?.id;
    let third = harness.person_says(channel, "three").await;
    let fourth = posted(&*harness.account(), post(channel, "four", 2)).await?.id;
    let in_order = [first, second, third, fourth];
    ensure(in_order.is_sorted_by(|a, b| a < b), "a later message has no higher id")?;
    equal("the history", &ids(&newest(&*harness.account(), channel).await?), &in_order.to_vec())
}

pub(super) async fn a_known_nonce_makes_no_second_message(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let first = posted(&*account, post(channel, "once", 1)).await?;
    let second = posted(&*account, post(channel, "once", 1)).await?;
    equal("the id of the repeated post", &second.id, &first.id)?;
    equal("messages", &ids(&newest(&*account, channel).await?), &vec![first.id])
}

pub(super) async fn another_nonce_makes_another_message(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let first = posted(&*account, post(channel, "the same", 1)).await?.id;
    let second = posted(&*account, post(channel, "the same", 2)).await?.id;
    equal("messages", &ids(&newest(&*account, channel).await?), &vec![first, second])
}

pub(super) async fn nonces_of_different_accounts_do_not_meet(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let channel = harness.fresh_channel().await;
    let mine = posted(&*harness.account(), post(channel, "mine", 1)).await?.id;
    let theirs = posted(&*harness.colleague(), post(channel, "theirs", 1)).await?.id;
    let messages = newest(&*harness.account(), channel).await?;
    equal("messages", &ids(&messages), &vec![mine, theirs])
}

pub(super) async fn an_empty_content_is_refused(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let refused = account.post(post(channel, "", 1)).await;
    is_refused("a post without text", refused, ErrorKind::Invalid)?;
    equal("messages", &newest(&*account, channel).await?.len(), &0)
}

pub(super) async fn a_longest_content_is_taken_and_a_longer_one_refused(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let most = account.longest_message();
    let longest = "ü".repeat(most);
    posted(&*account, post(channel, &longest, 1)).await?;
    let refused = account.post(post(channel, &format!("{longest}x"), 2)).await;
    is_refused("a post with one character more than the longest", refused, ErrorKind::Invalid)?;
    let messages = newest(&*account, channel).await?;
    ensure(messages.len() == 1, "the longer one arrived")?;
    ensure(messages.iter().all(|message| *message.content == longest), "the text was changed")
}

pub(super) async fn a_reply_is_marked_and_survives_a_lost_original(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let question = harness.person_says(channel, "a question").await;
    let mut answer = post(channel, "an answer", 1);
    answer.reply_to = Some(question);
    let answer = posted(&*account, answer).await?.id;
    let messages = newest(&*account, channel).await?;
    let kind = messages.iter().find(|message| message.id == answer).map(|message| message.kind);
    let marked = if harness.marks_replies() { ChatKind::Reply } else { ChatKind::Default };
    equal("the kind of an answer", &kind, &Some(marked))?;

    let lost = posted(&*account, post(channel, "to be deleted", 2)).await?.id;
    works("a deletion", account.delete(channel, lost).await)?;
    let mut orphan = post(channel, "an answer to nothing", 3);
    orphan.reply_to = Some(lost);
    posted(&*account, orphan).await.map(|_| ())
}

pub(super) async fn posts_at_the_same_time_all_arrive(harness: &dyn DiscordHarness) -> Outcome {
    let (account, colleague) = (harness.account(), harness.colleague());
    let channel = harness.fresh_channel().await;
    let (one, two, three) = tokio::join!(
        posted(&*account, post(channel, "one", 1)),
        posted(&*colleague, post(channel, "two", 1)),
        posted(&*account, post(channel, "three", 2)),
    );
    let mut all = vec![one?.id, two?.id, three?.id];
    all.sort();
    equal("messages", &ids(&newest(&*account, channel).await?), &all)
}

pub(super) async fn a_deleted_message_is_gone(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let kept = posted(&*account, post(channel, "kept", 1)).await?.id;
    let deleted = posted(&*account, post(channel, "deleted", 2)).await?.id;
    works("a deletion", account.delete(channel, deleted).await)?;
    equal("messages", &ids(&newest(&*account, channel).await?), &vec![kept])?;
    let again = account.delete(channel, deleted).await;
    is_refused("a second deletion", again, ErrorKind::Gone)
}

pub(super) async fn a_message_of_another_stays(harness: &dyn DiscordHarness) -> Outcome {
    let channel = harness.fresh_channel().await;
    let message = posted(&*harness.account(), post(channel, "mine", 1)).await?.id;
    let refused = harness.colleague().delete(channel, message).await;
    is_refused("deleting another's message", refused, ErrorKind::Forbidden)?;
    equal("messages", &ids(&newest(&*harness.account(), channel).await?), &vec![message])
}

pub(super) async fn an_error_shows_no_text(harness: &dyn DiscordHarness) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let Err(error) =
        account.post(post(channel, &"confidential ".repeat(account.longest_message()), 1)).await
    else {
        return Err("a post that is too long worked".to_owned());
    };
    let shown = format!("{error} {error:?}");
    ensure(!shown.contains("confidential"), "the error repeats what was to be posted")
}
