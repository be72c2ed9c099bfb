//! Parts of the server that are away.

use std::io::ErrorKind;

use dirigent_loopback::{RestRoute, ServerOutage};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use super::*;

const APPLIED: ServerOutage = ServerOutage::RestHanging { is_applied: true };
const NOT_APPLIED: ServerOutage = ServerOutage::RestHanging { is_applied: false };

/// Asks for a connection of the gateway. The server's first words; none when it closes without any.
async fn upgrade(address: std::net::SocketAddr) -> std::io::Result<Option<String>> {
    let mut stream = TcpStream::connect(address).await?;
    let request = "GET /?v=10&encoding=json HTTP/1.1\r\nHost: loopback\r\nConnection: Upgrade\r\n\
        Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut first = [0; 12];
    Ok(stream.read_exact(&mut first).await.ok().map(|_| String::from_utf8_lossy(&first).into()))
}

#[tokio::test(flavor = "current_thread")]
async fn while_rest_is_refused_connections_are_refused_and_the_gateway_goes_on() {
    let stage = RestStage::new().await;
    let mut kept = TcpStream::connect(stage.loopback.address()).await.unwrap();
    let url = format!("ws://{}/?v=10&encoding=json", stage.loopback.address());
    let stream = TcpStream::connect(stage.loopback.address()).await.unwrap();
    let (mut gateway, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    let hello = gateway.next().await.unwrap().unwrap();
    assert!(hello.to_text().unwrap().contains("heartbeat_interval"));
    for _ in 0..3 {
        stage.loopback.begin_outage(ServerOutage::RestRefused);
        let refused = TcpStream::connect(stage.loopback.address()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        gateway.send(Message::text(r#"{"op":1,"d":null}"#)).await.unwrap();
        let beaten = gateway.next().await.unwrap().unwrap();
        assert!(beaten.to_text().unwrap().contains(r#""op":11"#), "{beaten}");
        stage.loopback.end_outage(ServerOutage::RestRefused);
        assert_eq!(stage.get("users/@me").await.status, 200);
    }
    let closed = kept.read(&mut [0; 9]).await;
    assert!(matches!(closed, Ok(0) | Err(_)), "what was connected before is closed");
}

#[tokio::test(flavor = "current_thread")]
async fn while_rest_hangs_nothing_is_answered_then_or_later() {
    let stage = RestStage::new().await;
    for (outage, made) in [(APPLIED, 1), (NOT_APPLIED, 0)] {
        let before = stage.discord.messages(stage.channel).len();
        stage.loopback.begin_outage(outage);
        let asked = stage.loopback.traffic().of(RestRoute::CreateMessage);
        let mut hanging = Box::pin(stage.post("hello"));
        while stage.loopback.traffic().of(RestRoute::CreateMessage) == asked {
            tokio::select! {
                biased;
                _ = &mut hanging => panic!("it was answered"),
                () = tokio::task::yield_now() => {}
            }
        }
        assert_eq!(stage.discord.messages(stage.channel).len() - before, made);
        assert_eq!(stage.loopback.outages(), [outage]);
        stage.loopback.end_outages();
        assert_eq!(stage.get("users/@me").await.status, 200, "others are answered again");
        tokio::select! {
            biased;
            _ = &mut hanging => panic!("it was answered after all"),
            () = tokio::task::yield_now() => {}
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn while_the_gateway_is_cut_rest_is_there() {
    let stage = RestStage::new().await;
    stage.loopback.begin_outage(ServerOutage::GatewayCut);
    assert_eq!(upgrade(stage.loopback.address()).await.unwrap(), None);
    assert_eq!(stage.get("users/@me").await.status, 200);
    stage.loopback.end_outages();
    let greeted = upgrade(stage.loopback.address()).await.unwrap();
    assert_eq!(greeted.as_deref(), Some("HTTP/1.1 101"));
}

#[tokio::test(flavor = "current_thread")]
async fn an_outage_ends_by_the_clock_of_the_chat() {
    let stage = RestStage::new().await;
    for outage in [ServerOutage::RestRefused, ServerOutage::GatewayCut] {
        stage.loopback.begin_outage_for(outage, 600 * SECOND);
    }
    let both = [ServerOutage::RestRefused, ServerOutage::GatewayCut];
    assert_eq!(stage.loopback.outages(), both);
    while stage.clock.waiting() < both.len() {
        tokio::task::yield_now().await;
    }
    stage.clock.advance(599 * SECOND);
    tokio::task::yield_now().await;
    assert_eq!(stage.loopback.outages(), both);
    stage.clock.advance(SECOND);
    while !stage.loopback.outages().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.get("users/@me").await.status, 200);
}

#[tokio::test(flavor = "current_thread")]
async fn the_end_of_an_outage_that_was_lifted_before_does_not_end_a_later_one() {
    let stage = RestStage::new().await;
    let outage = ServerOutage::GatewayCut;
    stage.loopback.begin_outage_for(outage, 10 * SECOND);
    while stage.clock.waiting() < 1 {
        tokio::task::yield_now().await;
    }
    stage.loopback.end_outage(outage);
    stage.loopback.begin_outage(outage);
    stage.clock.advance(20 * SECOND);
    while stage.clock.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    // The timer has run out; what follows it has been done once the server has answered.
    assert_eq!(stage.get("users/@me").await.status, 200);
    assert_eq!(stage.loopback.outages(), [outage]);
}
