//! Members that the gateway keeps true: what is asked for, and when.

use dirigent::ports::{ErrorKind, HistoryRequest};
use dirigent::{DiscordApi, UserId};
use dirigent_discord::{Feed, NeededPermission, RestError};
use serde_json::{Value, json};
use twilight_model::gateway::ShardId;

use crate::account::fixture::{
    A, ALL, ASKED, B, Fixture, Plan, VIEW, den, everybody, guild, member, person, push_to,
};
use crate::account::server::Reply;
use crate::account::{CHANNEL, cause};

const LISTED: &str = "GET /guilds/1/members?";
const ASKED_FOR: &str = "GET /guilds/1/members/";
const MINUTE: u64 = 60_000;

/// D35, D69, R076: each account is asked for once, and kept true by what is pushed.
#[tokio::test]
async fn an_account_is_asked_for_once_and_kept_true() {
    let fixture = Fixture::open().await;
    fixture.connect([person(500, &[])]).await;
    for _ in 0..3 {
        assert_eq!(fixture.sees().await, [10, 31, 32, 500]);
        fixture.pass(19 * MINUTE);
    }
    assert_eq!((fixture.count(ASKED_FOR), fixture.count("GET /channels/700 ")), (6, 0));
    let gone = json!({"guild_id": "1", "user": {"id": "32"}});
    fixture.push("GUILD_MEMBER_REMOVE", &gone).await;
    assert_eq!(fixture.sees().await, [10, 31, 500]);
    fixture.push("GUILD_MEMBER_ADD", &member(40, &["20"])).await;
    assert_eq!(fixture.sees().await, [10, 31, 40, 500]);
    fixture.push("GUILD_MEMBER_UPDATE", &member(40, &["21"])).await;
    fixture.push("GUILD_MEMBER_UPDATE", &member(31, &[])).await;
    assert_eq!(fixture.sees().await, [10, 40, 500]);
    assert_eq!(fixture.count(ASKED_FOR), 6);
    // Events may be lost, and so they are asked for again now and then.
    fixture.pass(5 * MINUTE);
    assert_eq!(fixture.sees().await, [10, 31, 32, 500]);
    assert_eq!((fixture.count(ASKED_FOR), fixture.count(LISTED)), (12, 0));
}

/// R077: roles, overwrites, owner and channels are followed too.
#[tokio::test]
async fn what_gives_sight_is_followed() {
    let fixture = Fixture::open().await;
    fixture.connect(everybody()).await;
    assert_eq!(fixture.sees().await, [10, 31, 32, 500]);
    assert_eq!(fixture.count(ASKED_FOR), 0, "a small guild is told with all its members");
    let role =
        |allowed: &str| json!({"guild_id": "1", "role": {"id": "1", "permissions": allowed}});
    fixture.push("GUILD_ROLE_UPDATE", &role("8")).await;
    assert_eq!(fixture.sees().await, [10, 31, 32, 33, 500]);
    fixture.push("GUILD_ROLE_UPDATE", &role("0")).await;
    fixture.push("GUILD_ROLE_DELETE", &json!({"guild_id": "1", "role_id": "20"})).await;
    assert_eq!(fixture.sees().await, [10, 31, 32, 500], "the overwrite outlives its role");
    let mut open = den(ALL);
    open["permission_overwrites"] = json!([{"id": "33", "type": 1, "allow": VIEW, "deny": "0"}]);
    fixture.push("CHANNEL_UPDATE", &open).await;
    assert_eq!(fixture.sees().await, [10, 33]);
    let mut owned = guild([]);
    owned["owner_id"] = "31".into();
    owned["roles"][0]["permissions"] = "0".into();
    fixture.push("GUILD_UPDATE", &owned).await;
    assert_eq!(fixture.sees().await, [31, 33]);
    assert_eq!(
        fixture.server.lines().iter().filter(|line| line.contains("/channels/700")).count(),
        0
    );
}

/// D69: without the members intent an answer is believed for a minute.
#[tokio::test]
async fn without_the_intent_an_answer_is_believed_for_a_minute() {
    let intents = Feed::INTENTS;
    let fixture = Fixture::with(Plan { intents, ..Plan::default() }).await;
    fixture.connect([person(500, &[])]).await;
    for (pass, asked) in [(0, 6), (59_999, 6), (1, 12), (30_000, 12)] {
        fixture.pass(pass);
        assert_eq!(fixture.sees().await, [10, 31, 32, 500]);
        assert_eq!((fixture.count(ASKED_FOR), fixture.count(LISTED)), (asked, 0), "{pass}");
    }
}

