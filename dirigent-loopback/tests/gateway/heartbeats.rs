//! Signs of life, by the discord's clock.

use dirigent::Clock;

use super::*;

/// Moves the clock to the next moment that the connection waits for.
async fn pass_time(scene: &Scene) {
    // The connection's task has to have gone to sleep.
    while scene.clock.next_wake().is_none_or(|wake| wake <= scene.clock.now()) {
        tokio::task::yield_now().await;
    }
    scene.clock.advance_to_next_wake();
}

#[tokio::test]
async fn a_silent_client_is_asked_and_then_its_session_has_timed_out() {
    let scene = Scene::new().await;
    let (mut client, session) = scene.session(INTENTS).await;
    pass_time(&scene).await;
    assert_eq!(client.payload().await, json!({ "op": 1, "d": null, "s": null, "t": null }));
    pass_time(&scene).await;
    assert_eq!(client.closed().await, 4009);
    let mut client = scene.connect().await;
    client.send(&scene.resume(&session, 2)).await;
    assert_eq!(client.payload().await, json!({ "op": 9, "d": false, "s": null, "t": null }));
}

#[tokio::test]
async fn a_client_that_answers_lives_on() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    for _ in 0..5 {
        pass_time(&scene).await;
        assert_eq!(client.payload().await["op"], 1);
        client.send(&json!({ "op": 1, "d": client.seq })).await;
        assert_eq!(client.payload().await["op"], 11);
    }
    scene.mark(1);
    client.mark(1).await;
}
