//! The codes with which the gateway ends a connection.

use dirigent_testkit::Log;

use super::*;

/// The code that a greeted client gets for a payload.
async fn code_for(scene: &Scene, payload: &Value) -> u16 {
    let mut client = scene.connect().await;
    client.send(payload).await;
    client.closed().await
}

fn with(mut identify: Value, field: &str, value: Value) -> Value {
    identify["d"][field] = value;
    identify
}

#[tokio::test]
async fn whoever_is_not_let_in_is_told_why() {
    let scene = Scene::new().await;
    let identify = scene.identify(INTENTS);
    assert_eq!(code_for(&scene, &with(identify.clone(), "token", json!("wrong"))).await, 4004);
    let person = scene.server.token(scene.person);
    assert_eq!(code_for(&scene, &with(identify.clone(), "token", json!(person))).await, 4004);
    assert_eq!(code_for(&scene, &with(identify.clone(), "shard", json!([2, 2]))).await, 4010);
    assert_eq!(code_for(&scene, &with(identify.clone(), "intents", json!(1 << 30))).await, 4013);
    assert_eq!(code_for(&scene, &with(identify.clone(), "properties", json!(null))).await, 4002);
    scene.discord.account(scene.bot).set_revoked(true);
    assert_eq!(code_for(&scene, &identify).await, 4004);
    assert_eq!(scene.server.identified(scene.bot), 0);
}

#[tokio::test]
async fn a_token_that_works_no_more_ends_its_sessions() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    scene.discord.account(scene.discord.add_bot()).set_revoked(true);
    scene.mark(1);
    client.mark(1).await;
    scene.discord.account(scene.bot).set_revoked(true);
    assert_eq!(client.closed().await, 4004);
    assert!(scene.server.sessions(scene.bot).is_empty());
}

#[tokio::test]
async fn a_privileged_intent_must_be_allowed() {
    let scene = Scene::new().await;
    scene.discord.account(scene.bot).set_content_hidden(true);
    assert_eq!(code_for(&scene, &scene.identify(INTENTS)).await, 4014);
    let (_client, _) = scene.session(1 | 1 << 9).await;
}

#[tokio::test]
async fn who_is_in_too_many_guilds_must_share_them_among_shards() {
    let scene = Scene::new().await;
    for _ in 0..2_500 {
        scene.discord.add_guild(scene.bot);
        scene.clock.advance(Duration::from_millis(1));
    }
    assert_eq!(code_for(&scene, &scene.identify(1 << 9)).await, 4011);
    let mut client = scene.connect().await;
    client.send(&with(scene.identify(1 << 9), "shard", json!([0, 2]))).await;
    assert!(client.event("READY").await["guilds"].as_array().unwrap().len() > 1_000);
}

#[tokio::test]
async fn nothing_is_done_for_strangers_and_nothing_begun_twice() {
    let scene = Scene::new().await;
    let presence = json!({ "op": 3, "d": { "status": "online" } });
    assert_eq!(code_for(&scene, &presence).await, 4003);
    let (mut client, session) = scene.session(INTENTS).await;
    client.send(&presence).await;
    client.send(&scene.identify(INTENTS)).await;
    assert_eq!(client.closed().await, 4005);
    let (mut client, _) = scene.session(INTENTS).await;
    client.send(&scene.resume(&session, 1)).await;
    assert_eq!(client.closed().await, 4005);
}

#[tokio::test]
async fn what_is_no_payload_ends_the_connection() {
    let scene = Scene::new().await;
    let mut client = scene.connect().await;
    client.send_text("hello").await;
    assert_eq!(client.closed().await, 4002);
    assert_eq!(code_for(&scene, &json!({ "op": 77 })).await, 4001);
    let long = json!({ "op": 3, "d": { "x": "x".repeat(5_000) } });
    assert_eq!(code_for(&scene, &long).await, 4002);
}

#[tokio::test]
async fn what_is_lacking_is_said_aloud() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    client.send(&json!({ "op": 4, "d": { "guild_id": scene.guild.to_string() } })).await;
    assert_eq!(client.closed().await, 4000);
    let log = Log::default();
    let listening = log.listen();
    // A client takes 4012 for final: with another code it would connect anew for ever.
    for query in ["?v=10&encoding=etf", "?v=10&encoding=json&compress=lz4"] {
        assert_eq!(Client::open(scene.server.address(), query).await.closed().await, 4012);
    }
    drop(listening);
    let lines = log.lines();
    assert!(lines[0].starts_with("ERROR ") && lines[0].contains("encoding=json"), "{lines:?}");
    assert_eq!(lines.len(), 2, "{lines:?}");
    for query in ["?v=6&encoding=json", ""] {
        assert_eq!(Client::open(scene.server.address(), query).await.closed().await, 4012);
    }
}

#[tokio::test]
async fn the_version_before_is_spoken_too_as_requests_take_it() {
    let scene = Scene::new().await;
    for query in ["?v=9&encoding=json", "?encoding=json&v=10", "?v=10"] {
        let mut client = scene.connect_with(query).await;
        client.send(&scene.identify(INTENTS)).await;
        assert_eq!(client.event("READY").await["v"], 10, "{query}");
    }
}

#[tokio::test]
async fn a_hundred_and_twenty_payloads_a_minute_are_enough() {
    let scene = Scene::new().await;
    let mut client = scene.connect().await;
    let beat = json!({ "op": 1, "d": null });
    for _ in 0..120 {
        client.send(&beat).await;
        assert_eq!(client.payload().await["op"], 11);
    }
    client.send(&beat).await;
    assert_eq!(client.closed().await, 4008);
}
