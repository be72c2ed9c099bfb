//! Measures a store of channels: the one that `common` opens.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{Given, Kind, Open, Options, STORES};
use dirigent::hooks::TurnId;
use dirigent::operate::{Cause, Transition};
use dirigent::ports::Timestamp;
use dirigent::snapshot::PhaseKind;
use dirigent::store::{ChannelRecord, Commit, Durability, Revision};
use dirigent::{ChannelId, Config, Mode};
use dirigent_core::{AgentKey, Creation, Input, RunId, TurnMachine, WakeCause};
use dirigent_store::FileDurability;
use futures_util::StreamExt as _;

/// A chat of four in which the first has the floor.
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
    channel.snapshot_into(&mut record.snapshot);
    record
}

/// As Discord numbers channels.
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

/// What a turn's save tells the history, on the average.
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

/// Fills the store without syncs, which would take an hour.
async fn fill(kind: Kind, path: &Path, channels: usize) {
    let open = kind.open(path, FileDurability::None);
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
    // What the system still has to write would be measured along.
    let _ = std::process::Command::new("sync").arg("-f").arg(path).status();
}

struct Loaded {
    opened: Duration,
    one_by_one: Duration,
    together: Duration,
}

/// Opens, and loads everything: one after the other, and 64 at a time.
async fn load(kind: Kind, path: &Path, channels: usize) -> Loaded {
    let begin = Instant::now();
    let open = kind.open(path, FileDurability::Full);
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
    let open = kind.open(path, FileDurability::Full);
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

/// How long each save took, as its caller sees it, in milliseconds: median and 99th percentile.
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

/// How many commits a second a thousand channels make together, each its next when its last was
/// answered; a fact among eight turns, as a talk has it at the most.
async fn together(open: Open, commits: usize, channels: usize) -> f64 {
    let store = &open.store();
    let rounds = commits.div_ceil(channels);
    let begin = Instant::now();
    let channel = |number| async move {
        for round in 0..rounds {
            let is_fact = (round + number) % 8 == 0;
            let durability = if is_fact { Durability::Fact } else { Durability::Turn };
            let mut commit = commit(number, round as u64, durability);
            commit.transitions = transitions().into();
            store.commit(commit).await.expect("a commit");
        }
    };
    futures_util::stream::iter(0..channels).for_each_concurrent(None, channel).await;
    let made = u32::try_from(rounds * channels).expect("fewer commits");
    let rate = f64::from(made) / begin.elapsed().as_secs_f64();
    open.close().await;
    rate
}

/// All but the one in memory.
const KEPT: &[&str] = STORES.split_at(STORES.len() - 1).0;

fn flags() -> Given {
    Options::new("store", "How fast a store is opened, loaded and written, as a line of JSON")
        .number("channels", 100_000, "How many channels are opened and loaded")
        .number("turns", 10_000, "How many saves of turns")
        .number("facts", 200, "How many saves of facts")
        .number("commits", 10_000, "How many commits of 1,000 channels at once")
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
    let durability = match options.text("durability") {
        Some("none") => FileDurability::None,
        _ => FileDurability::Full,
    };
    let many = home.path().join("many");
    fill(kind, &many, channels).await;
    let Loaded { opened, one_by_one, together: loaded } = load(kind, &many, channels).await;
    let open = |name| kind.open(&home.path().join(name), durability);
    let (turn_p50, turn_p99) = saves(open("turns"), turns, 100, Durability::Turn).await;
    let (fact_p50, fact_p99) = saves(open("facts"), facts, 10, Durability::Fact).await;
    let commits = options.number("commits");
    let rate = together(open("together"), commits, 1_000.min(commits)).await;
    println!(
        "{{\"store\": \"{}\", \"channels\": {channels}, \"open_s\": {:.3}, \"open_and_load_one_by_one_s\": {:.3}, \
         \"open_and_load_64_at_a_time_s\": {:.3}, \"turns\": {turns}, \"turn_p50_ms\": {turn_p50:.3}, \
         \"turn_p99_ms\": {turn_p99:.3}, \"facts\": {facts}, \"fact_p50_ms\": {fact_p50:.3}, \
         \"fact_p99_ms\": {fact_p99:.3}, \
         \"commits_a_second_of_1000_channels\": {rate:.0}}}",
        options.text("store").unwrap_or_default(),
        opened.as_secs_f64(),
        one_by_one.as_secs_f64(),
        loaded.as_secs_f64(),
    );
}
