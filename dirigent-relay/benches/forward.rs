//! What a question to another process takes, over HTTP/2 and TLS on loopback, at a steady rate.
//!
//! `cargo bench -p dirigent-relay --features http --bench forward` prints one line of JSON, and fails above the bar. Each question is
//! asked when its time has come, however long the others take, and is counted from then.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use dirigent::{SystemClock, async_trait};
use dirigent_relay::http::{ClientTls, HttpRelay, HttpServer, ServerTls};
use dirigent_relay::{Asker, Client, Keyring, Question, Refused, Secret, Server, Service};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What 99 of 100 questions may take.
const BAR: Duration = Duration::from_millis(5);

/// What is asked: about as large as a question of an agent whether it may speak.
#[derive(Serialize, Deserialize)]
struct Asked {
    channel: u64,
    agent: String,
    run: u64,
}

impl Question for Asked {
    const RULE: &'static str = "asked";
    type Answer = Told;
}

/// What is answered.
#[derive(Serialize, Deserialize)]
struct Told {
    allowed: bool,
    reason: String,
}

fn asked(number: u64) -> Asked {
    Asked { channel: 1_234_567_890_123_456_789, agent: "poet".to_owned(), run: number }
}

/// Answers at once, so that the relay alone is measured.
struct Answers;

#[async_trait]
impl Service for Answers {
    fn rules(&self) -> &'static [&'static str] {
        &[Asked::RULE]
    }

    async fn serve(&self, _: &Asker, _: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        let asked: Asked = serde_json::from_slice(question).unwrap();
        let told = Told { allowed: true, reason: format!("run {} may begin", asked.run) };
        Ok(serde_json::to_vec(&told).unwrap())
    }
}

fn main() -> ExitCode {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .default_value(default)
            .value_parser(value_parser!(u64).range(1..))
            .help(help)
    };
    let matches = Command::new("forward")
        .about("What a question to another process takes, as a line of JSON")
        .arg(number("rate", "1000", "How many questions a second"))
        .arg(number("seconds", "10", "For how long, after a second to warm up"))
        .arg(Arg::new("test").long("test").action(ArgAction::SetTrue).help("A moment, and no bar"))
        .arg(Arg::new("bench").long("bench").action(ArgAction::SetTrue).hide(true))
        .get_matches();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(measured(&matches))
}

async fn measured(matches: &ArgMatches) -> ExitCode {
    let is_test = matches.get_flag("test");
    let rate: u64 = *matches.get_one("rate").unwrap();
    let seconds: u64 = *matches.get_one("seconds").unwrap();
    let count = if is_test { 100 } else { rate * seconds };
    let client = client().await;
    ask(&client, rate, if is_test { 10 } else { rate }).await;
    let mut took = ask(&client, rate, count).await;
    took.sort_unstable();
    let at = |share: f64| took.get(rank(took.len(), share)).copied().unwrap_or_default();
    let (middle, most, nearly_all) = (at(0.5), at(0.99), at(0.999));
    println!(
        "{{\"questions\": {count}, \"rate\": {rate}, \"p50_us\": {}, \"p99_us\": {}, \"p999_us\": {}, \"max_us\": {}, \"bar_p99_us\": {}}}",
        middle.as_micros(),
        most.as_micros(),
        nearly_all.as_micros(),
        at(1.0).as_micros(),
        BAR.as_micros()
    );
    if is_test || most <= BAR { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a place in a list of some thousands"
)]
fn rank(count: usize, share: f64) -> usize {
    ((count as f64 * share).ceil() as usize).clamp(1, count.max(1)) - 1
}

/// Asks so many questions at this rate; returns how long each took from when it was due.
async fn ask(client: &Client, rate: u64, count: u64) -> Vec<Duration> {
    let (due, mut dues) = mpsc::unbounded_channel();
    // A thread of its own: the timers of the runtime are exact to a millisecond, which is more than a question takes.
    let pace = std::thread::spawn(move || {
        let start = Instant::now();
        for number in 0..count {
            let next = start + Duration::from_nanos(1_000_000_000 * number / rate);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            due.send((number, next)).unwrap();
        }
    });
    let mut questions = JoinSet::new();
    while let Some((number, due)) = dues.recv().await {
        let client = client.clone();
        questions.spawn(async move {
            let told = client.ask(&"bot-1".parse().unwrap(), &asked(number)).await.unwrap();
            assert!(told.allowed);
            due.elapsed()
        });
    }
    pace.join().unwrap();
    questions.join_all().await
}

/// Of one process that asks another.
async fn client() -> Client {
    let cluster = Secret::new(&[1; 32]).unwrap();
    let keys = Keyring::of_cluster("bot-1".parse().unwrap(), &cluster);
    let server = Server::new(keys, Secret::new(&[2; 32]).unwrap()).with(Arc::new(Answers));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let chain = made.cert.pem();
    let tls = ServerTls::new(chain.as_bytes(), made.signing_key.serialize_pem().as_bytes());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = HttpServer::builder(Arc::new(server), tls.unwrap()).build();
    tokio::spawn(server.serve(listener));

    let tls = ClientTls::trusting(chain.as_bytes()).unwrap();
    let addresses = move |_: &_| format!("localhost:{port}").parse().ok();
    let (relay, link) = HttpRelay::builder(addresses, tls).build();
    tokio::spawn(link.run());
    let keys = Keyring::of_cluster("bot-2".parse().unwrap(), &cluster);
    Client::new(keys, Arc::new(relay), Arc::new(SystemClock::new()))
}
