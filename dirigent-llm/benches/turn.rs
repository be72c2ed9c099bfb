//! Measures the CPU time that this crate adds to a turn with 50 messages of 200 characters and a streamed answer of 40
//! tokens.
//!
//! `cargo bench -p dirigent-llm --bench turn` prints one line of JSON, and fails if a turn costs more than the bar.
//! Each round takes a turn, then sends the same request with the same client and reads the answer without looking into
//! it. The difference between their CPU times on the client's thread is what the crate adds. With `--only turn` or
//! `--only request` you run just one of the two, for example under a tool that counts instructions.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![allow(clippy::future_not_send, reason = "it measures the time of its own thread")]

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgAction, Command, value_parser};
use cpu_time::ThreadTime;
use dirigent::hooks::TurnId;
use dirigent::ports::Identity;
use dirigent::{Agent as _, ChannelId, ChatMessage, MessageId, Reply, Turn, UserId};
use dirigent_llm::script::{LoopbackLlm, ScriptedAnswer};
use dirigent_llm::{ChatAgent, Endpoint};
use futures_util::StreamExt as _;

/// The most CPU time that a turn may add.
const BAR: Duration = Duration::from_micros(50);
const WORDS: usize = 40;

fn main() -> ExitCode {
    let rounds = Arg::new("rounds").long("rounds").value_name("N");
    let matches = Command::new("turn")
        .about("CPU that the crate adds to a turn, as a line of JSON")
        .arg(rounds.default_value("2000").value_parser(value_parser!(usize)).help("How many turns"))
        .arg(Arg::new("test").long("test").action(ArgAction::SetTrue).help("One turn, and no bar"))
        .arg(Arg::new("only").long("only").value_name("PART").value_parser(["turn", "request"]))
        .arg(Arg::new("bench").long("bench").action(ArgAction::SetTrue).hide(true))
        .get_matches();
    let is_test = matches.get_flag("test");
    let rounds = if is_test { 1 } else { matches.get_one("rounds").copied().unwrap_or(1) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (request, answer) = runtime.block_on(exchange());
    let url = serve(&answer);
    let only = matches.get_one::<String>("only").map(String::as_str);
    let parts = ["turn", "request"].map(|part| only.is_none_or(|only| only == part));
    let (turn, bare) = runtime.block_on(measure(&url, &request, rounds.max(1), parts));
    let added = turn.saturating_sub(bare);
    println!(
        "{{\"rounds\": {rounds}, \"turn_us\": {}, \"bare_request_us\": {}, \"added_us\": {}, \"bar_us\": {}}}",
        turn.as_micros(),
        bare.as_micros(),
        added.as_micros(),
        BAR.as_micros()
    );
    if is_test || only.is_some() || added <= BAR { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the median CPU times of a turn and of a bare request.
async fn measure(
    url: &str,
    body: &str,
    rounds: usize,
    [does_turns, does_requests]: [bool; 2],
) -> (Duration, Duration) {
    let agent = ChatAgent::new(Endpoint::new(url, "small")).persona("You are a poet.");
    let (turn, client) = (turn(), reqwest::Client::builder().no_proxy());
    let client = with_tls(client).build().unwrap();
    let address = format!("{url}/chat/completions");
    let (mut turns, mut requests) = (Vec::new(), Vec::new());
    for _ in 0..rounds + rounds / 10 {
        if does_turns {
            let began = ThreadTime::now();
            let reply = agent.speak(turn.clone()).await.unwrap();
            turns.push(began.elapsed());
            assert!(matches!(reply, Reply::Say(_)));
        }
        if does_requests {
            let began = ThreadTime::now();
            let request = client.post(&address).header("content-type", "application/json");
            let response = request.body(body.to_owned()).send().await.unwrap();
            let mut pieces = response.bytes_stream();
            while let Some(piece) = pieces.next().await {
                std::hint::black_box(piece.unwrap());
            }
            requests.push(began.elapsed());
        }
    }
    (median(turns), median(requests))
}

#[cfg(feature = "tls")]
fn with_tls(client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let roots = rustls::RootCertStore::empty();
    client.tls_backend_preconfigured(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(not(feature = "tls"))]
fn with_tls(client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
    client
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Makes a turn that follows 50 messages of 200 characters, written by two agents and a person.
fn turn() -> Turn {
    let identity = |user, name: &str| Identity {
        discord_user_id: UserId::new(user),
        agent_id: name.into(),
        agent_name: name.to_owned(),
    };
    let words = "the sea is wide and the boat is small, ".repeat(6);
    let text: Arc<str> = words.get(..200).unwrap().into();
    let message = |id: usize| {
        let name = ["poet", "critic", "Ann"].into_iter().nth(id % 3).unwrap_or_default();
        let id = id as u64;
        Arc::new(ChatMessage {
            author_name: Some(name.into()),
            ..ChatMessage::new(
                MessageId::new(id),
                ChannelId::new(9),
                UserId::new(id % 3 + 1),
                Arc::clone(&text),
            )
        })
    };
    Turn::new(ChannelId::new(9), "poet".into(), TurnId::new(1))
        .with_agents(vec![identity(1, "poet"), identity(2, "critic")])
        .with_history((1..=50).map(message).collect())
}

/// Returns the agent's request and the stream that answers it: 40 words in as many chunks.
async fn exchange() -> (String, String) {
    let model = LoopbackLlm::start().await.unwrap();
    model.cycle([ScriptedAnswer::text("word ".repeat(WORDS))]);
    let agent = ChatAgent::new(Endpoint::new(model.url(), "small")).persona("You are a poet.");
    agent.speak(turn()).await.unwrap();
    let request = model.requests().first().unwrap().body.to_string();
    let client = with_tls(reqwest::Client::builder().no_proxy()).build().unwrap();
    let sent = client.post(format!("{}/chat/completions", model.url())).body(request.clone());
    (request, sent.send().await.unwrap().text().await.unwrap())
}

/// Answers every request with all of these events at once, and returns the base address. It runs on a thread of its
/// own, so that its time is not measured. A server that sent each chunk by itself would wake the client more or less
/// often, depending on the machine.
fn serve(events: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length";
    let answer = format!("{head}: {}\r\n\r\n{events}", events.len());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            std::thread::spawn(move || {
                let _ = stream.set_nodelay(true);
                let mut reader = BufReader::new(&stream);
                while let Some(length) = content_length(&mut reader) {
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    (&stream).write_all(answer.as_bytes()).unwrap();
                }
            });
        }
    });
    url
}

/// Reads the head of a request and returns its `content-length`.
fn content_length(reader: &mut impl BufRead) -> Option<usize> {
    let mut length = None;
    for line in reader.lines().map_while(Result::ok) {
        match line.to_ascii_lowercase().strip_prefix("content-length:") {
            Some(number) => length = number.trim().parse().ok(),
            None if line.is_empty() => return length,
            None => {}
        }
    }
    None
}
