//! Webhooks over REST: by bots, and by who has the token.

use dirigent_testkit::memory_discord::Permissions;

use super::*;

/// A client that is no bot's: without a token, and with a name of its own.
async fn anyone(stage: &RestStage, method: &str, path: &str, body: Value) -> Answer {
    stage.send(method, path, &[("User-Agent", "herald/1")], body).await.unwrap()
}

async fn stage_with_manager() -> RestStage {
    let stage = RestStage::new().await;
    // The strict rule is none for webhooks.
    stage.loopback.refuse_odd_agents();
    let guild = stage.discord.guild(stage.guild);
    let managers = guild.add_role("heralds", Permissions::MANAGE_WEBHOOKS);
    guild.set_role(stage.moderator, managers, true);
    stage
}

async fn webhook(stage: &RestStage) -> Value {
    let path = format!("channels/{}/webhooks", stage.channel);
    let created = stage.ask(stage.moderator, "POST", &path, json!({ "name": "herald" })).await;
    assert_eq!(created.status, 200, "{}", created.text);
    created.json()
}

fn token_path(webhook: &Value) -> String {
    format!("webhooks/{}/{}", webhook["id"].as_str().unwrap(), webhook["token"].as_str().unwrap())
}

#[tokio::test(flavor = "current_thread")]
async fn a_webhook_is_created_listed_changed_and_deleted_by_a_bot_with_the_right() {
    let stage = stage_with_manager().await;
    let path = format!("channels/{}/webhooks", stage.channel);
    let refused = stage.ask(stage.bot, "POST", &path, json!({ "name": "herald" })).await;
    assert_eq!(refused.refusal(), (403, 50013));
    for name in ["", "My Discord", "clyde", &"x".repeat(81)] {
        let refused = stage.ask(stage.moderator, "POST", &path, json!({ "name": name })).await;
        assert_eq!(refused.refusal(), (400, 50035), "{name}");
    }
    let webhook = webhook(&stage).await;
    assert_eq!((&webhook["type"], &webhook["name"]), (&json!(1), &json!("herald")));
    assert_eq!(webhook["user"]["id"], stage.moderator.to_string());
    assert_eq!(webhook["application_id"], stage.moderator.to_string());
    let id: u64 = webhook["id"].as_str().unwrap().parse().unwrap();
    let ask = async |method: &str, path: &str, body: Value| {
        stage.ask(stage.moderator, method, path, body).await
    };
    assert_eq!(ask("GET", &path, Value::Null).await.ids(), [id]);
    let of_guild = format!("guilds/{}/webhooks", stage.guild);
    assert_eq!(ask("GET", &of_guild, Value::Null).await.ids(), [id]);
    let own = format!("webhooks/{id}");
    assert_eq!(ask("GET", &own, Value::Null).await.json(), webhook);
    assert_eq!(stage.get(&own).await.refusal(), (403, 50013));
    let avatar = json!({ "name": "crier", "avatar": "data:image/png;base64,AA==" });
    let changed = ask("PATCH", &own, avatar).await.json();
    assert_eq!((&changed["name"], changed["avatar"].is_string()), (&json!("crier"), true));
    let other = stage.discord.add_channel(stage.guild, "annex", &[stage.moderator]);
    let moved = ask("PATCH", &own, json!({ "channel_id": other.to_string() })).await.json();
    assert_eq!(moved["channel_id"], other.to_string());
    assert_eq!(moved["avatar"], changed["avatar"], "what is not said stays");
    assert_eq!(ask("DELETE", &own, Value::Null).await.status, 204);
    assert_eq!(ask("GET", &own, Value::Null).await.refusal(), (404, 10015));
    for number in 0..16 {
        let created = ask("POST", &path, json!({ "name": "herald" })).await;
        assert_eq!(created.status, if number < 15 { 200 } else { 400 });
    }
}

#[tokio::test(flavor = "current_thread")]
async fn who_has_the_token_reads_renames_and_deletes_a_webhook() {
    let stage = stage_with_manager().await;
    let webhook = webhook(&stage).await;
    let path = token_path(&webhook);
    let read = anyone(&stage, "GET", &path, Value::Null).await.json();
    assert_eq!((&read["name"], read.get("user")), (&json!("herald"), None));
    let wrong = format!("webhooks/{}/wrong", webhook["id"].as_str().unwrap());
    assert_eq!(anyone(&stage, "GET", &wrong, Value::Null).await.refusal(), (401, 50027));
    assert_eq!(anyone(&stage, "GET", "webhooks/77/x", Value::Null).await.refusal(), (404, 10015));
    let moved = anyone(&stage, "PATCH", &path, json!({ "channel_id": "77" })).await;
    assert_eq!(moved.status, 501, "a token moves no webhook");
    let renamed = anyone(&stage, "PATCH", &path, json!({ "name": "crier" })).await.json();
    assert_eq!(renamed["name"], "crier");
    assert_eq!(anyone(&stage, "DELETE", &path, Value::Null).await.status, 204);
    assert_eq!(anyone(&stage, "POST", &path, json!({ "content": "x" })).await.status, 404);
}

