//! What the gateway pushes, and what the driver makes of it.

use dirigent::snapshot::{Pause, PhaseKind};
use dirigent::{ChannelId, Mode, Settings};
use dirigent_discord::Feed;
use serde_json::{Value, json};
use twilight_model::gateway::Intents;
use twilight_model::gateway::event::Event;

use crate::account::CHANNEL;
use crate::account::fixture::{
    ALL, Fixture, MESSAGE, Plan, VIEW, den, everybody, guild, is_untouched, member, said, settle,
    until,
};
use crate::account::server::Reply;
use crate::account::slow_store::told;

async fn connected() -> Fixture {
    let fixture = Fixture::open().await;
    fixture.chat().await;
    fixture.connect(everybody()).await;
    assert_eq!(fixture.present().await, ["a", "b"]);
    fixture
}

/// R077: an agent that gains or loses sight of a channel joins or leaves it, by whatever that came about.
#[tokio::test]
async fn who_gains_or_loses_sight_joins_or_leaves() {
    let fixture = connected().await;
    let both = ["a", "b"];
    fixture.push("GUILD_MEMBER_UPDATE", &member(31, &[])).await;
    assert_eq!(fixture.present().await, ["b"]);
    fixture.push("GUILD_MEMBER_UPDATE", &member(31, &["20"])).await;
    assert_eq!(fixture.present().await, both);
    let mut closed = den(ALL);
    closed["permission_overwrites"][1]["allow"] = "0".into();
    fixture.push("CHANNEL_UPDATE", &closed).await;
    assert!(fixture.present().await.is_empty());
    fixture.push("CHANNEL_UPDATE", &den(ALL)).await;
    assert_eq!(fixture.present().await, both);
    let role =
        |allowed: &str| json!({"guild_id": "1", "role": {"id": "20", "permissions": allowed}});
    fixture.push("CHANNEL_UPDATE", &closed).await;
    fixture.push("GUILD_ROLE_UPDATE", &role("8")).await;
    assert_eq!(fixture.present().await, both, "administrators see all");
    fixture.push("GUILD_ROLE_DELETE", &json!({"guild_id": "1", "role_id": "20"})).await;
    assert!(fixture.present().await.is_empty());
    fixture.push("CHANNEL_UPDATE", &den(ALL)).await;
    let gone = json!({"guild_id": "1", "user": {"id": "32"}});
    for _ in 0..2 {
        fixture.push("GUILD_MEMBER_REMOVE", &gone).await;
        assert_eq!(fixture.present().await, ["a"]);
    }
    fixture.push("GUILD_MEMBER_ADD", &member(32, &["20"])).await;
    assert_eq!(fixture.present().await, both);
}

/// People, other guilds and other channels concern no agent.
#[tokio::test]
async fn what_concerns_no_agent_changes_nothing() {
    let fixture = connected().await;
    fixture.push("GUILD_MEMBER_UPDATE", &member(33, &["20"])).await;
    let mut elsewhere = member(31, &[]);
    elsewhere["guild_id"] = "2".into();
    fixture.push("GUILD_MEMBER_UPDATE", &elsewhere).await;
    let mut other = den("0");
    other["id"] = "702".into();
    fixture.push("CHANNEL_CREATE", &other).await;
    fixture.push("CHANNEL_UPDATE", &other).await;
    let quiet = fixture.status().await;
    assert_eq!(fixture.present().await, ["a", "b"]);
    assert!(is_untouched(&quiet));
}

/// F19: after a new session what was missed is read, where something was missed and nowhere else.
#[tokio::test]
async fn after_a_new_session_what_was_missed_is_read() {
    let fixture = connected().await;
    fixture.push("RESUMED", &Value::Null).await;
    settle().await;
    assert_eq!(fixture.count("GET /channels/700/messages"), 0, "nothing was missed");
    fixture.server.rule(
        "GET /channels/700/messages",
        Reply::ok(Value::from(vec![said(MESSAGE + 5, "Is anybody there?")]).to_string()),
    );
    let mut told = guild(everybody());
    told["channels"][0]["last_message_id"] = (MESSAGE + 5).to_string().into();
    fixture.push("READY", &json!({"user": {"id": "500"}})).await;
    fixture.push("GUILD_CREATE", &told).await;
    until("the missed message is read", || fixture.count("GET /channels/700/messages") > 0).await;
    settle().await;
    let woken = fixture.status().await;
    assert_ne!(woken.phase, PhaseKind::Dormant);
    // It is known now.
    let reads = fixture.count("GET /channels/700/messages");
    fixture.push("READY", &json!({"user": {"id": "500"}})).await;
    fixture.push("GUILD_CREATE", &told).await;
    settle().await;
    assert_eq!(fixture.count("GET /channels/700/messages"), reads);
    assert_eq!(fixture.status().await.turn, woken.turn);
}

