//! Sessions outlive their connections, most of the time.

use dirigent_loopback::{GatewayFault, GatewayFaults};
use dirigent_testkit::memory_discord::PushFault;

use super::*;

const INVALID: bool = false;

async fn answer_to(scene: &Scene, payload: &Value) -> (Client, Value) {
    let mut client = scene.connect().await;
    client.send(payload).await;
    let answer = client.payload().await;
    (client, answer)
}

#[tokio::test]
async fn what_was_missed_is_told_in_order_and_then_that_the_session_goes_on() {
    let scene = Scene::new().await;
    let (mut client, session) = scene.session(INTENTS).await;
    scene.mark(1);
    let seen = client.mark(1).await;
    assert_eq!(scene.server.break_gateway(scene.bot, GatewayFault::Cut), 1);
    assert_eq!(client.hear().await, Heard::Cut);
    for number in 2..=4 {
        scene.mark(number);
    }
    let mut client = scene.connect().await;
    client.send(&scene.resume(&session, seen)).await;
    for number in 2..=4 {
        assert_eq!(client.mark(number).await, seen + number - 1);
    }
    client.event("RESUMED").await;
    scene.mark(5);
    client.mark(5).await;
    assert_eq!(scene.server.identified(scene.bot), 1);
}

#[tokio::test]
async fn only_a_friendly_close_and_a_fatal_one_end_a_session() {
    for (code, is_kept) in
        [(Some(4000), true), (None, true), (Some(1000), false), (Some(1001), false)]
    {
        let scene = Scene::new().await;
        let (client, session) = scene.session(INTENTS).await;
        client.leave(code).await;
        while scene.server.sessions(scene.bot).iter().any(|session| session.connected) {
            tokio::task::yield_now().await;
        }
        assert_eq!(scene.server.sessions(scene.bot).len(), usize::from(is_kept), "{code:?}");
        let (_client, answer) = answer_to(&scene, &scene.resume(&session, 2)).await;
        if is_kept {
            assert_eq!(answer["t"], "RESUMED", "{code:?}");
        } else {
            assert_eq!((&answer["op"], &answer["d"]), (&json!(9), &json!(INVALID)), "{code:?}");
        }
    }
}

#[tokio::test]
async fn an_unknown_session_is_invalid_and_a_new_one_may_begin_on_the_same_connection() {
    let scene = Scene::new().await;
    let (mut client, answer) = answer_to(&scene, &scene.resume("nobody's", 1)).await;
    assert_eq!(answer, json!({ "op": 9, "d": false, "s": null, "t": null }));
    client.send(&scene.identify(INTENTS)).await;
    client.event("READY").await;
}

#[tokio::test]
async fn a_number_that_was_never_given_ends_the_session() {
    let scene = Scene::new().await;
    let (_old, session) = scene.session(INTENTS).await;
    let mut client = scene.connect().await;
    client.send(&scene.resume(&session, 99)).await;
    assert_eq!(client.closed().await, 4007);
    assert!(scene.server.sessions(scene.bot).is_empty());
}

#[tokio::test]
async fn a_session_is_resumed_only_with_its_own_token() {
    let scene = Scene::new().await;
    let (_old, session) = scene.session(INTENTS).await;
    let stranger = scene.discord.add_bot();
    let mut resume = scene.resume(&session, 1);
    resume["d"]["token"] = json!(scene.server.token(stranger));
    let (_client, answer) = answer_to(&scene, &resume).await;
    assert_eq!((&answer["op"], &answer["d"]), (&json!(9), &json!(INVALID)));
    resume["d"]["token"] = json!("wrong");
    let mut client = scene.connect().await;
    client.send(&resume).await;
    assert_eq!(client.closed().await, 4004);
}

#[tokio::test]
async fn too_much_missed_or_too_long_away_is_a_new_session() {
    let scene = Scene::new().await;
    let (client, session) = scene.session(INTENTS).await;
    client.leave(None).await;
    while scene.server.sessions(scene.bot).iter().any(|session| session.connected) {
        tokio::task::yield_now().await;
    }
    (0..1_001).for_each(|number| scene.mark(number));
    let (_client, answer) = answer_to(&scene, &scene.resume(&session, 2)).await;
    assert_eq!((&answer["op"], &answer["d"]), (&json!(9), &json!(INVALID)));

    let (client, session) = scene.session(INTENTS).await;
    client.leave(None).await;
    while scene.server.sessions(scene.bot).iter().any(|session| session.connected) {
        tokio::task::yield_now().await;
    }
    scene.clock.advance(Duration::from_secs(181));
    let (_client, answer) = answer_to(&scene, &scene.resume(&session, 2)).await;
    assert_eq!((&answer["op"], &answer["d"]), (&json!(9), &json!(INVALID)));
}

