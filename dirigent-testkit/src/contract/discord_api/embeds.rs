//! Checks of a post's embeds and files. A chat without embeds refuses them as unsupported, and one without files says
//! so.

use std::sync::Arc;

use dirigent::DiscordApi;
use dirigent::ports::{
    AllowedMentions, ApiError, Embed, ErrorKind, Mentions, Post, Posted, ReplyFile,
};

use super::harness::{DiscordHarness, ids, newest, post, posted};
use crate::contract::report::{Outcome, ensure, equal, works};

fn embed() -> Embed {
    Embed::new().title("東京").description("two\nlines").field("a field", "🎻", true)
}

/// Posts embeds. Returns `None` if the chat has none.
async fn shown(account: &dyn DiscordApi, post: Post) -> Result<Option<Posted>, String> {
    let refused = |error: &ApiError| error.kind() == ErrorKind::Unsupported;
    match account.post(post).await {
        Err(error) if refused(&error) => Ok(None),
        answer => works("a post with embeds", answer).map(Some),
    }
}

pub(super) async fn embeds_are_shown_beside_the_text_or_the_post_is_refused(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let (embeds, text) = (vec![embed(), embed()], post(channel, "see there", 1));
    let answer = shown(&*account, Post { embeds: embeds.into(), ..text }).await?;
    let messages = newest(&*account, channel).await?;
    equal("messages", &ids(&messages), &answer.iter().map(|posted| posted.id).collect())?;
    let is_whole =
        |message: &dirigent::ChatMessage| (&*message.content, message.embeds) == ("see there", 2);
    ensure(messages.iter().all(is_whole), "the text or an embed is missing")
}

pub(super) async fn embeds_need_no_text_and_a_known_nonce_shows_them_once(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    let bare = Post { embeds: vec![embed()].into(), ..post(channel, "", 1) };
    let first = shown(&*account, bare.clone()).await?;
    let second = shown(&*account, bare).await?;
    let id = |posted: &Option<Posted>| posted.map(|posted| posted.id);
    equal("the id of the repeated post", &id(&second), &id(&first))?;
    let messages = newest(&*account, channel).await?;
    equal("messages", &ids(&messages), &id(&first).into_iter().collect())?;
    let is_bare =
        |message: &dirigent::ChatMessage| message.content.is_empty() && message.embeds == 1;
    ensure(messages.iter().all(is_bare), "the message is not the embed alone")
}

pub(super) async fn files_come_with_the_post_and_a_known_nonce_brings_them_once(
    harness: &dyn DiscordHarness,
) -> Outcome {
    let account = harness.account();
    let channel = harness.fresh_channel().await;
    if !account.sends_files() {
        return Ok(());
    }
    let file = |name, bytes: &[u8]| ReplyFile::new(name, bytes);
    let files = vec![file("a.txt", b"--\r\none"), file("b.bin", &[0, 255, 13, 10, 45, 45])];
    let with_words = Post { files: files.clone().into(), ..post(channel, "see there", 1) };
    let bare = Post { files: files.into(), ..post(channel, "", 2) };
    let mut expected = Vec::new();
    for post in [with_words, bare] {
        let first = posted(&*account, post.clone()).await?;
        let second = posted(&*account, post).await?;
        equal("the id of the repeated post", &second.id, &first.id)?;
        expected.push(first.id);
    }
    let messages = newest(&*account, channel).await?;
    equal("messages", &ids(&messages), &expected)?;
    let names = |message: &dirigent::ChatMessage| {
        let files = message.attachments.iter().map(|file| (file.name.to_string(), file.size));
        files.collect::<Vec<_>>()
    };
    let brought = [("a.txt".to_owned(), 7), ("b.bin".to_owned(), 6)];
    ensure(messages.iter().all(|message| names(message) == brought), "a file is missing")
}

pub(super) async fn chosen_mentions_are_no_obstacle(harness: &dyn DiscordHarness) -> Outcome {
    let (account, person) = (harness.account(), harness.person());
    let channel = harness.fresh_channel().await;
    let question = harness.person_says(channel, "a question").await;
    // Named twice, as it may be in your list.
    let mut allowed = AllowedMentions { users: vec![person, person], ..AllowedMentions::new() };
    allowed.replied_user = true;
    let mentions = Mentions::Allowed(Arc::new(allowed));
    let text = post(channel, &format!("<@{person}> an answer"), 1);
    let answer = posted(&*account, Post { mentions, reply_to: Some(question), ..text }).await?;
    equal("messages", &ids(&newest(&*account, channel).await?), &vec![question, answer.id])
}