/// WD2: what was said while the bot could not see a channel, or not read its history, is read when it can again, by
/// whatever that came about.
#[tokio::test]
async fn a_channel_is_read_as_soon_as_the_right_to_read_it_is_back() {
    let mut own = den(ALL);
    own["permission_overwrites"][2]["allow"] = "0".into();
    let mut unread = den(VIEW);
    unread["permission_overwrites"][0]["deny"] = "0".into();
    let role =
        |allowed: &str| json!({"guild_id": "1", "role": {"id": "1", "permissions": allowed}});
    let cases = [
        (("CHANNEL_UPDATE", own.clone()), ("CHANNEL_UPDATE", den(ALL))),
        (("CHANNEL_UPDATE", unread), ("CHANNEL_UPDATE", den(ALL))),
        (("CHANNEL_UPDATE", own.clone()), ("GUILD_ROLE_UPDATE", role("8"))),
        (("CHANNEL_UPDATE", own), ("GUILD_MEMBER_UPDATE", member(500, &["21"]))),
    ];
    for (lost, regained) in cases {
        let fixture = connected().await;
        fixture.push("MESSAGE_CREATE", &said(MESSAGE + 1, "Hello")).await;
        settle().await;
        fixture.push(lost.0, &lost.1).await;
        fixture.pass(12_000);
        settle().await;
        let before = fixture.count("GET /channels/700/messages");
        fixture.server.rule(
            "GET /channels/700/messages",
            Reply::ok(Value::from(vec![said(MESSAGE + 5, "Is anybody there?")]).to_string()),
        );
        let reads = || fixture.count("GET /channels/700/messages") - before;
        fixture.push("GUILD_MEMBER_UPDATE", &member(33, &["20"])).await;
        settle().await;
        assert_eq!(reads(), 0, "what happens to another account is no reason: {lost:?}");
        fixture.push(regained.0, &regained.1).await;
        until("the channel is read", || reads() > 0).await;
        settle().await;
        assert_eq!(told(&fixture, CHANNEL), [1, 5], "{regained:?}");
        // It can read it on, and nothing more is to be read.
        let read = reads();
        fixture.push(regained.0, &regained.1).await;
        settle().await;
        assert_eq!(reads(), read, "{regained:?}");
    }
}

/// F19: a gateway that does not tell of guilds has everything looked through.
#[tokio::test]
async fn without_guilds_everything_is_looked_through() {
    let intents = Feed::INTENTS.difference(Intents::GUILDS);
    let fixture = Fixture::with(Plan { intents, ..Plan::default() }).await;
    fixture.chat().await;
    fixture.push("READY", &json!({"user": {"id": "500"}})).await;
    until("the history is read", || fixture.count("GET /channels/700/messages") == 1).await;
}

/// F19: events may come twice, and in any order.
#[tokio::test]
async fn duplicates_and_reorderings_change_nothing() {
    let fixture = connected().await;
    fixture.push("MESSAGE_CREATE", &said(MESSAGE + 9, "second")).await;
    let woken = fixture.status().await;
    for id in [9, 5, 9, 5] {
        fixture.push("MESSAGE_CREATE", &said(MESSAGE + id, "again")).await;
    }
    assert_eq!(
        (fixture.status().await.turn, fixture.status().await.phase),
        (woken.turn, woken.phase)
    );
}