#[tokio::test]
async fn a_session_moves_to_the_newest_connection() {
    let scene = Scene::new().await;
    let (mut old, session) = scene.session(INTENTS).await;
    let (mut new, answer) = answer_to(&scene, &scene.resume(&session, old.seq)).await;
    assert_eq!(answer["t"], "RESUMED");
    assert_eq!(old.hear().await, Heard::Cut);
    scene.mark(1);
    new.mark(1).await;
}

#[tokio::test]
async fn connections_break_in_every_way_that_discord_knows() {
    let scene = Scene::new().await;
    let (mut client, session) = scene.session(INTENTS).await;
    scene.server.break_gateway(scene.bot, GatewayFault::Reconnect);
    assert_eq!(client.payload().await, json!({ "op": 7, "d": null, "s": null, "t": null }));
    scene.server.break_gateway(scene.bot, GatewayFault::InvalidSession { resumable: true });
    assert_eq!(client.payload().await, json!({ "op": 9, "d": true, "s": null, "t": null }));
    client.send(&scene.resume(&session, 2)).await;
    client.event("RESUMED").await;
    scene.server.break_gateway(scene.bot, GatewayFault::Close { code: 4000 });
    assert_eq!(client.closed().await, 4000);
    let (mut client, answer) = answer_to(&scene, &scene.resume(&session, 3)).await;
    assert_eq!(answer["t"], "RESUMED");
    scene.server.break_gateway(scene.bot, GatewayFault::InvalidSession { resumable: false });
    assert_eq!(client.payload().await, json!({ "op": 9, "d": false, "s": null, "t": null }));
    client.send(&scene.resume(&session, 3)).await;
    assert_eq!(client.payload().await["d"], json!(INVALID));
    client.send(&scene.identify(INTENTS)).await;
    client.event("READY").await;
    assert_eq!(scene.server.identified(scene.bot), 2);
}

#[tokio::test]
async fn a_silent_connection_acknowledges_nothing_and_the_session_lives_on() {
    let scene = Scene::new().await;
    let (mut client, session) = scene.session(INTENTS).await;
    let seen = client.seq;
    scene.server.break_gateway(scene.bot, GatewayFault::Silent);
    client.send(&json!({ "op": 1, "d": seen })).await;
    scene.mark(1);
    let (mut second, answer) = answer_to(&scene, &scene.resume(&session, seen)).await;
    assert_eq!(answer["t"], "MARK");
    second.event("RESUMED").await;
    // The first connection was told nothing at all.
    client.send(&json!({ "op": 99 })).await;
    assert_eq!(client.closed().await, 4001);
}

#[tokio::test]
async fn events_are_lost_doubled_and_overtaken_on_demand() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let plan = |fault| assert_eq!(scene.server.next_event(scene.bot, fault), 1);
    let minute = Duration::from_secs(60);
    plan(PushFault::Dropped);
    plan(PushFault::Duplicated);
    plan(PushFault::HeldBack { events: 1, at_most: minute });
    let start = client.seq;
    (1..=4).for_each(|number| scene.mark(number));
    assert_eq!(client.mark(2).await, start + 1);
    assert_eq!(client.mark(2).await, start + 1);
    assert_eq!(client.mark(4).await, start + 2);
    assert_eq!(client.mark(3).await, start + 3);
    plan(PushFault::Delayed { by: Duration::from_secs(5) });
    scene.mark(5);
    scene.mark(6);
    client.mark(6).await;
    scene.clock.advance(Duration::from_secs(5));
    client.mark(5).await;
    plan(PushFault::Delayed { by: minute });
    scene.mark(7);
    scene.server.stop_gateway_faults();
    client.mark(7).await;
}

#[tokio::test]
async fn faults_by_chance_begin_and_end_with_a_session_under_way() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let all_lost = GatewayFaults::new(1).with_event_rate(PushFault::Dropped, 1_000);
    scene.server.set_gateway_faults(all_lost);
    scene.mark(1);
    scene.server.stop_gateway_faults();
    scene.mark(2);
    client.mark(2).await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_loses_its_session() {
    let scene = Scene::new().await;
    let (mut client, session) = scene.session(INTENTS).await;
    let seen = client.seq;
    // The connection has no turn to send before all this has happened.
    for number in 0..65_537 {
        scene.mark(number);
    }
    assert!(scene.server.sessions(scene.bot).is_empty());
    assert_eq!(client.hear().await, Heard::Cut);
    let (_client, answer) = answer_to(&scene, &scene.resume(&session, seen)).await;
    assert_eq!((&answer["op"], &answer["d"]), (&json!(9), &json!(INVALID)));
}

#[tokio::test]
async fn a_burst_beyond_what_is_kept_for_a_resume_reaches_who_is_there() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    (0..3_000).for_each(|number| scene.mark(number));
    for number in 0..3_000 {
        client.mark(number).await;
    }
}
