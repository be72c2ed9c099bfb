//! Reading messages.

use dirigent::ports::{AuthorKind, ChatKind, ErrorKind, HistoryRequest};
use dirigent::{DiscordApi, MessageId, UserId};

use crate::account::server::Reply;
use crate::account::{AccountStage, CHANNEL, ME};

/// A page as Discord gives it, newest first, with all kinds of messages.
const PAGE: &str = r#"[
  {"id":"99","channel_id":"700","type":0,"content":"hi","author":{"id":"5","username":"a","global_name":null},
   "timestamp":"2025-06-15T15:06:40.000000+00:00","embeds":[{"type":"rich","brand new":1}],"tts":false},
  {"id":"98","channel_id":"700","type":19,"content":"yes","author":{"id":"6","bot":true},"nonce":"abc",
   "message_reference":{"message_id":"97"},"referenced_message":null},
  {"id":"97","channel_id":"700","type":0,"content":"w","author":{"id":"7","bot":true},"webhook_id":"7"},
  {"id":"96","channel_id":"700","type":7,"content":"","author":{"id":"5"}},
  {"id":"95","channel_id":"700","type":18,"content":"a thread","author":{"id":"5"}},
  {"id":"94","channel_id":"700","type":20,"content":"pong","author":{"id":"6","bot":true},"webhook_id":"6",
   "interaction_metadata":{"id":"1","type":2},"application_id":"6"},
  {"id":"93","channel_id":"700","type":19,"content":"more","author":{"id":"6","bot":true},"webhook_id":"6",
   "interaction_metadata":{"id":"1","type":2}},
  {"id":"92","channel_id":"700","type":0,"content":"note","author":{"id":"643945264868098049","system":true}},
  {"id":"91","channel_id":"700","type":250,"content":"?","author":{"id":"5"}}
]"#;

/// R106, D56: a page is asked for as it is wanted, and each message read for what it is.
#[tokio::test]
async fn a_page_is_read_for_what_it_is() {
    let stage = AccountStage::with([Reply::ok(PAGE)]).await;
    let request = HistoryRequest { channel: CHANNEL, after: None, limit: 20 };
    let page = stage.account.history(request).await.unwrap();
    assert_eq!(stage.server.lines(), ["GET /api/v10/channels/700/messages?limit=20 HTTP/1.1"]);
    let read: Vec<_> =
        page.iter().map(|message| (message.id.get(), message.author_kind, message.kind)).collect();
    assert_eq!(
        read,
        [
            (99, AuthorKind::Human, ChatKind::Default),
            (98, AuthorKind::Bot, ChatKind::Reply),
            (97, AuthorKind::Webhook, ChatKind::Default),
            (96, AuthorKind::Human, ChatKind::System),
            (95, AuthorKind::Human, ChatKind::System),
            (94, AuthorKind::Bot, ChatKind::System),
            (93, AuthorKind::Bot, ChatKind::System),
            (92, AuthorKind::Human, ChatKind::System),
            (91, AuthorKind::Human, ChatKind::System),
        ]
    );
    assert_eq!((page[0].channel, page[0].author), (CHANNEL, UserId::new(5)));
    assert_eq!((&*page[0].content, page[1].nonce), ("hi", "abc".parse().ok()));
}

/// R106: what comes after a message, and no page that Discord does not have.
#[tokio::test]
async fn a_page_after_a_message_has_one_to_a_hundred() {
    let stage = AccountStage::with([Reply::ok("[]")]).await;
    let mut request =
        HistoryRequest { channel: CHANNEL, after: Some(MessageId::new(44)), limit: 100 };
    assert!(stage.account.history(request).await.unwrap().is_empty());
    assert_eq!(
        stage.server.lines(),
        ["GET /api/v10/channels/700/messages?after=44&limit=100 HTTP/1.1"]
    );
    for limit in [0, 101] {
        request.limit = limit;
        let error = stage.account.history(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    assert_eq!(stage.server.count(), 1);
}

/// The account is asked for every time, so that a token is tried by it.
#[tokio::test]
async fn me_is_asked_every_time() {
    let stage = AccountStage::with([
        Reply::ok(r#"{"id":"500","bot":true}"#),
        Reply::status(401, r#"{"code":0}"#),
    ])
    .await;
    assert_eq!(stage.account.me().await.unwrap(), ME);
    assert_eq!(stage.account.me().await.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(stage.server.lines()[0], "GET /api/v10/users/@me HTTP/1.1");
}

/// Ids tell when they were made.
#[tokio::test]
async fn an_id_tells_its_time() {
    let stage = AccountStage::with([]).await;
    let at = stage.account.sent_at(MessageId::new(175_928_847_299_117_063));
    assert_eq!(at.as_millis(), 1_462_015_105_796);
}