/// What is not told is asked for: before the gateway is there, and while it is interrupted.
#[tokio::test]
async fn an_interrupted_gateway_is_not_believed() {
    let fixture = Fixture::open().await;
    fixture.sees().await;
    assert_eq!(fixture.count("GET /channels/700 "), 1, "nothing was told yet");
    fixture.connect(everybody()).await;
    fixture.sees().await;
    assert_eq!(fixture.shard.closed(Some(4_000)), None);
    fixture.sees().await;
    assert_eq!((fixture.count("GET /channels/700 "), fixture.count(ASKED_FOR)), (2, 12));
    // What happened meanwhile is pushed again before the session goes on.
    fixture.push("GUILD_MEMBER_UPDATE", &member(31, &[])).await;
    fixture.push("RESUMED", &Value::Null).await;
    assert_eq!(fixture.sees().await, [10, 32, 500]);
    assert_eq!(fixture.count(ASKED_FOR), 12);
    // A new session tells everything anew; until then nothing is known.
    fixture.push("READY", &json!({"user": {"id": "500"}})).await;
    fixture.sees().await;
    assert_eq!(fixture.count(ASKED_FOR), 18);
    fixture.push("GUILD_CREATE", &guild([person(500, &[])])).await;
    fixture.sees().await;
    fixture.sees().await;
    assert_eq!((fixture.count("GET /channels/700 "), fixture.count(ASKED_FOR)), (3, 24));
    fixture.push("GUILD_DELETE", &json!({"id": "1", "unavailable": true})).await;
    fixture.sees().await;
    assert_eq!(fixture.count("GET /channels/700 "), 4);
}

/// Shards are interrupted one by one.
#[tokio::test]
async fn a_shard_answers_for_its_own_guilds() {
    let fixture = Fixture::open().await;
    let (mine, other) =
        (fixture.feed.shard(ShardId::new(0, 2)), fixture.feed.shard(ShardId::new(1, 2)));
    for shard in [&mine, &other] {
        push_to(shard, "READY", &json!({"user": {"id": "500"}})).await;
    }
    push_to(&mine, "GUILD_CREATE", &guild(everybody())).await;
    other.closed(None);
    push_to(&other, "READY", &json!({"user": {"id": "500"}})).await;
    fixture.sees().await;
    assert_eq!(fixture.count(ASKED_FOR), 0);
    mine.closed(None);
    fixture.sees().await;
    assert_eq!(fixture.count(ASKED_FOR), 6);
}

/// What is pushed while accounts are asked for is newer than the answers.
#[tokio::test]
async fn what_is_pushed_during_a_read_counts_more() {
    let fixture = Fixture::open().await;
    fixture.connect([person(500, &[])]).await;
    let before = fixture.server.count();
    let asked = ASKED.map(UserId::new).to_vec();
    let mut asking = fixture.account.members(CHANNEL, asked);
    tokio::select! {
        biased;
        _ = &mut asking => panic!("answered before it was asked"),
        () = fixture.server.arrived(before + 1) => {}
    }
    fixture.push("GUILD_MEMBER_REMOVE", &json!({"guild_id": "1", "user": {"id": "31"}})).await;
    fixture.push("GUILD_MEMBER_ADD", &member(40, &["20"])).await;
    let mut seen = asking.await.unwrap();
    seen.sort_unstable();
    assert_eq!(seen.iter().map(|user| user.get()).collect::<Vec<_>>(), [10, 32, 40, 500]);
}

