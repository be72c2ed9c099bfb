//! Who can see a channel, as read over HTTP.

use dirigent::ports::ErrorKind;
use dirigent::{ChannelId, DiscordApi, UserId};

use crate::account::server::Reply;
use crate::account::{AccountStage, CHANNEL};

/// A text channel hidden from everyone (role 1), open to role 20 and to member 31.
const HIDDEN: &str = r#"{"id":"700","type":0,"guild_id":"1","name":"den","parent_id":"9",
  "permission_overwrites":[{"id":"1","type":0,"allow":"0","deny":"1024"},
  {"id":"20","type":0,"allow":"1024","deny":"0"},{"id":"31","type":1,"allow":"1024","deny":"0"},
  {"id":"77","type":9,"allow":"1024","deny":"0"}]}"#;

/// A guild of owner 10; role 21 is an administrator's, role 22 may manage threads.
const GUILD: &str = r#"{"id":"1","owner_id":"10","name":"g","roles":[
  {"id":"1","permissions":"1024"},{"id":"20","permissions":"0"},{"id":"21","permissions":"8"},
  {"id":"22","permissions":"17179869184"}]}"#;

fn person(id: u64, roles: &str) -> String {
    format!(r#"{{"user":{{"id":"{id}","username":"u"}},"roles":[{roles}],"nick":null}}"#)
}

fn page(members: &[String]) -> Reply {
    Reply::ok(format!("[{}]", members.join(",")))
}

fn users(ids: impl IntoIterator<Item = u64>) -> Vec<UserId> {
    ids.into_iter().map(UserId::new).collect()
}

const PEOPLE: [(u64, &str); 6] =
    [(10, ""), (30, ""), (31, ""), (32, "\"20\""), (33, "\"21\""), (34, "\"20\",\"22\"")];

/// The answers to questions for these six, one by one.
fn people() -> impl Iterator<Item = Reply> {
    PEOPLE.into_iter().map(|(id, roles)| Reply::ok(person(id, roles)))
}

/// These six.
fn six() -> Vec<UserId> {
    users(PEOPLE.map(|(id, _)| id))
}

/// More accounts than are asked for one by one.
fn many(ids: impl IntoIterator<Item = u64>) -> Vec<UserId> {
    users((5_000..5_065).chain(ids))
}

fn unknown(code: u64) -> Reply {
    Reply::status(404, format!(r#"{{"code":{code}}}"#))
}

/// R077: the owner, administrators, and those to whom a role or an overwrite gives sight. Each account is asked for
/// by itself, which takes no intent.
#[tokio::test]
async fn members_are_those_who_see_the_channel() {
    let stage =
        AccountStage::with([Reply::ok(HIDDEN), Reply::ok(GUILD)].into_iter().chain(people())).await;
    let members = stage.account.members(CHANNEL, six()).await.unwrap();
    assert_eq!(members, users([10, 31, 32, 33, 34]));
    let lines = stage.server.lines();
    assert_eq!(
        lines[..4],
        [
            "GET /api/v10/channels/700 HTTP/1.1",
            "GET /api/v10/guilds/1 HTTP/1.1",
            "GET /api/v10/guilds/1/members/10 HTTP/1.1",
            "GET /api/v10/guilds/1/members/30 HTTP/1.1",
        ]
    );
    assert_eq!(lines.len(), 8);
}

/// An account that is not in the guild, or does not exist, sees nothing; a guild that is gone is an error.
#[tokio::test]
async fn an_account_that_is_no_member_sees_nothing() {
    let here = Reply::ok(person(31, ""));
    let script = [Reply::ok(HIDDEN), Reply::ok(GUILD), unknown(10_007), unknown(10_013), here];
    let stage = AccountStage::with(script).await;
    let asked = users([29, 30, 31, 31]);
    assert_eq!(stage.account.members(CHANNEL, asked).await.unwrap(), users([31]));
    assert_eq!(stage.server.count(), 5, "each account is asked for once");
    stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), unknown(10_004)]);
    let error = stage.account.members(CHANNEL, users([31])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Gone);
}

