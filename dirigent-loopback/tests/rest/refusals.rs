//! What is refused, and with which code.

use dirigent_testkit::Log;

use super::*;

const NOWHERE: u64 = 100_000_000_000_001;

#[tokio::test(flavor = "current_thread")]
async fn every_refusal_has_its_status_and_code() {
    let stage = RestStage::new().await;
    let (discord, bot, channel, guild) = (&stage.discord, stage.bot, stage.channel, stage.guild);
    let hidden = discord.add_channel(guild, "hidden", &[]);
    let foreign = discord.add_guild(discord.add_human());
    let said = discord.say(channel, stage.owner, "mine").get();
    let many: Vec<_> = (0..101_u64).map(|id| (NOWHERE + id).to_string()).collect();
    let text = |content: &str| json!({ "content": content });
    let long = "x".repeat(2_001);
    let cases = [
        ("GET", format!("channels/{NOWHERE}"), Value::Null, 404, 10003),
        ("GET", format!("channels/{hidden}"), Value::Null, 403, 50001),
        ("GET", format!("channels/{hidden}/messages"), Value::Null, 403, 50001),
        ("POST", format!("channels/{hidden}/messages"), text("hello"), 403, 50001),
        ("GET", format!("guilds/{NOWHERE}"), Value::Null, 404, 10004),
        ("GET", format!("guilds/{foreign}"), Value::Null, 403, 50001),
        ("GET", format!("guilds/{guild}/members/{NOWHERE}"), Value::Null, 404, 10007),
        ("GET", format!("channels/{channel}/messages/{NOWHERE}"), Value::Null, 404, 10008),
        ("DELETE", format!("channels/{channel}/messages/{NOWHERE}"), Value::Null, 404, 10008),
        ("DELETE", format!("channels/{channel}/messages/{said}"), Value::Null, 403, 50013),
        ("PATCH", format!("channels/{channel}/messages/{said}"), text("yours"), 403, 50005),
        ("GET", format!("users/{NOWHERE}"), Value::Null, 404, 10013),
        ("POST", format!("channels/{channel}/messages"), text(""), 400, 50006),
        ("POST", format!("channels/{channel}/messages"), text(" \n "), 400, 50006),
        ("POST", format!("channels/{channel}/messages"), json!({}), 400, 50006),
        ("POST", format!("channels/{channel}/messages"), text(&long), 400, 50035),
        ("POST", format!("channels/{channel}/messages"), Value::Null, 400, 50035),
        ("GET", format!("channels/{channel}/messages?limit=0"), Value::Null, 400, 50035),
        ("GET", format!("channels/{channel}/messages?limit=101"), Value::Null, 400, 50035),
        ("GET", format!("channels/{channel}/messages?after=soon"), Value::Null, 400, 50035),
        ("GET", "channels/abc".to_owned(), Value::Null, 400, 50035),
        ("DELETE", format!("channels/{channel}"), Value::Null, 403, 50013),
        ("POST", format!("guilds/{guild}/channels"), json!({ "name": "mine" }), 403, 50013),
        ("PUT", format!("channels/{channel}/permissions/{bot}"), json!({ "type": 1 }), 403, 50013),
        ("POST", format!("channels/{channel}/messages/bulk-delete"), json!({}), 403, 50013),
        ("GET", format!("channels/{channel}/thread-members"), Value::Null, 400, 50024),
        ("PUT", format!("channels/{channel}"), Value::Null, 405, 0),
    ];
    for (method, path, body, status, code) in cases {
        let answer = stage.ask(bot, method, &path, body).await;
        assert_eq!(answer.refusal(), (status, code), "{method} {path}: {}", answer.text);
    }
    discord.guild(guild).set_administrator(bot, true);
    let path = format!("channels/{channel}/messages/bulk-delete");
    for (messages, code) in [
        (json!(["11"]), 50016),
        (json!(many), 50016),
        (json!([said.to_string(), said.to_string()]), 50035),
        (json!([said.to_string(), "4194304"]), 50034),
    ] {
        let answer = stage.ask(bot, "POST", &path, json!({ "messages": messages })).await;
        assert_eq!(answer.refusal(), (400, code));
    }
}