/// What is gone is gone: a channel, and the threads with it.
#[tokio::test]
async fn nothing_is_kept_of_a_deleted_channel() {
    for (kind, gone) in [("CHANNEL_DELETE", "700"), ("THREAD_DELETE", "701")] {
        let fixture = connected().await;
        let thread =
            json!({"id": "701", "type": 11, "guild_id": "1", "parent_id": "700", "name": "t"});
        fixture.push("THREAD_CREATE", &thread).await;
        let id = ChannelId::new(701);
        fixture.dirigent.channel(id).set_mode(Mode::Chat).await.unwrap();
        fixture.push(kind, &json!({"id": gone, "guild_id": "1", "type": 0})).await;
        assert!(fixture.dirigent.channel(id).status().await.unwrap().is_none());
        let parent = fixture.dirigent.channel(CHANNEL).status().await.unwrap();
        let expected = (kind == "THREAD_DELETE").then_some(Mode::Chat);
        assert_eq!(parent.map(|status| status.mode), expected);
        fixture.push("MESSAGE_CREATE", &said(MESSAGE, "hello")).await;
    }
}

/// D19: something is said in a thread: it stands alone, or is as its parent.
#[tokio::test]
async fn a_thread_stands_alone_unless_the_host_wants_otherwise() {
    for (inherit_parent_mode, mode) in [(false, None), (true, Some(Mode::Chat))] {
        let mut settings = Settings::default();
        settings.inherit_parent_mode = inherit_parent_mode;
        let fixture = Fixture::with(Plan { settings, ..Plan::default() }).await;
        fixture.chat().await;
        fixture.connect(everybody()).await;
        let list = json!({"guild_id": "1", "members": [], "threads": [
            {"id": "701", "type": 11, "parent_id": "700", "name": "t"}]});
        fixture.push("THREAD_LIST_SYNC", &list).await;
        let mut message = said(MESSAGE, "hello");
        message["channel_id"] = "701".into();
        fixture.push("MESSAGE_CREATE", &message).await;
        let status = fixture.dirigent.channel(ChannelId::new(701)).status().await.unwrap();
        assert_eq!(status.map(|status| status.mode), mode);
        // A channel in a category is no thread.
        let mut other = den(ALL);
        (other["id"], other["parent_id"]) = ("702".into(), "700".into());
        fixture.push("CHANNEL_CREATE", &other).await;
        message["channel_id"] = "702".into();
        fixture.push("MESSAGE_CREATE", &message).await;
        assert!(fixture.dirigent.channel(ChannelId::new(702)).status().await.unwrap().is_none());
    }
}

/// An agent that is taken out of a private thread leaves it; out of a public one it sees on.
#[tokio::test]
async fn who_is_taken_out_of_a_private_thread_leaves_it() {
    for (kind, present) in [(12, vec!["b"]), (11, vec!["a", "b"])] {
        let fixture = Fixture::open().await;
        fixture.connect(everybody()).await;
        let id = ChannelId::new(701);
        let chat = dirigent::operate::CreatedChannel {
            mode: Mode::Chat,
            members: ["a", "b"].map(Into::into).to_vec(),
            ..Default::default()
        };
        fixture.dirigent.channel(id).register(chat).await.unwrap();
        let thread =
            json!({"id": "701", "type": kind, "guild_id": "1", "parent_id": "700", "name": "t"});
        fixture.push("THREAD_CREATE", &thread).await;
        let update = json!({"id": "701", "guild_id": "1", "member_count": 1,
            "removed_member_ids": ["31", "33"]});
        fixture.push("THREAD_MEMBERS_UPDATE", &update).await;
        let status = fixture.dirigent.channel(id).status().await.unwrap().unwrap();
        let seats = status.list.into_iter().filter(|(_, seat)| !seat.left);
        let seated: Vec<_> = seats.map(|(agent, _)| agent.as_str().to_owned()).collect();
        assert_eq!(seated, present, "{kind}");
    }
}

