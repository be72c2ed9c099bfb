//! Questions that are not taken, and what the asker learns.

use std::sync::Arc;

use dirigent_cluster::http::{HttpError, HttpServer};
use dirigent_relay::{
    CarryError, Client, HostId, Keyring, Refused, Rejection, Relay as _, RelayError, RelayQuestion,
    Secret,
};
use serde::{Deserialize, Serialize};

use super::fixture::{Answering, Asking, Echo, cluster, host, http_error, sealed};

/// No process answers it.
#[derive(Serialize, Deserialize)]
struct Unknown;

impl RelayQuestion for Unknown {
    const RULE: &'static str = "unknown";
    type Answer = ();
}

/// Its name cannot stand in a path.
#[derive(Serialize, Deserialize)]
struct Unnamed;

impl RelayQuestion for Unnamed {
    const RULE: &'static str = "a/b";
    type Answer = ();
}

/// What a process with these keys is told.
async fn rejection(asking: &Asking, to: &HostId, keys: Keyring) -> Option<Rejection> {
    let clock = Arc::new(dirigent::SystemClock::new());
    let client = Client::new(keys, Arc::new(asking.relay.clone()), clock);
    client.ask(to, &Echo("?".to_owned())).await.unwrap_err().rejection()
}

#[tokio::test]
async fn each_rejection_comes_back_as_what_it_is() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    let carry = |question: Vec<u8>| {
        let relay = asking.relay.clone();
        async move { relay.carry(&host("bot-1"), "echo", question).await }
    };
    let is = |carried: &Result<Vec<u8>, CarryError>, expected: Rejection| matches!(carried, Err(CarryError::Rejected(rejection)) if *rejection == expected);
    let malformed = carry(b"no question".to_vec()).await;
    assert!(is(&malformed, Rejection::Malformed), "{malformed:?}");
    let large = carry(vec![0; dirigent_relay::QUESTION_MAX + 1]).await;
    assert!(is(&large, Rejection::TooLarge), "{large:?}");

    let question = sealed(&answering, &Echo("once".to_owned())).await;
    carry(question.clone()).await.unwrap();
    let replayed = carry(question).await;
    assert!(is(&replayed, Rejection::Replayed), "{replayed:?}");

    let keys = || Keyring::of_cluster(host("bot-2"), &cluster());
    answering.book.set(host("bot-3"), answering.address.into());
    let misdirected = rejection(&asking, &host("bot-3"), keys()).await;
    assert_eq!(misdirected, Some(Rejection::Misdirected));
    let other = Keyring::new(host("bot-2"), Secret::new(&[3; 32]).unwrap());
    assert_eq!(rejection(&asking, &host("bot-1"), other).await, Some(Rejection::Forged));
    assert_eq!(answering.server.counts().1, 4, "one was too large to get there");
}

#[tokio::test]
async fn a_process_that_is_not_known_is_told_so() {
    let keys = Keyring::new(host("bot-1"), cluster());
    let server = dirigent_relay::Server::new(keys, cluster());
    let build = |_| HttpServer::plain_on_loopback(Arc::new(server));
    let answering = Answering::new(build).await;
    let asking = Asking::plain(&answering);
    let keys = Keyring::of_cluster(host("bot-2"), &cluster());
    assert_eq!(rejection(&asking, &host("bot-1"), keys).await, Some(Rejection::UnknownHost));
}

#[tokio::test]
async fn what_the_process_refuses_is_proven_and_comes_as_an_answer() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    let error = asking.client.ask(&host("bot-1"), &Unknown).await.unwrap_err();
    assert_eq!(error.refused(), Some(&Refused::UnknownRule), "{error}");
}

#[tokio::test]
async fn a_rule_that_cannot_stand_in_a_path_is_not_sent() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    let error = asking.client.ask(&host("bot-1"), &Unnamed).await.unwrap_err();
    assert!(matches!(http_error(&error), (HttpError::BadRule, true)), "{error}");
}

/// Answers each request with this status and body, and reads none.
async fn pretending(status: u16, body: &'static [u8]) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let mut unread = Vec::new();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            unread.push(request);
            let response = ::http::Response::builder().status(status).body(()).unwrap();
            let mut stream = respond.send_response(response, false).unwrap();
            stream.send_data(bytes::Bytes::from_static(body), true).unwrap();
        }
    });
    address
}

#[tokio::test]
async fn what_is_no_relay_is_no_answer() {
    static LARGE: [u8; dirigent_relay::ANSWER_MAX + 1] = [0; dirigent_relay::ANSWER_MAX + 1];
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    for (status, body) in [
        (404, &b"not found"[..]),
        (409, b""),
        (500, b"replayed"),
        (409, b"replayed or not"),
        (302, b""),
        (204, b""),
        (409, &LARGE),
        (200, &LARGE),
    ] {
        answering.book.set(host("bot-1"), pretending(status, body).await.into());
        // More than is sent before the other end reads.
        let error = asking.echo(&"?".repeat(200_000)).await.unwrap_err();
        match http_error(&error) {
            (HttpError::Status { status: told, .. }, false) => assert_eq!(*told, status),
            (HttpError::AnswerTooLarge, false) => assert_eq!(status, 200),
            other => panic!("{status}: {other:?}"),
        }
        assert!(!error.is_certain() && error.rejection().is_none());
    }
    answering.book.set(host("bot-1"), pretending(200, b"an answer of another").await.into());
    let error = asking.echo("?").await.unwrap_err();
    assert!(matches!(error, RelayError::BadAnswer { .. }), "{error}");
    answering.book.set(host("bot-1"), pretending(409, b"replayed").await.into());
    let error = asking.echo("?").await.unwrap_err();
    assert_eq!(error.rejection(), Some(Rejection::Replayed));
}

#[tokio::test]
async fn only_a_question_that_was_refused_unseen_counts_as_not_sent() {
    let answering = Answering::plain().await;
    let asking = Asking::plain(&answering);
    for (reason, is_unsent) in [
        (h2::Reason::REFUSED_STREAM, true),
        (h2::Reason::CANCEL, false),
        (h2::Reason::INTERNAL_ERROR, false),
        (h2::Reason::NO_ERROR, false),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        answering.book.set(host("bot-1"), listener.local_addr().unwrap().into());
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_request, mut respond))) = connection.accept().await {
                respond.send_reset(reason);
            }
        });
        let error = asking.echo("?").await.unwrap_err();
        assert!(matches!(http_error(&error), (HttpError::Lost { .. }, _)), "{error}");
        assert_eq!(error.is_certain(), is_unsent, "{reason:?}: {error}");
    }
}
