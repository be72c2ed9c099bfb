//! What is sent for a persona, request by request.

use std::error::Error as _;
use std::sync::Arc;

use dirigent::ports::{AllowedMentions, ApiError, Certainty, ErrorKind, Mentions, Post, ReplyFile};
use dirigent::{ChannelId, DiscordApi as _, MessageId, UserId};
use dirigent_discord::{BanGuard, DiscordAccount, Persona, PersonaAccount, RestError};
use dirigent_testkit::ManualClock;
use serde_json::json;

use super::post;
use crate::account::fixture::MESSAGE;
use crate::account::server::{Reply, Server};

const CHANNEL: ChannelId = ChannelId::new(700);
const THREAD: ChannelId = ChannelId::new(701);

/// The moderator and a persona of its, before a server that has one channel with a thread.
struct Scripted {
    server: Server,
    moderator: Arc<DiscordAccount>,
    critic: PersonaAccount,
}

impl Scripted {
    async fn new() -> Self {
        let server = Server::start([]).await;
        for (start, reply) in [
            ("GET /applications/@me ", r#"{"id":"800"}"#),
            ("GET /channels/700 ", r#"{"id":"700","type":0,"name":"a","guild_id":"1"}"#),
            (
                "GET /channels/701 ",
                r#"{"id":"701","type":11,"name":"b","guild_id":"1","parent_id":"700"}"#,
            ),
            ("GET /channels/700/webhooks ", "[]"),
            ("POST /channels/700/webhooks ", r#"{"id":"77","token":"hush","type":1}"#),
            ("PATCH /webhooks/77 ", "{}"),
            ("POST /webhooks/77/hush?wait=true ", r#"{"id":"900","channel_id":"700"}"#),
            (
                "POST /webhooks/77/hush?thread_id=701&wait=true ",
                r#"{"id":"901","channel_id":"701"}"#,
            ),
            ("PATCH /webhooks/77/hush/messages/900 ", r#"{"id":"900","channel_id":"700"}"#),
            ("DELETE /webhooks/77/hush/messages/901?thread_id=701 ", ""),
            ("POST /channels/700/typing ", ""),
            ("POST /channels/700/messages ", r#"{"id":"902"}"#),
        ] {
            server.rule(start, Reply::ok(reply));
        }
        let clock = ManualClock::new();
        let moderator = DiscordAccount::builder("top.secret.token", clock);
        let moderator = Arc::new(
            moderator.proxy(server.address()).ban_guard(&BanGuard::new(1_000)).build().unwrap(),
        );
        let persona = Persona::new("Critic").avatar("https://example.org/critic.png");
        let critic = moderator.persona(persona).unwrap();
        Self { server, moderator, critic }
    }

    /// The next webhook that is made is another one, which posts in this channel.
    fn with_another(&self, channel: &str) {
        let posted = format!(r#"{{"id":"903","channel_id":"{channel}"}}"#);
        for (start, reply) in [
            ("POST /channels/700/webhooks ", r#"{"id":"78","token":"hist"}"#),
            ("PATCH /webhooks/78 ", "{}"),
            ("POST /webhooks/78/hist", &posted),
        ] {
            self.server.rule(start, Reply::ok(reply));
        }
    }

    /// The lines of what was asked, without what is the same in all of them.
    fn lines(&self) -> Vec<String> {
        let short = |line: &String| line.replace("/api/v10", "").replace(" HTTP/1.1", "");
        self.server.lines().iter().map(short).collect()
    }

    /// The requests that began like this.
    fn asked(&self, start: &str) -> Vec<crate::account::server::Asked> {
        let start = start.replacen(" /", " /api/v10/", 1).replace("//", "/");
        self.server.asked().into_iter().filter(|asked| asked.line.starts_with(&start)).collect()
    }
}

/// No secret and no text is in anything that an error shows.
fn shows_nothing(error: &ApiError) {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    let shown = format!("{error} {error:?} {cause}");
    for secret in ["hush", "secret", "confidential"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn the_first_post_makes_the_webhook_and_the_second_uses_it() {
    let stage = Scripted::new().await;
    for number in [1, 2] {
        let posted =
            stage.critic.post(post(CHANNEL, "@everyone <@5> hello", number)).await.unwrap();
        assert_eq!((posted.id, posted.deduplicated), (MessageId::new(900), false));
    }
    let expected = [
        "GET /channels/700",
        "GET /applications/@me",
        "GET /channels/700/webhooks",
        "POST /channels/700/webhooks",
        "PATCH /webhooks/77",
        "POST /webhooks/77/hush?wait=true",
        "POST /webhooks/77/hush?wait=true",
    ];
    assert_eq!(stage.lines(), expected);
    let said = &stage.asked("POST /webhooks/77")[0];
    assert_eq!(
        said.body,
        concat!(
            r#"{"content":"@everyone <@5> hello","username":"Critic","#,
            r#""avatar_url":"https://example.org/critic.png","#,
            r#""allowed_mentions":{"parse":[],"users":[],"replied_user":false}}"#
        )
    );
    assert_eq!(said.header("authorization"), None, "the token in the path is enough");
    assert!(said.header("user-agent").unwrap().starts_with("DiscordBot ("));
    let made = &stage.asked("POST /channels/700/webhooks")[0];
    assert_eq!(made.header("x-audit-log-reason"), Some("an agent speaks through it"));
}

#[tokio::test]
async fn a_post_and_an_edit_ping_only_whom_the_agent_chose() {
    let stage = Scripted::new().await;
    let me = stage.critic.me().await.unwrap();
    let chosen = AllowedMentions::new().user(UserId::new(5)).user(me).everyone();
    let mentions = Mentions::from(&chosen);
    stage.critic.post(Post { mentions, ..post(CHANNEL, "hello", 1) }).await.unwrap();
    let said = &stage.asked("POST /webhooks/77")[0].body;
    let allowed = r#""allowed_mentions":{"parse":["everyone"],"users":["5"],"replied_user":false}"#;
    assert!(said.contains(allowed), "{said}");
    stage.critic.edit(CHANNEL, MessageId::new(900), "@everyone better").await.unwrap();
    let edited = &stage.asked("PATCH /webhooks/77/hush")[0].body;
    let nobody = r#"{"content":"@everyone better","allowed_mentions":{"parse":[],"users":[],"replied_user":false}}"#;
    assert_eq!(edited, nobody);
    for content in ["", " ", &"x".repeat(2_001)] {
        let refused = stage.critic.edit(CHANNEL, MessageId::new(900), content).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    }
    let other = Reply::status(401, r#"{"code":50027}"#);
    stage.server.rule("PATCH /webhooks/77/hush/messages/900 ", other);
    let gone = stage.critic.edit(CHANNEL, MessageId::new(900), "best").await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Gone, "its webhook is another one");
}

/// There is no account behind a persona that could be mentioned: its mention is its name.
#[tokio::test]
async fn a_mention_of_a_persona_is_posted_as_its_name() {
    let stage = Scripted::new().await;
    let poet = stage.moderator.persona(Persona::new("Poet")).unwrap();
    let poet = poet.me().await.unwrap();
    let words = format!("<@{poet}>, is it so?");
    stage.critic.post(post(CHANNEL, &words, 1)).await.unwrap();
    stage.moderator.post(post(CHANNEL, &words, 2)).await.unwrap();
    for start in ["POST /webhooks/77", "POST /channels/700/messages"] {
        let said = &stage.asked(start)[0].body;
        assert!(said.starts_with(r#"{"content":"@Poet, is it so?","#), "{said}");
    }
    // As long as it fits.
    let long = format!("<@{poet}>{}", "x".repeat(1_960));
    let longer = stage.moderator.persona(Persona::new("P".repeat(80))).unwrap();
    let long = long.replace(&poet.to_string(), &longer.me().await.unwrap().to_string());
    stage.critic.post(post(CHANNEL, &long, 3)).await.unwrap();
    assert!(stage.asked("POST /webhooks/77")[1].body.contains(r#"{"content":"<@"#));
}

#[tokio::test]
async fn in_a_thread_the_webhook_of_its_parent_posts_and_deletes() {
    let stage = Scripted::new().await;
    assert_eq!(stage.critic.post(post(CHANNEL, "a", 1)).await.unwrap().id, MessageId::new(900));
    assert_eq!(stage.critic.post(post(THREAD, "b", 2)).await.unwrap().id, MessageId::new(901));
    stage.critic.delete(THREAD, MessageId::new(901)).await.unwrap();
    let asked = stage.lines();
    assert_eq!(
        asked[6..],
        [
            "GET /channels/701",
            "POST /webhooks/77/hush?thread_id=701&wait=true",
            "DELETE /webhooks/77/hush/messages/901?thread_id=701",
        ]
    );
    assert_eq!(stage.asked("DELETE /webhooks/77")[0].header("authorization"), None);
}

#[tokio::test]
async fn files_come_without_a_token_too_and_the_moderator_types() {
    let stage = Scripted::new().await;
    let files = [ReplyFile::new("a.txt", *b"one")].into();
    stage.critic.post(Post { files, ..post(CHANNEL, "see", 1) }).await.unwrap();
    let said = &stage.asked("POST /webhooks/77")[0];
    assert!(said.header("content-type").unwrap().starts_with("multipart/form-data"));
    assert!(said.body.contains("files[0]") && said.body.contains("allowed_mentions"));
    assert_eq!(said.header("authorization"), None);
    stage.critic.typing(CHANNEL).await.unwrap();
    let typed = &stage.asked("POST /channels/700/typing")[0];
    assert_eq!(typed.header("authorization"), Some("Bot top.secret.token"));
}

/// What fails before the post is sent leaves no doubt about the post.
#[tokio::test]
async fn what_fails_before_the_post_is_sent_leaves_no_doubt() {
    for start in
        ["GET /channels/700 ", "GET /channels/700/webhooks ", "POST /channels/700/webhooks "]
    {
        let stage = Scripted::new().await;
        stage.server.rule(start, Reply::Break);
        let error = stage.critic.post(post(CHANNEL, "confidential", 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoAnswer, "{start}");
        assert_eq!(error.certainty(), Certainty::NotDone, "{start}");
        shows_nothing(&error);
    }
}

/// A webhook's token that is refused says nothing of the bot's.
#[tokio::test]
async fn a_webhook_that_is_gone_is_made_again_and_the_token_of_the_bot_is_not_blamed() {
    for gone in [Reply::status(404, r#"{"code":10015}"#), Reply::status(401, r#"{"code":50027}"#)] {
        let stage = Scripted::new().await;
        stage.critic.post(post(CHANNEL, "a", 1)).await.unwrap();
        stage.server.rule("POST /webhooks/77/", gone);
        stage.with_another("700");
        assert_eq!(stage.critic.post(post(CHANNEL, "b", 2)).await.unwrap().id, MessageId::new(903));
        stage.moderator.post(post(CHANNEL, "c", 3)).await.unwrap();
        // It is gone again and again.
        stage.server.rule("POST /webhooks/78/", Reply::status(404, r#"{"code":10015}"#));
        let error = stage.critic.post(post(CHANNEL, "confidential", 4)).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotDone));
        shows_nothing(&error);
        // Nor does another 401, and no success lets a refused token be tried.
        stage.server.rule("POST /webhooks/78/", Reply::status(401, r#"{"code":0}"#));
        stage.with_another("700");
        stage.server.rule("POST /webhooks/78/hist", Reply::status(401, r#"{"code":0}"#));
        stage.critic.post(post(CHANNEL, "d", 5)).await.unwrap_err();
        stage.moderator.post(post(CHANNEL, "e", 6)).await.unwrap();
    }
}

#[tokio::test]
async fn no_token_is_in_an_error_or_in_debug() {
    for (status, body) in
        [(500, ""), (403, r#"{"code":50013}"#), (400, r#"{"code":50035}"#), (429, "{}")]
    {
        let stage = Scripted::new().await;
        stage.critic.post(post(CHANNEL, "a", 1)).await.unwrap();
        stage.server.rule("POST /webhooks/77/", Reply::status(status, body));
        let error = stage.critic.post(post(CHANNEL, "confidential", 2)).await.unwrap_err();
        shows_nothing(&error);
        let shown = format!("{:?} {:?}", stage.critic, stage.moderator);
        assert!(!shown.contains("hush") && !shown.contains("secret"), "{shown}");
        if status == 403 {
            let cause = error.source().and_then(|cause| cause.downcast_ref());
            assert_eq!(cause, Some(&RestError::Refused { status: 403, code: Some(50_013) }));
        }
    }
}

/// Each webhook has a bucket of its own.
#[tokio::test]
async fn a_webhooks_limit_holds_back_no_other_post() {
    let stage = Scripted::new().await;
    let full = Reply::ok(r#"{"id":"900","channel_id":"700"}"#).bucket("b", 1, 0, "2.0");
    stage.server.rule("POST /webhooks/77/hush?wait=true ", full);
    stage.critic.post(post(CHANNEL, "a", 1)).await.unwrap();
    let held = stage.critic.post(post(CHANNEL, "b", 2)).await.unwrap_err();
    assert_eq!((held.kind(), held.certainty()), (ErrorKind::RateLimited, Certainty::NotDone));
    assert!(held.retry_after().is_some());
    stage.moderator.post(post(CHANNEL, "c", 3)).await.unwrap();
    let poet = stage.moderator.persona(Persona::new("Poet")).unwrap();
    stage.with_another("700");
    assert_eq!(poet.post(post(CHANNEL, "d", 4)).await.unwrap().id, MessageId::new(903));
}

/// In a thread, Discord says only that its webhook knows no such channel.
#[tokio::test]
async fn a_webhook_that_was_moved_loses_no_reply_in_a_thread() {
    let stage = Scripted::new().await;
    stage.critic.post(post(THREAD, "a", 1)).await.unwrap();
    let gone = Reply::status(404, r#"{"code":10003}"#);
    stage.server.rule("POST /webhooks/77/hush?thread_id=701&wait=true ", gone);
    stage.with_another("701");
    assert_eq!(stage.critic.post(post(THREAD, "b", 2)).await.unwrap().id, MessageId::new(903));
    // The thread itself is gone.
    let gone = Reply::status(404, r#"{"code":10003}"#);
    stage.server.rule("POST /webhooks/78/", gone);
    let error = stage.critic.post(post(THREAD, "c", 3)).await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Gone, Certainty::NotDone));
}

/// A person moved the webhook: what it posted elsewhere is taken back, and the channel has one of its own again.
#[tokio::test]
async fn a_webhook_that_was_moved_posts_nothing_elsewhere_for_long() {
    let stage = Scripted::new().await;
    stage.critic.post(post(CHANNEL, "a", 1)).await.unwrap();
    stage.with_another("700");
    stage
        .server
        .rule("POST /webhooks/77/hush?wait=true ", Reply::ok(r#"{"id":"950","channel_id":"999"}"#));
    stage.server.rule("DELETE /webhooks/77/hush/messages/950 ", Reply::status(204, ""));
    assert_eq!(stage.critic.post(post(CHANNEL, "b", 2)).await.unwrap().id, MessageId::new(903));
    assert_eq!(stage.asked("DELETE /webhooks/77/hush/messages/950").len(), 1);
}

/// Its text is looked for as Discord tells it: with an embed for the link, and the name of another persona.
#[tokio::test]
async fn a_doubtful_post_with_a_link_and_a_name_is_found_and_not_made_again() {
    let stage = Scripted::new().await;
    let poet = stage.moderator.persona(Persona::new("Poet")).unwrap().me().await.unwrap();
    stage.server.rule("POST /webhooks/77/", Reply::Break);
    let words = format!("<@{poet}> and @Critic, see https://a.example");
    let doubtful = stage.critic.post(post(CHANNEL, &words, 1)).await.unwrap_err();
    assert_eq!(doubtful.certainty(), Certainty::Unknown);
    let told = json!([{
        "id": MESSAGE.to_string(), "channel_id": "700", "type": 0, "webhook_id": "77", "embeds": [{"type": "link"}],
        "content": "@Poet and @Critic, see https://a.example", "author": {"id": "77", "username": "Critic", "bot": true},
    }]);
    stage.server.rule("GET /channels/700/messages", Reply::ok(told.to_string()));
    let posted = stage.critic.post(post(CHANNEL, &words, 1)).await.unwrap();
    assert_eq!((posted.id, posted.deduplicated), (MessageId::new(MESSAGE), true));
    assert_eq!(stage.asked("POST /webhooks/77").len(), 1);
}

/// Only fifteen webhooks are what a person must change.
#[tokio::test]
async fn a_webhook_that_discord_refuses_to_make_is_reported_with_its_reason() {
    for (code, kind) in [(30_007, ErrorKind::Forbidden), (50_035, ErrorKind::Invalid)] {
        let stage = Scripted::new().await;
        let refusal = Reply::status(400, json!({ "code": code }).to_string());
        stage.server.rule("POST /channels/700/webhooks ", refusal);
        let error = stage.critic.post(post(CHANNEL, "a", 1)).await.unwrap_err();
        let cause = error.source().and_then(|cause| cause.downcast_ref());
        assert_eq!(cause, Some(&RestError::Refused { status: 400, code: Some(code) }));
        assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotDone));
    }
}
