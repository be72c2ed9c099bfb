//! Processes that are killed.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dirigent::{ChannelId, ChannelStore};
use dirigent_store::{ChannelOptions, JsonChannels, OpenError};
use dirigent_testkit::check::Random;

use crate::place::{Place, fact, stored, turn};

const ROLE: &str = "DIRIGENT_CHANNELS_ROLE";
const PATH: &str = "DIRIGENT_CHANNELS_PATH";
const CHANNELS: u64 = 4;

/// This program again, as another process with a role to play.
pub(crate) fn other_process(role: &str, path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crash::the_other_process", "--nocapture"]);
    command.env(ROLE, role).env(PATH, path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Not a test by itself: what the other processes of the tests here do. Without a role nothing.
#[tokio::test]
async fn the_other_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let path = std::env::var(PATH).unwrap();
    if role == "hold" {
        let _store = JsonChannels::open(path.as_str()).unwrap();
        println!("\nack open");
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }
    // "write <milliseconds>": turns are synced after so long.
    let wait = role.strip_prefix("write ").unwrap().parse().unwrap();
    let options = ChannelOptions::new(path).sync_after(Duration::from_millis(wait));
    let store = JsonChannels::open(options).unwrap();
    let mut revisions = HashMap::new();
    for number in 0..CHANNELS {
        let channel = ChannelId::new(number);
        revisions.insert(channel, stored(&store, channel).await.map_or(0, |(found, _)| found));
    }
    println!("\nack open");
    for number in 0_u64.. {
        let channel = ChannelId::new(number % CHANNELS);
        let revision = revisions.get_mut(&channel).unwrap();
        let is_fact = number % 7 == 0;
        if is_fact {
            fact(&store, channel, *revision, *revision + 1).await;
        } else {
            turn(&store, channel, *revision, *revision + 1).await;
        }
        *revision += 1;
        println!("\nack {channel} {revision} {is_fact}");
    }
}

/// What is known of the channels after another process wrote.
#[derive(Default)]
pub(crate) struct Known {
    /// The newest revision of each channel that was acknowledged.
    pub(crate) made: HashMap<u64, u64>,
    /// The newest of them that was a fact.
    pub(crate) facts: HashMap<u64, u64>,
}

impl Known {
    /// Takes in what the other process says next; `false` when it says no more.
    pub(crate) fn hear(
        &mut self,
        lines: &mut impl Iterator<Item = std::io::Result<String>>,
    ) -> bool {
        let Some(line) = ack(lines) else {
            return false;
        };
        let words: Vec<_> = line.split(' ').collect();
        let [channel, revision, is_fact] = words[..] else { panic!("{line}") };
        let (channel, revision) = (channel.parse().unwrap(), revision.parse().unwrap());
        self.made.insert(channel, revision);
        if is_fact == "true" {
            self.facts.insert(channel, revision);
        }
        true
    }
}

/// What another process acknowledges next. A line that was cut short acknowledges nothing.
pub(crate) fn ack(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> Option<String> {
    lines.find_map(|line| line.unwrap().strip_prefix("ack ").map(str::to_owned))
}

#[test]
fn a_second_process_is_kept_out_until_the_first_ends() {
    let place = Place::new();
    let mut first = other_process("hold", place.root());
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    assert_eq!(ack(&mut lines).as_deref(), Some("open"));
    let error = JsonChannels::open(place.root()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    first.kill().unwrap();
    first.wait().unwrap();
    place.lazy();
}

/// R046, R143, D77
#[tokio::test]
async fn a_process_killed_at_any_point_loses_nothing_it_acknowledged() {
    let place = Place::new();
    let mut random = Random::new(0x6b69_6c6c);
    let mut known = Known::default();
    for round in 0..60 {
        // Without a wait, with a short one, and longer than the process lives.
        let wait = [0, 3, 60_000][round % 3];
        let mut writer = other_process(&format!("write {wait}"), place.root());
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert_eq!(ack(&mut lines).as_deref(), Some("open"));
        for _ in 0..random.draw() % 40 {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        writer.kill().unwrap();
        while known.hear(&mut lines) {}
        writer.wait().unwrap();
        let store = place.lazy();
        for (channel, made) in &known.made {
            let found = stored(&store, ChannelId::new(*channel)).await;
            let (revision, mark) = found.expect("a channel is lost");
            assert_eq!(mark, revision, "what was written belongs to another commit");
            // The one that was being written may be there; nobody was told.
            assert!((*made..=made + 1).contains(&revision), "round {round}: {made} {revision}");
        }
        assert_eq!(store.problems(), [], "round {round}: something was half written");
        assert!(store.channels().await.unwrap().len() as u64 <= CHANNELS);
        store.close().await.unwrap();
        let strays = place.names().into_iter().filter(|name| name.starts_with('.'));
        assert_eq!(strays.count(), 0);
    }
    assert!(known.facts.len() as u64 == CHANNELS && known.made.values().sum::<u64>() > 500);
}
