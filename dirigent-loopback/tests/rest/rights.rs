//! Channels, overwrites, roles and time-outs.

use dirigent_testkit::memory_discord::Permissions;

use super::*;

const TALK: u64 = 1 << 10 | 1 << 11 | 1 << 16;

fn member(user: UserId, allow: u64, deny: u64) -> Value {
    let (allow, deny) = (allow.to_string(), deny.to_string());
    json!({ "id": user.to_string(), "type": 1, "allow": allow, "deny": deny })
}

impl RestStage {
    /// Has the moderator create a channel.
    async fn create(&self, name: impl Into<Value>, overwrites: Value) -> Answer {
        let path = format!("guilds/{}/channels", self.guild);
        let body =
            json!({ "name": name.into(), "topic": "x", "permission_overwrites": overwrites });
        self.ask(self.moderator, "POST", &path, body).await
    }

    /// A channel that only the moderator sees.
    async fn den(&self) -> String {
        let hidden =
            json!({ "id": self.guild.to_string(), "type": 0, "allow": "0", "deny": "1024" });
        let created = self.create("den", json!([hidden, member(self.moderator, TALK, 0)])).await;
        assert_eq!(created.status, 201);
        created.json()["id"].as_str().unwrap().to_owned()
    }
}

/// A private channel is made by denying it to everyone and opening it to each.
#[tokio::test(flavor = "current_thread")]
async fn a_channel_is_created_with_its_overwrites() {
    let stage = RestStage::new().await;
    let channel = stage.den().await;
    let path = format!("channels/{channel}");
    let created = stage.ask(stage.moderator, "GET", &path, Value::Null).await.json();
    assert_eq!(created["permission_overwrites"].as_array().unwrap().len(), 2);
    assert_eq!(stage.get(&format!("channels/{channel}")).await.refusal(), (403, 50001));
    let listed = stage.get(&format!("guilds/{}/channels", stage.guild)).await.ids();
    assert!(!listed.contains(&channel.parse().unwrap()), "who does not see it is not told of it");
}

/// An overwrite opens a channel to an account, and shuts it again when it is deleted, once.
#[tokio::test(flavor = "current_thread")]
async fn an_overwrite_is_set_and_deleted() {
    let stage = RestStage::new().await;
    let channel = stage.den().await;
    let overwrite = format!("channels/{channel}/permissions/{}", stage.bot);
    let body = json!({ "type": 1, "allow": TALK.to_string() });
    assert_eq!(stage.ask(stage.moderator, "PUT", &overwrite, body).await.status, 204);
    assert_eq!(stage.get(&format!("channels/{channel}")).await.json()["topic"], "x");
    let delete = async || stage.ask(stage.moderator, "DELETE", &overwrite, Value::Null).await;
    assert_eq!(delete().await.status, 204);
    assert_eq!(stage.get(&format!("channels/{channel}")).await.refusal(), (403, 50001));
    assert_eq!(delete().await.refusal(), (404, 10009));
}

#[tokio::test(flavor = "current_thread")]
async fn a_channels_name_and_topic_are_changed() {
    let stage = RestStage::new().await;
    let path = format!("channels/{}", stage.den().await);
    let body = json!({ "name": "cave", "topic": null });
    let changed = stage.ask(stage.moderator, "PATCH", &path, body).await.json();
    assert_eq!((&changed["name"], &changed["topic"]), (&json!("cave"), &Value::Null));
}

#[tokio::test(flavor = "current_thread")]
async fn an_account_gives_only_rights_that_it_has() {
    let stage = RestStage::new().await;
    for (bits, is_taken) in [(TALK, true), (1 << 28, false), (1 << 13, false), (1 << 3, false)] {
        let created = stage.create("den", json!([member(stage.bot, bits, 0)])).await;
        assert_eq!(created.status, if is_taken { 201 } else { 403 }, "{bits:#x}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_administrator_gives_every_right() {
    let stage = RestStage::new().await;
    stage.discord.guild(stage.guild).set_administrator(stage.moderator, true);
    let created = stage.create("den", json!([member(stage.bot, 1 << 28, 0)])).await;
    assert_eq!(created.status, 201);
}

#[tokio::test(flavor = "current_thread")]
async fn a_channel_has_at_most_a_hundred_overwrites() {
    let stage = RestStage::new().await;
    let many = |count| (0..count).map(|id| member(UserId::new(1_000 + id), 0, 0)).collect();
    assert_eq!(stage.create("den", many(100)).await.status, 201);
    assert_eq!(stage.create("den", many(101)).await.refusal(), (400, 50035));
}

#[tokio::test(flavor = "current_thread")]
async fn a_channels_name_has_one_to_a_hundred_characters() {
    let stage = RestStage::new().await;
    assert_eq!(stage.create("x".repeat(100), json!([])).await.status, 201);
    for name in [json!(null), json!(""), json!("x".repeat(101))] {
        assert_eq!(stage.create(name, json!([])).await.refusal(), (400, 50035));
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_time_out_silences_until_it_is_over() {
    let stage = RestStage::new().await;
    stage.discord.guild(stage.guild).set_timed_out(stage.bot, Some(60 * SECOND));
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
    let stage = RestStage::new().await;
    let (guild, discord) = (stage.guild, &stage.discord);
    let role = discord.guild(guild).add_role("listeners", Permissions::NONE);
    let hidden = discord.add_channel(guild, "hidden", &[]);
    discord.channel(hidden).set_role_overwrite(role, Permissions::VIEW_CHANNEL, Permissions::NONE);
    let path = format!("guilds/{guild}/members/{}/roles/{role}", stage.bot);
    let refused = stage.ask(stage.moderator, "PUT", &path, Value::Null).await;
    assert_eq!(refused.refusal(), (403, 50013), "the role stands above the moderator's");
    let high = discord.guild(guild).add_role("high", Permissions::MANAGE_ROLES);
    discord.guild(guild).set_role(stage.moderator, high, true);
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
