//! Clients that are slow, endless, many, or no clients at all.

use std::sync::Arc;
use std::time::Duration;

use ::http::{Method, StatusCode};
use bytes::Bytes;
use dirigent_cluster::http::{HttpError, HttpServer};
use dirigent_relay::{CarryError, QUESTION_MAX, Rejection, Relay as _};
use dirigent_testkit::ManualClock;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::certificates::Authority;
use super::fixture::{Answering, Asking, Long, Wait, host, http_error, sealed, until};
use super::wire::{
    END_HEADERS, END_STREAM, Stranger, closed, frame, head, preface, read, request,
    send_and_be_closed,
};

const ECHO: &str = "/dirigent/relay/1/echo";
const LIMIT: Duration = Duration::from_secs(5);

/// The process still answers.
async fn goes_on(answering: &Answering) {
    assert_eq!(Asking::plain(answering).echo("go on").await.unwrap(), "go on");
}

#[tokio::test]
async fn other_paths_and_methods_are_no_questions() {
    let answering = Answering::plain().await;
    let stranger = Stranger::at(answering.address).await;
    for path in ["/", "/dirigent/relay/1/", "/dirigent/relay/2/echo", "/dirigent/relay/1/a/b"] {
        assert_eq!(stranger.ask(Method::POST, path, b"x").await, StatusCode::NOT_FOUND, "{path}");
    }
    let long = format!("/dirigent/relay/1/{}", "x".repeat(129));
    assert_eq!(stranger.ask(Method::POST, &long, b"x").await, StatusCode::NOT_FOUND);
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::OPTIONS] {
        assert_eq!(stranger.ask(method, ECHO, b"x").await, StatusCode::METHOD_NOT_ALLOWED);
    }
    assert_eq!(stranger.ask(Method::POST, ECHO, b"x").await, StatusCode::BAD_REQUEST);
    assert_eq!(answering.begun(), 0);
}

#[tokio::test]
async fn what_is_not_http2_is_closed() {
    let authority = Authority::new();
    let (plain, encrypted) = (Answering::plain().await, Answering::encrypted(&authority).await);
    let http1 = format!("POST {ECHO} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\n\r\nx");
    for bytes in [http1.as_bytes(), &[0; 100], &[0x16, 3, 1, 0xff, 0xff, 1, 0, 0, 0]] {
        send_and_be_closed(encrypted.address, bytes).await;
        send_and_be_closed(plain.address, bytes).await;
    }
    send_and_be_closed(encrypted.address, &preface()).await;
    goes_on(&plain).await;
    assert_eq!(Asking::encrypted(&encrypted, &authority).echo("go on").await.unwrap(), "go on");
}

#[tokio::test]
async fn bad_frames_close_their_connection_only() {
    let answering = Answering::plain().await;
    let bad = [
        frame(0, 0, 1, b"data of no question"),
        frame(1, END_HEADERS, 2, &head(ECHO)),
        frame(1, END_HEADERS, 1, &[0xff; 50]),
        frame(4, 0, 0, &[1]),
        frame(9, END_HEADERS, 1, &[]),
        frame(8, 0, 0, &[0; 4]),
    ];
    for bytes in bad {
        send_and_be_closed(answering.address, &[preface(), bytes].concat()).await;
    }
    goes_on(&answering).await;
}

#[tokio::test]
async fn a_head_that_never_ends_is_cut() {
    let answering = Answering::plain().await;
    let mut stream = TcpStream::connect(answering.address).await.unwrap();
    stream.write_all(&preface()).await.unwrap();
    stream.write_all(&frame(1, 0, 1, &head(ECHO))).await.unwrap();
    let field = [&[0, 1, b'x', 100][..], &[b'y'; 100]].concat();
    let more = frame(9, 0, 1, &field.repeat(100));
    let mut sent = 0;
    while stream.write_all(&more).await.is_ok() {
        sent += more.len();
        assert!(sent < 12 << 20, "the head may be endless");
        tokio::task::yield_now().await;
    }
    goes_on(&answering).await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let answering = Answering::plain().await;
    let stranger = Stranger::at(answering.address).await;
    let mut large = request(Method::POST, ECHO);
    large.headers_mut().insert("x-large", "x".repeat(9 << 10).parse().unwrap());
    let (response, _stream) = stranger.begin(large).await;
    let status = response.await.unwrap().status();
    assert_eq!(status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    let mut large = request(Method::POST, ECHO);
    large.headers_mut().insert("x-large", "x".repeat(7 << 10).parse().unwrap());
    let stranger = Stranger::at(answering.address).await;
    let (response, mut stream) = stranger.begin(large).await;
    stream.send_data(Bytes::from_static(b"x"), true).unwrap();
    assert_eq!(response.await.unwrap().status(), StatusCode::BAD_REQUEST, "taken, and looked at");
}

#[tokio::test]
async fn a_question_that_is_too_large_is_rejected_while_it_comes() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    for length in [QUESTION_MAX + 1, 16 << 20] {
        let carried = asking.relay.carry(&host("bot-1"), "echo", vec![0; length]).await;
        assert!(matches!(carried, Err(CarryError::Rejected(Rejection::TooLarge))), "{carried:?}");
    }
    assert_eq!(answering.server.counts(), (0, 0), "no server looked at it");
    assert_eq!(asking.echo("the same connection").await.unwrap(), "the same connection");
}

