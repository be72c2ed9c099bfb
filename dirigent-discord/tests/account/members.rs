//! Who can see a channel, as read over HTTP.

use dirigent::{ChannelId, DiscordApi, ErrorKind, UserId};

use crate::server::Reply;
use crate::{CHANNEL, Stage};

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

fn people() -> Reply {
    page(&[
        person(10, ""),
        person(30, ""),
        person(31, ""),
        person(32, "\"20\""),
        person(33, "\"21\""),
        person(34, "\"20\",\"22\""),
    ])
}

/// R077: the owner, administrators, and those to whom a role or an overwrite gives sight.
#[tokio::test]
async fn members_are_those_who_see_the_channel() {
    let stage = Stage::with([Reply::ok(HIDDEN), Reply::ok(GUILD), people()]).await;
    let members = stage.account.members(CHANNEL).await.unwrap();
    assert_eq!(members, users([10, 31, 32, 33, 34]));
    assert_eq!(
        stage.server.lines(),
        [
            "GET /api/v10/channels/700 HTTP/1.1",
            "GET /api/v10/guilds/1 HTTP/1.1",
            "GET /api/v10/guilds/1/members?limit=1000 HTTP/1.1",
        ]
    );
}

/// R076: all pages are read, each from the highest id of the one before.
#[tokio::test]
async fn all_pages_of_members_are_read() {
    let thousand = |from: u64| {
        let mut ids: Vec<u64> = (from..from + 1_000).collect();
        ids.rotate_left(300);
        page(&ids.into_iter().map(|id| person(id, "\"20\"")).collect::<Vec<_>>())
    };
    let script = [Reply::ok(HIDDEN), Reply::ok(GUILD), thousand(1_000), thousand(2_000), page(&[])];
    let stage = Stage::with(script).await;
    let mut members = stage.account.members(CHANNEL).await.unwrap();
    members.sort();
    assert_eq!(members, users(1_000..3_000));
    let lines = stage.server.lines();
    assert_eq!(lines[3], "GET /api/v10/guilds/1/members?after=1999&limit=1000 HTTP/1.1");
    assert_eq!(lines[4], "GET /api/v10/guilds/1/members?after=2999&limit=1000 HTTP/1.1");
}

/// R076, R120: a guild of more pages than the limits allow at once is read on where it stood.
#[tokio::test]
async fn a_broken_off_read_goes_on_where_it_stood() {
    let full: Vec<_> = (1_000..2_000).map(|id| person(id, "\"20\"")).collect();
    let first = page(&full).bucket("m", 1, 0, "2");
    let script = [Reply::ok(HIDDEN), Reply::ok(GUILD), first];
    let stage = Stage::with(script).await;
    let error = stage.account.members(CHANNEL).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited);
    stage.pass(2_000);
    stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), page(&[person(2_500, "\"20\"")])]);
    assert_eq!(stage.account.members(CHANNEL).await.unwrap().len(), 1_001);
    let lines = stage.server.lines();
    assert_eq!(lines[5], "GET /api/v10/guilds/1/members?after=1999&limit=1000 HTTP/1.1");
    // A read that came to its end leaves nothing behind, and neither does one long ago.
    let small = || [Reply::ok(HIDDEN), Reply::ok(GUILD), page(&[person(10, "")])];
    stage.pass(60_000);
    stage.server.script(small());
    assert_eq!(stage.account.members(CHANNEL).await.unwrap(), users([10]));
    stage.server.script([Reply::ok(HIDDEN), Reply::ok(GUILD), page(&full), Reply::status(500, "")]);
    stage.account.members(CHANNEL).await.unwrap_err();
    stage.pass(60_000);
    stage.server.script(small());
    assert_eq!(stage.account.members(CHANNEL).await.unwrap(), users([10]));
}

/// R076: pages that lead nowhere are not read for ever.
#[tokio::test]
async fn a_page_that_leads_nowhere_ends_the_read() {
    let same: Vec<_> = (1_000..2_000).map(|id| person(id, "")).collect();
    let script = [Reply::ok(HIDDEN), Reply::ok(GUILD), page(&same), page(&same)];
    let stage = Stage::with(script).await;
    let error = stage.account.members(CHANNEL).await.unwrap_err();
    assert_eq!((error.kind(), stage.server.count()), (ErrorKind::Unavailable, 4));
}

/// R077: a public thread is seen by whoever sees its parent; a private one by those added and by its
/// keepers, if they see the parent.
#[tokio::test]
async fn a_thread_follows_its_parent() {
    let thread = |kind: u8| {
        Reply::ok(format!(r#"{{"id":"800","type":{kind},"guild_id":"1","parent_id":"700"}}"#))
    };
    let channel = ChannelId::new(800);
    let public = [thread(11), Reply::ok(HIDDEN), Reply::ok(GUILD), people()];
    let stage = Stage::with(public).await;
    assert_eq!(stage.account.members(channel).await.unwrap(), users([10, 31, 32, 33, 34]));

    let added = Reply::ok(r#"[{"id":"800","user_id":"30"},{"id":"800","user_id":"32"}]"#);
    let private = [thread(12), added, Reply::ok(HIDDEN), Reply::ok(GUILD), people()];
    let stage = Stage::with(private).await;
    assert_eq!(stage.account.members(channel).await.unwrap(), users([10, 32, 33, 34]));
    assert_eq!(
        stage.server.lines()[1],
        "GET /api/v10/channels/800/thread-members?limit=100&with_member=true HTTP/1.1"
    );
}

/// Without the members intent, Discord forbids the list; that is told as it is.
#[tokio::test]
async fn without_the_intent_the_list_is_forbidden() {
    let forbidden = Reply::status(403, r#"{"message":"Missing Access","code":50001}"#);
    let stage = Stage::with([Reply::ok(HIDDEN), Reply::ok(GUILD), forbidden]).await;
    let error = stage.account.members(CHANNEL).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
}

/// A direct message is seen by the two who have it.
#[tokio::test]
async fn a_direct_message_has_its_two() {
    let direct = Reply::ok(r#"{"id":"700","type":1,"recipients":[{"id":"31"}]}"#);
    let stage = Stage::with([direct, Reply::ok(r#"{"id":"500"}"#)]).await;
    assert_eq!(stage.account.members(CHANNEL).await.unwrap(), users([31, 500]));
}
