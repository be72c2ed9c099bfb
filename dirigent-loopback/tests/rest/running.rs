//! Starting and ending.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn nothing_runs_on_after_the_end() {
    let stage = RestStage::new().await;
    let address = stage.loopback.address();
    let open = TcpStream::connect(address).await.unwrap();
    assert_eq!(stage.get("users/@me").await.status, 200);
    stage.loopback.shutdown().await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens");
    let mut byte = [0];
    let read = open.peek(&mut byte).await;
    assert!(matches!(read, Ok(0) | Err(_)), "open connections are closed");
    drop(stage.discord);
}

#[tokio::test(flavor = "current_thread")]
async fn dropping_it_ends_it() {
    let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    let loopback = LoopbackDiscord::start(discord.clone()).await.unwrap();
    let address = loopback.address();
    assert!(address.ip().is_loopback());
    let taken = LoopbackDiscord::start_on(discord, address.port()).await;
    assert!(taken.is_err(), "a port is for one");
    drop(loopback);
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_bot_learns_where_the_gateway_is() {
    let stage = RestStage::new().await;
    let url = format!("ws://{}", stage.loopback.address());
    assert_eq!(stage.get("gateway").await.json()["url"], url);
    let answer = stage.get("gateway/bot").await.json();
    assert_eq!((&answer["url"], &answer["shards"]), (&json!(url), &json!(1)));
}

/// py-cord asks for them before it says that it is ready.
#[tokio::test(flavor = "current_thread")]
async fn discord_has_no_sounds_of_its_own_here() {
    let stage = RestStage::new().await;
    let answer = stage.get("soundboard-default-sounds").await;
    assert_eq!((answer.status, answer.json()), (200, json!([])));
}

/// Some clients take one origin for requests and the gateway.
#[tokio::test(flavor = "current_thread")]
async fn one_connection_carries_requests_and_then_the_gateway() {
    let stage = RestStage::new().await;
    let address = stage.loopback.address();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let token = stage.loopback.token(stage.bot);
    for _ in 0..2 {
        let request = format!(
            "GET /api/v10/gateway/bot HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bot {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let url = format!("\"url\":\"ws://{address}\"");
        let answer = read_until(&mut stream, &url).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let upgrade = format!(
        "GET /?v=10&encoding=json HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    stream.write_all(upgrade.as_bytes()).await.unwrap();
    let greeted = read_until(&mut stream, "heartbeat_interval").await;
    assert!(greeted.starts_with("HTTP/1.1 101"), "{greeted}");
}

/// Reads until these words have come.
async fn read_until(stream: &mut TcpStream, words: &str) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if text.contains(words) {
            return text;
        }
        let more = tokio::time::timeout(20 * SECOND, stream.read_buf(&mut read)).await;
        assert!(more.is_ok_and(|more| more.unwrap() > 0), "nothing comes after: {text}");
    }
}
