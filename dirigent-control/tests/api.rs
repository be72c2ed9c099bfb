//! What programs are told, and what they change.

use std::time::Duration;

use dirigent::Mode;
use dirigent::operate::CreatedChannel;
use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::fixture::{Fixture, OPERATOR, VIEWER, now};

fn names(overview: &Value) -> Vec<&str> {
    let channels = overview["channels"].as_array().unwrap();
    channels.iter().map(|row| row["name"].as_str().unwrap()).collect()
}

/// R159, R160, R164, D94
#[tokio::test]
async fn exactly_the_guilds_with_administrator_rights_and_their_private_channels_are_listed() {
    let fixture = Fixture::open().await;
    fixture.room("private-one");
    fixture.discord.add_open_channel(fixture.guild, "public-one");
    let other = fixture.discord.add_guild(fixture.person);
    fixture.discord.guild(other).add_member(fixture.moderator);
    fixture.discord.add_channel(other, "not-ours", &[fixture.moderator]);
    let managed = fixture.discord.add_channel(other, "managed-elsewhere", &[fixture.moderator]);
    fixture.dirigent.channel(managed).set_mode(Mode::Report).await.unwrap();
    let town_hall = fixture.discord.add_open_channel(fixture.guild, "town-hall");
    fixture.dirigent.channel(town_hall).set_mode(Mode::Report).await.unwrap();
    let overview = fixture.get("/dirigent/api/channels", VIEWER).await.json();
    assert_eq!(names(&overview), ["town-hall", "private-one", "managed-elsewhere"]);
    let rows = &overview["channels"];
    assert_eq!((&rows[0]["isPublic"], &rows[1]["isPublic"]), (&json!(true), &json!(false)));
    assert_eq!((&rows[1]["mode"], &rows[1]["guild"]), (&json!("none"), &json!("guild-1")));
    assert_eq!(rows[2]["guild"], "", "no administrator there");
}

/// R161, F11
#[tokio::test]
async fn a_row_shows_mode_turns_the_speakers_name_and_when_something_happens() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let speaker = fixture.wake(channel).await;
    let name = if speaker == "poet" { "Poet" } else { "Critic" };
    let row = &fixture.get("/dirigent/api/channels", VIEWER).await.json()["channels"][0];
    assert_eq!((&row["mode"], &row["turns"]), (&json!("chat"), &json!("normal")));
    assert_eq!((&row["speaker"], &row["phase"]), (&json!(name), &json!("running")));
    assert_eq!(row["why"], format!("{name} is thinking."));
    assert!(row["until"].as_u64().unwrap() > now());
    assert_eq!(row["untilWhat"], "until its turn is taken away");
}

/// R161
#[tokio::test]
async fn beside_each_silent_agent_stands_why_and_what_would_change_it() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let speaker = fixture.wake(channel).await;
    let look = fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.json();
    let agents = look["agents"].as_array().unwrap();
    let of =
        |is: bool| agents.iter().find(|agent| (agent["id"] == speaker.as_str()) == is).unwrap();
    let (one, other) = (of(true), of(false));
    assert_eq!((&one["maySpeak"], &one["turn"]), (&json!(true), &json!("has the floor")));
    assert_eq!((&other["maySpeak"], &other["turn"]), (&json!(false), &json!("to come")));
    let why = other["why"].as_str().unwrap();
    let (name, speaks) = (other["name"].as_str().unwrap(), one["name"].as_str().unwrap());
    assert!(why.starts_with(&format!("{name} may not speak: {speaks} has the floor.")), "{why}");
    assert!(why.ends_with("Its turn comes when the list comes to it."), "{why}");
    assert!(look["changes"].is_array());
    assert_eq!(look["budgets"][0], json!({ "what": "cost", "used": 0, "limit": 100 }));
}

