//! Endpoints that mean harm: each costs a bounded time and a bounded memory, and nothing of it is said.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use dirigent::operate::Cause;
use dirigent::{Clock as _, Config};
use dirigent_llm::script::ScriptedAnswer;
use dirigent_llm::{ChatError, Endpoint};
use dirigent_testkit::ManualClock;
use serde_json::json;
use tokio::sync::oneshot;

use crate::fixture::{Fixture, SECOND, pause, say, soon};
use crate::room::Room;
use crate::worlds::{
    EVENTS, JSON, agent, chunked_head, in_pieces, message, on_demand, serve, speak, whole,
};

/// An endpoint that writes this, and then this again and again; how many bytes it could write.
fn endless(head: String, piece: Vec<u8>) -> (String, oneshot::Receiver<usize>) {
    let (ended, has_ended) = oneshot::channel();
    let ended = Mutex::new(Some(ended));
    let url = serve(move |stream: &mut TcpStream| {
        let mut written = head.len();
        let mut result = stream.write_all(head.as_bytes());
        while result.is_ok() {
            written += piece.len();
            result = stream.write_all(&piece);
        }
        let ended = ended.lock().unwrap().take();
        let _ = ended.unwrap().send(written);
        result
    });
    (url, has_ended)
}

const MEGABYTE: usize = 1_024 * 1_024;