/// Twilight's events say the same as the raw text.
#[tokio::test]
async fn an_event_of_twilight_says_the_same() {
    let fixture = connected().await;
    let user =
        json!({"id": "31", "username": "a", "discriminator": "0", "avatar": null, "bot": true});
    let update = json!({"guild_id": "1", "roles": [], "user": user, "pending": false, "deaf": false,
        "mute": false, "joined_at": "2025-06-15T15:06:40.000000+00:00", "nick": null, "avatar": null,
        "communication_disabled_until": null, "premium_since": null});
    let update = Event::MemberUpdate(Box::new(serde_json::from_value(update).unwrap()));
    fixture.shard.event(&update);
    assert_eq!(fixture.present().await, ["b"]);
    let role = json!({"guild_id": "1", "role": {"id": "1", "name": "@everyone", "color": 0,
        "hoist": false, "managed": false, "mentionable": false, "permissions": "8", "position": 0,
        "flags": 0, "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null}}});
    fixture.shard.event(&Event::RoleUpdate(serde_json::from_value(role).unwrap()));
    assert_eq!(fixture.present().await, ["a", "b"]);
    let removed = json!({"guild_id": "1", "user": user});
    let removed = Event::MemberRemove(serde_json::from_value(removed).unwrap());
    fixture.shard.event(&removed);
    assert_eq!(fixture.present().await, ["b"]);
    let mut gone = den(VIEW);
    gone["position"] = 0.into();
    let gone = Event::ChannelDelete(Box::new(serde_json::from_value(gone).unwrap()));
    fixture.shard.event(&gone);
    assert_eq!(fixture.dirigent.channel(CHANNEL).status().await.unwrap().unwrap().mode, Mode::None);
    fixture.shard.event(&Event::Resumed);
    fixture.shard.event(&Event::GatewayClose(None));
}

/// A guild as twilight reads it whole.
fn whole_guild() -> Value {
    let mut whole = guild([]);
    let role = |id: &str, permissions: &str| {
        json!({"id": id, "name": "r", "color": 0, "hoist": false, "managed": false, "flags": 0,
            "mentionable": false, "permissions": permissions, "position": 0,
            "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null}})
    };
    let member = |id: &str, roles: &[&str]| {
        json!({"user": {"id": id, "username": "u", "discriminator": "0", "avatar": null}, "nick": null,
            "roles": roles, "deaf": false, "mute": false, "flags": 0, "pending": false,
            "joined_at": "2025-06-15T15:06:40.000000+00:00", "premium_since": null,
            "communication_disabled_until": null})
    };
    let more = json!({
        "afk_channel_id": null, "afk_timeout": 300, "application_id": null, "banner": null,
        "default_message_notifications": 0, "description": null, "discovery_splash": null,
        "emojis": [], "explicit_content_filter": 0, "features": [], "icon": null,
        "joined_at": "2025-06-15T15:06:40.000000+00:00", "mfa_level": 0, "nsfw_level": 0,
        "preferred_locale": "en-US", "premium_progress_bar_enabled": false, "premium_tier": 0,
        "presences": [], "public_updates_channel_id": null, "rules_channel_id": null,
        "splash": null, "stage_instances": [], "stickers": [], "system_channel_flags": 0,
        "system_channel_id": null, "vanity_url_code": null, "verification_level": 0,
        "voice_states": [], "unavailable": false, "guild_scheduled_events": [],
        "roles": [role("1", VIEW), role("20", "0")],
        "members": [member("10", &[]), member("31", &["20"]), member("32", &["20"]),
            member("33", &[]), member("500", &[])],
    });
    whole.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    whole
}

/// D35, F19: a whole session in twilight's events: members are known by it, and what was missed is read.
#[tokio::test]
async fn a_session_in_twilights_events_says_the_same() {
    use twilight_model::gateway::payload::incoming::GuildCreate;
    let fixture = Fixture::open().await;
    fixture.chat().await;
    let ready = json!({"v": 10, "user": {"id": "500", "username": "m", "discriminator": "0",
        "avatar": null, "bot": true, "mfa_enabled": false, "verified": true}, "guilds": [],
        "session_id": "s", "resume_gateway_url": "wss://x", "application": {"id": "800", "flags": 0}});
    let ready = Event::Ready(serde_json::from_value(ready).unwrap());
    fixture.shard.event(&ready);
    let mut whole = whole_guild();
    whole["channels"][0]["last_message_id"] = (MESSAGE + 5).to_string().into();
    let whole: GuildCreate = serde_json::from_value(whole).unwrap();
    assert!(matches!(whole, GuildCreate::Available(_)));
    fixture.shard.event(&Event::GuildCreate(Box::new(whole)));
    assert_eq!(fixture.sees().await, [10, 31, 32, 500]);
    assert_eq!(fixture.count("GET /guilds/1/members"), 0);
    until("the history is read", || fixture.count("GET /channels/700/messages") == 1).await;
    until("the command is registered", || fixture.count("POST /applications/800/") == 1).await;
    let used = json!({"id": "900", "application_id": "800", "type": 2, "token": "t", "version": 1,
        "guild_id": "1", "channel_id": "700", "attachment_size_limit": 1, "entitlements": [],
        "authorizing_integration_owners": {},
        "member": {"user": {"id": "33", "username": "u", "discriminator": "0", "avatar": null},
            "roles": [], "permissions": "16", "deaf": false, "mute": false, "flags": 0, "nick": null,
            "joined_at": "2025-06-15T15:06:40.000000+00:00", "premium_since": null,
            "communication_disabled_until": null},
        "data": {"id": "77", "name": "set-channel-mode", "type": 1,
            "options": [{"type": 3, "name": "mode", "value": "report"}]}});
    let used = Event::InteractionCreate(Box::new(serde_json::from_value(used).unwrap()));
    fixture.shard.event(&used);
    until("an answer", || fixture.count("POST /interactions/900/t/callback") == 1).await;
    assert_eq!(fixture.status().await.mode, Mode::Report);
    let thread = json!({"guild_id": "1", "channel_ids": [], "members": [], "threads": [
        {"id": "701", "type": 12, "parent_id": "700", "guild_id": "1", "name": "t"}]});
    let list = Event::ThreadListSync(serde_json::from_value(thread).unwrap());
    fixture.shard.event(&list);
    fixture
        .server
        .rule("GET /channels/701/thread-members/", Reply::status(404, r#"{"code":10007}"#));
    fixture.server.rule("GET /channels/701/thread-members/31 ", Reply::ok(r#"{"user_id":"31"}"#));
    let seen = fixture.sees_of(ChannelId::new(701)).await;
    assert_eq!(seen, [10, 31], "the thread is known, with its parent");
    let deleted = json!({"id": MESSAGE.to_string(), "channel_id": "700", "guild_id": "1"});
    let deleted = Event::MessageDelete(serde_json::from_value(deleted).unwrap());
    fixture.shard.event(&deleted);
}

/// HR19: a person's reaction to a message of an agent stops the channel, where the host chose it; no other reaction does.
#[tokio::test]
async fn the_chosen_reaction_of_a_person_to_an_agents_message_stops() {
    let reaction = |by: &str, is_bot: bool, of: &str, emoji: &Value| {
        json!({
            "user_id": by, "channel_id": CHANNEL.to_string(), "message_id": "900", "message_author_id": of, "guild_id": "1",
            "emoji": emoji, "type": 0, "burst": false,
            "member": {"user": {"id": by, "bot": is_bot}, "roles": [], "flags": 0},
        })
    };
    let stop = json!({"id": null, "name": "🛑"});
    let fixture = Fixture::with(Plan { stop_reaction: Some("🛑"), ..Plan::default() }).await;
    fixture.chat().await;
    fixture.connect(everybody()).await;
    for nothing in [
        reaction("77", true, "31", &stop),
        reaction("77", false, "78", &stop),
        reaction("77", false, "31", &json!({"id": null, "name": "👍"})),
        reaction("77", false, "31", &json!({"id": "5", "name": "🛑"})),
    ] {
        fixture.push("MESSAGE_REACTION_ADD", &nothing).await;
        assert_eq!(fixture.status().await.rest, None, "{nothing}");
    }
    fixture.push("MESSAGE_REACTION_ADD", &reaction("77", false, "31", &stop)).await;
    assert_eq!(fixture.status().await.rest, Some(Pause::Stopped));
    fixture.push("MESSAGE_REACTION_ADD", &reaction("77", false, "31", &stop)).await;
    let plain = connected().await;
    plain.push("MESSAGE_REACTION_ADD", &reaction("77", false, "31", &stop)).await;
    assert_eq!(plain.status().await.rest, None, "by default reactions do nothing");
}