/// R162, R163, D93
#[tokio::test]
async fn a_locked_channel_is_not_changed_whoever_forges_the_request() {
    let fixture = Fixture::open().await;
    let desk = fixture.room("desk");
    let made = CreatedChannel { mode: Mode::Work, members: vec!["poet".into()], opening: None };
    fixture.dirigent.channel(desk).register(made).await.unwrap();
    let answer =
        fixture.order(desk, OPERATOR, &json!({ "order": "set-mode", "mode": "chat" })).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(answer.json()["type"], "urn:dirigent:problem:mode-locked");
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/problem+json");
    let den = fixture.chat("den").await;
    for mode in ["work", "discussion"] {
        let answer =
            fixture.order(den, OPERATOR, &json!({ "order": "set-mode", "mode": mode })).await;
        assert_eq!(answer.json()["type"], "urn:dirigent:problem:creation-only");
    }
    let unknown =
        fixture.order(den, OPERATOR, &json!({ "order": "set-mode", "mode": "party" })).await;
    assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY);
    let modes = [desk, den].map(|id| fixture.dirigent.channel(id));
    assert_eq!(modes[0].status().await.unwrap().unwrap().mode, Mode::Work);
    assert_eq!(modes[1].status().await.unwrap().unwrap().mode, Mode::Chat);
}

/// D91
#[tokio::test]
async fn each_order_does_what_it_says() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.wake(channel).await;
    let look =
        async || fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.json();
    let give = async |order: Value| {
        let answer = fixture.order(channel, OPERATOR, &order).await;
        assert_eq!(answer.status, StatusCode::OK, "{order}: {}", answer.text);
    };
    give(json!({ "order": "hold" })).await;
    assert_eq!(look().await["channel"]["pause"], "on hold");
    give(json!({ "order": "resume" })).await;
    assert_eq!(look().await["channel"]["pause"], Value::Null);
    give(json!({ "order": "stop" })).await;
    assert_eq!(look().await["channel"]["pause"], "stopped");
    give(json!({ "order": "resume" })).await;
    give(json!({ "order": "mute", "agent": "critic" })).await;
    let critic = |look: &Value| {
        let agents = look["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["id"] == "critic").unwrap()["isMuted"].clone()
    };
    assert_eq!(critic(&look().await), true);
    give(json!({ "order": "unmute", "agent": "critic" })).await;
    assert_eq!(critic(&look().await), false);
    fixture.dirigent.channel(channel).report_cost(40).await.unwrap();
    assert_eq!(look().await["budgets"][0]["used"], 40);
    give(json!({ "order": "reset-budget" })).await;
    assert_eq!(look().await["budgets"][0]["used"], 0);
    give(json!({ "order": "finish" })).await;
    assert_eq!(look().await["channel"]["pause"], "finished");
    give(json!({ "order": "archive" })).await;
    assert_eq!(look().await["channel"]["turns"], "archived");
    assert_eq!(look().await["orders"], json!([]), "nothing can be told to it any more");
}