/// R076, R120: where the limits let accounts be asked for slowly, the read goes on where it stood until
/// it is done, however long that takes.
#[tokio::test]
async fn a_slow_read_goes_on_where_it_stood() {
    let slow = |id| Reply::ok(person(id, "\"20\"")).bucket("m", 1, 0, "60");
    let stage = AccountStage::with([]).await;
    let asked = || users(1..=64);
    for id in 1..=64 {
        stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), slow(id)]);
        let read = stage.account.members(CHANNEL, asked()).await;
        if id < 64 {
            assert_eq!(read.unwrap_err().kind(), ErrorKind::RateLimited);
        } else {
            assert_eq!(read.unwrap(), asked());
        }
        stage.pass(60_000);
    }
    let is_of_member = |line: &&String| line.contains("/members/");
    assert_eq!(stage.server.lines().iter().filter(is_of_member).count(), 64);
    // What was read to its end is not believed later.
    stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), unknown(10_007)]);
    assert!(stage.account.members(CHANNEL, users([1])).await.unwrap().is_empty());
}

/// What was read long ago is not gone on with.
#[tokio::test]
async fn a_read_that_rested_too_long_begins_anew() {
    let script = [Reply::ok(HIDDEN), Reply::ok(GUILD), Reply::ok(person(31, ""))];
    let stage = AccountStage::with(script.into_iter().chain([Reply::status(500, "")])).await;
    stage.account.members(CHANNEL, users([31, 32])).await.unwrap_err();
    stage.pass(120_000);
    stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), unknown(10_007), unknown(10_007)]);
    assert!(stage.account.members(CHANNEL, users([31, 32])).await.unwrap().is_empty());
}

/// R076: of more accounts than 64 all pages of the list are read, each from the highest id of the one before.
#[tokio::test]
async fn all_pages_of_members_are_read() {
    let thousand = |from: u64| {
        let mut ids: Vec<u64> = (from..from + 1_000).collect();
        ids.rotate_left(300);
        page(&ids.into_iter().map(|id| person(id, "\"20\"")).collect::<Vec<_>>())
    };
    let script = [Reply::ok(HIDDEN), Reply::ok(GUILD), thousand(1_000), thousand(2_000), page(&[])];
    let stage = AccountStage::with(script).await;
    let members = stage.account.members(CHANNEL, many([1_000, 2_999, 3_000])).await.unwrap();
    assert_eq!(members, users([1_000, 2_999]));
    let lines = stage.server.lines();
    assert_eq!(lines[2], "GET /api/v10/guilds/1/members?limit=1000 HTTP/1.1");
    assert_eq!(lines[3], "GET /api/v10/guilds/1/members?after=1999&limit=1000 HTTP/1.1");
    assert_eq!(lines[4], "GET /api/v10/guilds/1/members?after=2999&limit=1000 HTTP/1.1");
}

/// R076, R120: a guild of more pages than the limits allow at once is read on where it stood, however long that
/// takes.
#[tokio::test]
async fn a_broken_off_list_goes_on_where_it_stood() {
    let full = |from: u64| {
        let people: Vec<_> = (from..from + 1_000).map(|id| person(id, "\"20\"")).collect();
        page(&people).bucket("m", 1, 0, "60")
    };
    let stage = AccountStage::with([]).await;
    let asked = || many([1_000, 9_999, 10_500]);
    for number in 1..10 {
        stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), full(number * 1_000)]);
        let error = stage.account.members(CHANNEL, asked()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RateLimited);
        stage.pass(60_000);
    }
    let last = page(&[person(10_500, "\"20\"")]);
    stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), last]);
    let seen = stage.account.members(CHANNEL, asked()).await.unwrap();
    assert!(users([1_000, 9_999, 10_500]).iter().all(|user| seen.contains(user)), "{seen:?}");
    // A read that came to its end leaves nothing behind.
    stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), page(&[person(10, "")])]);
    assert_eq!(stage.account.members(CHANNEL, many([10])).await.unwrap(), users([10]));
}

/// R076: pages that lead nowhere are not read for ever.
#[tokio::test]
async fn a_page_that_leads_nowhere_ends_the_read() {
    let same: Vec<_> = (1_000..2_000).map(|id| person(id, "")).collect();
    let script = [Reply::ok(HIDDEN), Reply::ok(GUILD), page(&same), page(&same)];
    let stage = AccountStage::with(script).await;
    let error = stage.account.members(CHANNEL, many([])).await.unwrap_err();
    assert_eq!((error.kind(), stage.server.count()), (ErrorKind::Unavailable, 4));
}

