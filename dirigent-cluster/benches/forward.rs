//! What a question to another process takes, over a NATS server on loopback, at a steady rate: may this agent speak? Each is asked in
//! a channel of its own in which it is the agent's turn, so that each is a grant by the other process's machine, with its commit.
//!
//! `cargo bench -p dirigent-cluster --features nats --bench forward` prints one line of JSON, and fails above the bar. Each question is
//! asked when its time has come, however long the others take, and is counted from then.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![expect(clippy::disallowed_methods, reason = "a bench measures real time")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use dirigent::hooks::RunId;
use dirigent::operate::CreatedChannel;
use dirigent::ports::Identity;
use dirigent::{AgentId, ChatMessage, Dirigent, MemoryIdentities, Mode, SystemClock};
use dirigent_cluster::Nats;
use dirigent_relay::rules::CheckTurn;
use dirigent_relay::{Client, Keyring, Master, Secret, Server};
use dirigent_testkit::MemoryDiscord;
use dirigent_verify::nats::NatsServer;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What 99 of 100 questions may take.
const BAR: Duration = Duration::from_millis(5);

/// The agents of the channels: the first one has the floor where a person wrote.
const AGENTS: [&str; 2] = ["poet", "critic"];

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
    let Some(nats) = NatsServer::start("").unwrap() else { return ExitCode::SUCCESS };
    let is_test = matches.get_flag("test");
    let rate: u64 = *matches.get_one("rate").unwrap();
    let seconds: u64 = *matches.get_one("seconds").unwrap();
    let count = if is_test { 100 } else { rate * seconds };
    let warm = if is_test { 10 } else { rate };
    let (client, turns) = other_process(&nats, warm + count).await;
    let (first, turns) = turns.split_at(usize::try_from(warm).unwrap());
    ask(&client, rate, first).await;
    let mut took = ask(&client, rate, turns).await;
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

/// Asks at this rate; returns how long each question took from when it was due.
async fn ask(client: &Client, rate: u64, turns: &[CheckTurn]) -> Vec<Duration> {
    let (due, mut dues) = mpsc::unbounded_channel();
    let turns = turns.to_vec();
    // A thread of its own: the timers of the runtime are exact to a millisecond, which is more than a question takes.
    let pace = std::thread::spawn(move || {
        let start = Instant::now();
        for (number, turn) in (0..).zip(turns) {
            let next = start + Duration::from_nanos(1_000_000_000 * number / rate);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            due.send((turn, next)).unwrap();
        }
    });
    let mut questions = JoinSet::new();
    while let Some((turn, due)) = dues.recv().await {
        let client = client.clone();
        questions.spawn(async move {
            let answer = client.ask(&"bot-1".parse().unwrap(), &turn).await.unwrap();
            assert!(answer.allowed && answer.holds_floor, "{answer:?}");
            due.elapsed()
        });
    }
    pace.join().unwrap();
    questions.join_all().await
}

/// A library that acts for as many channels, in each of which a person wrote; and whose turn it is there.
async fn library(channels: u64) -> (Master, Vec<CheckTurn>) {
    let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
    let (person, moderator) = (discord.add_human(), discord.add_bot());
    let accounts = AGENTS.map(|_| discord.add_bot());
    let identities = AGENTS.into_iter().zip(accounts).map(|(agent, account)| Identity {
        discord_user_id: account,
        agent_id: agent.into(),
        agent_name: agent.to_owned(),
    });
    let registry = Arc::new(MemoryIdentities::with(identities).unwrap());
    let built = Dirigent::builder(discord.account(moderator)).identities(registry.clone()).build();
    let (dirigent, driver) = built.unwrap();
    tokio::spawn(driver.run());
    let guild = discord.add_guild(person);
    let everyone = [person, moderator, accounts[0], accounts[1]];
    let members = AGENTS.map(AgentId::from).to_vec();
    let mut turns = Vec::new();
    for number in 0..channels {
        let id = discord.add_channel(guild, &format!("room-{number}"), &everyone);
        let channel = dirigent.channel(id);
        let chat = CreatedChannel {
            mode: Mode::Chat,
            members: members.clone(),
            ..CreatedChannel::default()
        };
        channel.register(chat).await.unwrap();
        let word = discord.say(id, person, "Hello");
        dirigent.message_created(ChatMessage::new(word, id, person, "Hello")).await.unwrap();
        let speaker = channel.status().await.unwrap().and_then(|status| status.speaker);
        let run_id = Some(RunId::new(number));
        turns.push(CheckTurn { agent_id: speaker.unwrap(), channel_id: id, run_id });
    }
    (Master::new(dirigent, registry), turns)
}

/// One process that asks, and another that acts for as many channels; what is to be asked, once each.
async fn other_process(nats: &NatsServer, channels: u64) -> (Client, Vec<CheckTurn>) {
    let (master, turns) = library(channels).await;
    let cluster = Secret::new(&[1; 32]).unwrap();
    let keys = Keyring::of_cluster("bot-1".parse().unwrap(), &cluster);
    let server = Server::with_start(keys, Secret::new(&[2; 32]).unwrap()).with(Arc::new(master));
    let connect = async || {
        let connection = async_nats::connect(nats.address()).await.unwrap();
        Nats::new(connection, &"bench".parse().unwrap())
    };
    let (there, here) = (connect().await, connect().await);
    tokio::spawn(there.serve(Arc::new(server)));
    let keys = Keyring::of_cluster("bot-2".parse().unwrap(), &cluster);
    (Client::new(keys, Arc::new(here), Arc::new(SystemClock::new())), turns)
}
