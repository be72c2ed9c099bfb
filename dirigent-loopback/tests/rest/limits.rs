//! Buckets, 429 of every scope, and the ban.

use dirigent_loopback::{Limit, RestFault, RestRoute, Scope};

use super::*;

#[tokio::test(flavor = "current_thread")]
async fn a_bucket_tells_how_much_is_left_and_then_how_long_to_wait() {
    let limits = ServerLimits::generous().with(RestRoute::CreateMessage, Limit::new(2, 5 * SECOND));
    let stage = RestStage::with(limits).await;
    let first = stage.post("one").await;
    assert_eq!(first.header("x-ratelimit-limit"), Some("2"));
    assert_eq!(first.header("x-ratelimit-remaining"), Some("1"));
    assert_eq!(first.header("x-ratelimit-reset-after"), Some("5.000"));
    assert_eq!(first.header("x-ratelimit-reset"), Some("1750000005.000"));
    for only_on_refusals in ["x-ratelimit-scope", "x-ratelimit-global", "retry-after"] {
        assert_eq!(first.header(only_on_refusals), None);
    }
    stage.clock.advance(SECOND + SECOND / 2);
    assert_eq!(stage.post("two").await.header("x-ratelimit-remaining"), Some("0"));
    let third = stage.post("three").await;
    assert_eq!(third.status, 429);
    assert_eq!(third.json()["retry_after"], 3.5, "to the millisecond in the body");
    assert_eq!(third.header("retry-after"), Some("4"), "whole seconds, rounded up");
    assert_eq!(third.header("x-ratelimit-scope"), Some("user"));
    assert_eq!(third.json()["global"], false);
    assert_eq!(third.header("x-ratelimit-bucket"), first.header("x-ratelimit-bucket"));
    let elsewhere = stage.discord.add_channel(stage.guild, "other", &[stage.bot]);
    let path = format!("channels/{elsewhere}/messages");
    let other = stage.ask(stage.bot, "POST", &path, json!({ "content": "one" })).await;
    assert_eq!(other.status, 200, "another channel has a bucket of its own");
    let path = format!("channels/{}/messages", stage.channel);
    let other = stage.ask(stage.moderator, "POST", &path, json!({ "content": "one" })).await;
    assert_eq!(other.status, 200, "and so has another account");
    assert_eq!(stage.get(&path).await.status, 200, "and another method");
    stage.clock.advance(3 * SECOND + SECOND / 2);
    assert_eq!(stage.post("three").await.status, 200);
}

#[tokio::test(flavor = "current_thread")]
async fn a_global_limit_is_over_all_routes_but_answers_to_commands() {
    let stage = RestStage::with(ServerLimits::generous().with_global(Limit::new(3, SECOND))).await;
    for path in ["users/@me", "users/@me/guilds", "gateway/bot"] {
        assert_eq!(stage.get(path).await.status, 200);
    }
    let refused = stage.get("users/@me").await;
    assert_eq!((refused.status, &refused.json()["global"]), (429, &json!(true)));
    assert_eq!(refused.header("x-ratelimit-global"), Some("true"));
    assert_eq!(refused.header("x-ratelimit-scope"), Some("global"));
    assert_eq!(refused.header("x-ratelimit-bucket"), None);
    let answer = stage.ask(stage.bot, "POST", "interactions/1/text/callback", json!({})).await;
    assert_eq!(answer.refusal(), (404, 10062), "not limited");
    assert_eq!(stage.ask(stage.moderator, "GET", "users/@me", Value::Null).await.status, 200);
    stage.clock.advance(SECOND);
    assert_eq!(stage.get("users/@me").await.status, 200);
}

#[tokio::test(flavor = "current_thread")]
async fn a_shared_limit_is_over_all_accounts_and_is_nobodys_fault() {
    let limit = Limit::new(1, SECOND);
    let limits =
        ServerLimits::generous().with_shared(RestRoute::CreateMessage, limit).with_ban(1, SECOND);
    let stage = RestStage::with(limits).await;
    let path = format!("channels/{}/messages", stage.channel);
    let first = stage.ask(stage.moderator, "POST", &path, json!({ "content": "one" })).await;
    assert_eq!(first.status, 200);
    let refused = stage.post("two").await;
    assert_eq!((refused.status, refused.header("x-ratelimit-scope")), (429, Some("shared")));
    assert_eq!(stage.loopback.traffic().invalid(), 0);
    assert_eq!(stage.get("users/@me").await.status, 200, "and no step towards a ban");
}

/// Invalid requests get the address banned, whoever asks then.
#[tokio::test(flavor = "current_thread")]
async fn too_many_invalid_requests_ban_the_address() {
    let stage = RestStage::with(ServerLimits::generous().with_ban(5, 60 * SECOND)).await;
    let hidden = stage.discord.add_channel(stage.guild, "hidden", &[]);
    let path = format!("channels/{hidden}");
    for _ in 0..3 {
        assert_eq!(stage.get(&path).await.status, 403);
    }
    assert_eq!(stage.get("channels/77").await.status, 404, "no invalid request");
    stage.clock.advance(601 * SECOND);
    for _ in 0..5 {
        assert_eq!(stage.get(&path).await.status, 403, "the first three are forgotten");
    }
    let banned = stage.ask(stage.moderator, "GET", "users/@me", Value::Null).await;
    assert_eq!(banned.status, 429);
    assert!(banned.header("content-type").unwrap().starts_with("text/html"));
    assert_eq!(banned.header("retry-after"), Some("60"));
    for discords_own in ["via", "x-ratelimit-scope", "x-ratelimit-bucket"] {
        assert_eq!(banned.header(discords_own), None);
    }
    stage.clock.advance(60 * SECOND);
    assert_eq!(stage.get("users/@me").await.status, 200);
    assert_eq!(stage.loopback.traffic().answered(RestRoute::GetChannel, 403), 8);
}

#[tokio::test(flavor = "current_thread")]
async fn a_refusal_of_each_scope_can_be_had_on_demand() {
    let stage = RestStage::new().await;
    for (scope, name) in
        [(Scope::User, "user"), (Scope::Global, "global"), (Scope::Shared, "shared")]
    {
        let retry_after = 1_300 * SECOND / 1_000;
        stage
            .loopback
            .next(RestRoute::CreateMessage, RestFault::RateLimited { scope, retry_after });
        let refused = stage.post("hello").await;
        assert_eq!((refused.status, refused.header("x-ratelimit-scope")), (429, Some(name)));
        assert_eq!(refused.json()["retry_after"], 1.3);
    }
    let retry_after = 30 * SECOND;
    stage.loopback.next(RestRoute::CreateMessage, RestFault::TurnedAway { retry_after });
    let refused = stage.post("hello").await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("30")));
    assert_eq!(refused.header("via"), None);
    assert!(stage.discord.messages(stage.channel).is_empty(), "none was carried out");
    assert_eq!(stage.loopback.traffic().invalid(), 3, "the shared one does not count");
}