#[tokio::test(flavor = "current_thread")]
async fn who_is_nobody_or_no_bot_is_refused() {
    let stage = RestStage::new().await;
    let human = format!("Bot {}", stage.loopback.token(stage.owner));
    let bare = stage.loopback.token(stage.bot);
    for authorization in ["", "Bot nobody", human.as_str(), bare.as_str()] {
        let headers = [("Authorization", authorization), ("User-Agent", AGENT)];
        let answer = stage.send("GET", "users/@me", &headers, Value::Null).await.unwrap();
        assert_eq!(answer.refusal(), (401, 0), "{authorization}");
    }
    assert_eq!(stage.get("users/@me").await.status, 200);
    stage.discord.account(stage.bot).set_revoked(true);
    assert_eq!(stage.get("users/@me").await.refusal(), (401, 0));
    assert_eq!(stage.loopback.traffic().invalid(), 5);
}

/// Discord documents `DiscordBot (url, version)`, and serves clients that send something else, for example `undici`.
#[tokio::test(flavor = "current_thread")]
async fn any_user_agent_is_served_and_warned_of_once_unless_the_strict_rule_is_on() {
    let stage = RestStage::new().await;
    let token = format!("Bot {}", stage.loopback.token(stage.bot));
    let status = async |agent: Option<&str>| {
        let mut headers = vec![("Authorization", token.as_str())];
        headers.extend(agent.map(|agent| ("User-Agent", agent)));
        let answer = stage.send("GET", "users/@me", &headers, Value::Null).await.unwrap();
        (answer.status, answer.json()["code"].as_u64())
    };
    let log = Log::default();
    let listening = log.listen();
    let endless = format!("Bot {}", "x".repeat(2_000));
    let odd = [None, Some("undici"), Some("OpenClaw Discord"), Some(endless.as_str())];
    for _ in 0..2 {
        for agent in odd {
            assert_eq!(status(agent).await, (200, None), "{agent:?}");
        }
        assert_eq!(status(Some(AGENT)).await, (200, None));
    }
    let lines = log.lines();
    assert_eq!(lines.len(), odd.len(), "{lines:?}");
    for (line, agent) in lines.iter().zip(["", "undici", "OpenClaw Discord", "Bot xxx"]) {
        assert!(line.starts_with("WARN ") && line.contains(&format!("\"{agent}")), "{line}");
        assert!(line.len() < 400, "{line}");
    }
    stage.loopback.refuse_odd_agents();
    for agent in odd {
        assert_eq!(status(agent).await, (403, Some(40333)), "{agent:?}");
    }
    assert_eq!(status(Some(AGENT)).await, (200, None));
    assert_eq!(log.lines().len(), odd.len(), "none is warned of again");
    for number in 0..200 {
        status(Some(&format!("agent {number}"))).await;
    }
    assert_eq!(log.lines().len(), 100, "a client that changes its header does not fill the log");
    drop(listening);
}

/// What the server lacks is never taken for done.
#[tokio::test(flavor = "current_thread")]
async fn what_the_server_lacks_is_refused_loudly() {
    let stage = RestStage::new().await;
    let answer = stage.get("stickers/123").await;
    assert_eq!(answer.status, 404);
    assert!(answer.text.contains("The loopback Discord does not have GET /api/v10/stickers/123"));
    assert_eq!(stage.loopback.traffic().unknown(), 1);
    let path = format!("channels/{}/messages", stage.channel);
    for (field, value) in [
        ("tts", json!(true)),
        ("message_reference", json!({ "type": 1, "message_id": "1", "channel_id": "1" })),
        ("surprise", json!("new")),
        ("flags", json!(1 << 13)),
        ("flags", json!(1 << 6)),
    ] {
        let body = json!({ "content": "hello", field: value });
        let answer = stage.ask(stage.bot, "POST", &path, body).await;
        assert_eq!(answer.status, 501, "{field}");
        assert!(answer.text.contains("The loopback Discord does not have this"), "{field}");
    }
    assert!(stage.discord.messages(stage.channel).is_empty());
    let empty = json!({ "content": "hello", "embeds": [], "tts": false, "sticker_ids": null });
    assert_eq!(
        stage.ask(stage.bot, "POST", &path, empty).await.status,
        200,
        "nothing is asked for"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn a_body_that_is_no_json_or_too_large_is_refused() {
    let stage = RestStage::new().await;
    let token = format!("Bot {}", stage.loopback.token(stage.bot));
    let path = format!("/api/v10/channels/{}/messages", stage.channel);
    let headers = [("Authorization", token.as_str()), ("User-Agent", AGENT)];
    let address = stage.loopback.address();
    let broken =
        answer::exchange(address, "POST", &path, &headers, b"{\"content\":").await.unwrap();
    assert_eq!(broken.refusal(), (400, 50109));
    let large = vec![b' '; (25 << 20) + 1];
    let large = answer::exchange(address, "POST", &path, &headers, &large).await;
    assert_eq!(large.map(|answer| answer.refusal()), Some((413, 40005)));
}
