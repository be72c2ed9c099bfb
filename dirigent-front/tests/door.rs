//! Who is let in, and how.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use dirigent_front::{Front, FrontError};
use dirigent_testkit::ManualClock;
use futures_util::FutureExt as _;
use http::{Method, StatusCode, header};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt as _;

use crate::stage::{ASKER, FrontStage, SITTER};

async fn status(stage: &FrontStage, token: &str) -> StatusCode {
    stage.get("/v1/tools", token).await.0
}

#[tokio::test]
async fn a_wrong_secret_is_counted_and_never_bars_a_right_one() {
    let stage = FrontStage::open().await;
    let mixed = ASKER.replace("python", "script");
    for wrong in
        ["", "python", "python.", "python.0123456789abcdee", "nobody.0123456789abcdef", &*mixed]
    {
        assert_eq!(status(&stage, wrong).await, StatusCode::UNAUTHORIZED, "{wrong}");
    }
    assert_eq!(status(&stage, ASKER).await, StatusCode::OK);
    let failed = stage.front.failed_secrets();
    assert_eq!((failed["python"], failed["script"], failed[""]), (3, 1, 1), "{failed:?}");
}

#[tokio::test]
async fn secrets_change_without_a_pause() {
    let stage = FrontStage::open().await;
    let (old, new) = ("0123456789abcdef", "00112233445566778899");
    assert!(stage.front.set_secrets("python", &[old, new]).unwrap());
    let replaced = format!("python.{new}");
    assert_eq!([status(&stage, ASKER).await, status(&stage, &replaced).await], [StatusCode::OK; 2]);
    assert!(stage.front.set_secrets("python", &[new]).unwrap());
    assert_eq!(status(&stage, ASKER).await, StatusCode::UNAUTHORIZED);
    assert_eq!(
        [status(&stage, SITTER).await, status(&stage, &replaced).await],
        [StatusCode::OK; 2]
    );
    assert!(!stage.front.set_secrets("nobody", &[new]).unwrap());
    let weak = stage.front.set_secrets("python", &["short"]);
    assert!(matches!(weak, Err(FrontError::WeakSecret(_))));
    assert_eq!(status(&stage, &replaced).await, StatusCode::OK, "nothing changed");
}

