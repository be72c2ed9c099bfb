//! What is made of each way to fail, and what may be concluded.

use std::time::Duration;

use dirigent::DiscordApi;
use dirigent::ports::{ApiError, Certainty, ErrorKind};
use dirigent_discord::{AccountBuildError, BanGuard, DiscordAccount, RestError};
use dirigent_testkit::ManualClock;

use crate::account::server::{Reply, Server};
use crate::account::{AccountStage, account, cause, post, shows_nothing};

/// Discord repeats what it was sent in some of its refusals.
const TELLTALE: &str =
    r#"{"message":"confidential","code":50035,"errors":{"content":"confidential"}}"#;

async fn posted(reply: Reply) -> ApiError {
    let stage = AccountStage::with([reply]).await;
    let error = stage.account.post(post("confidential", 1)).await.unwrap_err();
    assert_eq!(stage.server.count(), 1, "one attempt a call");
    shows_nothing(&error);
    error
}

/// R120, F22: every status, its kind, and what is certain.
#[tokio::test]
async fn every_status_is_told_apart() {
    use Certainty::{NotDone, Unknown};
    for (status, kind, certainty) in [
        (400, ErrorKind::Invalid, NotDone),
        (401, ErrorKind::Unauthorized, NotDone),
        (403, ErrorKind::Forbidden, NotDone),
        (404, ErrorKind::Gone, NotDone),
        (405, ErrorKind::Invalid, NotDone),
        (408, ErrorKind::NoAnswer, Unknown),
        (413, ErrorKind::Invalid, NotDone),
        (301, ErrorKind::Unavailable, Unknown),
        (500, ErrorKind::Unavailable, Unknown),
        (502, ErrorKind::Unavailable, Unknown),
        (503, ErrorKind::Unavailable, Unknown),
        (522, ErrorKind::Unavailable, Unknown),
    ] {
        let error = posted(Reply::status(status, TELLTALE)).await;
        assert_eq!((error.kind(), error.certainty()), (kind, certainty), "{status}");
        assert_eq!(cause(&error), RestError::Refused { status, code: Some(50_035) });
    }
    let page = posted(Reply::status(502, "<html>confidential</html>")).await;
    assert_eq!(cause(&page), RestError::Refused { status: 502, code: None });
}

/// WY4: what the message says is not taken, whatever the status. It is no missing right, so the route does not rest.
#[tokio::test]
async fn a_text_that_is_refused_for_what_it_says_is_named_by_its_code() {
    for (status, code) in [(400, 200_000), (403, 20_009), (403, 240_000)] {
        let body = format!(r#"{{"message":"confidential","code":{code}}}"#);
        let error = posted(Reply::status(status, &body)).await;
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Invalid, Certainty::NotDone));
        assert_eq!(error.post_failure().code, Some(code));
        let replies = std::iter::repeat_with(|| Reply::status(status, &body)).take(5);
        let stage = AccountStage::with(replies.collect::<Vec<_>>()).await;
        for number in 0..5 {
            let _ = stage.account.post(post("confidential", number)).await.unwrap_err();
        }
        assert_eq!(stage.server.count(), 5, "{status}");
    }
}

