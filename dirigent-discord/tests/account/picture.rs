//! Members that the gateway keeps true: what is asked for, and when.

use dirigent::{DiscordApi, ErrorKind, HistoryRequest};
use dirigent_discord::{Feed, NeededPermission, RestError};
use serde_json::{Value, json};
use twilight_model::gateway::{Intents, ShardId};

use crate::server::Reply;
use crate::town::{A, ALL, Plan, Town, VIEW, den, everybody, guild, person, push_to};
use crate::{CHANNEL, cause};

const LISTED: &str = "GET /guilds/1/members?";
const MINUTE: u64 = 60_000;

fn changed(id: u64, roles: &[&str]) -> Value {
    let mut member = person(id, roles);
    member["guild_id"] = "1".into();
    member
}

/// D35, D69, R076: a member list is asked for once, and kept true by what is pushed.
#[tokio::test]
async fn a_list_is_asked_for_once_and_kept_true() {
    let town = Town::open().await;
    town.connect([person(500, &[])]).await;
    for _ in 0..3 {
        assert_eq!(town.sees().await, [10, 31, 32, 500]);
        town.pass(19 * MINUTE);
    }
    assert_eq!((town.count(LISTED), town.count("GET /channels/700 ")), (1, 0));
    let gone = json!({"guild_id": "1", "user": {"id": "32"}});
    town.push("GUILD_MEMBER_REMOVE", &gone).await;
    assert_eq!(town.sees().await, [10, 31, 500]);
    town.push("GUILD_MEMBER_ADD", &changed(40, &["20"])).await;
    assert_eq!(town.sees().await, [10, 31, 40, 500]);
    town.push("GUILD_MEMBER_UPDATE", &changed(40, &["21"])).await;
    town.push("GUILD_MEMBER_UPDATE", &changed(31, &[])).await;
    assert_eq!(town.sees().await, [10, 40, 500]);
    assert_eq!(town.count(LISTED), 1);
    // Events may be lost, and so it is asked for again now and then.
    town.pass(5 * MINUTE);
    assert_eq!(town.sees().await, [10, 31, 32, 500]);
    assert_eq!(town.count(LISTED), 2);
}

/// R077: roles, overwrites, owner and channels are followed too.
#[tokio::test]
async fn what_gives_sight_is_followed() {
    let town = Town::open().await;
    town.connect(everybody()).await;
    assert_eq!(town.sees().await, [10, 31, 32, 500]);
    assert_eq!(town.count(LISTED), 0, "a small guild is told with all its members");
    let role =
        |allowed: &str| json!({"guild_id": "1", "role": {"id": "1", "permissions": allowed}});
    town.push("GUILD_ROLE_UPDATE", &role("8")).await;
    assert_eq!(town.sees().await, [10, 31, 32, 33, 500]);
    town.push("GUILD_ROLE_UPDATE", &role("0")).await;
    town.push("GUILD_ROLE_DELETE", &json!({"guild_id": "1", "role_id": "20"})).await;
    assert_eq!(town.sees().await, [10, 31, 32, 500], "the overwrite outlives its role");
    let mut open = den(ALL);
    open["permission_overwrites"] = json!([{"id": "33", "type": 1, "allow": VIEW, "deny": "0"}]);
    town.push("CHANNEL_UPDATE", &open).await;
    assert_eq!(town.sees().await, [10, 33]);
    let mut owned = guild([]);
    owned["owner_id"] = "31".into();
    town.push("GUILD_UPDATE", &owned).await;
    assert_eq!(town.sees().await, [31, 33]);
    assert_eq!(town.server.lines().iter().filter(|line| line.contains("/channels/700")).count(), 0);
}

/// D69: without the members intent a list is believed for a minute.
#[tokio::test]
async fn without_the_intent_a_list_is_believed_for_a_minute() {
    let intents = Feed::INTENTS.difference(Intents::GUILD_MEMBERS);
    let town = Town::with(Plan { intents, ..Plan::default() }).await;
    town.connect([person(500, &[])]).await;
    for (pass, lists) in [(0, 1), (59_999, 1), (1, 2), (30_000, 2)] {
        town.pass(pass);
        assert_eq!(town.sees().await, [10, 31, 32, 500]);
        assert_eq!(town.count(LISTED), lists, "{pass}");
    }
}

/// What is not told is asked for: before the gateway is there, and while it is interrupted.
#[tokio::test]
async fn an_interrupted_gateway_is_not_believed() {
    let town = Town::open().await;
    town.sees().await;
    assert_eq!(town.count("GET /channels/700 "), 1, "nothing was told yet");
    town.connect(everybody()).await;
    town.sees().await;
    assert_eq!(town.shard.closed(Some(4_000)), None);
    town.sees().await;
    assert_eq!((town.count("GET /channels/700 "), town.count(LISTED)), (2, 2));
    // What happened meanwhile is pushed again before the session goes on.
    town.push("GUILD_MEMBER_UPDATE", &changed(31, &[])).await;
    town.push("RESUMED", &Value::Null).await;
    assert_eq!(town.sees().await, [10, 32, 500]);
    assert_eq!(town.count(LISTED), 2);
    // A new session tells everything anew; until then nothing is known.
    town.push("READY", &json!({"user": {"id": "500"}})).await;
    town.sees().await;
    assert_eq!(town.count(LISTED), 3);
    town.push("GUILD_CREATE", &guild([person(500, &[])])).await;
    town.sees().await;
    town.sees().await;
    assert_eq!((town.count("GET /channels/700 "), town.count(LISTED)), (3, 4));
    town.push("GUILD_DELETE", &json!({"id": "1", "unavailable": true})).await;
    town.sees().await;
    assert_eq!(town.count("GET /channels/700 "), 4);
}

