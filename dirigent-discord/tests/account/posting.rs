//! Posts, deletions, typing: what is sent.

use dirigent::ports::Timestamp;
use dirigent::ports::{AllowedMentions, Embed, ErrorKind, Mentions, Post, RoleId};
use dirigent::{DiscordApi, MessageId, UserId};

use crate::account::server::Reply;
use crate::account::{AccountStage, CHANNEL, cause, post, shows_nothing};
use dirigent_discord::RestError;

/// F13, F21: a post carries its nonce, insists on it, and lets the text ping nobody.
#[tokio::test]
async fn a_post_insists_on_its_nonce_and_pings_nobody() {
    let stage = AccountStage::with([Reply::ok(r#"{"id":"900","new":{"field":[1]}}"#)]).await;
    let posted = stage.account.post(post("@everyone <@1> \"ü\"", 1)).await.unwrap();
    assert_eq!((posted.id, posted.deduplicated), (MessageId::new(900), false));
    let asked = &stage.server.asked()[0];
    assert_eq!(asked.line, "POST /api/v10/channels/700/messages HTTP/1.1");
    assert_eq!(
        asked.body,
        concat!(
            r#"{"content":"@everyone <@1> \"ü\"","nonce":"000000jg00000000000000001","#,
            r#""enforce_nonce":true,"#,
            r#""allowed_mentions":{"parse":[],"users":[],"replied_user":false}}"#
        )
    );
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(asked.header("authorization"), Some("Bot top.secret.token"));
    let agent = asked.header("user-agent").unwrap();
    assert!(agent.starts_with("DiscordBot (https://"), "{agent}");
}

/// F21, D48: only the addressed account is pinged, and an answer pings nobody by being one.
#[tokio::test]
async fn only_the_addressed_account_is_pinged() {
    let stage = AccountStage::with([Reply::ok(r#"{"id":"900"}"#)]).await;
    let mut trigger = post("<@5>➡️", 1);
    trigger.mentions = Mentions::User(UserId::new(5));
    trigger.reply_to = Some(MessageId::new(44));
    stage.account.post(trigger).await.unwrap();
    assert_eq!(
        stage.server.asked()[0].body,
        concat!(
            r#"{"content":"<@5>➡️","nonce":"000000jg00000000000000001","enforce_nonce":true,"#,
            r#""allowed_mentions":{"parse":[],"users":["5"],"replied_user":false},"#,
            r#""message_reference":{"message_id":"44","fail_if_not_exists":false}}"#
        )
    );
}

#[tokio::test]
async fn chosen_mentions_name_each_once_and_nothing_else_is_parsed() {
    let stage =
        AccountStage::with([Reply::ok(r#"{"id":"900"}"#), Reply::ok(r#"{"id":"901"}"#)]).await;
    let [one, two] = [5, 6].map(UserId::new);
    let users = vec![one, two, one];
    let (roles, replied_user) = (vec![RoleId::new(7)], true);
    let chosen = AllowedMentions { users, roles, everyone: true, replied_user };
    let mentions = Mentions::from(&chosen);
    stage.account.post(Post { mentions, ..post("text", 1) }).await.unwrap();
    let mentions = Mentions::from(&AllowedMentions::new());
    stage.account.post(Post { mentions, ..post("text", 2) }).await.unwrap();
    let asked = stage.server.asked();
    let mentions = concat!(
        r#""allowed_mentions":{"parse":["everyone"],"users":["5","6"],"#,
        r#""roles":["7"],"replied_user":true}"#
    );
    assert!(asked[0].body.contains(mentions), "{}", asked[0].body);
    let nobody = r#""allowed_mentions":{"parse":[],"users":[],"replied_user":false}"#;
    assert!(asked[1].body.contains(nobody), "{}", asked[1].body);
}

#[tokio::test]
async fn embeds_are_written_as_discord_reads_them_and_need_no_text() {
    let stage = AccountStage::with([Reply::ok(r#"{"id":"900"}"#)]).await;
    let embed = Embed::new().title("t").colour(255).field("n", "v", true);
    let embed = embed.footer("f").image("https://example.org/i.png");
    let embed = embed.timestamp(Timestamp::from_millis(1_750_000_000_000));
    stage.account.post(Post { embeds: [embed].into(), ..post("", 1) }).await.unwrap();
    assert_eq!(
        stage.server.asked()[0].body,
        concat!(
            r#"{"content":"","embeds":[{"color":255,"fields":[{"inline":true,"name":"n","value":"v"}],"#,
            r#""footer":{"text":"f"},"image":{"url":"https://example.org/i.png"},"type":"rich","#,
            r#""timestamp":"2025-06-15T15:06:40.000000+00:00","title":"t"}],"#,
            r#""nonce":"000000jg00000000000000001","enforce_nonce":true,"#,
            r#""allowed_mentions":{"parse":[],"users":[],"replied_user":false}}"#
        )
    );
}

#[tokio::test]
async fn a_moment_that_discord_cannot_read_is_refused_before_it_is_sent() {
    let stage = AccountStage::with([]).await;
    let embed = Embed::new().title("t").timestamp(Timestamp::from_millis(u64::MAX));
    let refused = stage.account.post(Post { embeds: [embed].into(), ..post("text", 1) }).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    assert!(stage.server.asked().is_empty());
}

/// F13: the answer to a repeated post is the first message.
#[tokio::test]
async fn the_same_message_again_is_told_as_such() {
    let answers = ["900", "900", "901"].map(|id| Reply::ok(format!(r#"{{"id":"{id}"}}"#)));
    let stage = AccountStage::with(answers).await;
    let mut told = Vec::new();
    for number in [1, 1, 2] {
        let posted = stage.account.post(post("hello", number)).await.unwrap();
        told.push((posted.id.get(), posted.deduplicated));
    }
    assert_eq!(told, [(900, false), (900, true), (901, false)]);
}

/// What Discord would not take is not sent, and nothing of it is shown.
#[tokio::test]
async fn an_unacceptable_content_is_not_sent() {
    let stage = AccountStage::with([Reply::ok(r#"{"id":"900"}"#)]).await;
    for content in [String::new(), " \n\t ".to_owned(), "confidential ".repeat(200)] {
        let error = stage.account.post(post(&content, 1)).await.unwrap_err();
        assert_eq!((error.kind(), cause(&error)), (ErrorKind::Invalid, RestError::NotAcceptable));
        shows_nothing(&error);
    }
    assert_eq!(stage.server.count(), 0);
    stage.account.post(post(&"ü".repeat(2_000), 1)).await.unwrap();
}

/// D49: a deletion, and one of what is gone already.
#[tokio::test]
async fn a_deletion_names_channel_and_message() {
    let gone = Reply::status(404, r#"{"message":"Unknown Message","code":10008}"#);
    let stage = AccountStage::with([Reply::status(204, ""), gone]).await;
    stage.account.delete(CHANNEL, MessageId::new(44)).await.unwrap();
    let error = stage.account.delete(CHANNEL, MessageId::new(44)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Gone);
    assert_eq!(cause(&error), RestError::Refused { status: 404, code: Some(10_008) });
    assert_eq!(stage.server.lines()[1], "DELETE /api/v10/channels/700/messages/44 HTTP/1.1");
}

#[tokio::test]
async fn typing_is_an_empty_post() {
    let stage = AccountStage::with([Reply::status(204, "")]).await;
    stage.account.typing(CHANNEL).await.unwrap();
    let asked = &stage.server.asked()[0];
    assert_eq!(asked.line, "POST /api/v10/channels/700/typing HTTP/1.1");
    assert_eq!((asked.header("content-length"), asked.body.as_str()), (Some("0"), ""));
}