#[tokio::test]
async fn a_browser_and_a_foreign_name_are_not_answered() {
    let stage = FrontStage::open().await;
    let ask = |host: &str, origin: Option<&str>| {
        let mut request =
            stage.request(Method::GET, "/v1/tools", ASKER).body(Body::empty()).unwrap();
        request.headers_mut().insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert(header::ORIGIN, origin.parse().unwrap());
        }
        stage.send(request)
    };
    for host in ["127.0.0.1", "127.0.0.1:8131", "localhost", "[::1]:8131"] {
        assert_eq!(ask(host, None).await.0, StatusCode::OK, "{host}");
    }
    for host in ["evil.example", "evil.example:8131", "127.0.0.1.evil.example", "localhost.", ""] {
        assert_eq!(ask(host, None).await.0, StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    assert_eq!(ask("localhost", Some("http://localhost")).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn what_is_not_asked_right_is_refused_with_a_sentence() {
    let stage = FrontStage::open().await;
    let begin = |body: serde_json::Value| async move { body };
    let channel = stage.channel.to_string();
    for wrong in [
        json!({ "agent": "asker", "channel": channel }),
        json!({ "agent": "asker", "channel": channel, "run": "" }),
        json!({ "agent": "asker", "channel": channel, "run": "x".repeat(201) }),
        json!({ "agent": "asker", "channel": "table", "run": "1" }),
        json!({ "agent": "asker", "channel": channel, "run": "1", "more": 1 }),
    ] {
        let body = begin(wrong).await;
        let (status, problem) = stage.post("/v1/begin", ASKER, &body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert!(problem["detail"].as_str().is_some_and(|it| !it.is_empty()), "{problem}");
    }
    let long = json!({ "agent": "asker", "channel": channel, "run": "1", "outcome": "spoke", "text": "x".repeat(300_000) });
    let (status, _) = stage.post("/v1/end", ASKER, &long).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(stage.get("/v1/nothing", ASKER).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_document_has_every_request() {
    let stage = FrontStage::open().await;
    let (_, document) = stage.get("/v1/openapi.json", ASKER).await;
    let paths = document["paths"].as_object().unwrap();
    for path in ["/state", "/turns", "/why"] {
        let parameters = paths[path]["get"]["parameters"].as_array().unwrap();
        assert!(parameters.iter().all(|it| it["in"] == "query"), "{path}: {parameters:?}");
    }
    let paths: Vec<_> = paths.keys().map(String::as_str).collect();
    let all = [
        "/begin",
        "/end",
        "/heartbeat",
        "/say",
        "/state",
        "/tools",
        "/tools/{name}",
        "/turns",
        "/why",
    ];
    assert_eq!(paths, all);
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
}

#[tokio::test]
async fn it_listens_on_this_machine_only_unless_tls_ends_before_it() {
    let stage = FrontStage::open().await;
    let open = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let refused = stage.front.serve(open).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let front = stage.front.clone();
    let serving = tokio::spawn(async move { front.serve(listener).await });
    let mut client = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /v1/tools HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {ASKER}\r\nconnection: close\r\n\r\n"
    );
    client.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    serving.abort();
}

#[tokio::test]
async fn a_front_that_could_be_misused_is_not_built() {
    let stage = FrontStage::open().await;
    let chat = || Arc::new(stage.discord.account(stage.moderator));
    let builder = || Front::builder(stage.dirigent.clone(), chat());
    let secret = "0123456789abcdef";
    assert!(matches!(builder().build(), Err(FrontError::NoHost)));
    for name in ["", "a.b", "A", &"x".repeat(33)] {
        let built = builder().host(name, secret, ["asker"]).build();
        assert!(matches!(built, Err(FrontError::BadName(_))), "{name}");
    }
    let weak = builder().host("python", "0123456789abcde", ["asker"]).build();
    assert!(matches!(weak, Err(FrontError::WeakSecret(_))));
    let twice = builder().host("a", secret, ["asker"]).host("b", secret, ["asker"]).build();
    assert!(matches!(twice, Err(FrontError::BoundTwice { .. })));
    assert!(
        builder()
            .host("a", secret, ["asker"])
            .host("a", "fedcba9876543210", ["sitter"])
            .build()
            .is_ok()
    );
}

#[tokio::test]
async fn a_request_that_is_sent_too_slowly_or_is_too_large_is_refused() {
    let stage = FrontStage::open().await;
    let clock = ManualClock::new();
    let chat = Arc::new(stage.discord.account(stage.moderator));
    let builder = Front::builder(stage.dirigent.clone(), chat).clock(Arc::new(clock.clone()));
    let router = builder.host("python", "0123456789abcdef", ["asker"]).build().unwrap().router();
    let send = |body: Body| {
        let request = stage.request(Method::POST, "/v1/heartbeat", ASKER);
        router
            .clone()
            .oneshot(request.header("content-type", "application/json").body(body).unwrap())
    };
    let half = Body::from_stream(futures_util::stream::pending::<Result<String, std::io::Error>>());
    let mut slow = Box::pin(send(half));
    assert!((&mut slow).now_or_never().is_none());
    clock.advance(Duration::from_secs(9));
    assert!((&mut slow).now_or_never().is_none());
    clock.advance(Duration::from_secs(1));
    let refused = tokio::time::timeout(Duration::from_secs(20), slow).await.unwrap().unwrap();
    assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
    let large = json!({ "agents": ["x".repeat(256 * 1024)] }).to_string();
    assert_eq!(send(Body::from(large)).await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    let fit = json!({ "agents": ["asker"] }).to_string();
    assert_eq!(send(Body::from(fit)).await.unwrap().status(), StatusCode::OK);
}
