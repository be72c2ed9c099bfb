//! Channels, overwrites, roles and time-outs.

use dirigent_testkit::memory_discord::Permissions;

use super::*;

const TALK: u64 = 1 << 10 | 1 << 11 | 1 << 16;

fn member(user: UserId, allow: u64, deny: u64) -> Value {
    let (allow, deny) = (allow.to_string(), deny.to_string());
    json!({ "id": user.to_string(), "type": 1, "allow": allow, "deny": deny })
}

/// A private channel is made by denying it to everyone and opening it to each.
#[tokio::test(flavor = "current_thread")]
async fn a_channel_is_created_with_its_overwrites() {
    let stage = Stage::new().await;
    let hidden = json!({ "id": stage.guild.to_string(), "type": 0, "allow": "0", "deny": "1024" });
    let mine = member(stage.moderator, TALK, 0);
    let body = json!({ "name": "den", "topic": "x", "permission_overwrites": [hidden, mine] });
    let path = format!("guilds/{}/channels", stage.guild);
    let created = stage.ask(stage.moderator, "POST", &path, body).await;
    assert_eq!(created.status, 201);
    let channel = created.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(created.json()["permission_overwrites"].as_array().unwrap().len(), 2);
    assert_eq!(stage.get(&format!("channels/{channel}")).await.refusal(), (403, 50001));
    let listed = stage.get(&path).await.ids();
    assert!(!listed.contains(&channel.parse().unwrap()), "who does not see it is not told of it");
    let given = format!("channels/{channel}/permissions/{}", stage.bot);
    let body = json!({ "type": 1, "allow": TALK.to_string() });
    assert_eq!(stage.ask(stage.moderator, "PUT", &given, body).await.status, 204);
    assert_eq!(stage.get(&format!("channels/{channel}")).await.json()["topic"], "x");
    let taken = stage.ask(stage.moderator, "DELETE", &given, Value::Null).await;
    assert_eq!(taken.status, 204);
    let again = stage.ask(stage.moderator, "DELETE", &given, Value::Null).await;
    assert_eq!(again.refusal(), (404, 10009));
    let renamed = format!("channels/{channel}");
    let body = json!({ "name": "cave", "topic": null });
    let renamed = stage.ask(stage.moderator, "PATCH", &renamed, body).await.json();
    assert_eq!((&renamed["name"], &renamed["topic"]), (&json!("cave"), &Value::Null));
}

#[tokio::test(flavor = "current_thread")]
async fn nobody_gives_what_it_does_not_have() {
    let stage = Stage::new().await;
    let path = format!("guilds/{}/channels", stage.guild);
    for (bits, is_taken) in [(TALK, true), (1 << 28, false), (1 << 13, false), (1 << 3, false)] {
        let overwrites = json!([member(stage.bot, bits, 0)]);
        let body = json!({ "name": "den", "permission_overwrites": overwrites });
        let answer = stage.ask(stage.moderator, "POST", &path, body).await;
        assert_eq!(answer.status, if is_taken { 201 } else { 403 }, "{bits:#x}");
    }
    stage.discord.set_administrator(stage.guild, stage.moderator, true);
    let overwrites = json!([member(stage.bot, 1 << 28, 0)]);
    let body = json!({ "name": "den", "permission_overwrites": overwrites });
    assert_eq!(stage.ask(stage.moderator, "POST", &path, body).await.status, 201);
    let many: Vec<_> = (0..101).map(|id| member(UserId::new(1_000 + id), 0, 0)).collect();
    let body = json!({ "name": "den", "permission_overwrites": many });
    assert_eq!(stage.ask(stage.moderator, "POST", &path, body).await.refusal(), (400, 50035));
    for name in [json!(null), json!(""), json!("x".repeat(101))] {
        let body = json!({ "name": name });
        assert_eq!(stage.ask(stage.moderator, "POST", &path, body).await.refusal(), (400, 50035));
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_time_out_silences_until_it_is_over() {
    let stage = Stage::new().await;
    stage.discord.set_timed_out(stage.guild, stage.bot, Some(60 * SECOND));
    assert_eq!(stage.post("hello").await.refusal(), (403, 50013));
    let path = format!("guilds/{}/members/{}", stage.guild, stage.bot);
    let told = stage.get(&path).await.json();
    assert_eq!(told["communication_disabled_until"], "2025-06-15T15:07:40.000000+00:00");
    assert_eq!(stage.get(&format!("channels/{}/messages", stage.channel)).await.status, 200);
    stage.clock.advance(60 * SECOND);
    assert_eq!(stage.post("hello").await.status, 200);
}

#[tokio::test(flavor = "current_thread")]
async fn a_role_gives_what_it_allows_and_is_given_by_those_above_it() {
    let stage = Stage::new().await;
    let (guild, discord) = (stage.guild, &stage.discord);
    let role = discord.add_role(guild, "listeners", Permissions::NONE);
    let hidden = discord.add_channel(guild, "hidden", &[]);
    discord.set_role_overwrite(hidden, role, Permissions::VIEW_CHANNEL, Permissions::NONE);
    let path = format!("guilds/{guild}/members/{}/roles/{role}", stage.bot);
    let refused = stage.ask(stage.moderator, "PUT", &path, Value::Null).await;
    assert_eq!(refused.refusal(), (403, 50013), "the role stands above the moderator's");
    let high = discord.add_role(guild, "high", Permissions::MANAGE_ROLES);
    discord.set_role(guild, stage.moderator, high, true);
    assert_eq!(stage.ask(stage.moderator, "PUT", &path, Value::Null).await.status, 204);
    assert_eq!(stage.get(&format!("channels/{hidden}")).await.status, 200);
    let post = format!("channels/{hidden}/messages");
    let refused = stage.ask(stage.bot, "POST", &post, json!({ "content": "hello" })).await;
    assert_eq!(refused.status, 200, "everyone may post where nothing forbids it");
    let roles = stage.get(&format!("guilds/{guild}/roles")).await.ids();
    assert!(roles.contains(&guild.get()) && roles.contains(&role.get()));
    assert_eq!(stage.ask(stage.moderator, "DELETE", &path, Value::Null).await.status, 204);
    assert_eq!(stage.get(&format!("channels/{hidden}")).await.refusal(), (403, 50001));
}
