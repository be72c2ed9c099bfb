//! Starting and ending.

use std::sync::Arc;

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
    let url = format!("ws://{}", stage.loopback.gateway_address());
    assert_eq!(stage.get("gateway").await.json()["url"], url);
    let answer = stage.get("gateway/bot").await.json();
    assert_eq!((&answer["url"], &answer["shards"]), (&json!(url), &json!(1)));
}