/// R077: a public thread is seen by the accounts that see its parent; a private one by those added and by its
/// keepers, if they see the parent.
#[tokio::test]
async fn a_thread_follows_its_parent() {
    let thread = |kind: u8| {
        Reply::ok(format!(r#"{{"id":"800","type":{kind},"guild_id":"1","parent_id":"700"}}"#))
    };
    let channel = ChannelId::new(800);
    let public = [thread(11), Reply::ok(HIDDEN), Reply::ok(GUILD)];
    let stage = AccountStage::with(public.into_iter().chain(people())).await;
    let seen = stage.account.members(channel, six()).await.unwrap();
    assert_eq!(seen, users([10, 31, 32, 33, 34]));

    let added = PEOPLE.map(|(id, _)| match id {
        30 | 32 => Reply::ok(format!(r#"{{"id":"800","user_id":"{id}"}}"#)),
        _ => unknown(10_007),
    });
    let private = std::iter::once(thread(12)).chain(added);
    let private = private.chain([Reply::ok(HIDDEN), Reply::ok(GUILD)]).chain(people());
    let stage = AccountStage::with(private).await;
    let seen = stage.account.members(channel, six()).await.unwrap();
    assert_eq!(seen, users([10, 32, 33, 34]));
    let line = "GET /api/v10/channels/800/thread-members/10 HTTP/1.1";
    assert_eq!(stage.server.lines()[1], line);
}

/// R077: where more accounts than 64 are asked about, all pages of a private thread's list are read, each from the highest
/// id of the one before; pages that lead nowhere are not read for ever.
#[tokio::test]
async fn all_pages_of_a_private_threads_members_are_read() {
    let thread = || Reply::ok(r#"{"id":"800","type":12,"guild_id":"1","parent_id":"700"}"#);
    let added = |ids: std::ops::Range<u64>| {
        let ids: Vec<_> = ids.rev().map(|id| format!(r#"{{"user_id":"{id}"}}"#)).collect();
        Reply::ok(format!("[{}]", ids.join(",")))
    };
    let people = page(&[1_000, 1_100, 1_101].map(|id| person(id, "\"20\"")));
    let (channel, asked) = (ChannelId::new(800), || many([1_000, 1_100, 1_101]));
    let script = [thread(), added(1_000..1_100), added(1_100..1_101)];
    let script = script.into_iter().chain([Reply::ok(HIDDEN), Reply::ok(GUILD), people]);
    let stage = AccountStage::with(script).await;
    let members = stage.account.members(channel, asked()).await.unwrap();
    assert_eq!(members, users([1_000, 1_100]));
    let lines = stage.server.lines();
    let line = |query| format!("GET /api/v10/channels/800/thread-members{query} HTTP/1.1");
    assert_eq!(lines[1], line("?limit=100&with_member=true"));
    assert_eq!(lines[2], line("?after=1099&limit=100&with_member=true"));

    let stage = AccountStage::with([thread(), added(1_000..1_100), added(1_000..1_100)]).await;
    let error = stage.account.members(channel, asked()).await.unwrap_err();
    assert_eq!((error.kind(), stage.server.count()), (ErrorKind::Unavailable, 3));
}

/// Without the members intent, Discord forbids the list; that is told as it is.
#[tokio::test]
async fn without_the_intent_the_list_is_forbidden() {
    let forbidden = Reply::status(403, r#"{"message":"Missing Access","code":50001}"#);
    let stage = AccountStage::with([Reply::ok(HIDDEN), Reply::ok(GUILD), forbidden]).await;
    let error = stage.account.members(CHANNEL, many([])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
}

/// A direct message is seen by the two who have it.
#[tokio::test]
async fn a_direct_message_has_its_two() {
    let direct = Reply::ok(r#"{"id":"700","type":1,"recipients":[{"id":"31"}]}"#);
    let stage = AccountStage::with([direct, Reply::ok(r#"{"id":"500"}"#)]).await;
    let seen = stage.account.members(CHANNEL, users([30, 31, 500])).await.unwrap();
    assert_eq!(seen, users([31, 500]));
}
