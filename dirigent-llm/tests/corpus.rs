//! What servers really answer: the cases of `tests/corpus`, each with the real client through a server on loopback. Its README has
//! them as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dirigent::{Agent as _, Clock as _, Reply, Turn};
use dirigent_llm::{ChatAgent, Endpoint, Tool, Toolbox};
use dirigent_testkit::ManualClock;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fixture::{SECOND, pause, soon, told, turn};

/// One conversation with a server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// What the server does, in words.
    sends: String,
    /// What it answers, one for each request; the last is given to all further ones.
    answers: Vec<Answer>,
    outcome: Outcome,
    /// How often it is asked.
    #[serde(default = "one")]
    requests: usize,
    /// The tools that are called, as `[name, arguments]`.
    #[serde(default)]
    calls: Vec<(String, Value)>,
    /// What stands in the last request, by JSON pointer; `null` for what does not stand there.
    #[serde(default)]
    last_request: BTreeMap<String, Value>,
}

const fn one() -> usize {
    1
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Reply(String),
    Pass,
    /// As `Debug` shows it.
    Error(String),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: Vec<String>,
    /// The media type.
    #[serde(default)]
    kind: Option<String>,
    /// Of a stream: objects are `data`, texts are lines as they are.
    #[serde(default)]
    events: Vec<Value>,
    /// A whole answer.
    #[serde(default)]
    json: Option<Value>,
    /// A body as it is.
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    end: End,
}

const fn ok() -> u16 {
    200
}

/// What becomes of the connection.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum End {
    #[default]
    Closed,
    Cut,
    Open,
}

impl Answer {
    fn bytes(&self) -> Vec<u8> {
        let event = |event: &Value| match event {
            Value::String(lines) => format!("{lines}\n\n"),
            data => format!("data: {data}\n\n"),
        };
        let (kind, body) = match (&self.json, &self.text) {
            (Some(json), _) => ("application/json", json.to_string()),
            (None, Some(text)) => ("text/plain", text.clone()),
            (None, None) => ("text/event-stream", self.events.iter().map(event).collect()),
        };
        let kind = self.kind.as_deref().unwrap_or(kind);
        let mut head = format!("HTTP/1.1 {} Answer\r\ncontent-type: {kind}\r\n", self.status);
        for line in &self.headers {
            head.push_str(line);
            head.push_str("\r\n");
        }
        head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n\r\n");
        let end = if self.end == End::Closed { "0\r\n\r\n" } else { "" };
        let chunk = if body.is_empty() { body } else { format!("{:x}\r\n{body}\r\n", body.len()) };
        format!("{head}{chunk}{end}").into_bytes()
    }
}

#[derive(Default)]
struct Seen {
    requests: Vec<Value>,
    answered: usize,
    /// Connections that stay open.
    open: Vec<TcpStream>,
}

/// Serves these answers; returns the base address.
fn serve(answers: Vec<Answer>, seen: Arc<Mutex<Seen>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let Some(request) = read_request(&stream) else {
                continue;
            };
            let at = {
                let mut seen = seen.lock().unwrap();
                seen.requests.push(request);
                seen.requests.len() - 1
            };
            let answer = answers.get(at).or(answers.last()).unwrap();
            let _ = stream.write_all(&answer.bytes());
            let mut seen = seen.lock().unwrap();
            seen.answered += 1;
            if answer.end == End::Open {
                seen.open.push(stream);
            }
        }
    });
    url
}