#[tokio::test]
async fn an_operator_chooses_who_speaks_next_and_wakes() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    let order = async |order: Value| fixture.order(channel, OPERATOR, &order).await.status;
    order(json!({ "order": "stop" })).await;
    order(json!({ "order": "resume" })).await;
    assert_eq!(order(json!({ "order": "wake", "first": "critic" })).await, StatusCode::OK);
    fixture
        .until(channel, |status| status.speaker.clone().filter(|by| by.as_str() == "critic"))
        .await;
    assert_eq!(order(json!({ "order": "speak-next", "agent": "poet" })).await, StatusCode::OK);
    let look = fixture.get(&format!("/dirigent/api/channels/{channel}"), VIEWER).await.json();
    assert_eq!(look["chosen"], "Poet");
    assert_eq!(
        order(json!({ "order": "speak-next", "agent": "nobody" })).await,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn an_order_for_a_channel_that_is_not_there_makes_none() {
    let fixture = Fixture::open().await;
    for id in ["999999999999999999", "1", "x", "../registry"] {
        let path = format!("/dirigent/api/channels/{}/orders", id.replace('/', "%2F"));
        let order = json!({ "order": "set-mode", "mode": "chat" });
        let answer = fixture.send_json(Method::POST, &path, OPERATOR, &order).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{id}");
    }
    assert!(fixture.dirigent.channels().is_empty());
}

/// R015, R158
#[tokio::test]
async fn identities_are_added_changed_and_removed_with_the_tools_own_checks() {
    let fixture = Fixture::open().await;
    let spare = fixture.discord.add_bot();
    fixture.discord.guild(fixture.guild).add_member(spare);
    let path = "/dirigent/api/identities/editor";
    let put = async |body: Value| fixture.send_json(Method::PUT, path, OPERATOR, &body).await;
    let added = put(json!({ "discordUserId": spare.to_string(), "agentName": "Editor" })).await;
    assert_eq!(added.status, StatusCode::OK, "{}", added.text);
    assert_eq!(added.json()["agentName"], "Editor");
    let kept = put(json!({ "discordUserId": spare.to_string() })).await;
    assert_eq!(kept.json()["agentName"], "Editor", "without a name it keeps the one it has");
    for (account, what) in [
        (fixture.person.to_string(), "person"),
        (fixture.moderator.to_string(), "moderator"),
        (fixture.accounts[0].to_string(), "another agent"),
        ("123456789012345678".to_owned(), "not in the guild"),
        ("12".to_owned(), "no id"),
    ] {
        let refused = put(json!({ "discordUserId": account })).await;
        assert!(refused.status.is_client_error(), "{what}: {}", refused.status);
        assert!(!refused.json()["detail"].as_str().unwrap().is_empty());
    }
    let bad = put(json!({ "discordUserId": spare.to_string(), "agentName": "a\nb" })).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    let list = fixture.get("/dirigent/api/identities", VIEWER).await.json();
    assert_eq!(list["identities"][1]["discordUserId"], spare.to_string());
    let gone = fixture.send_json(Method::DELETE, path, OPERATOR, &Value::Null).await;
    assert_eq!(gone.status, StatusCode::OK);
    let twice = fixture.send_json(Method::DELETE, path, OPERATOR, &Value::Null).await;
    assert_eq!(twice.status, StatusCode::NOT_FOUND);
}

/// R025
#[tokio::test]
async fn a_scan_is_refused_exactly_where_there_is_no_file() {
    struct Ego(bool);
    #[dirigent::async_trait]
    impl dirigent_control::EgoFile for Ego {
        async fn is_there(&self) -> bool {
            self.0
        }
        async fn scan(&self) -> Result<dirigent_control::ScanReport, String> {
            let added = vec!["dev".to_owned()];
            Ok(dirigent_control::ScanReport { added, ..Default::default() })
        }
    }
    for (there, status) in [(true, StatusCode::OK), (false, StatusCode::CONFLICT)] {
        let fixture = Fixture::open_with(|builder| builder.ego(Ego(there))).await;
        let page = fixture.page("/dirigent/registry", OPERATOR).await.text;
        assert_eq!(page.contains("Re-scan padded-cell"), there);
        let path = "/dirigent/api/identities-scan";
        let answer = fixture.send_json(Method::POST, path, OPERATOR, &Value::Null).await;
        assert_eq!(answer.status, status);
        if there {
            assert_eq!(answer.json()["added"], json!(["dev"]));
        }
    }
}

#[tokio::test]
async fn the_document_names_every_path_and_where_they_are() {
    let fixture = Fixture::open().await;
    let document = fixture.get("/dirigent/api/openapi.json", VIEWER).await.json();
    assert_eq!(document["servers"][0]["url"], "/dirigent/api");
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 14, "{:?}", paths.keys());
    for path in paths
        .keys()
        .filter(|path| !path.contains('{') && !matches!(path.as_str(), "/replay" | "/what-if"))
    {
        let answer = fixture.get(&format!("/dirigent/api{path}"), VIEWER).await;
        assert_ne!(answer.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn prometheus_is_told_turns_phases_requests_and_how_long_phases_lasted() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.discord.say(channel, fixture.person, "Speak now");
    fixture.until(channel, |status| (status.turn.get() >= 2).then_some(())).await;
    let text = fixture.get("/dirigent/metrics", VIEWER).await.text;
    let value = |line: &str| -> f64 {
        let found = text.lines().find(|found| found.starts_with(line));
        found
            .unwrap_or_else(|| panic!("no {line} in {text}"))
            .rsplit(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    };
    assert!(value("dirigent_turns_total{end=\"spoke\"}") >= 1.0);
    assert!(value("dirigent_requests_total{kind=\"post\"}") >= 1.0);
    assert!(value("dirigent_long_steps_total") >= 0.0);
    assert!(value("dirigent_phase_seconds_count{phase=\"running\"}") >= 1.0);
    assert!(value("dirigent_changes_total{cause=\"run-started\"}") >= 1.0);
    assert!(value("dirigent_budget_cost{of=\"limit\"}") >= 100.0);
}

/// Looks at an outbox until its first message is in this state.
#[expect(clippy::future_not_send, reason = "a test awaits it where it is made")]
async fn until_state(outbox: impl AsyncFn() -> Value, state: &str) -> Value {
    let looks = async {
        loop {
            let seen = outbox().await;
            if seen[0]["state"] == state {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), looks).await.expect("it never comes to that")
}

/// D89: what of a discussion is still to be posted is told one by one: what is waited for, and that it was given up.
#[tokio::test]
async fn the_outbox_of_a_discussion_is_told_message_by_message() {
    use dirigent_testkit::memory_discord::{Call, Fault};
    let fixture = Fixture::open().await;
    let desk = fixture.room("desk");
    for _ in 0..30 {
        let fault = Fault::ServerErrorNotApplied;
        fixture.discord.inject(|faults| faults.next_by(fixture.moderator, Call::Post, fault));
    }
    let talk = fixture.discussion(desk, &"A guide of two messages. ".repeat(100)).await;
    let outbox = async || {
        fixture.get(&format!("/dirigent/api/channels/{talk}"), VIEWER).await.json()["discussion"]["outbox"].clone()
    };
    let waits = until_state(outbox, "waiting").await;
    assert_eq!(
        (&waits[0]["what"], &waits[0]["to"], &waits[0]["toId"]),
        (&json!("guide"), &json!("talk"), &json!(talk.to_string()))
    );
    assert_eq!(
        (&waits[0]["posted"], &waits[0]["parts"], &waits[1]),
        (&json!(0), &json!(2), &Value::Null)
    );
    assert!(
        waits[0]["sentence"].as_str().unwrap().contains("0 of 2 messages are there"),
        "{waits}"
    );
    let page = fixture.page(&format!("/dirigent/channels/{talk}"), VIEWER).await.text;
    assert!(page.contains("The guide is tried again, as an attempt failed"), "{page}");

    let fixture = Fixture::open().await;
    let desk = fixture.room("desk");
    let talk = fixture.discussion(desk, "A guide").await;
    let by = fixture.dirigent.channel(talk).discussion().await.unwrap().unwrap().initiator.unwrap();
    fixture.discord.world().delete_channel(desk);
    let summary = dirigent::operate::Summary::Text("The desk moves.".into());
    fixture.dirigent.channel(talk).conclude(&by, Some(summary)).await.unwrap();
    let outbox = async || {
        fixture.get(&format!("/dirigent/api/channels/{talk}"), VIEWER).await.json()["discussion"]["outbox"].clone()
    };
    let given_up = until_state(outbox, "given-up").await;
    assert_eq!(
        (&given_up[0]["what"], &given_up[0]["toId"]),
        (&json!("result"), &json!(desk.to_string()))
    );
    let told = fixture.get(&format!("/dirigent/api/channels/{talk}"), VIEWER).await.json();
    assert_eq!(
        told["channel"]["needsPerson"], "The chat refuses a message of the discussion",
        "{told}"
    );
}

/// A channel that is deleted, or erased, while its page is open: orders are refused, and make none.
#[tokio::test]
async fn orders_for_a_channel_that_vanishes_meanwhile_are_refused_and_make_none() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    assert!(
        fixture
            .page(&format!("/dirigent/channels/{channel}"), OPERATOR)
            .await
            .text
            .contains("order-stop")
    );
    fixture.discord.world().delete_channel(channel);
    fixture.dirigent.channel(channel).erase().await.unwrap();
    for order in [
        json!({ "order": "stop" }),
        json!({ "order": "hold" }),
        json!({ "order": "resume" }),
        json!({ "order": "finish" }),
        json!({ "order": "wake" }),
        json!({ "order": "speak-next", "agent": "poet" }),
        json!({ "order": "mute", "agent": "poet" }),
        json!({ "order": "unmute", "agent": "poet" }),
        json!({ "order": "assign", "agent": "poet" }),
        json!({ "order": "reset-budget" }),
        json!({ "order": "archive" }),
    ] {
        let answer = fixture.order(channel, OPERATOR, &order).await;
        assert!(answer.status.is_client_error(), "{order}: {} {}", answer.status, answer.text);
    }
    assert_eq!(fixture.dirigent.channel(channel).status().await.unwrap(), None);
}

/// Many orders at once, and the channel archived in between: each is done or refused.
#[tokio::test]
async fn orders_that_race_an_archive_are_done_or_refused() {
    let fixture = Fixture::open().await;
    let channel = fixture.chat("den").await;
    fixture.wake(channel).await;
    let orders = ["hold", "stop", "resume", "archive", "wake", "finish", "reset-budget"].repeat(20);
    let bodies: Vec<Value> = orders.iter().map(|order| json!({ "order": order })).collect();
    let given = bodies.iter().map(|order| fixture.order(channel, OPERATOR, order));
    for answer in futures_util::future::join_all(given).await {
        assert!(matches!(answer.status, StatusCode::OK | StatusCode::CONFLICT), "{}", answer.text);
    }
    let status = fixture.dirigent.channel(channel).status().await.unwrap().unwrap();
    assert_eq!(status.turn_state.as_str(), "archived");
}

#[tokio::test]
async fn who_gave_an_order_stands_on_the_channels_page() {
    let fixture = Fixture::open().await;
    let (channel, other) = (fixture.chat("den").await, fixture.chat("other").await);
    let order = async |order: Value| fixture.order(channel, OPERATOR, &order).await;
    order(json!({ "order": "stop" })).await;
    order(json!({ "order": "set-mode", "mode": "work" })).await;
    let look = async |channel| {
        let path = format!("/dirigent/api/channels/{channel}");
        fixture.get(&path, VIEWER).await.json()["given"].clone()
    };
    let given = look(channel).await;
    let said = |at: usize| {
        let order = &given[at];
        (order["order"].clone(), order["by"].clone(), order["refused"].clone())
    };
    let by = json!("operator");
    assert_eq!(said(0), (json!("set-mode"), by.clone(), json!("creation-only")));
    assert_eq!(said(1), (json!("stop"), by, Value::Null));
    assert_eq!(look(other).await, json!([]));
    let page = fixture.page(&format!("/dirigent/channels/{channel}"), VIEWER).await.text;
    assert!(page.contains("</time> stop, by operator</li>"), "{page}");
    for _ in 0..12 {
        order(json!({ "order": "resume" })).await;
        order(json!({ "order": "hold" })).await;
    }
    let given = look(channel).await;
    let orders: Vec<_> = given.as_array().unwrap().iter().map(|one| &one["order"]).collect();
    assert_eq!(orders.len(), 10);
    assert_eq!(orders[0], "hold", "the newest first");
}
