//! Channels, access and permissions of guilds.

use dirigent::ports::{
    Access, ApiError, ChannelInfo, ChannelKind, ErrorKind, GuildApi, GuildId, NewChannel,
};
use dirigent::{ChannelId, UserId};
use dirigent_discord::RestError;
use serde_json::json;

use crate::account::server::Reply;
use crate::account::{AccountStage, CHANNEL, cause};

const GUILD_ID: GuildId = GuildId::new(1);

/// A guild of owner 10, open to everyone; role 21 is an administrator's.
const GUILD: &str = r#"{"id":"1","owner_id":"10","roles":[{"id":"1","permissions":"1024"},
  {"id":"21","permissions":"8"}]}"#;

const ME: &str = r#"{"id":"500"}"#;

const HIDE: &str = r#"{"id":"1","type":0,"allow":"0","deny":"1024"}"#;

fn channel(id: u64, kind: u8, overwrites: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":{kind},"guild_id":"1","parent_id":"9","name":"n{id}",
        "permission_overwrites":[{overwrites}]}}"#
    )
}

fn member(roles: &str) -> Reply {
    Reply::ok(format!(r#"{{"user":{{"id":"31"}},"roles":[{roles}]}}"#))
}

fn room(name: &str, members: &[u64]) -> NewChannel {
    let members = members.iter().copied().map(UserId::new).collect();
    NewChannel { guild: GUILD_ID, name: name.to_owned(), members }
}

/// R047, R048, R049, R052, R142: a created channel is hidden from everyone, and open to the acting
/// account and those named, each once.
#[tokio::test]
async fn a_created_channel_is_private() {
    let stage =
        AccountStage::with([Reply::ok(ME), Reply::status(201, channel(700, 0, HIDE))]).await;
    let created = stage.account.create_channel(room("den", &[32, 31, 500, 32])).await.unwrap();
    let expected = ChannelInfo {
        id: CHANNEL,
        guild: Some(GUILD_ID),
        parent: None,
        kind: ChannelKind::Text,
        name: "n700".to_owned(),
        topic: None,
        private: true,
    };
    assert_eq!(created, expected);
    let asked = &stage.server.asked()[1];
    assert_eq!(asked.line, "POST /api/v10/guilds/1/channels HTTP/1.1");
    assert_eq!(
        asked.json(),
        json!({ "name": "den", "type": 0, "permission_overwrites": [
            { "id": "1", "type": 0, "allow": "0", "deny": "1024" },
            { "id": "500", "type": 1, "allow": "68608", "deny": "0" },
            { "id": "31", "type": 1, "allow": "68608", "deny": "0" },
            { "id": "32", "type": 1, "allow": "68608", "deny": "0" },
        ] })
    );
    assert_eq!(asked.header("x-audit-log-reason"), Some("Dirigent: a channel was asked for"));
}

/// R053: what Discord refuses is refused, and what it would refuse is not sent.
#[tokio::test]
async fn a_refused_creation_is_an_error() {
    let refused = Reply::status(403, r#"{"code":50013}"#);
    let stage = AccountStage::with([Reply::ok(ME), refused]).await;
    for name in [String::new(), "x".repeat(101)] {
        let error = stage.account.create_channel(room(&name, &[])).await.unwrap_err();
        assert_eq!(cause(&error), RestError::NotAcceptable);
    }
    let crowd: Vec<u64> = (1_000..1_100).collect();
    let error = stage.account.create_channel(room("den", &crowd)).await.unwrap_err();
    assert_eq!((error.kind(), stage.server.count()), (ErrorKind::Invalid, 0));
    let error = stage.account.create_channel(room("den", &[])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    assert_eq!(cause(&error), RestError::Refused { status: 403, code: Some(50_013) });
}

#[tokio::test]
async fn a_channel_is_deleted_with_a_reason() {
    let gone = Reply::status(404, r#"{"code":10003}"#);
    let stage = AccountStage::with([Reply::ok(channel(700, 0, "")), gone]).await;
    stage.account.delete_channel(CHANNEL).await.unwrap();
    let asked = &stage.server.asked()[0];
    assert_eq!(asked.line, "DELETE /api/v10/channels/700 HTTP/1.1");
    let reason = asked.header("x-audit-log-reason");
    assert_eq!(reason, Some("Dirigent: the channel is no longer needed"));
    let again = stage.account.delete_channel(CHANNEL).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Gone);
}

/// R049, R050: access is given and taken by the member's own overwrite.
#[tokio::test]
async fn access_is_an_overwrite_of_the_member() {
    for (access, body) in [
        (Access::Full, json!({ "type": 1, "allow": "68608", "deny": "0" })),
        (Access::None, json!({ "type": 1, "allow": "0", "deny": "1024" })),
    ] {
        let text = Reply::ok(channel(700, 0, HIDE));
        let stage = AccountStage::with([text, member(""), Reply::status(204, "")]).await;
        stage.account.set_access(CHANNEL, UserId::new(31), access).await.unwrap();
        let asked = &stage.server.asked()[2];
        assert_eq!(asked.line, "PUT /api/v10/channels/700/permissions/31 HTTP/1.1");
        assert_eq!(asked.json(), body);
        let reason = asked.header("x-audit-log-reason");
        assert_eq!(reason, Some("Dirigent: who takes part has changed"));
        assert_eq!(stage.server.lines()[1], "GET /api/v10/guilds/1/members/31 HTTP/1.1");
    }
}

/// R049: access is for members of the guild, and for channels that have overwrites.
#[tokio::test]
async fn access_needs_a_member_and_a_channel_of_its_own() {
    let stranger = Reply::status(404, r#"{"code":10007}"#);
    let stage = AccountStage::with([Reply::ok(channel(700, 0, "")), stranger]).await;
    let error = stage.account.set_access(CHANNEL, UserId::new(31), Access::Full).await.unwrap_err();
    assert_eq!((error.kind(), stage.server.count()), (ErrorKind::Gone, 2));
    for place in [channel(700, 11, ""), r#"{"id":"700","type":1}"#.to_owned()] {
        let stage = AccountStage::with([Reply::ok(place)]).await;
        let asked = stage.account.set_access(CHANNEL, UserId::new(31), Access::Full).await;
        assert_eq!((asked.unwrap_err().kind(), stage.server.count()), (ErrorKind::Invalid, 1));
    }
}

/// R140, D79, D94: what a channel is, and whether everyone sees it.
#[tokio::test]
async fn a_channel_is_what_it_is() {
    let open = r#"{"id":"1","type":0,"allow":"1024","deny":"0"}"#;
    for (kind, overwrites, expected, private) in [
        (0, "", ChannelKind::Text, false),
        (0, HIDE, ChannelKind::Text, true),
        (5, open, ChannelKind::Announcement, false),
        (2, "", ChannelKind::Other, false),
        (4, HIDE, ChannelKind::Other, true),
        (15, "", ChannelKind::Other, false),
    ] {
        let stage =
            AccountStage::with([Reply::ok(channel(700, kind, overwrites)), Reply::ok(GUILD)]).await;
        let info = stage.account.channel(CHANNEL).await.unwrap();
        assert_eq!((info.kind, info.private), (expected, private), "{kind}");
        assert_eq!((info.guild, info.parent), (Some(GUILD_ID), None), "a category is no parent");
    }
    let direct = AccountStage::with([Reply::ok(r#"{"id":"700","type":1}"#)]).await;
    let info = direct.account.channel(CHANNEL).await.unwrap();
    assert_eq!((info.kind, info.guild, info.private), (ChannelKind::Direct, None, true));
}

/// D79, D94: a thread names its parent, and is as private as that, or more.
#[tokio::test]
async fn a_thread_is_as_private_as_its_parent() {
    for (kind, parent, private) in
        [(11, "", false), (11, HIDE, true), (12, "", true), (10, "", false)]
    {
        let script = [channel(700, kind, ""), GUILD.to_owned(), channel(9, 0, parent)];
        let stage = AccountStage::with(script.map(Reply::ok)).await;
        let info = stage.account.channel(CHANNEL).await.unwrap();
        assert_eq!((info.kind, info.private), (ChannelKind::Thread, private), "{kind}");
        assert_eq!(info.parent, Some(ChannelId::new(9)));
    }
}

/// D94: the channels of a guild, without threads; a guild that does not let one in is gone.
#[tokio::test]
async fn the_channels_of_a_guild_are_listed() {
    let all = [channel(700, 0, HIDE), channel(701, 2, ""), channel(702, 11, "")].join(",");
    let stage = AccountStage::with([Reply::ok(GUILD), Reply::ok(format!("[{all}]"))]).await;
    let listed = stage.account.channels(GUILD_ID).await.unwrap();
    let told: Vec<_> = listed.iter().map(|info| (info.id.get(), info.kind, info.private)).collect();
    assert_eq!(told, [(700, ChannelKind::Text, true), (701, ChannelKind::Other, false)]);
    assert_eq!(stage.server.lines()[1], "GET /api/v10/guilds/1/channels HTTP/1.1");
    for (status, code) in [(403, 50_001), (404, 10_004)] {
        let refused = Reply::status(status, format!(r#"{{"code":{code}}}"#));
        let stage = AccountStage::with([refused]).await;
        let error: ApiError = stage.account.channels(GUILD_ID).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Gone);
        assert_eq!(cause(&error), RestError::Refused { status, code: Some(code) });
    }
}

/// R061: all guilds, over all pages.
#[tokio::test]
async fn all_guilds_are_listed() {
    let first: Vec<_> = (1_000..1_200).map(|id| format!(r#"{{"id":"{id}","name":"g"}}"#)).collect();
    let first = Reply::ok(format!("[{}]", first.join(",")));
    let stage = AccountStage::with([first, Reply::ok(r#"[{"id":"5000"}]"#)]).await;
    assert_eq!(stage.account.guilds().await.unwrap().len(), 201);
    assert_eq!(
        stage.server.lines()[1],
        "GET /api/v10/users/@me/guilds?after=1199&limit=200 HTTP/1.1"
    );
}

/// R139: the owner and administrators are administrators, nobody else, and strangers are gone.
#[tokio::test]
async fn administrators_are_the_owner_and_their_roles() {
    let user = |id: u64| UserId::new(id);
    let owner = Reply::ok(r#"{"user":{"id":"10"},"roles":[]}"#);
    for (asked, reply, is_administrator) in
        [(10, owner, true), (31, member("\"21\""), true), (31, member("\"1\""), false)]
    {
        let stage = AccountStage::with([Reply::ok(GUILD), reply]).await;
        let told = stage.account.is_administrator(GUILD_ID, user(asked)).await.unwrap();
        assert_eq!(told, is_administrator);
    }
    let stranger = Reply::status(404, r#"{"code":10007}"#);
    let stage = AccountStage::with([Reply::ok(GUILD), stranger]).await;
    let error = stage.account.is_administrator(GUILD_ID, user(31)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Gone);
}

/// R159: of the guilds in which the account is, those in which it is an administrator: as the owner, by a role,
/// not as a member, and not where it was thrown out meanwhile.
#[tokio::test]
async fn the_guilds_with_administrator_rights_are_told_from_the_others() {
    let me = UserId::new(500);
    let guild = |id: u64, owner: u64| {
        Reply::ok(format!(
            r#"{{"id":"{id}","owner_id":"{owner}","roles":[{{"id":"{id}","permissions":"1024"}},
            {{"id":"21","permissions":"8"}}]}}"#
        ))
    };
    let own = |roles: &str| Reply::ok(format!(r#"{{"user":{{"id":"500"}},"roles":[{roles}]}}"#));
    let stage = AccountStage::with([
        Reply::ok(r#"[{"id":"1"},{"id":"2"},{"id":"3"},{"id":"4"}]"#),
        guild(1, 500),
        own(""),
        guild(2, 10),
        own("\"21\""),
        guild(3, 10),
        own("\"3\""),
        Reply::status(404, r#"{"code":10004}"#),
    ])
    .await;
    let mut administered = Vec::new();
    for guild in stage.account.guilds().await.unwrap() {
        match stage.account.is_administrator(guild, me).await {
            Ok(true) => administered.push(guild.get()),
            Ok(false) => {}
            Err(error) => assert_eq!((error.kind(), guild.get()), (ErrorKind::Gone, 4)),
        }
    }
    assert_eq!(administered, [1, 2]);
}

/// R160, D94: of a guild's channels, the private text channels: no public one, no voice channel, no forum,
/// no category, and no announcements.
#[tokio::test]
async fn the_private_text_channels_of_a_guild_are_told_from_the_others() {
    let seen_by_one = format!(r#"{HIDE},{{"id":"31","type":1,"allow":"1024","deny":"0"}}"#);
    let by_a_role = r#"{"id":"21","type":0,"allow":"0","deny":"1024"}"#;
    let all = [
        channel(700, 0, HIDE),
        channel(701, 0, &seen_by_one),
        channel(702, 0, ""),
        channel(703, 0, by_a_role),
        channel(704, 2, HIDE),
        channel(705, 15, HIDE),
        channel(706, 4, HIDE),
        channel(707, 5, HIDE),
        channel(708, 12, ""),
    ];
    let stage =
        AccountStage::with([Reply::ok(GUILD), Reply::ok(format!("[{}]", all.join(",")))]).await;
    let listed = stage.account.channels(GUILD_ID).await.unwrap();
    let is_meant = |info: &&ChannelInfo| info.private && info.kind == ChannelKind::Text;
    let private: Vec<_> = listed.iter().filter(is_meant).map(|info| info.id.get()).collect();
    assert_eq!(private, [700, 701]);
}

/// Discord leaves the mark of a bot out for people.
#[tokio::test]
async fn a_bot_is_told_from_a_person() {
    let user = |mark: &str| Reply::ok(format!(r#"{{"user":{{"id":"31"{mark}}},"roles":[]}}"#));
    for (reply, is_bot) in [
        (user(r#","bot":true"#), true),
        (user(r#","bot":false"#), false),
        (user(r#","bot":null"#), false),
        (user(""), false),
    ] {
        let stage = AccountStage::with([reply]).await;
        assert_eq!(stage.account.is_bot(GUILD_ID, UserId::new(31)).await.unwrap(), is_bot);
        assert_eq!(stage.server.lines(), ["GET /api/v10/guilds/1/members/31 HTTP/1.1"]);
    }
    for (status, code) in [(404, 10_007), (404, 10_013), (403, 50_001)] {
        let stage =
            AccountStage::with([Reply::status(status, format!(r#"{{"code":{code}}}"#))]).await;
        let error = stage.account.is_bot(GUILD_ID, UserId::new(31)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Gone, "{code}");
    }
}

/// R140, D106: sight of one account is found out without a list of the guild's members.
#[tokio::test]
async fn sight_of_one_account_takes_no_list_of_members() {
    let own = r#"{"id":"31","type":1,"allow":"1024","deny":"0"}"#;
    let both = format!("{HIDE},{own}");
    for (overwrites, roles, sees) in
        [("", "", true), (HIDE, "", false), (&both, "", true), (HIDE, "\"21\"", true)]
    {
        let replies = [Reply::ok(channel(700, 0, overwrites)), Reply::ok(GUILD), member(roles)];
        let stage = AccountStage::with(replies).await;
        assert_eq!(stage.account.can_see(CHANNEL, UserId::new(31)).await.unwrap(), sees);
        assert_eq!(stage.server.count(), 3);
    }
    let stranger = Reply::status(404, r#"{"code":10007}"#);
    let replies = [Reply::ok(channel(700, 0, "")), Reply::ok(GUILD), stranger];
    let stage = AccountStage::with(replies).await;
    assert!(!stage.account.can_see(CHANNEL, UserId::new(31)).await.unwrap());
    let unseen = AccountStage::with([Reply::status(403, r#"{"code":50001}"#)]).await;
    let error = unseen.account.can_see(CHANNEL, UserId::new(31)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
}

/// PG10: who can read in a channel is told by roles, the owner and those who were added, by the names that people see.
#[tokio::test]
async fn who_can_read_in_a_private_channel_is_told_by_name() {
    let guild = r#"{"id":"1","owner_id":"10","roles":[{"id":"1","permissions":"1024","name":"@everyone"},
        {"id":"21","permissions":"8","name":"admins"},{"id":"22","permissions":"1024","name":"guests"},
        {"id":"23","permissions":"0","name":"friends"},
        {"id":"24","permissions":"8","name":"helper","tags":{"bot_id":"77"}}]}"#;
    let opens =
        |id: u64, kind: u8| format!(r#",{{"id":"{id}","type":{kind},"allow":"1024","deny":"0"}}"#);
    let closes = r#",{"id":"34","type":1,"allow":"0","deny":"1024"}"#;
    let overwrites =
        [HIDE, &opens(23, 0), &opens(31, 1), &opens(32, 1), &opens(33, 1), &opens(10, 1), closes];
    let named = |id: u64, names: &str| {
        Reply::ok(format!(r#"{{"user":{{"id":"{id}",{names}}},"nick":null,"roles":[]}}"#))
    };
    let stage = AccountStage::with([
        Reply::ok(channel(700, 0, &overwrites.concat())),
        Reply::ok(guild),
        named(10, r#""username":"o","global_name":"Olga""#),
        named(31, r#""username":"anna","global_name":null"#),
        Reply::status(404, r#"{"code":10007}"#),
    ])
    .await;
    let known = [UserId::new(77), UserId::new(33)];
    let readers = stage.account.readers(CHANNEL, &known).await.unwrap().unwrap();
    let readers: Vec<_> =
        readers.iter().map(|it| (it.user.map(UserId::get), it.name.as_str())).collect();
    let expected = [(None, "admins"), (None, "friends"), (Some(10), "Olga"), (Some(31), "anna")];
    assert_eq!(readers, expected, "neither guests, nor one who left, nor who is known already");
    let direct = r#"{"id":"700","type":1,"recipients":[{"id":"31"}]}"#;
    let stage = AccountStage::with([Reply::ok(direct)]).await;
    assert_eq!(stage.account.readers(CHANNEL, &[]).await.unwrap(), None);
}

/// Each name takes a request, and a person waits for them. What the caller knows takes none.
#[tokio::test]
async fn who_was_added_behind_nineteen_others_is_told_by_number() {
    let guild = r#"{"id":"1","owner_id":"10","roles":[{"id":"1","permissions":"1024","name":"@everyone"}]}"#;
    let opens = |id: u64| format!(r#",{{"id":"{id}","type":1,"allow":"1024","deny":"0"}}"#);
    let overwrites: String = (101..=121).map(opens).collect();
    let known: Vec<_> = (103..=104).map(UserId::new).collect();
    for (known, numbers) in [(&[][..], &["120", "121"][..]), (&known, &[])] {
        let private = Reply::ok(channel(700, 0, &[HIDE, &overwrites].concat()));
        let mut asked = vec![private, Reply::ok(guild)];
        let member = r#"{"user":{"id":"1","username":"anna"},"nick":null,"roles":[]}"#;
        asked.extend((0..20).map(|_| Reply::ok(member)));
        let stage = AccountStage::with(asked).await;
        let readers = stage.account.readers(CHANNEL, known).await.unwrap().unwrap();
        let names: Vec<_> = readers.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, [&["anna"; 20][..], numbers].concat());
    }
}

/// R140, D106: a private thread is seen by those who were added to it.
#[tokio::test]
async fn sight_of_a_private_thread_takes_being_added_to_it() {
    let added = Reply::ok(r#"{"user_id":"31"}"#);
    let absent = Reply::status(404, r#"{"code":10007}"#);
    for (answer, sees) in [(added, true), (absent, false)] {
        let replies = [
            Reply::ok(channel(700, 12, "")),
            answer,
            Reply::ok(channel(9, 0, "")),
            Reply::ok(GUILD),
            member(""),
        ];
        let stage = AccountStage::with(replies).await;
        assert_eq!(stage.account.can_see(CHANNEL, UserId::new(31)).await.unwrap(), sees);
    }
    let direct = r#"{"id":"700","type":1,"recipients":[{"id":"31"}]}"#;
    for (user, sees) in [(31, true), (500, true), (32, false)] {
        let stage = AccountStage::with([Reply::ok(direct), Reply::ok(ME)]).await;
        assert_eq!(stage.account.can_see(CHANNEL, UserId::new(user)).await.unwrap(), sees);
    }
}
