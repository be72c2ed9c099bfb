//! Requests that mean harm.

use std::time::Duration;

use axum::body::Body;
use dirigent_control::Control;
use http::{Method, StatusCode, header};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::fixture::{Fixture, OPERATOR, VIEWER, request};

#[tokio::test]
async fn huge_and_malformed_bodies_are_refused_and_told_as_problems() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let path = format!("/dirigent/api/channels/{channel}/orders");
    let bodies: [(&str, Vec<u8>, u16); 8] = [
        ("application/json", b"{".to_vec(), 400),
        ("application/json", b"[]".to_vec(), 422),
        ("application/json", br#"{"order":"dance"}"#.to_vec(), 422),
        ("application/json", vec![0xff; 100], 400),
        ("application/json", vec![b' '; 70_000], 413),
        ("application/json", "[".repeat(10_000).into_bytes(), 422),
        ("text/plain", br#"{"order":"stop"}"#.to_vec(), 415),
        ("application/json", br#"{"order":"mute","agent":7}"#.to_vec(), 422),
    ];
    for (kind, body, status) in bodies {
        let mut asked = request(Method::POST, &path, OPERATOR, Body::from(body.clone()));
        asked.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
        let answer = fixture.ask(asked).await;
        let shown = String::from_utf8_lossy(&body).chars().take(40).collect::<String>();
        assert_eq!(answer.status.as_u16(), status, "{shown}: {}", answer.text);
        assert_eq!(answer.header(header::CONTENT_TYPE), "application/problem+json");
        assert_eq!(answer.json()["status"], status);
    }
    for (kind, body, status) in [
        ("application/x-www-form-urlencoded", format!("order={}", "a".repeat(70_000)), 413),
        ("application/x-www-form-urlencoded", "order=stop&order".to_owned(), 422),
        ("multipart/form-data; boundary=x", "--x--".to_owned(), 415),
    ] {
        let path = format!("/dirigent/channels/{channel}");
        let mut asked = request(Method::POST, &path, OPERATOR, Body::from(body));
        asked.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
        assert_eq!(fixture.ask(asked).await.status.as_u16(), status, "{kind}");
    }
    let rest = fixture.dirigent.channel(channel).status().await.unwrap().unwrap().rest;
    assert_eq!(rest, None, "none of them stopped it");
}

#[tokio::test]
async fn strange_headers_and_paths_are_answered_without_a_fault() {
    let fixture = Fixture::open().await;
    for value in ["", "Bearer", "Bearer ", "Basic b3BlcmF0b3I6", "Bearer \u{7f}"] {
        let mut asked = request(Method::GET, "/dirigent", "", Body::empty());
        let Ok(value) = value.parse() else { continue };
        asked.headers_mut().insert(header::AUTHORIZATION, value);
        assert_eq!(fixture.ask(asked).await.status, StatusCode::UNAUTHORIZED);
    }
    for path in [
        "/dirigent/channels/%00",
        "/dirigent/channels/%ff",
        "/dirigent/channels/-1",
        "/dirigent/assets/..%2f..%2fetc%2fpasswd",
        "/dirigent/live/channels/18446744073709551616",
        "/dirigent/api/channels?page=99999999999999999999",
        "/dirigent/api/channels/123456789012345678/score.svg",
        "/dirigent/api/channels/123456789012345678/replay",
    ] {
        let answer = fixture.get(path, VIEWER).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
    }
    assert_eq!(fixture.get("/dirigent/api/channels?page=0", VIEWER).await.status, StatusCode::OK);
    assert_eq!(
        fixture.get("/dirigent/api/channels?page=4000000000", VIEWER).await.status,
        StatusCode::OK
    );
}

/// A connection whose client sends its request byte by byte, or not at all, does not keep others waiting.
#[tokio::test]
async fn slow_clients_do_not_keep_others_waiting() {
    let fixture = Fixture::open().await;
    let chat = std::sync::Arc::new(fixture.discord.account(fixture.moderator));
    let control = Control::builder(fixture.dirigent.clone(), chat, fixture.identities.clone())
        .operator_token(OPERATOR)
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = tokio::spawn(control.serve(listener));
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /dirigent HTT").await.unwrap();
        slow.push(stream);
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    let asked = format!(
        "GET /dirigent/api/channels HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {OPERATOR}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(Duration::from_secs(10), read).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    served.abort();
}

/// Tokens stand neither in answers nor in `Debug`.
#[tokio::test]
async fn a_token_is_told_to_no_one() {
    let fixture = Fixture::open().await;
    let chat = std::sync::Arc::new(fixture.discord.account(fixture.moderator));
    let builder = Control::builder(fixture.dirigent.clone(), chat, fixture.identities.clone());
    let builder = builder.operator_token(OPERATOR).viewer_token(VIEWER);
    assert!(!format!("{builder:?}").contains(OPERATOR));
    let control = builder.build().unwrap();
    assert!(!format!("{control:?}").contains(VIEWER));
}