#[tokio::test(flavor = "current_thread")]
async fn a_webhooks_message_is_its_own_and_carries_its_id() {
    let stage = stage_with_manager().await;
    let webhook = webhook(&stage).await;
    let path = token_path(&webhook);
    let quiet = anyone(&stage, "POST", &path, json!({ "content": "hear" })).await;
    assert_eq!((quiet.status, quiet.text.as_str()), (204, ""));
    let body = json!({
        "content": "hear", "username": "crier", "avatar_url": "https://example.invalid/a.png",
        "embeds": [{ "title": "news" }],
    });
    let posted = anyone(&stage, "POST", &format!("{path}?wait=true"), body).await.json();
    assert_eq!((&posted["webhook_id"], &posted["author"]["id"]), (&webhook["id"], &webhook["id"]));
    assert_eq!((&posted["author"]["username"], &posted["type"]), (&json!("crier"), &json!(0)));
    assert!(posted["author"]["avatar"].is_string());
    let history = stage.get(&format!("channels/{}/messages", stage.channel)).await.json();
    assert_eq!(
        (&history[0]["author"], &history[1]["author"]["username"]),
        (&posted["author"], &json!("herald"))
    );
    assert_eq!(anyone(&stage, "POST", &path, json!({})).await.refusal(), (400, 50006));

    let message = format!("{path}/messages/{}", posted["id"].as_str().unwrap());
    let changed =
        anyone(&stage, "PATCH", &message, json!({ "content": "hear, hear" })).await.json();
    assert_eq!(
        (&changed["content"], &changed["author"]),
        (&json!("hear, hear"), &posted["author"])
    );
    assert_eq!(anyone(&stage, "GET", &message, Value::Null).await.json()["content"], "hear, hear");
    let foreign = stage.discord.say(stage.channel, stage.owner, "mine").get();
    let foreign = format!("{path}/messages/{foreign}");
    for method in ["GET", "DELETE"] {
        assert_eq!(anyone(&stage, method, &foreign, Value::Null).await.refusal(), (404, 10008));
    }
    assert_eq!(anyone(&stage, "DELETE", &message, Value::Null).await.status, 204);
    assert_eq!(anyone(&stage, "GET", &message, Value::Null).await.refusal(), (404, 10008));
}

#[tokio::test(flavor = "current_thread")]
async fn a_webhook_posts_in_threads_of_its_channel_and_goes_with_it() {
    let stage = stage_with_manager().await;
    let webhook = webhook(&stage).await;
    let thread = stage.discord.channel(stage.channel).add_public_thread("aside");
    let other = stage.discord.add_open_channel(stage.guild, "other");
    let elsewhere = stage.discord.channel(other).add_public_thread("aside");
    let path = |thread| format!("{}?wait=true&thread_id={thread}", token_path(&webhook));
    let posted = anyone(&stage, "POST", &path(thread), json!({ "content": "hear" })).await.json();
    assert_eq!(posted["channel_id"], thread.to_string());
    let refused = anyone(&stage, "POST", &path(elsewhere), json!({ "content": "hear" })).await;
    assert_eq!(refused.refusal(), (404, 10003));
    stage.discord.channel(stage.channel).delete();
    assert_eq!(anyone(&stage, "GET", &token_path(&webhook), Value::Null).await.status, 404);
}

/// The address that is shown with a webhook names no version.
#[tokio::test(flavor = "current_thread")]
async fn the_address_of_a_webhook_can_be_posted_to() {
    let stage = stage_with_manager().await;
    let webhook = webhook(&stage).await;
    let address = stage.loopback.address();
    let url = webhook["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://{address}")).unwrap();
    let body = json!({ "content": "hear" }).to_string();
    let posted = answer::exchange(address, "POST", path, &[], body.as_bytes()).await.unwrap();
    assert_eq!(posted.status, 204);
    assert_eq!(&*stage.discord.messages(stage.channel)[0].content, "hear");
}
