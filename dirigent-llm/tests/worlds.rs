//! Endpoints that answer as no well-behaved one does, byte for byte.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use dirigent::{Agent as _, Clock as _, Reply};
use dirigent_llm::{ChatAgent, ChatError, Endpoint};
use dirigent_testkit::ManualClock;

use crate::fixture::{SECOND, pause, say, soon, told, turn};

/// Answers each connection's one request with what `write` writes; returns the base address.
pub(crate) fn serve(
    write: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            if read_request(&stream).is_ok() {
                // A client that goes away is what some of these tests are for.
                let _ = write(&mut stream);
            }
        }
    });
    url
}

fn read_request(stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length])
}

pub(crate) fn agent(url: &str) -> ChatAgent {
    let agent = ChatAgent::new(Endpoint::new(url, "small")).clock(ManualClock::new());
    agent.limits(|limits| limits.retries = 0)
}

pub(crate) async fn speak(agent: &ChatAgent) -> Result<Reply, ChatError> {
    told(soon(agent.speak(turn())).await)
}

/// What is said where an endpoint answers with this body, whole.
pub(crate) async fn whole(head: &str, body: &[u8]) -> Result<Reply, ChatError> {
    let mut answer = format!("HTTP/1.1 200 OK\r\n{head}content-length: {}\r\n", body.len());
    answer.push_str("connection: close\r\n\r\n");
    let answer = [answer.as_bytes(), body].concat();
    speak(&agent(&serve(move |stream| stream.write_all(&answer)))).await
}

/// The same, in pieces of this many bytes each.
pub(crate) async fn in_pieces(kind: &str, body: &[u8], size: usize) -> Result<Reply, ChatError> {
    let mut answer = chunked_head(kind).into_bytes();
    for piece in body.chunks(size) {
        answer.extend(format!("{:x}\r\n", piece.len()).bytes());
        answer.extend(piece.iter().copied().chain(*b"\r\n"));
    }
    answer.extend(b"0\r\n\r\n");
    speak(&agent(&serve(move |stream| stream.write_all(&answer)))).await
}

pub(crate) fn chunked_head(kind: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    )
}

pub(crate) const JSON: &str = "content-type: application/json\r\n";
pub(crate) const EVENTS: &str = "content-type: text/event-stream\r\n";

pub(crate) fn message(message: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#)
}

