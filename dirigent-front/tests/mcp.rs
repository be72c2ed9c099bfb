//! A seat over MCP: through the front's own router, with its secrets and its limits.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use dirigent::Settings;
use dirigent::settings::Heartbeat;
use dirigent_front::{Front, Seats};
use dirigent_testkit::ManualClock;
use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::stage::{ASKER, FrontStage, SITTER};

fn request(stage: &FrontStage, token: &str, message: &Value) -> Request<Body> {
    let request = stage
        .request(Method::POST, "/mcp", token)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", "2025-06-18");
    request.body(Body::from(message.to_string())).unwrap()
}

fn call(tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

/// Uses a tool with this secret. Returns whether it failed, and the answer, or the sentence.
async fn uses(
    stage: &FrontStage,
    token: &str,
    tool: &str,
    arguments: &Value,
) -> Result<Value, String> {
    let (status, answer) = stage.send(request(stage, token, &call(tool, arguments))).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let at = |path: &str| answer.pointer(&format!("/result/{path}"));
    let text = at("content/0/text").and_then(Value::as_str).unwrap().to_owned();
    if at("isError") == Some(&true.into()) {
        return Err(text);
    }
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(at("structuredContent"), Some(&told));
    Ok(told)
}

/// The one that asks passes, so that the turn comes to the seat.
async fn pass(stage: &FrontStage, run: &str) {
    stage.turn_of("asker").await;
    stage.ask("begin", ("asker", ASKER), json!({ "run": run })).await;
    stage.ask("end", ("asker", ASKER), json!({ "run": run, "outcome": "pass" })).await;
}

#[tokio::test]
async fn a_client_learns_what_it_can_do_and_keeps_no_session() {
    let stage = FrontStage::open().await;
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let (status, answer) = stage.send(request(&stage, SITTER, &hello)).await;
    let result = &answer["result"];
    assert_eq!((status, &result["serverInfo"]["name"]), (StatusCode::OK, &"dirigent".into()));
    let can: Vec<_> = result["capabilities"].as_object().unwrap().keys().collect();
    assert_eq!(can, ["tools"], "none of what the protocol gives up");
    assert!(result["instructions"].as_str().unwrap().contains("wait_for_turn"));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let (_, answer) = stage.send(request(&stage, SITTER, &list)).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["wait_for_turn", "read", "say", "pass", "why"]);
    for tool in tools {
        let described = tool["description"].as_str().unwrap();
        assert!(described.ends_with('.') && tool["inputSchema"]["type"] == "object", "{tool}");
    }
    let get =
        stage.request(Method::GET, "/mcp", SITTER).header(header::ACCEPT, "text/event-stream");
    let (status, _) = stage.send(get.body(Body::empty()).unwrap()).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "there is no stream to keep open");
}

/// A client of the newest protocol sends everything with each request, and says hello to none.
#[tokio::test]
async fn a_client_of_the_stateless_protocol_is_answered() {
    let stage = FrontStage::open().await;
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {} });
    let list =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let mut request = request(&stage, SITTER, &list);
    request.headers_mut().insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    request.headers_mut().insert("mcp-method", "tools/list".parse().unwrap());
    let (status, answer) = stage.send(request).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 5, "{answer}");
}