/// Shards are interrupted one by one.
#[tokio::test]
async fn a_shard_answers_for_its_own_guilds() {
    let town = Town::open().await;
    let (mine, other) = (town.feed.shard(ShardId::new(0, 2)), town.feed.shard(ShardId::new(1, 2)));
    for shard in [&mine, &other] {
        push_to(shard, "READY", &json!({"user": {"id": "500"}})).await;
    }
    push_to(&mine, "GUILD_CREATE", &guild(everybody())).await;
    other.closed(None);
    push_to(&other, "READY", &json!({"user": {"id": "500"}})).await;
    town.sees().await;
    assert_eq!(town.count(LISTED), 0);
    mine.closed(None);
    town.sees().await;
    assert_eq!(town.count(LISTED), 1);
}

/// What is pushed while a list is on its way is newer than the list.
#[tokio::test]
async fn what_is_pushed_during_a_read_counts_more() {
    let town = Town::open().await;
    town.connect([person(500, &[])]).await;
    let before = town.server.count();
    let mut asking = town.account.members(CHANNEL);
    tokio::select! {
        biased;
        _ = &mut asking => panic!("answered before it was asked"),
        () = town.server.arrived(before + 1) => {}
    }
    town.push("GUILD_MEMBER_REMOVE", &json!({"guild_id": "1", "user": {"id": "31"}})).await;
    town.push("GUILD_MEMBER_ADD", &changed(40, &["20"])).await;
    let mut seen = asking.await.unwrap();
    seen.sort_unstable();
    assert_eq!(seen.iter().map(|user| user.get()).collect::<Vec<_>>(), [10, 32, 40, 500]);
}

/// R077: a private thread is seen by those added; who they are is asked for once a minute, and followed.
#[tokio::test]
async fn a_private_threads_people_are_followed() {
    let town = Town::open().await;
    town.connect(everybody()).await;
    let thread = json!({"id": "701", "type": 12, "guild_id": "1", "parent_id": "700", "name": "t"});
    town.push("THREAD_CREATE", &thread).await;
    town.server.rule("GET /channels/701/thread-members", Reply::ok(r#"[{"user_id":"31"}]"#));
    let channel = dirigent::ChannelId::new(701);
    let sees = async || {
        let mut seen = town.account.members(channel).await.unwrap();
        seen.sort_unstable();
        seen.into_iter().map(dirigent::UserId::get).collect::<Vec<_>>()
    };
    assert_eq!(sees().await, [10, 31]);
    let update = json!({"id": "701", "guild_id": "1", "member_count": 2,
        "added_members": [{"id": "701", "user_id": "32"}], "removed_member_ids": ["31"]});
    town.push("THREAD_MEMBERS_UPDATE", &update).await;
    assert_eq!(sees().await, [10, 32]);
    assert_eq!(town.count("GET /channels/701/thread-members"), 1);
    town.pass(MINUTE);
    assert_eq!(sees().await, [10, 31]);
    assert_eq!((town.count("GET /channels/701/thread-members"), town.count(LISTED)), (2, 0));
}

/// A list that cannot be read is an error, and the next read asks again.
#[tokio::test]
async fn a_list_that_is_refused_is_asked_for_again() {
    let town = Town::open().await;
    town.connect([person(500, &[])]).await;
    town.server.rule(LISTED, Reply::status(403, r#"{"code":50001}"#));
    let error = town.account.members(CHANNEL).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    town.server.rule(LISTED, Reply::ok(Value::from(everybody()).to_string()));
    assert_eq!(town.sees().await, [10, 31, 32, 500]);
}

/// F22: a history that Discord would show as empty is forbidden, without a request; where it is certain
/// that it may be read, that is known.
#[tokio::test]
async fn a_hidden_history_is_told_from_an_empty_one() {
    let town = Town::open().await;
    let request = HistoryRequest { channel: CHANNEL, after: None, limit: 10 };
    assert_eq!(town.account.reads_history(CHANNEL), None);
    town.connect([person(500, &[])]).await;
    assert_eq!(town.account.reads_history(CHANNEL), Some(true));
    assert!(town.account.history(request).await.unwrap().is_empty());
    let asked = town.count("GET /channels/700/messages");
    for own in [VIEW, "65536", "0"] {
        town.push("CHANNEL_UPDATE", &den(own)).await;
        assert_eq!(town.account.reads_history(CHANNEL), Some(false));
        let error = town.account.history(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forbidden);
        assert_eq!(cause(&error), RestError::Lacks(NeededPermission::ReadMessageHistory));
    }
    assert_eq!(town.count("GET /channels/700/messages"), asked);
    town.push("GUILD_MEMBER_UPDATE", &changed(500, &["21"])).await;
    assert_eq!(town.account.reads_history(CHANNEL), Some(true), "an administrator may");
    town.push("GUILD_MEMBER_UPDATE", &changed(500, &[])).await;
    town.shard.closed(None);
    assert_eq!(town.account.reads_history(CHANNEL), None);
    assert!(town.account.history(request).await.is_ok());
    assert_ne!(A.get(), 0);
}