#[tokio::test]
async fn whole_answers_are_read_in_all_their_shapes() {
    let hi = say("Hi.");
    let reasoned = Err(ChatError::OnlyReasoning { is_cut: false });
    let reported = Err(ChatError::Reported { code: None });
    let worlds = [
        (message(r#"{"content":"Hi."}"#), hi.clone()),
        (message(r#"{"content":"Hi.","tool_calls":null,"function_call":null}"#), hi.clone()),
        (message(r#"{"content":"Hi.","tool_calls":[]}"#), hi.clone()),
        (message(r#"{"content":[{"type":"text","text":"Hi."}]}"#), hi.clone()),
        (
            r#"{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}],"usage":null,"error":null,"model":null}"#
                .to_owned(),
            hi.clone(),
        ),
        (
            r#"{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"},{"message":{"content":"Ho."}}]}"#
                .to_owned(),
            hi.clone(),
        ),
        (format!("\n\n  {}\n\n", message(r#"{"content":"Hi."}"#)), hi.clone()),
        // A stream that bears another name.
        (format!(": alive\n\ndata: {}\n\ndata: [DONE]\n\n", message(r#"{"content":"Hi."}"#)), hi),
        (
            format!("id: 7\ndata: {}\n\ndata: [DONE]\n\n", message(r#"{"content":"Hi."}"#)),
            say("Hi."),
        ),
        (format!("event: message\ndata: {}\n\n", message(r#"{"content":"Hi."}"#)), say("Hi.")),
        (
            message(&format!(r#"{{"content":"{}"}}"#, "long ".repeat(60_000))),
            Err(ChatError::TooLong { most: 256 * 1_024 }),
        ),
        (message(r#"{"content":"","reasoning":"Hm."}"#), reasoned.clone()),
        (message(r#"{"content":null,"reasoning_content":"Hm."}"#), reasoned.clone()),
        (message(r#"{"content":null,"reasoning_details":[{"type":"reasoning.text"}]}"#), reasoned),
        (message(r#"{"content":null,"refusal":"I cannot."}"#), Err(ChatError::Withheld)),
        (message(r#"{"content":null}"#), Ok(Reply::Pass)),
        (message("null"), Err(ChatError::NotChat)),
        (r#"{"choices":[{"text":"Hi."}]}"#.to_owned(), Err(ChatError::NotChat)),
        (r#"{"choices":[]}"#.to_owned(), Err(ChatError::NotChat)),
        (r#"{"choices":null}"#.to_owned(), Err(ChatError::NotChat)),
        (r#"{"object":"error","message":"No.","code":40001}"#.to_owned(), reported.clone()),
        (r#"{"error":{"message":"No."}}"#.to_owned(), reported.clone()),
        (r#"{"error":"No.","choices":[]}"#.to_owned(), reported),
        ("null".to_owned(), Err(ChatError::NotChat)),
        ("[".repeat(100_000), Err(ChatError::NotChat)),
    ];
    for (body, expected) in worlds {
        let shown: String = body.chars().take(80).collect();
        assert_eq!(whole(JSON, body.as_bytes()).await, expected, "{shown}");
    }
}

#[tokio::test]
async fn streams_are_read_in_all_their_shapes() {
    let delta = |delta: &str| format!(r#"data: {{"choices":[{{"delta":{delta}}}]}}"#);
    let hi = delta(r#"{"content":"Hi."}"#);
    let stop = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let usage = r#"data: {"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
    let done = "data: [DONE]";
    let lines = |lines: &[&str], end: &str| {
        lines.iter().flat_map(|line| [line, end, end]).collect::<String>()
    };
    let worlds = [
        (lines(&[&hi, stop, usage, done], "\n"), say("Hi.")),
        (lines(&[&hi, stop, usage, done], "\r\n"), say("Hi.")),
        (lines(&[&hi, stop, usage, done], "\r"), say("Hi.")),
        (lines(&["\u{feff}: alive", &hi, ": alive", stop, done], "\n"), say("Hi.")),
        (lines(&["event: message\nid: 7\nretry: 10", &hi, stop], "\n"), say("Hi.")),
        (lines(&[&hi.replace("data: ", "data:"), stop, "data:[DONE]"], "\n"), say("Hi.")),
        (
            lines(&[&hi.replace("\"choices\":", "\"choices\":\ndata: "), stop, done], "\n"),
            say("Hi."),
        ),
        (lines(&[&hi, stop], "\n").trim_end().to_owned() + "\n", say("Hi.")),
        (lines(&[&format!("data: {}", message(r#"{"content":"Hi."}"#)), done], "\n"), say("Hi.")),
        (lines(&[&hi, "data:", "data: null", done], "\n"), Err(ChatError::NotChat)),
        (lines(&[done], "\n"), Err(ChatError::NotChat)),
        (lines(&[usage, done], "\n"), Err(ChatError::NotChat)),
        (lines(&[stop, done], "\n"), Ok(Reply::Pass)),
        (lines(&[&hi], "\n"), Err(ChatError::Broken)),
        (String::new(), Err(ChatError::Broken)),
        (": alive\n\n".repeat(10_000) + &lines(&[&hi, stop, done], "\n"), say("Hi.")),
    ];
    for (body, expected) in worlds {
        let shown: String = body.chars().take(80).collect();
        assert_eq!(whole(EVENTS, body.as_bytes()).await, expected, "{shown:?}");
    }
    let broken = [b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\ndata: [DONE]\n\n"];
    assert_eq!(whole(EVENTS, broken[0]).await, Err(ChatError::NotChat), "no UTF-8");
}

/// What ends a stream in its middle, between an answer's words and `[DONE]`.
const BAD_ENDS: [&str; 7] = [
    "\"abort\"",
    "\"insufficient_system_resource\"",
    "\"network_error\"",
    "\"error\"",
    "\"a_new_word\"",
    "null",
    "7",
];

/// LM1: an answer whose end is not named, or named with an unknown word, is neither posted nor silence.
#[tokio::test]
async fn an_answer_with_an_unknown_end_or_none_is_no_whole_answer() {
    for finish in BAD_ENDS {
        let is_error = finish == "\"error\"";
        let of_empty = if is_error { ChatError::Broken } else { ChatError::Withheld };
        for (text, expected) in [("Not", ChatError::Broken), ("", of_empty)] {
            let words = format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
            let end = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":{finish}}}]}}"#);
            let stream = format!("data: {words}\n\ndata: {end}\n\ndata: [DONE]\n\n");
            assert_eq!(whole(EVENTS, stream.as_bytes()).await, Err(expected.clone()), "{stream}");
            assert_eq!(whole(JSON, stream.as_bytes()).await, Err(expected.clone()), "{stream}");
            let one = format!(
                r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":{finish}}}]}}"#
            );
            assert_eq!(whole(JSON, one.as_bytes()).await, Err(expected.clone()), "{one}");
            let without = one.replace(&format!(",\"finish_reason\":{finish}"), "");
            let expected = if text.is_empty() { ChatError::Withheld } else { ChatError::Broken };
            assert_eq!(whole(JSON, without.as_bytes()).await, Err(expected), "{without}");
        }
    }
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"roll","arguments":"{}"}}]},"finish_reason":"abort"}]}"#;
    let stream = format!("data: {call}\n\ndata: [DONE]\n\n");
    assert_eq!(whole(EVENTS, stream.as_bytes()).await, Err(ChatError::Broken), "a call");
}

/// LM1: known ends, in the letter case of any endpoint, are whole answers.
#[tokio::test]
async fn an_answer_with_a_known_end_is_said_whatever_its_letter_case() {
    let ends = ["stop", "STOP", "Stop", "length", "MAX_TOKENS", "end_turn", "function_call", "eos"];
    for finish in ends {
        let words = r#"{"choices":[{"delta":{"content":"Hi."}}]}"#;
        let end = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{finish}"}}]}}"#);
        let stream = format!("data: {words}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        assert_eq!(whole(EVENTS, stream.as_bytes()).await, say("Hi."), "{finish}");
    }
    let early = r#"{"choices":[{"delta":{"content":"Not "},"finish_reason":"stop"}]}"#;
    let late = r#"{"choices":[{"delta":{"content":"yet."}}]}"#;
    let stream = format!("data: {early}\n\ndata: {late}\n\n");
    assert_eq!(whole(EVENTS, stream.as_bytes()).await, Err(ChatError::Broken), "it went on");
    let ended = format!("{stream}data: [DONE]\n\n");
    assert_eq!(whole(EVENTS, ended.as_bytes()).await, say("Not yet."));
}

/// LM4: an answer with its finish is whole, however its connection ends; one without is not.
#[tokio::test]
async fn an_answer_with_its_finish_is_taken_although_the_connection_is_cut() {
    let hi = r#"data: {"choices":[{"delta":{"content":"Hi."}}]}"#;
    let stop = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let both = r#"data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}"#;
    let half = r#"data: {"choices":[],"usa"#;
    let stream = |events: &[&str]| events.join("\n\n") + "\n\n";
    let worlds = [
        ("text/event-stream", stream(&[hi, stop]), say("Hi.")),
        ("text/event-stream", stream(&[both]), say("Hi.")),
        ("text/event-stream", stream(&[hi, stop]) + half, say("Hi.")),
        ("application/json", stream(&[hi, stop]), say("Hi.")),
        ("application/json", message(r#"{"content":"Hi."}"#), say("Hi.")),
        ("text/event-stream", stream(&[hi]), Err(ChatError::Broken)),
        ("text/event-stream", stream(&[both, hi]), Err(ChatError::Broken)),
        ("application/json", stream(&[hi]), Err(ChatError::Broken)),
        (
            "application/json",
            message(r#"{"content":"Hi."}"#).replace("stop", "abort"),
            Err(ChatError::Broken),
        ),
    ];
    for (kind, body, expected) in worlds {
        let answer = format!("{}{:x}\r\n{body}\r\n", chunked_head(kind), body.len());
        let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&asked);
        let url = serve(move |stream| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            stream.write_all(answer.as_bytes())
        });
        assert_eq!(speak(&agent(&url)).await, expected, "{kind}: {body}");
        assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1, "{kind}: {body}");
    }
}

/// LM4: signs of life after the finish are no answer that goes on, and words after it are.
#[tokio::test]
async fn an_answer_with_its_finish_is_taken_although_the_connection_stays_open() {
    const STOP: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    const BOTH: &str =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\n";
    for (pieces, seconds) in [
        (&[STOP, ": alive\n\n", ": alive\n\n"] as &'static [&'static str], 2),
        (&[BOTH, ": alive\n\n", ": alive\n\n"], 30),
    ] {
        let (url, demand) = on_demand(pieces);
        let clock = ManualClock::new();
        let began = clock.now();
        let agent = agent(&url).clock(clock.clone());
        let (reply, ()) = tokio::join!(speak(&agent), async {
            for passed in [seconds / 2, seconds - seconds / 2] {
                pause().await;
                let _ = demand.send(());
                pause().await;
                clock.advance(SECOND * passed);
            }
        });
        assert_eq!((reply, clock.now().since(began)), (say("Hi."), SECOND * seconds));
    }
}

/// LM1: an error after the first words is no end of the answer, in whichever form it is told.
#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_never_the_end_of_an_answer() {
    let reported = |code: Option<&str>| ChatError::Reported { code: code.map(Into::into) };
    let limited = ChatError::RateLimited { retry_after: None };
    let down = ChatError::Unavailable { status: 503, retry_after: None };
    let errors = [
        (r#"data: {"object":"error","message":"No.","code":40001}"#, reported(None)),
        (r#"data: {"object":"error","type":"server_error"}"#, reported(Some("server_error"))),
        (r#"data: {"object":"Error","message":"No.","code":503}"#, down.clone()),
        (r#"data: {"type":"error","message":"No."}"#, reported(None)),
        (
            r#"data: {"type":"error","error":{"type":"overloaded_error"}}"#,
            reported(Some("overloaded_error")),
        ),
        ("event: error\ndata: oops", reported(None)),
        ("event: error", reported(None)),
        ("event: error\ndata:", reported(None)),
        ("event: Error\ndata: {\"code\":429,\"message\":\"No.\"}", limited),
        ("event: error\ndata: {\"error\":{\"code\":503}}", down),
        ("event: error\ndata: [DONE]", reported(None)),
        ("data: {\"message\":\"No.\"}", ChatError::Broken),
    ];
    for (error, expected) in errors {
        let words = r#"data: {"choices":[{"delta":{"content":"Not"}}]}"#;
        for end in ["", "data: [DONE]\n\n"] {
            let stream = format!("{words}\n\n{error}\n\n{end}");
            let reply = whole(EVENTS, stream.as_bytes()).await;
            assert_eq!(reply, Err(expected.clone()), "{stream}");
            assert!(expected.is_retryable(), "{error} is asked for again");
        }
    }
}

#[tokio::test]
async fn a_stream_in_pieces_of_any_size_says_the_same() {
    let chunk = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_owned();
    let events = [chunk("Où ça ? "), chunk("日本, 👩‍👩‍👧"), stop, "[DONE]".to_owned()];
    let body: String = events.iter().flat_map(|data| [": é\r\ndata: ", data, "\r\n\r\n"]).collect();
    for size in 1..=body.len() {
        let reply = in_pieces("text/event-stream", body.as_bytes(), size).await;
        assert_eq!(reply, say("Où ça ? 日本, 👩‍👩‍👧"), "in pieces of {size}");
    }
    let body = message(r#"{"content":"Où ?"}"#);
    for size in [1, 2, 3, 50] {
        let reply = in_pieces("application/json; charset=utf-8", body.as_bytes(), size).await;
        assert_eq!(reply, say("Où ?"));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_takes_no_key_anywhere() {
    let elsewhere = serve(|_| unreachable!("nothing is asked there"));
    let head = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {elsewhere}/chat/completions\r\ncontent-length: 0\r\n\r\n"
    );
    let url = serve(move |stream| stream.write_all(head.as_bytes()));
    let agent = ChatAgent::new(Endpoint::new(url, "small").key("sk-hidden"));
    assert_eq!(speak(&agent).await, Err(ChatError::Refused { status: 307, code: None }));
}

#[tokio::test]
async fn a_compressed_answer_that_was_not_asked_for_is_no_chat_completion() {
    // "{}" as gzip has it.
    let gzip = [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 171, 174, 5, 0, 67, 191, 166, 163, 2, 0, 0, 0];
    for head in [JSON, EVENTS] {
        let reply = whole(&format!("{head}content-encoding: gzip\r\n"), &gzip).await;
        let expected = if head == JSON { ChatError::NotChat } else { ChatError::Broken };
        assert_eq!(reply, Err(expected));
    }
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up_long_before_memory_is() {
    let most = 256 * 1_024;
    let endless = |kind: &'static str, begin: &'static str, piece: String| {
        let (ended, has_ended) = channel();
        let url = serve(move |stream| {
            let mut written = 0;
            stream.write_all(chunked_head(kind).as_bytes())?;
            let mut write = |text: &str| {
                written += text.len();
                stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
            };
            let mut result = write(begin);
            while result.is_ok() {
                result = write(&piece);
            }
            ended.send(written).unwrap();
            result
        });
        (url, has_ended)
    };
    let spaces = " ".repeat(60_000);
    let letter = r#"data: {"choices":[{"delta":{"content":" "}}]}"#;
    let call = r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"roll","arguments":"{}"}}]}}]}"#;
    let worlds: [(_, Receiver<usize>); 6] = [
        endless("application/json", "{\"choices\":", spaces.clone()),
        endless("text/html", "<html>", spaces.clone()),
        endless("text/event-stream", "data: {\"choices\":", spaces),
        endless("text/event-stream", ": alive\n\n", "data:\n".repeat(10_000)),
        endless("text/event-stream", ": alive\n\n", format!("{letter}\n\n").repeat(1_000)),
        endless("text/event-stream", ": alive\n\n", format!("{call}\n\n").repeat(1_000)),
    ];
    for (at, (url, has_ended)) in worlds.into_iter().enumerate() {
        assert_eq!(speak(&agent(&url)).await, Err(ChatError::TooLong { most }), "world {at}");
        let written = soon(async {
            loop {
                // The connection is closed when there is time for it.
                pause().await;
                if let Ok(written) = has_ended.try_recv() {
                    break written;
                }
            }
        });
        let written = written.await;
        // What waits in the sockets is counted, too.
        let bound = 32 * 1_024 * 1_024;
        assert!(written < bound, "world {at}: {written} bytes were sent");
    }
}

#[tokio::test]
async fn reasoning_may_be_much_longer_than_an_answer() {
    let thought = r#"data: {"choices":[{"delta":{"reasoning":"and so on and on and on and on"}}]}"#;
    let body = format!("{thought}\n\n").repeat(15_000)
        + "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let answer = format!("{head}{body}");
    let url = serve(move |stream| stream.write_all(answer.as_bytes()));
    let agent = agent(&url).limits(|limits| limits.answer_bytes = 4_096);
    assert_eq!(speak(&agent).await, say("Hi."));
}

/// An endpoint that sends a piece each time it is told to.
pub(crate) fn on_demand(pieces: &'static [&'static str]) -> (String, Sender<()>) {
    let (demand, demanded) = channel();
    let url = serve(move |stream| {
        stream.write_all(chunked_head("text/event-stream").as_bytes())?;
        for piece in pieces.iter().cycle() {
            stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes())?;
            if demanded.recv().is_err() {
                break;
            }
        }
        Ok(())
    });
    (url, demand)
}

#[tokio::test]
async fn signs_of_life_without_an_answer_are_given_up_after_the_time_for_a_whole_answer() {
    for piece in [&[": alive\n\n"], &[" "], &["data: {\"choices\":[]}\n\n"]] {
        let (url, demand) = on_demand(piece);
        let clock = ManualClock::new();
        let agent = agent(&url).clock(clock.clone());
        let agent = agent.limits(|limits| limits.whole_answer = SECOND * 100);
        let (reply, ()) = tokio::join!(speak(&agent), async {
            for _ in 0..5 {
                pause().await;
                // Shorter than the pause that an answer may make.
                clock.advance(SECOND * 20);
                let _ = demand.send(());
            }
        });
        assert_eq!(reply, Err(ChatError::TooSlow { after: SECOND * 100 }));
        assert!(!reply.unwrap_err().is_retryable(), "the next answer would take as long");
    }
}

#[tokio::test]
async fn ten_thousand_calls_in_an_answer_are_a_few_and_one_answer_each() {
    let call = r#"{"function":{"name":"unknown","arguments":{"sides":6}}}"#;
    let calls = vec![call; 10_000].join(",");
    let body = message(&format!(r#"{{"content":null,"tool_calls":[{calls}]}}"#));
    let mut answers = [body, message(r#"{"content":"Hi."}"#)].into_iter();
    let answers = std::sync::Mutex::new(move || answers.next().unwrap());
    let url = serve(move |stream| {
        let body = answers.lock().unwrap()();
        let head = format!(
            "HTTP/1.1 200 OK\r\n{JSON}content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    });
    let agent = agent(&url).limits(|limits| limits.tool_rounds = 1);
    assert_eq!(speak(&agent).await, say("Hi."));
}
