//! What is missing is found before something fails for it, and named as Discord names it.

use dirigent::ChannelId;
use dirigent_discord::{Feed, GatewayCloseReason, NeededIntent, NeededPermission, SetupIssue};
use serde_json::json;
use twilight_model::gateway::Intents;
use twilight_model::gateway::event::Event;
use twilight_model::gateway::{CloseFrame, ShardId};

use crate::account::CHANNEL;
use crate::account::fixture::{ALL, Fixture, Plan, VIEW, den, guild, person, starts};
use crate::account::server::Reply;

const GUILD: dirigent::ports::GuildId = dirigent::ports::GuildId::new(1);

async fn fixture(flags: u64, own: &str, roles: &[&str]) -> Fixture {
    let fixture = Fixture::with(Plan { flags, ..Plan::default() }).await;
    fixture.server.rule("GET /channels/700 ", Reply::ok(den(own).to_string()));
    let me = Reply::ok(person(500, roles).to_string());
    fixture.server.rule("GET /guilds/1/members/500", me);
    fixture
}

/// F20: privileged intents that are not switched on, for few guilds or for many.
#[tokio::test]
async fn missing_intents_are_named() {
    let (members, content) = (NeededIntent::GuildMembers, NeededIntent::MessageContent);
    for (flags, missing) in [
        (0, vec![members, content]),
        (1 << 14 | 1 << 18, vec![]),
        (1 << 15 | 1 << 19, vec![]),
        (1 << 15, vec![content]),
        (1 << 18 | 1 << 23, vec![members]),
    ] {
        let fixture = fixture(flags, ALL, &[]).await;
        let intents = Some(Feed::INTENTS_WITH_MEMBERS);
        let found = fixture.account.diagnose(&[], intents).await.unwrap();
        let expected: Vec<_> = missing.into_iter().map(SetupIssue::IntentNotGranted).collect();
        assert_eq!(found, expected, "{flags}");
    }
    let fixture = fixture(1 << 15 | 1 << 19, ALL, &[]).await;
    let asked = Intents::GUILDS | Intents::GUILD_MESSAGES;
    let found = fixture.account.diagnose(&[], Some(asked)).await.unwrap();
    assert_eq!(found, [content].map(SetupIssue::IntentNotAsked));
    assert!(fixture.account.diagnose(&[], Some(Feed::INTENTS)).await.unwrap().is_empty());
}

