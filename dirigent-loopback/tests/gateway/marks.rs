//! What is told of messages that stand: embeds, reactions, pins, and many that go at once.

use dirigent::MessageId;
use dirigent_testkit::memory_discord::Emoji;

use super::*;

const GUILDS: u64 = 1;
const MESSAGES: u64 = 1 << 9;
const REACTIONS: u64 = 1 << 10;
const CONTENT: u64 = 1 << 15;

#[tokio::test]
async fn reactions_are_told_to_who_asked_for_them() {
    let scene = Scene::new().await;
    scene.discord.guild(scene.guild).set_administrator(scene.bot, true);
    let (mut client, _) = scene.session(GUILDS | REACTIONS).await;
    let (mut deaf, _) = scene.session(GUILDS | MESSAGES | CONTENT).await;
    let said = scene.discord.say(scene.channel, scene.person, "a motion");
    assert_eq!(deaf.event("MESSAGE_CREATE").await["content"], "a motion");
    let thumb = Emoji::read("👍").unwrap();
    let channel = scene.discord.channel(scene.channel);
    assert!(channel.react(scene.person, said, &thumb));
    assert!(!channel.react(scene.person, said, &thumb), "twice is once");
    let added = client.event("MESSAGE_REACTION_ADD").await;
    assert_eq!(added["user_id"], scene.person.to_string());
    assert_eq!(added["message_id"], said.get().to_string());
    assert_eq!(added["message_author_id"], scene.person.to_string());
    assert_eq!(added["guild_id"], scene.guild.to_string());
    assert_eq!(added["emoji"], json!({ "id": null, "name": "👍" }));
    assert_eq!(added["member"]["user"]["id"], scene.person.to_string());
    assert!(channel.take_reaction(scene.person, said, &thumb));
    let removed = client.event("MESSAGE_REACTION_REMOVE").await;
    assert_eq!(removed["user_id"], scene.person.to_string());
    channel.react(scene.person, said, &thumb);
    client.event("MESSAGE_REACTION_ADD").await;
    let path = format!("channels/{}/messages/{}/reactions", scene.channel, said.get());
    scene.delete(&format!("{path}/%F0%9F%91%8D")).await;
    let cleared = client.event("MESSAGE_REACTION_REMOVE_EMOJI").await;
    assert_eq!(cleared["emoji"]["name"], "👍");
    channel.react(scene.person, said, &thumb);
    client.event("MESSAGE_REACTION_ADD").await;
    scene.delete(&path).await;
    let cleared = client.event("MESSAGE_REACTION_REMOVE_ALL").await;
    assert_eq!(
        (&cleared["message_id"], cleared.get("emoji")),
        (&json!(said.get().to_string()), None)
    );
    scene.mark(1);
    deaf.mark(1).await;
}

#[tokio::test]
async fn a_pin_is_told_as_a_change_of_message_and_channel_and_as_a_message() {
    let scene = Scene::new().await;
    scene.discord.guild(scene.guild).set_administrator(scene.bot, true);
    let said = scene.discord.say(scene.channel, scene.person, "a decision").get();
    let (mut client, _) = scene.session(INTENTS).await;
    let pin = format!("channels/{}/messages/pins/{said}", scene.channel);
    assert_eq!(scene.ask("PUT", &pin, &Value::Null).await.status, 204);
    let marked = client.event("MESSAGE_UPDATE").await;
    assert_eq!((&marked["pinned"], &marked["edited_timestamp"]), (&json!(true), &Value::Null));
    let pins = client.event("CHANNEL_PINS_UPDATE").await;
    assert_eq!(pins["channel_id"], scene.channel.to_string());
    assert!(pins["last_pin_timestamp"].is_string());
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&told["type"], &told["message_reference"]["message_id"]),
        (&json!(6), &json!(said.to_string()))
    );
    scene.delete(&pin).await;
    assert_eq!(client.event("MESSAGE_UPDATE").await["pinned"], false);
    client.event("CHANNEL_PINS_UPDATE").await;
}

#[tokio::test]
async fn messages_that_go_together_are_told_of_together() {
    let scene = Scene::new().await;
    scene.discord.guild(scene.guild).set_administrator(scene.bot, true);
    let said =
        ["one", "two", "three"].map(|text| scene.discord.say(scene.channel, scene.person, text));
    let ids = said.map(|id| id.get().to_string());
    scene.discord.delete_message(scene.channel, MessageId::new(said[1].get()));
    let (mut client, _) = scene.session(INTENTS).await;
    let path = format!("channels/{}/messages/bulk-delete", scene.channel);
    assert_eq!(scene.ask("POST", &path, &json!({ "messages": ids })).await.status, 204);
    let deleted = client.event("MESSAGE_DELETE_BULK").await;
    assert_eq!(deleted["ids"], json!([ids[0], ids[2]]));
    assert_eq!(deleted["guild_id"], scene.guild.to_string());
}

