//! Measures the store of channels that `common` opens.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::common::{Given, Kind, Open, Options, STORES};
use dirigent::hooks::TurnId;
use dirigent::operate::{Cause, Transition};
use dirigent::ports::Timestamp;
use dirigent::snapshot::PhaseKind;
use dirigent::store::{ChannelRecord, Commit, Durability, Revision};
use dirigent::{ChannelId, Config, Mode};
use dirigent_core::{AgentKey, Creation, Input, RunId, TurnMachine, WakeCause};
use futures_util::StreamExt as _;

/// Returns the record of a chat of four agents. The first one has the floor.
fn record() -> ChannelRecord {
    let members = [0, 1, 2, 3].map(AgentKey::new).to_vec();
    let inputs = [
        Input::Create(Creation { mode: Mode::Chat, members, initiator: None }),
        Input::Wake { first: None, cause: WakeCause::Operator },
        Input::Gate { agent: Some(AgentKey::new(0)), run: Some(RunId::new(5)), latest: None },
    ];
    let mut channel = TurnMachine::new(Config::default().into(), 7);
    let mut effects = Vec::new();
    for (input, second) in inputs.iter().zip(1_700_000_000..) {
        let now = Timestamp::from_millis(second * 1_000);
        channel.handle(now, input, &mut effects).expect("a sound input");
    }
    let mut record = ChannelRecord::default();
    record.snapshot.clone_from(channel.snapshot());
    record
}

/// Numbers channels as Discord does.
fn id(number: usize) -> ChannelId {
    ChannelId::new((1_000_000_000_000 + number as u64 * 137) << 22)
}

fn commit(number: usize, expected: u64, durability: Durability) -> Commit {
    let expected = Revision::new(expected);
    Commit {
        channel: id(number),
        expected,
        record: record().into(),
        durability,
        transitions: Vec::new().into(),
        replaces_damaged: false,
    }
}

/// Returns the transitions that an average save of a turn adds to the history.
fn transitions() -> Vec<Transition> {
    let change = |from, to, cause| Transition {
        at: Timestamp::from_millis(1_700_000_000_000),
        from,
        to,
        agent: Some(AgentKey::new(0)),
        turn: TurnId::new(7),
        cause,
    };
    vec![
        change(PhaseKind::Confirming, PhaseKind::Granted, Cause::TailMatched),
        change(PhaseKind::Granted, PhaseKind::Granted, Cause::NextInList),
    ]
}

/// Fills the store. Does not sync if the store leaves the choice to its user.
async fn fill(kind: Kind, path: &Path, channels: usize) {
    let open = kind.open(path, false);
    let store = &open.store();
    for name in ["poet", "critic", "home-developer", "scribe"] {
        store.add_agent(name.into()).await.unwrap();
    }
    let saved = futures_util::stream::iter(0..channels);
    let save = |number| store.commit(commit(number, 0, Durability::Turn));
    saved
        .for_each_concurrent(64, |number| async move { save(number).await.map(drop).unwrap() })
        .await;
    open.close().await;
    // Otherwise the writes that the system still has to make would be measured, too.
    let _ = std::process::Command::new("sync").arg("-f").arg(path).status();
}

struct Loaded {
    opened: Duration,
    one_by_one: Duration,
    together: Duration,
}

/// Opens the store and loads everything: first one channel after the other, then 64 at a time.
async fn load(kind: Kind, path: &Path, channels: usize) -> Loaded {
    let begin = Instant::now();
    let open = kind.open(path, true);
    let store = open.store();
    let opened = begin.elapsed();
    let known = store.channels().await.unwrap();
    assert_eq!(known.len(), channels);
    for channel in &known {
        assert!(store.load(*channel).await.unwrap().is_some());
    }
    let one_by_one = begin.elapsed();
    open.close().await;
    drop(store);
    let begin = Instant::now();
    let open = kind.open(path, true);
    let store = open.store();
    let known = store.channels().await.unwrap();
    let loads = futures_util::stream::iter(&known).map(|channel| store.load(*channel));
    let found = loads.buffer_unordered(64).filter(|found| {
        let is_there = found.as_ref().unwrap().is_some();
        async move { is_there }
    });
    assert_eq!(found.count().await, channels);
    let together = begin.elapsed();
    open.close().await;
    Loaded { opened, one_by_one, together }
}

/// Measures how long each save takes for its caller. Returns the median and the 99th percentile in milliseconds.
async fn saves(open: Open, count: usize, channels: usize, durability: Durability) -> (f64, f64) {
    let store = open.store();
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let mut commit = commit(number % channels, (number / channels) as u64, durability);
        commit.transitions = transitions().into();
        let at = Instant::now();
        store.commit(commit).await.expect("a commit");
        times.push(at.elapsed().as_secs_f64() * 1e3);
    }
    open.close().await;
    times.sort_by(f64::total_cmp);
    (times[count / 2], times[count * 99 / 100])
}