#[tokio::test]
async fn it_waits_for_its_turn_reads_and_says_something_once() {
    let stage = FrontStage::open().await;
    let at_most = json!({ "seconds": 50 });
    let waits = uses(&stage, SITTER, "wait_for_turn", &at_most);
    let comes = async {
        stage.say("Who tests it?");
        pass(&stage, "0").await;
    };
    let (turn, ()) = tokio::join!(waits, comes);
    let turn = turn.unwrap();
    let name = turn["turn"].as_str().unwrap().to_owned();
    assert_eq!(
        (&turn["agent"], &turn["channel"]),
        (&"sitter".into(), &stage.channel.to_string().into())
    );
    assert!(turn["briefing"].as_str().unwrap().contains("Sitter"), "{turn}");
    assert!(turn["missed"][0]["line"].as_str().unwrap().ends_with(": Who tests it?"), "{turn}");
    let again = uses(&stage, SITTER, "wait_for_turn", &json!({})).await.unwrap();
    assert_eq!(again, turn, "the answer may have been lost");

    stage.say("Quickly, please.");
    let read = uses(&stage, SITTER, "read", &json!({ "limit": 1 })).await.unwrap();
    assert!(
        read["messages"][0]["line"].as_str().unwrap().ends_with(": Quickly, please."),
        "{read}"
    );
    let why = uses(&stage, SITTER, "why", &json!({})).await.unwrap();
    assert_eq!(why["sitter"]["allowed"], true, "{why}");

    let other = json!({ "turn": format!("{}-999", stage.channel), "text": "Not me." });
    let refused = uses(&stage, SITTER, "say", &other).await.unwrap_err();
    assert!(refused.contains("this turn is over"), "{refused}");
    let words = json!({ "turn": name, "text": "I do." });
    for is_duplicate in [false, true] {
        let said = uses(&stage, SITTER, "say", &words).await.unwrap();
        assert_eq!(said, json!({ "accepted": true, "duplicate": is_duplicate }));
    }
    stage.turn_of("asker").await;
    let said = stage.discord.messages(stage.channel);
    let own: Vec<_> = said.iter().filter(|it| it.author == stage.accounts[1]).collect();
    assert_eq!((own.len(), &*own[0].content), (1, "I do."));
}

#[tokio::test]
async fn it_passes_and_has_no_words_without_a_turn() {
    let stage = FrontStage::open().await;
    stage.say("Who tests it?");
    pass(&stage, "1").await;
    let turn = uses(&stage, SITTER, "wait_for_turn", &json!({})).await.unwrap();
    uses(&stage, SITTER, "pass", &json!({ "turn": turn["turn"] })).await.unwrap();
    stage.until(|floor| floor.is_none()).await;
    stage.say("And now?");
    pass(&stage, "2").await;
    let turn = uses(&stage, SITTER, "wait_for_turn", &json!({})).await.unwrap();
    stage.dirigent.channel(stage.channel).stop().await.unwrap();
    let late = json!({ "turn": turn["turn"], "text": "Too late." });
    assert!(uses(&stage, SITTER, "say", &late).await.unwrap_err().contains("turn is over"));
    assert_eq!(stage.words(), ["Who tests it?", "And now?"]);
    let why = uses(&stage, SITTER, "why", &json!({})).await.unwrap();
    assert!(why["sitter"]["text"].as_str().is_some_and(|it| it.contains("stop")), "{why}");
}

/// Waits until so many wait for the time of this clock.
async fn waiting(clock: &ManualClock, many: usize) {
    let waits = async {
        while clock.waiting() != many {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waits).await;
    waited.unwrap_or_else(|_| panic!("{} wait, not {many}", clock.waiting()));
}

#[tokio::test]
async fn a_wait_ends_in_time_and_a_secret_has_sixteen_of_them() {
    let mut stage = FrontStage::open().await;
    let clock = ManualClock::new();
    let seats = Seats::new();
    let _seat = seats.seat("sitter");
    let chat = Arc::new(stage.discord.account(stage.moderator));
    let front = Front::builder(stage.dirigent.clone(), chat).seats(seats);
    let front = front.clock(Arc::new(clock.clone()));
    stage.router = front.host("script", "fedcba9876543210", ["sitter"]).build().unwrap().router();
    let wait = || {
        let wait = call("wait_for_turn", &json!({ "seconds": 30 }));
        tokio::spawn(stage.router.clone().oneshot(request(&stage, SITTER, &wait)))
    };
    let waits: Vec<_> = (0..16).map(|_| wait()).collect();
    waiting(&clock, 16).await;
    let refused = uses(&stage, SITTER, "wait_for_turn", &json!({})).await.unwrap_err();
    assert!(refused.contains("too many streams"), "{refused}");
    // A client that goes away gives its place back.
    waits[0].abort();
    waiting(&clock, 15).await;
    let last = wait();
    waiting(&clock, 16).await;
    clock.advance(Duration::from_secs(29));
    waiting(&clock, 16).await;
    assert!(!last.is_finished());
    clock.advance(Duration::from_secs(1));
    let body = last.await.unwrap().unwrap().into_body();
    let answer: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["turn"], Value::Null, "{answer}");
    for seconds in [0, 51] {
        let wrong = uses(&stage, SITTER, "wait_for_turn", &json!({ "seconds": seconds })).await;
        assert!(wrong.unwrap_err().contains("1 to 50 seconds"));
    }
}