/// WY5: what stands before Discord refuses in its own words. It knows nothing of the token, of permissions or of the
/// message: that is an outage, after which the reply is posted, and no reason to let the route or the token rest.
#[tokio::test]
async fn a_refusal_without_discords_code_is_an_outage() {
    let foreign = [
        "<html><title>Attention Required! | Cloudflare</title></html>",
        "",
        "error code: 1015",
        r#"{"error":"forbidden"}"#,
        r#"{"code":"forbidden","message":"no"}"#,
        r#"[{"code":50013}]"#,
        "\u{1}",
    ];
    for status in [400, 401, 403, 404, 405, 413, 451] {
        for body in foreign {
            let error = posted(Reply::status(status, body)).await;
            let known = (error.kind(), error.certainty());
            let expected = (ErrorKind::Unavailable, Certainty::Unknown);
            assert_eq!(known, expected, "{status} {body}");
            assert_eq!(cause(&error), RestError::Refused { status, code: None });
            assert!(error.kind().is_retryable());
        }
    }
    for (status, kind) in [(500, ErrorKind::Unavailable), (503, ErrorKind::Unavailable)] {
        let error = posted(Reply::status(status, r#"{"message":"500: Internal","code":0}"#)).await;
        assert_eq!(error.kind(), kind, "an outage in Discord's own words");
    }
    for status in [401, 403] {
        let page = Reply::status(status, foreign[0]);
        let stage =
            AccountStage::with([page.clone(), page.clone(), page, Reply::ok(r#"{"id":"900"}"#)])
                .await;
        for number in 1..4 {
            stage.account.post(post("one", number)).await.unwrap_err();
        }
        stage.account.post(post("one", 4)).await.unwrap();
        assert_eq!(stage.server.count(), 4, "{status}: nothing rests");
    }
}

/// WY5: with Discord's code each of them means what it says.
#[tokio::test]
async fn a_refusal_with_discords_code_is_its_own() {
    for (status, kind) in [
        (400, ErrorKind::Invalid),
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::Gone),
    ] {
        let error = posted(Reply::status(status, r#"{"message":"no","code":0}"#)).await;
        assert_eq!(error.kind(), kind, "{status}");
    }
}

/// F13: a success that cannot be read may have been one.
#[tokio::test]
async fn an_unreadable_success_leaves_doubt() {
    for body in ["", "<html>confidential", "{}", r#"{"id":null}"#, r#"{"id":"nine"}"#, "\u{1}"] {
        let error = posted(Reply::ok(body)).await;
        assert_eq!(error.certainty(), Certainty::Unknown, "{body}");
        assert_eq!((error.kind(), cause(&error)), (ErrorKind::Unavailable, RestError::Unreadable));
    }
    let short = posted(Reply::CutShort).await;
    assert_eq!((short.certainty(), cause(&short)), (Certainty::Unknown, RestError::Broken));
}

/// F13: a connection that breaks leaves doubt, and nothing is sent a second time.
#[tokio::test]
async fn a_broken_connection_leaves_doubt() {
    let error = posted(Reply::Break).await;
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::NoAnswer, Certainty::Unknown));
    assert_eq!(cause(&error), RestError::Broken);
    // Also on a connection that was used before, which a client might want to replace by itself.
    let stage = AccountStage::with([Reply::ok(r#"{"id":"900"}"#), Reply::Break]).await;
    stage.account.post(post("one", 1)).await.unwrap();
    let error = stage.account.post(post("two", 2)).await.unwrap_err();
    assert_eq!((error.certainty(), stage.server.count()), (Certainty::Unknown, 2));
    stage.server.script([Reply::ok(r#"{"id":"901"}"#)]);
    stage.account.post(post("two", 2)).await.unwrap();
}

/// F13: where nothing listens, nothing was sent.
#[tokio::test]
async fn no_connection_is_certainly_nothing_done() {
    // A place that is taken, so that nobody else begins to listen there, and where nobody listens.
    let silent = tokio::net::TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nowhere = format!("http://{}", silent.local_addr().unwrap());
    let account = account(&nowhere, &ManualClock::new(), &BanGuard::new(1_000));
    let error = account.post(post("confidential", 1)).await.unwrap_err();
    is_not_connected(&error);
}

/// Discord is away, and certainly got nothing.
fn is_not_connected(error: &ApiError) {
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotDone));
    assert_eq!(cause(error), RestError::NotConnected);
    shows_nothing(error);
}

/// F13: a name that is not found is no connection. (`.invalid` never is one.)
#[tokio::test]
async fn an_unknown_name_is_certainly_nothing_done() {
    let account = account("http://discord.invalid", &ManualClock::new(), &BanGuard::new(1_000));
    is_not_connected(&account.post(post("confidential", 1)).await.unwrap_err());
}

/// F13: a server that accepts and never speaks TLS got nothing, and holds nobody up for longer than
/// connecting may take.
#[cfg(any(
    feature = "rustls-platform-verifier",
    feature = "rustls-native-roots",
    feature = "rustls-webpki-roots",
    feature = "native-tls",
))]
#[tokio::test]
async fn a_tls_handshake_that_hangs_is_certainly_nothing_done() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let clock = ManualClock::new();
    let address = format!("https://{}", listener.local_addr().unwrap());
    let account = account(&address, &clock, &BanGuard::new(1_000));
    let mute = async {
        let (accepted, _) = listener.accept().await.unwrap();
        clock.advance(Duration::from_secs(4));
        accepted
    };
    let (posted, _accepted) = tokio::join!(account.post(post("confidential", 1)), mute);
    is_not_connected(&posted.unwrap_err());
}

/// F13: an answer that does not come in time leaves doubt; the time is the clock's that was given.
#[tokio::test]
async fn a_late_answer_leaves_doubt() {
    let stage = AccountStage::with([Reply::Silence]).await;
    let mut asked = stage.account.post(post("confidential", 1));
    let nearly = async {
        stage.server.arrived(1).await;
        stage.pass(8_999);
        tokio::task::yield_now().await;
    };
    tokio::select! {
        biased;
        _ = &mut asked => panic!("given up too early"),
        () = nearly => stage.pass(1),
    }
    let error = asked.await;
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::NoAnswer, Certainty::Unknown));
    assert_eq!(cause(&error), RestError::Late);
}

/// F22: a status whose body never comes says no more than that: without Discord's code it is no refusal of Discord's.
#[tokio::test]
async fn a_status_counts_though_its_body_is_stuck() {
    for (status, kind) in [(200, ErrorKind::NoAnswer), (401, ErrorKind::Unavailable)] {
        let stage = AccountStage::with([Reply::Stuck(status)]).await;
        let asked = stage.account.me();
        let late = async {
            stage.server.arrived(1).await;
            // Once the head is there, only the body is waited for.
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
            stage.pass(9_000);
        };
        let (error, ()) = tokio::join!(asked, late);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_ne!(cause(&error), RestError::Late, "its head was there");
    }
}

/// What cannot be a token or an address is refused before anything is sent, without showing it.
#[test]
fn a_bad_setting_is_refused() {
    let clock = ManualClock::new();
    for token in ["", "  ", "Bot ", "two words", "line\nfeed", "Bot a\u{7f}b"] {
        let built = DiscordAccount::builder(token, clock.clone()).build();
        assert_eq!(built.err(), Some(AccountBuildError::BadToken), "{token:?}");
    }
    for address in ["", "127.0.0.1", "ftp://x", "http://x/path", "http://user:pass@x", "http://x?y"]
    {
        let built = DiscordAccount::builder("token", clock.clone()).proxy(address).build();
        assert_eq!(built.err(), Some(AccountBuildError::BadProxy), "{address:?}");
    }
}

/// Without TLS the token never goes to Discord in the open. (Run with `--no-default-features`.)
#[cfg(not(any(
    feature = "rustls-platform-verifier",
    feature = "rustls-native-roots",
    feature = "rustls-webpki-roots",
    feature = "native-tls",
)))]
#[test]
fn without_tls_discord_is_not_reached() {
    for address in [None, Some("https://127.0.0.1:1")] {
        let builder = DiscordAccount::builder("token", ManualClock::new());
        let builder = address.into_iter().fold(builder, dirigent_discord::AccountBuilder::proxy);
        assert_eq!(builder.build().err(), Some(AccountBuildError::NoTls));
    }
}

/// No secret is shown by what holds it; a token may come with "Bot " and a line's end.
#[tokio::test]
async fn a_token_is_sent_and_not_shown() {
    let server = Server::start([Reply::ok(r#"{"id":"500"}"#)]).await;
    let builder = DiscordAccount::builder("Bot top.secret.token\n", ManualClock::new());
    let builder = builder.ban_guard(&BanGuard::new(1_000));
    let builder = builder.proxy(server.address()).timeout(Duration::from_secs(1));
    assert!(!format!("{builder:?}").contains("secret"));
    let account = builder.build().unwrap();
    account.me().await.unwrap();
    assert!(!format!("{account:?}").contains("secret"));
    assert_eq!(server.asked()[0].header("authorization"), Some("Bot top.secret.token"));
}
