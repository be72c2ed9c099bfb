//! What goes wrong between an agent and its model: each is told by its type, and repeated where that may help.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{Agent as _, Clock as _, Reply};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_llm::{ChatAgent, ChatError, Endpoint, Limits};

use crate::fixture::{Fixture, SECOND, endpoint, say, soon, told, turn};

/// An agent that never asks again.
async fn once() -> Fixture {
    Fixture::new().await.with(|agent| agent.limits(|limits| limits.retries = 0))
}

fn usual_patience(agent: ChatAgent) -> ChatAgent {
    let Limits { first_byte, between_bytes, .. } = Limits::default();
    agent.limits(|limits| (limits.first_byte, limits.between_bytes) = (first_byte, between_bytes))
}

fn refusal(status: u16, headers: &[(&str, &str)]) -> ScriptedAnswer {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    ScriptedAnswer { headers: headers.collect(), ..ScriptedAnswer::refusal(status) }
}

#[tokio::test]
async fn a_rate_limit_says_how_long() {
    let fixture = once().await;
    fixture.model.script([
        refusal(429, &[("retry-after", "7")]),
        refusal(429, &[("retry-after", "Sun, 15 Jun 2025 15:07:00 GMT")]),
        refusal(429, &[]),
    ]);
    for expected in [Some(SECOND * 7), Some(SECOND * 20), None] {
        let error = fixture.speak().await;
        assert_eq!(error, Err(ChatError::RateLimited { retry_after: expected }));
    }
}

