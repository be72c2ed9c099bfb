//! Events that a test changes or takes away on their way, and resumes that it refuses.

use super::*;

#[tokio::test]
async fn an_event_reaches_its_session_as_it_was_changed_or_not_at_all() {
    let scene = Scene::new().await;
    let bot = scene.bot;
    scene.server.alter().events(move |event| {
        assert_eq!((event.account, event.is_connected), (bot, true));
        match event.name {
            "READY" => event.data["more"] = json!(1),
            "GUILD_CREATE" => event.data["name"] = json!("another"),
            "MESSAGE_CREATE" => return event.data["content"] != "unheard",
            _ => {}
        }
        true
    });
    let mut client = scene.connect().await;
    client.send(&scene.identify(INTENTS)).await;
    assert_eq!(client.event("READY").await["more"], 1);
    assert_eq!(client.event("GUILD_CREATE").await["name"], "another");
    scene.discord.say(scene.channel, scene.person, "unheard");
    scene.discord.say(scene.channel, scene.person, "heard");
    assert_eq!(client.event("MESSAGE_CREATE").await["content"], "heard");
}

#[tokio::test]
async fn a_session_without_a_connection_misses_for_good_what_is_taken_away_meanwhile() {
    let scene = Scene::new().await;
    let (client, session) = scene.session(INTENTS).await;
    scene.server.alter().events(|event| event.is_connected);
    client.leave(None).await;
    while scene.server.sessions(scene.bot).iter().any(|session| session.connected) {
        tokio::task::yield_now().await;
    }
    scene.discord.say(scene.channel, scene.person, "unheard");
    let mut client = scene.connect().await;
    client.send(&scene.resume(&session, 2)).await;
    client.event("RESUMED").await;
    scene.discord.say(scene.channel, scene.person, "heard");
    assert_eq!(client.event("MESSAGE_CREATE").await["content"], "heard");
}

#[tokio::test]
async fn where_resumes_are_refused_a_session_ends_with_its_connection() {
    let scene = Scene::new().await;
    let (client, session) = scene.session(INTENTS).await;
    scene.server.alter().refuse_resumes();
    client.leave(None).await;
    let mut client = scene.connect().await;
    client.send(&scene.resume(&session, 2)).await;
    assert_eq!(client.payload().await, json!({ "op": 9, "d": false, "s": null, "t": null }));
    assert!(scene.server.sessions(scene.bot).is_empty());
    client.send(&scene.identify(INTENTS)).await;
    client.event("READY").await;
}