#[tokio::test]
async fn only_a_seat_of_this_secret_and_its_channels_are_open() {
    let stage = FrontStage::open().await;
    let (status, _) = stage.send(request(&stage, "", &call("why", &json!({})))).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let mut browser = request(&stage, SITTER, &call("why", &json!({})));
    browser.headers_mut().insert(header::ORIGIN, "http://localhost".parse().unwrap());
    assert_eq!(stage.send(browser).await.0, StatusCode::FORBIDDEN);
    let mut foreign = request(&stage, SITTER, &call("why", &json!({})));
    foreign.headers_mut().insert(header::HOST, "evil.example".parse().unwrap());
    assert_eq!(stage.send(foreign).await.0, StatusCode::MISDIRECTED_REQUEST);

    let refused = uses(&stage, ASKER, "wait_for_turn", &json!({})).await.unwrap_err();
    assert!(refused.contains("none of your agents has a seat"), "{refused}");
    let members = [stage.moderator, stage.accounts[0]];
    let secret = stage.discord.add_channel(stage.guild, "secret", &members);
    for tool in ["read", "why"] {
        let there = json!({ "channel": secret.to_string() });
        let refused = uses(&stage, SITTER, tool, &there).await.unwrap_err();
        assert!(refused.contains("none of your agents is in this channel"), "{refused}");
    }
    stage.say("Who tests it?");
    pass(&stage, "1").await;
    stage.turn_of("sitter").await;
    let turn = uses(&stage, SITTER, "wait_for_turn", &json!({})).await.unwrap();
    let stolen = uses(&stage, ASKER, "say", &json!({ "turn": turn["turn"], "text": "x" })).await;
    assert!(stolen.unwrap_err().contains("seat"));
    for (tool, wrong) in [
        ("say", json!({ "turn": "7" })),
        ("say", json!({ "turn": "table", "text": "x" })),
        ("pass", json!({ "turn": turn["turn"], "more": 1 })),
        ("read", json!({ "limit": 0 })),
        ("sing", json!({})),
    ] {
        assert!(uses(&stage, SITTER, tool, &wrong).await.is_err(), "{tool} {wrong}");
    }
}

/// An account without the permission is shown an empty history, which must not be taken for silence.
#[tokio::test]
async fn what_the_moderator_may_not_read_is_not_told_as_nothing() {
    let stage = FrontStage::open().await;
    stage.say("Who tests it?");
    stage.discord.channel(stage.channel).set_history_hidden(stage.moderator, true);
    assert!(uses(&stage, SITTER, "read", &json!({})).await.is_err());
}

/// An agent whose session ended is skipped after some time, and is back with its next call.
#[tokio::test]
async fn a_call_is_a_sign_of_life() {
    let mut settings = Settings::default();
    settings.hooks.heartbeat = Some(Heartbeat::default());
    let stage = FrontStage::open_with(settings, |library| library).await;
    stage.dirigent.agent_offline(&"sitter".into()).await.unwrap();
    let why = uses(&stage, SITTER, "why", &json!({})).await.unwrap();
    let text = why["sitter"]["text"].as_str().unwrap();
    assert!(!text.contains("offline"), "{text}");
}
