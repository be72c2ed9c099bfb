//! What is missing is found before something fails for it, and named as Discord names it.

use dirigent::ChannelId;
use dirigent_discord::{CloseReason, Feed, Finding, NeededIntent, NeededPermission};
use serde_json::json;
use twilight_model::gateway::Intents;
use twilight_model::gateway::event::Event;
use twilight_model::gateway::{CloseFrame, ShardId};

use crate::account::CHANNEL;
use crate::account::server::Reply;
use crate::account::town::{ALL, Plan, Town, VIEW, den, guild, person};

const GUILD: dirigent::ports::GuildId = dirigent::ports::GuildId::new(1);

async fn town(flags: u64, own: &str, roles: &[&str]) -> Town {
    let town = Town::with(Plan { flags, ..Plan::default() }).await;
    town.server.rule("GET /channels/700 ", Reply::ok(den(own).to_string()));
    let me = Reply::ok(person(500, roles).to_string());
    town.server.rule("GET /guilds/1/members/500", me);
    town
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
        let town = town(flags, ALL, &[]).await;
        let intents = Some(Feed::INTENTS_WITH_MEMBERS);
        let found = town.account.diagnose(&[], intents).await.unwrap();
        let expected: Vec<_> = missing.into_iter().map(Finding::IntentNotGranted).collect();
        assert_eq!(found, expected, "{flags}");
    }
    let town = town(1 << 15 | 1 << 19, ALL, &[]).await;
    let asked = Intents::GUILDS | Intents::GUILD_MESSAGES;
    let found = town.account.diagnose(&[], Some(asked)).await.unwrap();
    assert_eq!(found, [content].map(Finding::IntentNotAsked));
    assert!(town.account.diagnose(&[], Some(Feed::INTENTS)).await.unwrap().is_empty());
}

/// The members intent is missing only where the gateway is asked for it.
#[tokio::test]
async fn the_members_intent_is_optional() {
    let town = town(1 << 19, ALL, &[]).await;
    for intents in [None, Some(Feed::INTENTS)] {
        assert!(town.account.diagnose(&[], intents).await.unwrap().is_empty());
    }
    let found = town.account.diagnose(&[], Some(Feed::INTENTS_WITH_MEMBERS)).await.unwrap();
    assert_eq!(found, [Finding::IntentNotGranted(NeededIntent::GuildMembers)]);
}

/// F20: what the bot may not do, in its guild and in each channel.
#[tokio::test]
async fn missing_permissions_are_named() {
    use NeededPermission::{
        Administrator, ManageChannels, ManageRoles, ReadMessageHistory, SendMessages, ViewChannels,
    };
    let of_guild = [Administrator, ManageChannels, ManageRoles].map(|p| Finding::InGuild(GUILD, p));
    for (own, missing) in [
        (ALL, vec![]),
        (VIEW, vec![SendMessages, ReadMessageHistory]),
        ("3072", vec![ReadMessageHistory]),
        ("0", vec![ViewChannels]),
    ] {
        let town = town(1 << 15 | 1 << 19, own, &[]).await;
        let found = town.account.diagnose(&[CHANNEL], None).await.unwrap();
        let missing = missing.into_iter().map(|permission| Finding::InChannel(CHANNEL, permission));
        let expected: Vec<_> = of_guild.into_iter().chain(missing).collect();
        assert_eq!(found, expected, "{own}");
    }
    let town = town(1 << 15 | 1 << 19, "0", &["21"]).await;
    assert!(town.account.diagnose(&[CHANNEL], None).await.unwrap().is_empty(), "may do all");
}

/// F20: threads need other permissions, and channels that are gone are told.
#[tokio::test]
async fn threads_and_lost_channels_are_looked_at_too() {
    let town = town(1 << 15 | 1 << 19, ALL, &[]).await;
    let thread = json!({"id": "701", "type": 12, "guild_id": "1", "parent_id": "700", "name": "t"});
    town.server.rule("GET /channels/701 ", Reply::ok(thread.to_string()));
    town.server.rule("GET /channels/702 ", Reply::status(404, r#"{"code":10003}"#));
    let (thread, gone) = (ChannelId::new(701), ChannelId::new(702));
    let found = town.account.diagnose(&[thread, gone], None).await.unwrap();
    assert_eq!(
        found[3..],
        [
            Finding::InChannel(thread, NeededPermission::SendMessagesInThreads),
            Finding::InChannel(thread, NeededPermission::ManageThreads),
            Finding::NoChannel(gone),
        ]
    );
    town.server.rule("GET /channels/701 ", Reply::status(503, ""));
    town.account.diagnose(&[thread], None).await.unwrap_err();
}

/// F20: every finding says by name what is missing, and what will not work.
#[test]
fn findings_say_what_will_not_work() {
    for (finding, parts) in [
        (
            Finding::IntentNotGranted(NeededIntent::GuildMembers),
            ["Server Members Intent", "developer portal", "members"],
        ),
        (
            Finding::IntentNotGranted(NeededIntent::MessageContent),
            ["Message Content Intent", "developer portal", "is empty"],
        ),
        (
            Finding::IntentNotAsked(NeededIntent::GuildMessages),
            ["GUILD_MESSAGES", "gateway", "no message arrives"],
        ),
        (
            Finding::InGuild(GUILD, NeededPermission::ManageChannels),
            ["Manage Channels", "server 1", "cannot create channels"],
        ),
        (
            Finding::InChannel(CHANNEL, NeededPermission::ReadMessageHistory),
            ["Read Message History", "channel 700", "what was missed"],
        ),
        (Finding::NoChannel(CHANNEL), ["700", "does not exist", "no turns"]),
        (
            Finding::Closed(CloseReason::DisallowedIntents),
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
    let town = Town::open().await;
    let shard = town.feed.shard(ShardId::ONE);
    for (code, reason) in [
        (4_014, Some(CloseReason::DisallowedIntents)),
        (4_013, Some(CloseReason::UnknownIntents)),
        (4_004, Some(CloseReason::BadToken)),
        (4_010, Some(CloseReason::BadShards)),
        (4_011, Some(CloseReason::BadShards)),
        (4_012, Some(CloseReason::BadVersion)),
        (4_000, None),
        (4_009, None),
        (1_006, None),
    ] {
        assert_eq!(shard.closed(Some(code)), reason.map(Finding::Closed), "{code}");
    }
    shard.event(&Event::GatewayClose(Some(CloseFrame::new(4_014, ""))));
}

/// F20: a feed looks at the start by itself, and what the gateway tells is not asked for.
#[tokio::test]
async fn a_feed_looks_by_itself_and_asks_once() {
    let town = Town::open().await;
    town.chat().await;
    town.connect([person(500, &[])]).await;
    crate::account::town::until("the intents are looked at", || {
        town.count("GET /applications/@me ") == 1
    })
    .await;
    town.connect([person(500, &[])]).await;
    crate::account::town::settle().await;
    assert_eq!((town.count("GET /applications/@me "), town.count("GET /guilds/1 ")), (1, 0));
    assert_eq!(guild([])["id"], "1");
}

/// A second session that begins before the first was worked off does not undo the look at the intents.
#[tokio::test]
async fn two_sessions_at_once_are_looked_at_once() {
    let town = Town::open().await;
    for _ in 0..2 {
        town.shard.text(r#"{"op":0,"t":"READY","d":{"user":{"id":"500"}}}"#);
    }
    crate::account::town::until("the intents are looked at", || {
        town.count("GET /applications/@me ") == 1
    })
    .await;
    crate::account::town::settle().await;
    assert_eq!(town.count("GET /applications/@me "), 1);
}