/// R077: a private thread is seen by those added; who they are is asked for once a minute, and followed.
#[tokio::test]
async fn a_private_threads_people_are_followed() {
    let fixture = Fixture::open().await;
    fixture.connect(everybody()).await;
    let thread = json!({"id": "701", "type": 12, "guild_id": "1", "parent_id": "700", "name": "t"});
    fixture.push("THREAD_CREATE", &thread).await;
    fixture
        .server
        .rule("GET /channels/701/thread-members/", Reply::status(404, r#"{"code":10007}"#));
    fixture.server.rule("GET /channels/701/thread-members/31 ", Reply::ok(r#"{"user_id":"31"}"#));
    let channel = dirigent::ChannelId::new(701);
    let sees = async || fixture.sees_of(channel).await;
    assert_eq!(sees().await, [10, 31]);
    let update = json!({"id": "701", "guild_id": "1", "member_count": 2,
        "added_members": [{"id": "701", "user_id": "32"}], "removed_member_ids": ["31"]});
    fixture.push("THREAD_MEMBERS_UPDATE", &update).await;
    assert_eq!(sees().await, [10, 32]);
    assert_eq!(fixture.count("GET /channels/701/thread-members/"), 6);
    fixture.pass(MINUTE);
    assert_eq!(sees().await, [10, 31]);
    assert_eq!(fixture.count("GET /channels/701/thread-members/"), 12);
    assert_eq!(
        (fixture.count("GET /channels/701/thread-members?"), fixture.count(ASKED_FOR)),
        (0, 0)
    );
}

/// An account that cannot be asked for is an error, and the next read asks again, for what is not known yet.
#[tokio::test]
async fn an_account_that_is_refused_is_asked_for_again() {
    let fixture = Fixture::open().await;
    fixture.connect([person(500, &[])]).await;
    fixture.server.rule("GET /guilds/1/members/32 ", Reply::status(403, r#"{"code":50001}"#));
    let error = fixture.account.members(CHANNEL, vec![A, B]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    let known = Reply::ok(person(32, &["20"]).to_string());
    fixture.server.rule("GET /guilds/1/members/32 ", known);
    assert_eq!(fixture.account.members(CHANNEL, vec![A, B]).await.unwrap(), [A, B]);
    assert_eq!(fixture.count(ASKED_FOR), 3);
}

/// Channels of one guild that ask at the same time ask for each account once.
#[tokio::test]
async fn channels_that_ask_at_once_ask_once() {
    let fixture = Fixture::open().await;
    fixture.connect([person(500, &[])]).await;
    let mut other = den(ALL);
    other["id"] = "702".into();
    fixture.push("CHANNEL_CREATE", &other).await;
    let (one, two) = tokio::join!(fixture.sees(), fixture.sees_of(dirigent::ChannelId::new(702)));
    assert_eq!((one.as_slice(), two), ([10, 31, 32, 500].as_slice(), one.clone()));
    assert_eq!(fixture.count(ASKED_FOR), 6);
}

/// Of more than 64 accounts the list is read, and kept true.
#[tokio::test]
async fn of_many_accounts_the_list_is_read() {
    let fixture = Fixture::open().await;
    fixture.connect([person(500, &[])]).await;
    let many: Vec<_> = (10..90).map(UserId::new).collect();
    for _ in 0..3 {
        assert_eq!(
            fixture.account.members(CHANNEL, many.clone()).await.unwrap(),
            [10, 31, 32].map(UserId::new)
        );
        fixture.pass(MINUTE);
    }
    assert_eq!((fixture.count(LISTED), fixture.count(ASKED_FOR)), (1, 0));
    fixture.push("GUILD_MEMBER_ADD", &member(40, &["20"])).await;
    let seen = fixture.account.members(CHANNEL, many).await.unwrap();
    assert_eq!(seen, [10, 31, 32, 40].map(UserId::new));
    assert_eq!(fixture.count(LISTED), 1);
}

/// F22: a history that Discord would show as empty is forbidden, without a request; where it is certain
/// that it may be read, that is known.
#[tokio::test]
async fn a_hidden_history_is_told_from_an_empty_one() {
    let fixture = Fixture::open().await;
    let request = HistoryRequest { channel: CHANNEL, after: None, limit: 10 };
    assert_eq!(fixture.account.reads_history(CHANNEL), None);
    fixture.connect([person(500, &[])]).await;
    assert_eq!(fixture.account.reads_history(CHANNEL), Some(true));
    assert!(fixture.account.history(request).await.unwrap().is_empty());
    let asked = fixture.count("GET /channels/700/messages");
    for own in [VIEW, "65536", "0"] {
        fixture.push("CHANNEL_UPDATE", &den(own)).await;
        assert_eq!(fixture.account.reads_history(CHANNEL), Some(false));
        let error = fixture.account.history(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forbidden);
        assert_eq!(cause(&error), RestError::Lacks(NeededPermission::ReadMessageHistory));
    }
    assert_eq!(fixture.count("GET /channels/700/messages"), asked);
    fixture.push("GUILD_MEMBER_UPDATE", &member(500, &["21"])).await;
    assert_eq!(fixture.account.reads_history(CHANNEL), Some(true), "an administrator may");
    fixture.push("GUILD_MEMBER_UPDATE", &member(500, &[])).await;
    fixture.shard.closed(None);
    assert_eq!(fixture.account.reads_history(CHANNEL), None);
    assert!(fixture.account.history(request).await.is_ok());
}

/// F22: that somebody may read a private thread is certain only of those who may manage threads; that somebody may not,
/// of everybody whose parent channel is hidden.
#[tokio::test]
async fn who_may_read_a_private_thread_is_certain_of_its_keepers_only() {
    const KEEPS_THREADS: &str = "17179937792";
    let fixture = Fixture::open().await;
    fixture.connect([person(500, &[])]).await;
    let thread = json!({"id": "701", "type": 12, "guild_id": "1", "parent_id": "700", "name": "t"});
    fixture.push("THREAD_CREATE", &thread).await;
    for (own, reads) in [(ALL, None), (KEEPS_THREADS, Some(true)), (VIEW, Some(false))] {
        fixture.push("CHANNEL_UPDATE", &den(own)).await;
        assert_eq!(fixture.account.reads_history(dirigent::ChannelId::new(701)), reads, "{own}");
    }
}
