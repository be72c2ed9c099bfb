//! Threads over REST.

use dirigent_testkit::memory_discord::Permissions;

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn a_private_thread_is_for_those_who_are_added() {
    let stage = Stage::new().await;
    let path = format!("channels/{}/threads", stage.channel);
    let body = json!({ "name": "aside", "type": 12 });
    let created = stage.ask(stage.moderator, "POST", &path, body).await;
    assert_eq!(created.status, 201);
    let thread = created.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(created.json()["thread_metadata"]["locked"], false);
    assert_eq!(stage.get(&format!("channels/{thread}")).await.refusal(), (403, 50001));
    let added = format!("channels/{thread}/thread-members/{}", stage.bot);
    assert_eq!(stage.ask(stage.moderator, "PUT", &added, Value::Null).await.status, 204);
    assert_eq!(stage.get(&format!("channels/{thread}")).await.json()["type"], 12);
    let outsider = stage.discord.add_bot();
    let outside = format!("channels/{thread}/thread-members/{outsider}");
    let refused = stage.ask(stage.moderator, "PUT", &outside, Value::Null).await;
    assert_eq!(refused.refusal(), (403, 50001), "who does not see the channel cannot be added");
    let members = stage.get(&format!("channels/{thread}/thread-members?with_member=true")).await;
    let members = members.json();
    let ids: Vec<_> = members.as_array().unwrap().iter().map(|it| &it["user_id"]).collect();
    assert_eq!(ids, [&json!(stage.moderator.to_string()), &json!(stage.bot.to_string())]);
    assert_eq!(members[0]["member"]["user"]["id"], stage.moderator.to_string());
    stage.discord.account(stage.bot).set_members_hidden(true);
    let listed = stage.get(&format!("channels/{thread}/thread-members")).await;
    assert_eq!(listed.refusal(), (403, 50001), "the list takes the members intent");
    let active = stage.get(&format!("guilds/{}/threads/active", stage.guild)).await.json();
    assert_eq!(active["threads"][0]["id"], thread);
    let left = format!("channels/{thread}/thread-members/@me");
    assert_eq!(stage.ask(stage.bot, "DELETE", &left, Value::Null).await.status, 204);
    assert_eq!(stage.get(&format!("channels/{thread}")).await.refusal(), (403, 50001));
}

#[tokio::test(flavor = "current_thread")]
async fn a_locked_thread_takes_no_posts_but_from_its_keepers() {
    let stage = Stage::new().await;
    let keepers = stage.discord.guild(stage.guild).add_role("keepers", Permissions::MANAGE_THREADS);
    stage.discord.guild(stage.guild).set_role(stage.moderator, keepers, true);
    let thread = stage.discord.channel(stage.channel).add_public_thread("aside");
    let path = format!("channels/{thread}/messages");
    let text = json!({ "content": "hello" });
    assert_eq!(stage.ask(stage.bot, "POST", &path, text.clone()).await.status, 200);
    let change = format!("channels/{thread}");
    let locked = json!({ "locked": true });
    let refused = stage.ask(stage.bot, "PATCH", &change, locked.clone()).await;
    assert_eq!(refused.refusal(), (403, 50013));
    assert_eq!(stage.ask(stage.moderator, "PATCH", &change, locked).await.status, 200);
    let refused = stage.ask(stage.bot, "POST", &path, text.clone()).await;
    assert_eq!(refused.refusal(), (400, 160_005));
    assert_eq!(stage.ask(stage.moderator, "POST", &path, text).await.status, 200);
}

#[tokio::test(flavor = "current_thread")]
async fn a_thread_of_a_message_has_its_id() {
    let stage = Stage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a topic").get();
    let path = format!("channels/{}/messages/{said}/threads", stage.channel);
    let created = stage.ask(stage.bot, "POST", &path, json!({ "name": "topic" })).await;
    assert_eq!(created.json()["id"], said.to_string());
    assert_eq!(created.json()["type"], 11);
    let again = stage.ask(stage.bot, "POST", &path, json!({ "name": "topic" })).await;
    assert_eq!(again.refusal(), (400, 160_004));
}