#[tokio::test]
async fn embeds_come_with_a_message_and_its_change_for_those_who_may_read() {
    let scene = Scene::new().await;
    let (mut client, _) = scene.session(INTENTS).await;
    let path = format!("channels/{}/messages", scene.channel);
    let posted = scene.ask("POST", &path, &json!({ "embeds": [{ "title": "one" }] })).await.json();
    assert_eq!(client.event("MESSAGE_CREATE").await["embeds"][0]["title"], "one");
    let message = format!("{path}/{}", posted["id"].as_str().unwrap());
    scene.ask("PATCH", &message, &json!({ "embeds": [{ "title": "two" }] })).await;
    assert_eq!(client.event("MESSAGE_UPDATE").await["embeds"][0]["title"], "two");
}

#[tokio::test]
async fn components_are_told_with_the_message_and_with_each_change() {
    let scene = Scene::new().await;
    let other = scene.discord.add_bot();
    scene.discord.join(scene.channel, other);
    let (mut client, _) = scene.session(INTENTS).await;
    let mut stranger = scene.connect().await;
    let intents = INTENTS & !(1 << 15);
    let identify =
        json!({ "token": scene.server.token(other), "intents": intents, "properties": {} });
    stranger.send(&json!({ "op": 2, "d": identify })).await;
    stranger.event("READY").await;
    stranger.event("GUILD_CREATE").await;
    let path = format!("channels/{}/messages", scene.channel);
    let body =
        |text: &str| json!({ "flags": 1 << 15, "components": [{ "type": 10, "content": text }] });
    let posted = scene.ask("POST", &path, &body("one")).await.json();
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!(
        (&told["components"][0]["content"], &told["flags"]),
        (&json!("one"), &json!(1 << 15))
    );
    assert_eq!(
        stranger.event("MESSAGE_CREATE").await["components"],
        json!([]),
        "the intent guards them"
    );
    let message = format!("{path}/{}", posted["id"].as_str().unwrap());
    scene.ask("PATCH", &message, &body("two")).await;
    assert_eq!(client.event("MESSAGE_UPDATE").await["components"][0]["content"], "two");
}

#[tokio::test]
async fn webhooks_and_what_they_say_are_told() {
    const WEBHOOKS: u64 = 1 << 5;
    let scene = Scene::new().await;
    scene.discord.guild(scene.guild).set_administrator(scene.bot, true);
    let (mut client, _) = scene.session(INTENTS | WEBHOOKS).await;
    let path = format!("channels/{}/webhooks", scene.channel);
    let webhook = scene.ask("POST", &path, &json!({ "name": "herald" })).await.json();
    let changed = client.event("WEBHOOKS_UPDATE").await;
    assert_eq!(changed["channel_id"], scene.channel.to_string());
    assert_eq!(changed["guild_id"], scene.guild.to_string());
    let (id, token) = (webhook["id"].as_str().unwrap(), webhook["token"].as_str().unwrap());
    scene.ask("POST", &format!("webhooks/{id}/{token}"), &json!({ "content": "hear" })).await;
    let told = client.event("MESSAGE_CREATE").await;
    assert_eq!((&told["webhook_id"], told.get("member")), (&webhook["id"], None));
    scene.delete(&format!("webhooks/{id}")).await;
    client.event("WEBHOOKS_UPDATE").await;
}

#[tokio::test]
async fn a_thread_of_a_message_is_told_with_a_change_of_the_message() {
    let scene = Scene::new().await;
    let said = scene.discord.say(scene.channel, scene.person, "a topic").get();
    let (mut client, _) = scene.session(INTENTS).await;
    let path = format!("channels/{}/messages/{said}/threads", scene.channel);
    assert_eq!(scene.ask("POST", &path, &json!({ "name": "topic", "type": 11 })).await.status, 201);
    let created = client.event("THREAD_CREATE").await;
    assert_eq!(
        (&created["id"], &created["newly_created"]),
        (&json!(said.to_string()), &json!(true))
    );
    assert_eq!(client.event("MESSAGE_UPDATE").await["thread"]["id"], said.to_string());
    assert_eq!(client.event("MESSAGE_CREATE").await["type"], 21);
}