fn read_request(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Two tools that remember how they were called.
#[derive(Clone, Default)]
struct Tools(Arc<Mutex<Vec<(String, Value)>>>);

#[dirigent::async_trait]
impl Toolbox for Tools {
    fn tools(&self) -> Vec<Tool> {
        vec![Tool::new("roll", "Rolls a die."), Tool::new("draw", "Draws a card.")]
    }

    async fn call(&self, _turn: &Turn, tool: &str, arguments: Value) -> Value {
        self.0.lock().unwrap().push((tool.to_owned(), arguments));
        json!({ "done": true })
    }
}

/// What is wrong with a case, if anything is.
async fn run(case: &Case) -> Result<(), String> {
    let (seen, tools, clock) =
        (Arc::<Mutex<Seen>>::default(), Tools::default(), ManualClock::new());
    let url = serve(case.answers.clone(), Arc::clone(&seen));
    let agent = ChatAgent::new(Endpoint::new(url, "small")).clock(clock.clone());
    let agent = agent.tools(tools.clone()).limits(|limits| {
        // The server answers in real time, and time passes only where the agent waits for it.
        (limits.first_byte, limits.whole_answer) = (SECOND * 3_600, SECOND * 3_600);
        limits.between_bytes = SECOND * 500;
    });
    let time = async {
        loop {
            pause().await;
            let is_idle = {
                let seen = seen.lock().unwrap();
                seen.requests.len() == seen.answered
            };
            let soon = clock.now() + SECOND * 600;
            if is_idle && clock.next_wake().is_some_and(|wake| wake < soon) {
                clock.advance_to_next_wake();
            }
        }
    };
    let reply = tokio::select! {
        reply = soon(agent.speak(turn())) => told(reply),
        () = time => unreachable!("time passes for ever"),
    };
    let outcome = match reply {
        Ok(Reply::Say(text)) => Outcome::Reply(text),
        Ok(_) => Outcome::Pass,
        Err(error) => Outcome::Error(format!("{error:?}")),
    };
    let seen = seen.lock().unwrap();
    let calls = tools.0.lock().unwrap().clone();
    let found = (&outcome, seen.requests.len(), &calls);
    if found != (&case.outcome, case.requests, &case.calls) {
        return Err(format!("{found:?}, not {:?}", (&case.outcome, case.requests, &case.calls)));
    }
    let last = seen.requests.last().ok_or("it was not asked")?;
    for (pointer, expected) in &case.last_request {
        let told = last.pointer(pointer).unwrap_or(&Value::Null);
        if told != expected {
            return Err(format!("{pointer} is {told}, not {expected}"));
        }
    }
    Ok(())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The cases by the name of their file, which is the server's.
fn cases() -> BTreeMap<String, Vec<Case>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let server = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let cases =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{server}: {error}"));
            all.insert(server, cases);
        }
    }
    all
}

/// LM1, LM2, LM3, LM4, LM8: every server's oddities have the outcome that is written down for them.
#[tokio::test]
async fn what_servers_really_answer_has_the_right_outcome() {
    let cases = cases();
    let count: usize = cases.values().map(Vec::len).sum();
    assert!(cases.len() >= 11 && count >= 60, "{count} cases of {} servers", cases.len());
    let mut wrong = Vec::new();
    for (server, case) in
        cases.iter().flat_map(|(server, cases)| cases.iter().map(move |case| (server, case)))
    {
        if let Err(error) = run(case).await {
            wrong.push(format!("{server}, {}: {error}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_of_the_corpus_has_each_case_once() {
    let table = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let rows: BTreeSet<&str> =
        table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let outcome = |outcome: &Outcome| match outcome {
        Outcome::Reply(text) => format!("says \"{}\"", text.replace('\n', " ").replace('|', "\\|")),
        Outcome::Pass => "passes".to_owned(),
        Outcome::Error(error) => format!("`{error}`"),
    };
    let row = |server: &str, case: &Case| {
        let (calls, requests) = (case.calls.len(), case.requests);
        let sends = case.sends.replace('|', "\\|");
        format!(
            "| {server} | {} | {sends} | {} | {calls} | {requests} |",
            case.name,
            outcome(&case.outcome)
        )
    };
    let expected: Vec<String> = cases()
        .iter()
        .flat_map(|(server, cases)| cases.iter().map(|case| row(server, case)).collect::<Vec<_>>())
        .collect();
    let names: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
    assert_eq!(names.len(), expected.len(), "a case is there twice");
    let missing: Vec<_> = names.difference(&rows).collect();
    let too_many: Vec<_> =
        rows.difference(&names).filter(|row| !row.starts_with("| ---")).collect();
    assert!(missing.is_empty(), "these rows are missing:\n{missing:#?}");
    assert!(too_many.is_empty(), "these rows have no case: {too_many:#?}");
}