/// WY14: a bot that is started again whenever it ends uses up the sessions that Discord allows in a day.
#[tokio::test]
async fn few_starts_that_are_left_are_told() {
    let fixture = fixture(1 << 19, ALL, &[]).await;
    for (remaining, is_told) in [(1_000, false), (50, false), (49, true), (0, true)] {
        fixture.server.rule("GET /gateway/bot ", Reply::ok(starts(remaining)));
        let found = fixture.account.diagnose(&[], None).await.unwrap();
        assert_eq!(found.len(), usize::from(is_told), "{remaining}");
        for finding in found {
            let told = format!("may connect only {remaining} times within the next 60 minutes");
            assert!(finding.to_string().contains(&told), "{finding}");
        }
    }
    // What stands between the bot and Discord may not know it.
    fixture.server.rule("GET /gateway/bot ", Reply::status(404, r#"{"code":0}"#));
    assert!(fixture.account.diagnose(&[], None).await.unwrap().is_empty());
}

/// The members intent is missing only where the gateway is asked for it.
#[tokio::test]
async fn the_members_intent_is_optional() {
    let fixture = fixture(1 << 19, ALL, &[]).await;
    for intents in [None, Some(Feed::INTENTS)] {
        assert!(fixture.account.diagnose(&[], intents).await.unwrap().is_empty());
    }
    let found = fixture.account.diagnose(&[], Some(Feed::INTENTS_WITH_MEMBERS)).await.unwrap();
    assert_eq!(found, [SetupIssue::IntentNotGranted(NeededIntent::GuildMembers)]);
}

/// F20: what the bot may not do, in its guild and in each channel.
#[tokio::test]
async fn missing_permissions_are_named() {
    use NeededPermission::{
        Administrator, ManageChannels, ManageRoles, ReadMessageHistory, SendMessages, ViewChannels,
    };
    let of_guild =
        [Administrator, ManageChannels, ManageRoles].map(|p| SetupIssue::InGuild(GUILD, p));
    for (own, missing) in [
        (ALL, vec![]),
        (VIEW, vec![SendMessages, ReadMessageHistory]),
        ("3072", vec![ReadMessageHistory]),
        ("0", vec![ViewChannels]),
    ] {
        let fixture = fixture(1 << 15 | 1 << 19, own, &[]).await;
        let found = fixture.account.diagnose(&[CHANNEL], None).await.unwrap();
        let missing =
            missing.into_iter().map(|permission| SetupIssue::InChannel(CHANNEL, permission));
        let expected: Vec<_> = of_guild.into_iter().chain(missing).collect();
        assert_eq!(found, expected, "{own}");
    }
    let fixture = fixture(1 << 15 | 1 << 19, "0", &["21"]).await;
    assert!(fixture.account.diagnose(&[CHANNEL], None).await.unwrap().is_empty(), "may do all");
}

/// F20: threads need other permissions, and channels that are gone are told.
#[tokio::test]
async fn threads_and_lost_channels_are_looked_at_too() {
    let fixture = fixture(1 << 15 | 1 << 19, ALL, &[]).await;
    let thread = json!({"id": "701", "type": 12, "guild_id": "1", "parent_id": "700", "name": "t"});
    fixture.server.rule("GET /channels/701 ", Reply::ok(thread.to_string()));
    fixture.server.rule("GET /channels/702 ", Reply::status(404, r#"{"code":10003}"#));
    let (thread, gone) = (ChannelId::new(701), ChannelId::new(702));
    let found = fixture.account.diagnose(&[thread, gone], None).await.unwrap();
    assert_eq!(
        found[3..],
        [
            SetupIssue::InChannel(thread, NeededPermission::SendMessagesInThreads),
            SetupIssue::InChannel(thread, NeededPermission::ManageThreads),
            SetupIssue::NoChannel(gone),
        ]
    );
    fixture.server.rule("GET /channels/701 ", Reply::status(503, ""));
    fixture.account.diagnose(&[thread], None).await.unwrap_err();
}

/// F20: every finding says by name what is missing, and what will not work.
#[test]
fn findings_say_what_will_not_work() {
    for (finding, parts) in [
        (
            SetupIssue::IntentNotGranted(NeededIntent::GuildMembers),
            ["Server Members Intent", "developer portal", "members"],
        ),
        (
            SetupIssue::IntentNotGranted(NeededIntent::MessageContent),
            ["Message Content Intent", "developer portal", "is empty"],
        ),
        (
            SetupIssue::IntentNotAsked(NeededIntent::GuildMessages),
            ["GUILD_MESSAGES", "gateway", "no message arrives"],
        ),
        (
            SetupIssue::InGuild(GUILD, NeededPermission::ManageChannels),
            ["Manage Channels", "server 1", "cannot create channels"],
        ),
        (
            SetupIssue::InChannel(CHANNEL, NeededPermission::ReadMessageHistory),
            ["Read Message History", "channel 700", "what was missed"],
        ),
        (SetupIssue::NoChannel(CHANNEL), ["700", "does not exist", "no turns"]),
        (
            SetupIssue::Closed(GatewayCloseReason::DisallowedIntents),
            ["4014", "Message Content Intent", "Server Members Intent"],
        ),
    ] {
        let shown = finding.to_string();
        assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
    }
}

/// F20: a gateway that is closed for good says why; any other is connected again.
#[tokio::test]
async fn a_gateway_closed_for_good_says_why() {
    let fixture = Fixture::open().await;
    let shard = fixture.feed.shard(ShardId::ONE);
    for (code, reason) in [
        (4_014, Some(GatewayCloseReason::DisallowedIntents)),
        (4_013, Some(GatewayCloseReason::UnknownIntents)),
        (4_004, Some(GatewayCloseReason::BadToken)),
        (4_010, Some(GatewayCloseReason::BadShards)),
        (4_011, Some(GatewayCloseReason::BadShards)),
        (4_012, Some(GatewayCloseReason::BadVersion)),
        (4_000, None),
        (4_009, None),
        (1_006, None),
    ] {
        assert_eq!(shard.closed(Some(code)), reason.map(SetupIssue::Closed), "{code}");
    }
    shard.event(&Event::GatewayClose(Some(CloseFrame::new(4_014, ""))));
}

/// F20: a feed looks at the start by itself, and what the gateway tells is not asked for.
#[tokio::test]
async fn a_feed_looks_by_itself_and_asks_once() {
    let fixture = Fixture::open().await;
    fixture.chat().await;
    fixture.connect([person(500, &[])]).await;
    crate::account::fixture::until("the intents are looked at", || {
        fixture.count("GET /applications/@me ") == 1
    })
    .await;
    fixture.connect([person(500, &[])]).await;
    crate::account::fixture::settle().await;
    assert_eq!((fixture.count("GET /applications/@me "), fixture.count("GET /guilds/1 ")), (1, 0));
    assert_eq!(guild([])["id"], "1");
}

/// A second session that begins before the first was worked off does not undo the look at the intents.
#[tokio::test]
async fn two_sessions_at_once_are_looked_at_once() {
    let fixture = Fixture::open().await;
    for _ in 0..2 {
        fixture.shard.text(r#"{"op":0,"t":"READY","d":{"user":{"id":"500"}}}"#);
    }
    crate::account::fixture::until("the intents are looked at", || {
        fixture.count("GET /applications/@me ") == 1
    })
    .await;
    crate::account::fixture::settle().await;
    assert_eq!(fixture.count("GET /applications/@me "), 1);
}