#[tokio::test]
async fn what_is_no_http_is_an_answer_that_broke_off() {
    let ok = "HTTP/1.1 200 OK\r\n";
    let many: String = (0..10_000).flat_map(|_| ["x: y", "\r\n"]).collect();
    let chunked = chunked_head("application/json");
    let worlds = [
        String::new(),
        "\0\u{1}\u{2}\u{3}".to_owned(),
        "SSH-2.0-OpenSSH_9.9\r\n".to_owned(),
        "<html>Hello</html>".to_owned(),
        "HTTP/1.1 2000 OK\r\n\r\n".to_owned(),
        "HTTP/3.0 200 OK\r\n\r\n".to_owned(),
        format!("{ok}{many}\r\n{{}}"),
        format!("{ok}x: {}\r\n\r\n{{}}", "y".repeat(2 * MEGABYTE)),
        format!("{ok}content-length: -1\r\n\r\n{{}}"),
        format!("{ok}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}"),
        format!("{ok}content-length: 99999999999999999999999\r\n\r\n{{}}"),
        format!("{ok}content-length: 20\r\n\r\n{{}}"),
        format!("{chunked}ffffffffffffffffff\r\n{{}}\r\n0\r\n\r\n"),
        format!("{chunked}fffffffffffffff\r\n{{}}"),
        format!("{chunked}-2\r\n{{}}\r\n0\r\n\r\n"),
        format!("{chunked}2;{}\r\n{{}}\r\n0\r\n\r\n", "x".repeat(MEGABYTE)),
        format!("{chunked}0\r\n{many}\r\n"),
    ];
    for answer in worlds {
        let shown: String = answer.chars().take(60).collect();
        let url = serve(move |stream| stream.write_all(answer.as_bytes()));
        assert_eq!(speak(&agent(&url)).await, Err(ChatError::Broken), "{shown:?}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_given_up_after_less_than_a_few_megabytes() {
    let ok = "HTTP/1.1 200 OK\r\n";
    let worlds = [
        (ok.to_owned(), "x: y\r\n".repeat(1_000)),
        (format!("{ok}x: "), "y".repeat(60_000)),
        (String::new(), "\r\n".repeat(1_000)),
    ];
    for (head, piece) in worlds {
        let shown: String = piece.chars().take(20).collect();
        let (url, has_ended) = endless(head, piece.into_bytes());
        assert_eq!(speak(&agent(&url)).await, Err(ChatError::Broken), "{shown:?}");
        assert!(soon(has_ended).await.unwrap() < 16 * MEGABYTE, "{shown:?}");
    }
}

#[tokio::test]
async fn answers_before_the_answer_are_no_sign_of_life() {
    let early = "HTTP/1.1 103 Early Hints\r\nlink: y\r\n\r\n".repeat(1_000);
    let (url, has_ended) = endless(String::new(), early.into_bytes());
    let clock = ManualClock::new();
    let agent = agent(&url).clock(clock.clone());
    let (reply, ()) = tokio::join!(speak(&agent), async {
        pause().await;
        clock.advance(SECOND * 120);
    });
    assert_eq!(reply, Err(ChatError::NoFirstByte { after: SECOND * 120 }));
    soon(has_ended).await.unwrap();
}

#[tokio::test]
async fn a_refusal_is_known_by_its_status_however_long_or_slow_its_words_are() {
    let refused =
        "HTTP/1.1 503 Unavailable\r\nretry-after: 7\r\ntransfer-encoding: chunked\r\n\r\n";
    let piece = format!("{:x}\r\n{}\r\n", 60_000, "x".repeat(60_000));
    let (url, has_ended) = endless(refused.to_owned(), piece.into_bytes());
    let expected = ChatError::Unavailable { status: 503, retry_after: Some(SECOND * 7) };
    assert_eq!(speak(&agent(&url)).await, Err(expected.clone()));
    assert!(soon(has_ended).await.unwrap() < 16 * MEGABYTE);

    let (demand, demanded) = channel::<()>();
    let demanded = Mutex::new(demanded);
    let url = serve(move |stream| {
        stream.write_all(refused.as_bytes())?;
        // Until the test is over.
        let _ = demanded.lock().unwrap().recv();
        Ok(())
    });
    let clock = ManualClock::new();
    let began = clock.now();
    let agent = agent(&url).clock(clock.clone());
    let (reply, ()) = tokio::join!(speak(&agent), async {
        pause().await;
        clock.advance(SECOND * 2);
    });
    assert_eq!((reply, clock.now().since(began)), (Err(expected), SECOND * 2));
    drop(demand);
}

#[tokio::test]
async fn an_answer_is_over_at_its_end_and_not_when_its_connection_is() {
    let (url, demand) = on_demand(&[
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        ": alive\n\n",
    ]);
    let clock = ManualClock::new();
    let agent = agent(&url).clock(clock.clone());
    let (reply, ()) = tokio::join!(speak(&agent), async {
        pause().await;
        clock.advance(SECOND / 10);
    });
    assert_eq!(reply, say("Hi."));
    drop(demand);
}

#[tokio::test]
async fn the_time_for_a_whole_answer_bounds_the_one_for_its_first_byte() {
    for answer in [
        ScriptedAnswer { is_mute: true, ..ScriptedAnswer::default() },
        ScriptedAnswer { stalls_after: Some(0), ..ScriptedAnswer::text("Hi.") },
    ] {
        let fixture = Fixture::new().await.with(|agent| {
            agent.limits(|limits| (limits.whole_answer, limits.retries) = (SECOND * 60, 0))
        });
        fixture.model.script([answer]);
        let began = fixture.clock.now();
        let reply = fixture.speak_in_time().await;
        assert_eq!(reply, Err(ChatError::TooSlow { after: SECOND * 60 }));
        assert_eq!(fixture.clock.now().since(began), SECOND * 60);
    }
}

#[tokio::test]
async fn what_no_parser_expects_is_an_error_or_nothing() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let of =
        |field: &str, value: &str| message(&format!(r#"{{"content":"Hi.","{field}":{value}}}"#));
    let none = Err(ChatError::NotChat);
    let utf16: Vec<u8> =
        message(r#"{"content":"Hi."}"#).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let worlds: Vec<(Vec<u8>, _)> = vec![
        (utf16, none.clone()),
        (b"\xef\xbb\xbf".iter().copied().chain(of("x", "1").bytes()).collect(), say("Hi.")),
        (b"{\"choices\":[{\"message\":{\"content\":\"\xe9\"}}]}".to_vec(), none.clone()),
        (message(r#"{"content":"\ud83d"}"#).into(), none.clone()),
        (message(r#"{"content":"Hi.","content":"Ho."}"#).into(), none.clone()),
        (of("tool_calls", &deep(1_000)).into(), none.clone()),
        (of("x", &deep(100_000)).into(), say("Hi.")),
        (of("tool_calls", &deep(50)).into(), say("Hi.")),
        (of("reasoning", &format!("[{}1]", "1,".repeat(200_000))).into(), say("Hi.")),
        (of("x", "1e999").into(), say("Hi.")),
        (of("tool_calls", "1e999").into(), none),
        (
            of("tool_calls", r#"[{"index":18446744073709551615,"id":{},"function":[]}]"#).into(),
            say("Hi."),
        ),
    ];
    for (body, expected) in worlds {
        let shown = String::from_utf8_lossy(body.get(..body.len().min(80)).unwrap()).into_owned();
        assert_eq!(whole(JSON, &body).await, expected, "{shown}");
    }
}

#[tokio::test]
async fn of_many_answers_in_one_the_first_is_read_and_few_are_kept() {
    let first = r#"{"delta":{"content":"Hi."},"finish_reason":"stop"}"#;
    let others = r#",{"delta":{"content":"Ho."}}"#.repeat(30_000);
    let body = format!("data: {{\"choices\":[{first}{others}]}}\n\ndata: [DONE]\n\n");
    assert_eq!(whole(EVENTS, body.as_bytes()).await, say("Hi."));
}

#[tokio::test]
async fn a_long_event_in_pieces_of_a_byte_each_is_read_in_a_moment() {
    let thought = "so ".repeat(30_000);
    let body = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"reasoning\":\"{thought}\",\"content\":\"Hi.\"}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
    );
    assert_eq!(in_pieces("text/event-stream", body.as_bytes(), 1).await, say("Hi."));
}

#[tokio::test]
async fn a_budget_is_spent_by_an_answer_that_costs_more_than_can_be_counted() {
    let config = Config::default().with(|config| config.budget.cost = Some(100));
    let mut room = Room::new(config, |agent, _| agent).await;
    room.model.cycle([ScriptedAnswer {
        usage: Some((u64::MAX / 2, u64::MAX / 2)),
        ..ScriptedAnswer::text("Hi.")
    }]);
    room.say("Hello?").await;
    room.until(Cause::BudgetSpent).await;
    room.say("Hello?").await;
    assert_eq!(room.model.requests().len(), 1);
}

#[tokio::test]
async fn the_name_that_an_endpoint_gives_its_model_is_no_longer_than_a_name() {
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let hook = std::sync::Arc::clone(&seen);
    let fixture = Fixture::new().await.with(|agent| {
        agent.on_usage(move |_, usage| hook.lock().unwrap().push(usage.model.clone()))
    });
    for name in ["x".repeat(100_000), "small-2".to_owned()] {
        let choice = json!({ "message": { "content": "Hi." }, "finish_reason": "stop" });
        let body = json!({ "model": name, "choices": [choice] });
        fixture
            .model
            .script([ScriptedAnswer { body: Some(body.to_string()), ..ScriptedAnswer::default() }]);
        assert_eq!(fixture.speak().await, say("Hi."));
    }
    assert_eq!(*seen.lock().unwrap(), ["small", "small-2"]);
}

#[tokio::test]
async fn an_endpoint_without_tls_at_an_https_address_is_unreachable() {
    let url = serve(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
    let agent = agent(&url).fall_back_on(Endpoint::new(url.replace("http:", "https:"), "small"));
    assert_eq!(speak(&agent).await, Err(ChatError::Unreachable));
}
