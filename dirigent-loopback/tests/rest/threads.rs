//! Threads over REST.

use dirigent_testkit::memory_discord::Permissions;

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn a_private_thread_is_for_those_who_are_added() {
    let stage = RestStage::new().await;
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
    let stage = RestStage::new().await;
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
    let stage = RestStage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a topic").get();
    let path = format!("channels/{}/messages/{said}/threads", stage.channel);
    let created = stage.ask(stage.bot, "POST", &path, json!({ "name": "topic" })).await;
    assert_eq!(created.json()["id"], said.to_string());
    assert_eq!(created.json()["type"], 11);
    let again = stage.ask(stage.bot, "POST", &path, json!({ "name": "topic" })).await;
    assert_eq!(again.refusal(), (400, 160_004));
}

#[tokio::test(flavor = "current_thread")]
async fn a_thread_has_the_type_and_the_settings_that_it_is_started_with() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}/threads", stage.channel);
    let settings = json!({
        "name": "aside", "type": 11, "auto_archive_duration": 60, "rate_limit_per_user": 30, "invitable": false,
    });
    let public = stage.ask(stage.bot, "POST", &path, settings).await.json();
    assert_eq!((&public["type"], &public["rate_limit_per_user"]), (&json!(11), &json!(30)));
    assert_eq!(public["thread_metadata"]["auto_archive_duration"], 60);
    let told = stage.get(&format!("channels/{}/messages", stage.channel)).await.json();
    assert_eq!((&told[0]["type"], &told[0]["content"]), (&json!(18), &json!("aside")));
    assert_eq!(told[0]["message_reference"]["channel_id"], public["id"]);
    let private = json!({ "name": "aside", "type": 12, "invitable": false });
    let private = stage.ask(stage.bot, "POST", &path, private).await.json();
    assert_eq!(private["thread_metadata"]["invitable"], false);
    let unsaid = stage.ask(stage.bot, "POST", &path, json!({ "name": "aside" })).await.json();
    assert_eq!(unsaid["type"], 12);
    let change = format!("channels/{}", public["id"].as_str().unwrap());
    let longer = json!({ "auto_archive_duration": 10_080, "name": "longer" });
    let longer = stage.ask(stage.bot, "PATCH", &change, longer).await.json();
    assert_eq!(longer["thread_metadata"]["auto_archive_duration"], 10_080);
    for (field, value) in [
        ("type", json!(10)),
        ("type", json!(0)),
        ("auto_archive_duration", json!(61)),
        ("rate_limit_per_user", json!(21_601)),
        ("name", json!("")),
    ] {
        let mut body = json!({ "name": "aside", "type": 11 });
        body[field] = value;
        let refused = stage.ask(stage.bot, "POST", &path, body).await;
        assert_eq!(refused.refusal(), (400, 50035), "{field}");
    }
}

/// Its type follows from the channel's, and clients say it all the same.
#[tokio::test(flavor = "current_thread")]
async fn a_thread_of_a_message_shows_at_the_message_and_begins_with_it() {
    let stage = RestStage::new().await;
    let said = stage.discord.say(stage.channel, stage.owner, "a topic").get();
    let message = format!("channels/{}/messages/{said}", stage.channel);
    let body = |kind: u8| json!({ "name": "topic", "type": kind, "auto_archive_duration": 60 });
    let private = stage.ask(stage.bot, "POST", &format!("{message}/threads"), body(12)).await;
    assert_eq!(private.refusal(), (400, 50024));
    let thread = stage.ask(stage.bot, "POST", &format!("{message}/threads"), body(11)).await.json();
    let parent = stage.get(&message).await.json();
    assert_eq!((&parent["thread"]["id"], &parent["flags"]), (&thread["id"], &json!(1 << 5)));
    let started = stage.get(&format!("channels/{said}/messages")).await.json();
    assert_eq!((&started[0]["type"], &started[0]["content"]), (&json!(21), &json!("")));
    assert_eq!(started[0]["referenced_message"]["content"], "a topic");

    let news = json!({ "name": "news", "type": 5 });
    let news =
        stage.ask(stage.moderator, "POST", &format!("guilds/{}/channels", stage.guild), news).await;
    let news = format!("channels/{}", news.json()["id"].as_str().unwrap());
    let body = json!({ "name": "topic", "type": 10 });
    let thread = stage.ask(stage.bot, "POST", &format!("{news}/threads"), body).await.json();
    assert_eq!(thread["type"], 10);
}