#[tokio::test]
async fn a_question_that_never_ends_is_rejected() {
    let answering = Answering::plain().await;
    let stranger = Stranger::at(answering.address).await;
    let (response, mut stream) = stranger.begin(request(Method::POST, ECHO)).await;
    let sending = tokio::spawn(async move {
        let mut sent = 0;
        loop {
            stream.reserve_capacity(16 << 10);
            let capacity = std::future::poll_fn(|context| stream.poll_capacity(context)).await;
            let Some(Ok(capacity)) = capacity else { return sent };
            sent += capacity;
            if stream.send_data(vec![0; capacity].into(), false).is_err() {
                return sent;
            }
        }
    });
    assert_eq!(response.await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert!(sending.await.unwrap() < QUESTION_MAX + (2 << 20));
}

#[tokio::test]
async fn a_question_that_comes_too_slowly_is_given_up() {
    let clock = ManualClock::new();
    let time = Arc::new(clock.clone());
    let build = |server| HttpServer::plain_on_loopback(server).clock(time).questions_max(1);
    let answering = Answering::new(build).await;
    let stranger = Stranger::at(answering.address).await;
    let (response, mut stream) = stranger.begin(request(Method::POST, ECHO)).await;
    stream.send_data(Bytes::from_static(b"D"), false).unwrap();
    // One wait is for the next ping.
    until("it is read", || clock.waiting() == 2).await;
    clock.advance(LIMIT.checked_sub(Duration::from_millis(1)).unwrap());
    stream.send_data(Bytes::from_static(b"R"), false).unwrap();
    tokio::task::yield_now().await;
    assert_eq!(clock.waiting(), 2, "not yet");
    clock.advance(Duration::from_millis(1));
    assert_eq!(response.await.unwrap().status(), StatusCode::REQUEST_TIMEOUT);
    goes_on(&answering).await;
}

#[tokio::test]
async fn a_connection_that_does_not_begin_is_closed() {
    let (clock, authority) = (ManualClock::new(), Authority::new());
    let time = || Arc::new(clock.clone());
    let plain = Answering::new(|server| HttpServer::plain_on_loopback(server).clock(time())).await;
    let tls = authority.certify("localhost").server();
    let build = |server| HttpServer::builder(server, tls).clock(time());
    let encrypted = Answering::new(build).await;
    for (address, bytes) in [
        (plain.address, &b""[..]),
        (plain.address, b"PRI * HTTP/2.0\r\n"),
        (encrypted.address, b""),
        (encrypted.address, &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        until("it is waited for", || clock.waiting() == 1).await;
        clock.advance(LIMIT);
        closed(&mut stream).await;
        until("it is over", || clock.waiting() == 0).await;
    }
}

#[tokio::test]
async fn a_client_that_answers_no_ping_is_closed() {
    let clock = ManualClock::new();
    let time = Arc::new(clock.clone());
    let answering =
        Answering::new(|server| HttpServer::plain_on_loopback(server).clock(time)).await;
    let mut stream = TcpStream::connect(answering.address).await.unwrap();
    stream.write_all(&preface()).await.unwrap();
    stream.write_all(&frame(1, END_HEADERS | END_STREAM, 1, &head("/"))).await.unwrap();
    // Also the handshake's wait is over when its question was answered.
    let mut bytes = [0; 9];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut bytes).await.unwrap();
    until("the next ping is waited for", || clock.waiting() == 1).await;
    clock.advance(Duration::from_secs(10));
    until("the ping is sent", || clock.waiting() == 1).await;
    clock.advance(LIMIT);
    closed(&mut stream).await;
}

#[tokio::test]
async fn what_is_half_closed_frees_its_place() {
    let build = |server| HttpServer::plain_on_loopback(server).questions_max(1);
    let answering = Answering::new(build).await;
    for bytes in [
        [preface(), frame(1, END_HEADERS, 1, &head(ECHO))].concat(),
        [preface(), frame(1, END_HEADERS, 1, &head(ECHO)), frame(0, 0, 1, b"DRL1")].concat(),
        [preface(), frame(1, 0, 1, &head(ECHO))].concat(),
        preface(),
    ] {
        let mut stream = TcpStream::connect(answering.address).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        closed(&mut stream).await;
        goes_on(&answering).await;
    }
    // A question that is being answered ends, too.
    let question = sealed(&answering, &Wait(1)).await;
    let whole = frame(0, END_STREAM, 1, &question);
    let path = head("/dirigent/relay/1/wait");
    let mut stream = TcpStream::connect(answering.address).await.unwrap();
    let bytes = [preface(), frame(1, END_HEADERS, 1, &path), whole].concat();
    let begun = answering.begun();
    stream.write_all(&bytes).await.unwrap();
    until("it has begun", || answering.begun() == begun + 1).await;
    stream.shutdown().await.unwrap();
    until("it is taken back", || answering.dropped() == 1).await;
    goes_on(&answering).await;
}

#[tokio::test]
async fn too_many_questions_are_answered_with_503() {
    let build = |server| HttpServer::plain_on_loopback(server).questions_max(2);
    let answering = Answering::new(build).await;
    let (asking, other) = (Asking::plain(&answering), Asking::plain(&answering));
    let waiting: Vec<_> = (0..2)
        .map(|number| {
            let client = asking.client.clone();
            tokio::spawn(async move { client.ask(&host("bot-1"), &Wait(number)).await })
        })
        .collect();
    until("both have begun", || answering.begun() == 2).await;
    let error = other.echo("one too many").await.unwrap_err();
    assert!(
        matches!(http_error(&error), (HttpError::Status { status: 503, .. }, false)),
        "{error}"
    );
    // Of one connection they wait for their turn, as the client is told.
    let stranger = Stranger::at(answering.address).await;
    stranger.ask(Method::GET, ECHO, b"").await;
    assert_eq!(stranger.streams_max(), 2);
    let client = asking.client.clone();
    let third = tokio::spawn(async move { client.ask(&host("bot-1"), &Wait(2)).await });
    answering.answers.release.add_permits(3);
    for question in waiting {
        question.await.unwrap().unwrap();
    }
    assert_eq!(third.await.unwrap().unwrap(), 2);
    assert_eq!(other.echo("room again").await.unwrap(), "room again");
}

#[tokio::test]
async fn questions_have_only_so_much_memory_together() {
    let build = |server| HttpServer::plain_on_loopback(server).bytes_max(10_000);
    let answering = Answering::new(build).await;
    let (asking, other) = (Asking::plain(&answering), Asking::plain(&answering));
    let stranger = Stranger::at(answering.address).await;
    let (held, mut stream) = stranger.begin(request(Method::POST, ECHO)).await;
    for _ in 0..9 {
        stream.send_data(vec![0; 1_000].into(), false).unwrap();
    }
    let text = "x".repeat(2_000);
    let mut error = None;
    for _ in 0..1_000 {
        // Until the server has read what is held.
        error = other.echo(&text).await.err();
        if error.is_some() {
            break;
        }
    }
    let error = error.unwrap();
    assert!(
        matches!(http_error(&error), (HttpError::Status { status: 503, .. }, false)),
        "{error}"
    );
    stream.send_data(Bytes::new(), true).unwrap();
    assert_eq!(held.await.unwrap().status(), StatusCode::BAD_REQUEST);
    for _ in 0..20 {
        assert_eq!(asking.echo(&text).await.unwrap(), text, "what was read is given back");
    }
}

#[tokio::test]
async fn one_connection_too_many_is_closed() {
    let build = |server| HttpServer::plain_on_loopback(server).connections_max(1);
    let answering = Answering::new(build).await;
    let asking = Asking::plain(&answering);
    asking.echo("the first").await.unwrap();
    let error = Asking::plain(&answering).echo("one too many").await.unwrap_err();
    assert!(http_error(&error).1, "{error}");
    drop((asking.relay, asking.client));
    until("its link has ended", || asking.link.is_finished()).await;
    let mut is_free = false;
    for _ in 0..1_000 {
        is_free = is_free || Asking::plain(&answering).echo("room again").await.is_ok();
    }
    assert!(is_free);
}

#[tokio::test]
async fn an_answer_that_is_not_taken_is_given_up() {
    let clock = ManualClock::new();
    let time = Arc::new(clock.clone());
    let build = |server| HttpServer::plain_on_loopback(server).clock(time).questions_max(1);
    let answering = Answering::new(build).await;
    let question = sealed(&answering, &Long(1_000_000)).await;
    until("the first connection is closed", || clock.waiting() == 0).await;
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(1_000);
    let stranger = Stranger::with(answering.address, &builder).await;
    let (response, mut stream) =
        stranger.begin(request(Method::POST, "/dirigent/relay/1/long")).await;
    stream.send_data(question.into(), true).unwrap();
    let response = response.await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    until("the answer is sent", || clock.waiting() == 2).await;
    clock.advance(LIMIT);
    let error = read(response.into_body()).await.unwrap_err();
    assert_eq!(error.reason(), Some(h2::Reason::CANCEL));
    goes_on(&answering).await;
}

#[tokio::test]
async fn questions_that_are_taken_back_at_once_leave_nothing() {
    let answering = Answering::plain().await;
    let stranger = Stranger::at(answering.address).await;
    for _ in 0..20 {
        let mut streams = Vec::new();
        for _ in 0..50 {
            streams.push(stranger.begin(request(Method::POST, ECHO)).await);
        }
        drop(streams);
        tokio::task::yield_now().await;
    }
    goes_on(&answering).await;
    assert_eq!(stranger.ask(Method::POST, ECHO, b"x").await, StatusCode::BAD_REQUEST);
}