#[tokio::test]
async fn a_status_says_whether_it_may_pass() {
    let fixture = once().await;
    let unavailable = [500, 502, 503, 504, 529, 408];
    fixture.model.script(unavailable.map(ScriptedAnswer::refusal));
    for status in unavailable {
        let error = fixture.speak().await.unwrap_err();
        assert_eq!(error, ChatError::Unavailable { status, retry_after: None });
        assert!(error.is_retryable());
    }
    let refused = [400, 401, 403, 404, 422];
    fixture.model.script(refused.map(ScriptedAnswer::refusal));
    for status in refused {
        let error = fixture.speak().await.unwrap_err();
        assert_eq!(error, ChatError::Refused { status, code: Some("refused".into()) });
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn what_may_pass_is_asked_again_after_the_time_that_the_endpoint_names() {
    let fixture = Fixture::new().await;
    let began = fixture.clock.now();
    fixture.model.script([
        refusal(429, &[("retry-after", "7")]),
        refusal(503, &[]),
        ScriptedAnswer::text("At last."),
    ]);
    assert_eq!(fixture.speak_in_time().await, say("At last."));
    assert_eq!(fixture.clock.now().since(began), SECOND * 9, "seven that were asked for, then two");
    assert_eq!(fixture.model.requests().len(), 3);
}

#[tokio::test]
async fn what_will_not_pass_is_not_asked_again() {
    let fixture = Fixture::new().await;
    fixture.model.script([ScriptedAnswer::refusal(401)]);
    assert!(matches!(fixture.speak().await, Err(ChatError::Refused { status: 401, .. })));
    assert_eq!(fixture.model.requests().len(), 1);
}

/// LM8: a permanent error is one wherever it stands.
#[tokio::test]
async fn what_will_not_pass_is_not_asked_again_wherever_it_is_told() {
    let error = r#"{"error": {"message": "No.", "type": "invalid_request_error", "code": "model_not_found"}}"#;
    let bare = r#"{"code": 404, "message": "No."}"#;
    let events = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let worlds = [
        (200, Vec::new(), error.to_owned()),
        (200, Vec::new(), format!("[{error}]")),
        (200, Vec::new(), bare.to_owned()),
        (200, events.clone(), error.to_owned()),
        (200, events.clone(), format!("data: {error}\n\ndata: [DONE]\n\n")),
        (200, events.clone(), format!("event: error\ndata: {error}\n\n")),
        (200, events, format!("event: stream_error\ndata: {bare}\n\n")),
        (500, Vec::new(), error.to_owned()),
    ];
    for (status, headers, body) in worlds {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hook = Arc::clone(&heard);
        let fixture = Fixture::new().await.with(|agent| {
            agent.on_refusal(move |turn, refusal| {
                assert_eq!(turn.agent().as_str(), "poet");
                hook.lock().unwrap().push(refusal.clone());
            })
        });
        let shown = body.clone();
        let body = Some(body);
        fixture.model.cycle([ScriptedAnswer {
            status,
            headers,
            body,
            ..ScriptedAnswer::default()
        }]);
        let failed = fixture.speak_in_time().await;
        assert!(matches!(failed, Err(ChatError::Refused { .. })), "{shown}: {failed:?}");
        assert_eq!(fixture.model.requests().len(), 1, "{shown}");
        let heard = heard.lock().unwrap();
        let refusal = &heard[0];
        assert_eq!(heard.len(), 1, "{shown}");
        assert_eq!((refusal.status, &*refusal.model), (status, "small"));
        assert_eq!(Err(refusal.error.clone()), failed);
        assert!(refusal.body.contains("No."), "{shown}");
    }
}

/// LM8: JSON is read as JSON, whatever it is called.
#[tokio::test]
async fn an_answer_as_a_whole_under_the_name_of_a_stream_is_an_answer() {
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let answer = r#"{"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]}"#;
    for before in ["", "\n\n ", "\u{feff}"] {
        let fixture = once().await;
        let body = Some(format!("{before}{answer}"));
        let headers = headers.clone();
        fixture.model.script([ScriptedAnswer { headers, body, ..ScriptedAnswer::default() }]);
        assert_eq!(fixture.speak().await, say("Hi."), "{before:?}");
    }
}

/// LM8: what the library told the model is no answer of the model's, and a pass with a remark is a pass.
#[tokio::test]
async fn a_briefing_is_not_posted_and_a_pass_with_a_remark_is_a_pass() {
    let fixture = Fixture::new().await;
    let briefing = turn().briefing();
    fixture.model.script([
        ScriptedAnswer::text(briefing),
        ScriptedAnswer::text("NO_REPLY (nothing to add)"),
        ScriptedAnswer::text("poet: **NO_REPLY** (nothing to add)"),
    ]);
    assert_eq!(fixture.speak().await, Err(ChatError::Parroted));
    assert_eq!(fixture.speak().await, Ok(Reply::Pass));
    assert_eq!(fixture.speak().await, Ok(Reply::Pass));
    assert_eq!(fixture.model.requests().len(), 3);
}

#[tokio::test]
async fn an_endpoint_that_stays_away_is_asked_three_times() {
    let fixture = Fixture::new().await;
    fixture.model.cycle([ScriptedAnswer::refusal(503)]);
    let failed = fixture.speak_in_time().await;
    assert_eq!(failed, Err(ChatError::Unavailable { status: 503, retry_after: None }));
    assert_eq!(fixture.model.requests().len(), 3);
}

#[tokio::test]
async fn an_endpoint_that_never_begins_is_given_up_in_time() {
    let fixture = once().await.with(usual_patience);
    fixture.model.script([ScriptedAnswer { is_mute: true, ..ScriptedAnswer::default() }]);
    let (reply, ()) = tokio::join!(fixture.speak(), async {
        fixture.model.requested(1).await;
        fixture.clock.advance(SECOND * 119);
        crate::fixture::pause().await;
        fixture.clock.advance(SECOND);
    });
    assert_eq!(reply, Err(ChatError::NoFirstByte { after: SECOND * 120 }));
    soon(fixture.model.given_up(1)).await;
}

#[tokio::test]
async fn an_answer_that_stops_is_given_up_in_time_and_nothing_of_it_is_said() {
    let fixture = once().await.with(usual_patience);
    for chunks in [0, 3] {
        fixture.model.script([ScriptedAnswer {
            stalls_after: Some(chunks),
            ..ScriptedAnswer::text("One two three four")
        }]);
        let began = fixture.clock.now();
        let reply = fixture.speak_in_time().await;
        let (expected, seconds) = match chunks {
            0 => (ChatError::NoFirstByte { after: SECOND * 120 }, 120),
            _ => (ChatError::Stalled { after: SECOND * 30 }, 30),
        };
        assert_eq!(reply, Err(expected), "after {chunks} chunks");
        assert_eq!(fixture.clock.now().since(began), SECOND * seconds, "after {chunks} chunks");
    }
}

#[tokio::test]
async fn a_slow_answer_is_waited_for() {
    let fixture = Fixture::new().await;
    fixture.model.script([ScriptedAnswer {
        pause_ms: 5,
        ..ScriptedAnswer::text("One two three four five")
    }]);
    assert_eq!(fixture.speak().await, say("One two three four five"));
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_never_said() {
    let fixture = once().await;
    fixture.model.script([
        ScriptedAnswer { breaks_after: Some(3), ..ScriptedAnswer::text("One two three four") },
        ScriptedAnswer { is_unfinished: true, ..ScriptedAnswer::text("One two three four") },
    ]);
    assert_eq!(fixture.speak().await, Err(ChatError::Broken), "a connection that is cut");
    assert_eq!(fixture.speak().await, Err(ChatError::Broken), "a stream that ends too early");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let fixture = Fixture::new().await;
    fixture.model.script([
        ScriptedAnswer { breaks_after: Some(3), ..ScriptedAnswer::text("One two three four") },
        ScriptedAnswer::text("Five."),
    ]);
    assert_eq!(fixture.speak_in_time().await, say("Five."));
}

/// LM1: half an answer is asked for again, and is `Broken` in the end; what was used is reported each time.
#[tokio::test]
async fn an_answer_that_the_endpoint_aborted_is_asked_for_again() {
    let used = Arc::new(Mutex::new(0));
    let hook = Arc::clone(&used);
    let fixture = Fixture::new().await;
    let fixture = fixture.with(|agent| agent.on_usage(move |_, _| *hook.lock().unwrap() += 1));
    let aborted =
        || ScriptedAnswer { finish: Some("abort".to_owned()), ..ScriptedAnswer::text("Not") };
    fixture.model.script([aborted(), ScriptedAnswer::text("Not at all.")]);
    assert_eq!(fixture.speak_in_time().await, say("Not at all."));
    fixture.model.cycle([aborted()]);
    assert_eq!(fixture.speak_in_time().await, Err(ChatError::Broken));
    assert_eq!(fixture.model.requests().len(), 5);
    assert_eq!(*used.lock().unwrap(), 5);
}

#[tokio::test]
async fn an_answer_that_is_no_chat_completion_is_told_from_an_outage() {
    let fixture = once().await;
    let bodies = ["<html>Welcome</html>", "{}", "[]", "", "{\"choices\": []}", "{\"choices\": 7}"];
    for body in bodies {
        fixture
            .model
            .script([ScriptedAnswer { body: Some(body.to_owned()), ..ScriptedAnswer::default() }]);
        assert_eq!(fixture.speak().await, Err(ChatError::NotChat), "{body}");
    }
}

#[tokio::test]
async fn an_error_within_a_stream_is_told_by_its_code() {
    let fixture = once().await;
    let event = |error: &str| {
        let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
        let body = Some(format!("data: {{\"error\": {error}}}\n\n"));
        ScriptedAnswer { headers, body, ..ScriptedAnswer::default() }
    };
    fixture.model.script([
        event(r#"{"code": "server_error"}"#),
        event(r#"{"code": 429}"#),
        event("\"?\""),
    ]);
    let reported = |code: Option<&str>| Err(ChatError::Reported { code: code.map(Into::into) });
    assert_eq!(fixture.speak().await, reported(Some("server_error")));
    assert_eq!(fixture.speak().await, Err(ChatError::RateLimited { retry_after: None }));
    assert_eq!(fixture.speak().await, reported(None));
}

#[tokio::test]
async fn a_stream_that_is_no_json_is_no_chat_completion() {
    let fixture = once().await;
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let body = Some("data: oops\n\n".to_owned());
    fixture.model.script([ScriptedAnswer { headers, body, ..ScriptedAnswer::default() }]);
    assert_eq!(fixture.speak().await, Err(ChatError::NotChat));
}

#[tokio::test]
async fn a_stream_that_is_cut_at_any_byte_says_nothing_or_all() {
    let fixture = once().await;
    let chunks = [
        r#"{"choices":[{"delta":{"role":"assistant","content":"Où"},"finish_reason":null}]}"#,
        r#"{"choices":[{"delta":{"content":" ça ?"}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ];
    let events = chunks.map(|chunk| format!(": alive\r\ndata: {chunk}\r\n\r\n"));
    let stream = events.concat();
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let whole = stream.find("\"stop\"").unwrap();
    for end in (0..=stream.len()).filter(|end| stream.is_char_boundary(*end)) {
        let (body, headers) = (Some(stream[..end].to_owned()), headers.clone());
        fixture.model.script([ScriptedAnswer { headers, body, ..ScriptedAnswer::default() }]);
        match fixture.speak().await {
            Ok(Reply::Say(words)) => assert!(words == "Où ça ?" && end > whole, "{words} at {end}"),
            other => assert_eq!(other, Err(ChatError::Broken), "cut at {end}"),
        }
    }
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let fixture = once().await.with(|agent| agent.limits(|limits| limits.answer_bytes = 40));
    fixture.model.script([ScriptedAnswer::text("word ".repeat(40))]);
    assert_eq!(fixture.speak().await, Err(ChatError::TooLong { most: 40 }));
}

#[tokio::test]
async fn nothing_that_listens_is_unreachable() {
    let fixture = once().await;
    let nowhere = endpoint(&fixture.model);
    drop(fixture.model);
    crate::fixture::pause().await;
    let agent = ChatAgent::new(nowhere).limits(|limits| limits.retries = 0);
    assert_eq!(told(agent.speak(turn()).await), Err(ChatError::Unreachable));
    let agent = ChatAgent::new(Endpoint::new("nowhere", "small"));
    assert_eq!(told(agent.speak(turn()).await), Err(ChatError::BadEndpoint));
}

#[tokio::test]
async fn other_models_are_asked_in_order() {
    let fixture = Fixture::new().await;
    let (second, third) =
        (LoopbackLlm::start().await.unwrap(), LoopbackLlm::start().await.unwrap());
    let fixture = fixture.with(|agent| {
        let second = Endpoint::new(second.url(), "second");
        agent.fall_back_on(second).fall_back_on(Endpoint::new(third.url(), "third"))
    });
    fixture.model.cycle([ScriptedAnswer::refusal(401)]);
    second.cycle([ScriptedAnswer { reasoning: "Hm.".to_owned(), ..ScriptedAnswer::default() }]);
    third.cycle([ScriptedAnswer::text("Here.")]);
    assert_eq!(fixture.speak().await, say("Here."));
    assert_eq!(third.requests()[0].body["model"], "third");
    assert_eq!(fixture.speak().await, say("Here."));
    let asked = [&fixture.model, &second, &third].map(|model| model.requests().len());
    assert_eq!(asked, [2, 2, 2], "each turn begins with the first again");
    third.cycle([ScriptedAnswer::refusal(404)]);
    let failed = fixture.speak().await;
    assert!(matches!(failed, Err(ChatError::Refused { status: 404, .. })), "{failed:?}");
}

#[tokio::test]
async fn a_long_wait_is_not_waited_where_there_is_another_model() {
    let fixture = Fixture::new().await;
    let second = LoopbackLlm::start().await.unwrap();
    let fixture = fixture.with(|agent| agent.fall_back_on(endpoint(&second)));
    fixture.model.script([refusal(429, &[("retry-after", "21")])]);
    second.script([ScriptedAnswer::text("Here.")]);
    let began = fixture.clock.now();
    assert_eq!(fixture.speak().await, say("Here."));
    assert_eq!(fixture.clock.now().since(began), Duration::ZERO);
}

#[tokio::test]
async fn nothing_is_said_by_an_agent_that_failed() {
    let fixture = once().await;
    fixture.model.script([ScriptedAnswer::refusal(500)]);
    let reply = fixture.agent.speak(turn()).await;
    assert!(!matches!(reply, Ok(Reply::Say(_) | Reply::Pass)));
}