/// The result for channels that talk at the same time.
struct Talking {
    channels: usize,
    commits_a_second: f64,
    /// The time that a commit takes for its caller, in milliseconds.
    p50: f64,
    p99: f64,
}

/// Lets this number of channels commit at the same time. Each one makes its next commit a rest after the answer to its
/// last one. One commit in eight is a fact and the others are turns, which is the most facts that a talk has.
async fn talk(open: Open, channels: usize, commits: usize, rest: Duration) -> Talking {
    let store = &open.store();
    let rounds = commits.div_ceil(channels);
    let times = &Mutex::new(Vec::with_capacity(rounds * channels));
    let begin = Instant::now();
    let channel = |number| async move {
        // The channels do not start in step.
        tokio::time::sleep(rest.mul_f64(number as f64 / channels as f64)).await;
        for round in 0..rounds {
            let is_fact = (round + number) % 8 == 0;
            let durability = if is_fact { Durability::Fact } else { Durability::Turn };
            let mut commit = commit(number, round as u64, durability);
            commit.transitions = transitions().into();
            let at = Instant::now();
            store.commit(commit).await.expect("a commit");
            times.lock().unwrap().push(at.elapsed().as_secs_f64() * 1e3);
            tokio::time::sleep(rest).await;
        }
    };
    futures_util::stream::iter(0..channels).for_each_concurrent(None, channel).await;
    let mut times = std::mem::take(&mut *times.lock().unwrap());
    let commits_a_second = times.len() as f64 / begin.elapsed().as_secs_f64();
    open.close().await;
    times.sort_by(f64::total_cmp);
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    Talking { channels, commits_a_second, p50, p99 }
}

/// All stores but the one in memory.
const KEPT: &[&str] = STORES.split_at(STORES.len() - 1).0;

fn flags() -> Given {
    Options::new("store", "How fast a store is opened, loaded and written, as a line of JSON")
        .number("channels", 100_000, "How many channels are opened and loaded")
        .number("turns", 10_000, "How many saves of turns")
        .number("facts", 200, "How many saves of facts")
        .number(
            "commits",
            10_000,
            "How many commits of 10, 100 and 1,000 channels that talk at once",
        )
        .number("rest-ms", 0, "How long each of them rests between two commits")
        .word("store", KEPT, "Which store")
        .word("durability", &["full", "none"], "Whether a commit waits for the disk")
        .folder("folder", "Where the store is made, if not where temporary files are")
        .read()
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let options = flags();
    let (channels, turns) = (options.number("channels"), options.number("turns"));
    let facts = options.number("facts");
    let home = match options.text("folder") {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let kind = Kind::of(options.text("store"));
    let waits = options.text("durability") != Some("none");
    let many = home.path().join("many");
    fill(kind, &many, channels).await;
    let Loaded { opened, one_by_one, together: loaded } = load(kind, &many, channels).await;
    let open = |name: &str| kind.open(&home.path().join(name), waits);
    let (turn_p50, turn_p99) = saves(open("turns"), turns, 100, Durability::Turn).await;
    let (fact_p50, fact_p99) = saves(open("facts"), facts, 10, Durability::Fact).await;
    let commits = options.number("commits");
    let rest = Duration::from_millis(options.number("rest-ms") as u64);
    let mut talks = Vec::new();
    for channels in [10, 100, 1_000] {
        let store = open(&format!("talk-{channels}"));
        let Talking { channels, commits_a_second, p50, p99 } =
            talk(store, channels, commits, rest).await;
        talks.push(format!(
            "{{\"channels\": {channels}, \"commits_a_second\": {commits_a_second:.0}, \"p50_ms\": {p50:.2}, \"p99_ms\": {p99:.2}}}"
        ));
    }
    println!(
        "{{\"store\": \"{}\", \"channels\": {channels}, \"open_s\": {:.3}, \"open_and_load_one_by_one_s\": {:.3}, \
         \"open_and_load_64_at_a_time_s\": {:.3}, \"turns\": {turns}, \"turn_p50_ms\": {turn_p50:.3}, \
         \"turn_p99_ms\": {turn_p99:.3}, \"facts\": {facts}, \"fact_p50_ms\": {fact_p50:.3}, \
         \"fact_p99_ms\": {fact_p99:.3}, \
         \"talking\": [{}]}}",
        options.text("store").unwrap_or_default(),
        opened.as_secs_f64(),
        one_by_one.as_secs_f64(),
        loaded.as_secs_f64(),
        talks.join(", "),
    );
}
