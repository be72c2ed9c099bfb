//! This program again, as a process that can be killed.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dirigent::ChannelId;
use dirigent::store::ChannelStore;

use crate::shared::commits::{fact, stored, turn};

const ROLE: &str = "DIRIGENT_CHANNELS_ROLE";
const PATH: &str = "DIRIGENT_CHANNELS_PATH";
const CHANNELS: u64 = 4;

/// The test, by its whole name, that plays the roles of other processes before it begins, for which it asks
/// [`role`]. Under another name it would not be found, and no acknowledgement would come.
#[derive(Clone, Copy)]
pub(crate) struct Player(pub(crate) &'static str);

impl Player {
    /// This program again, as another process with a role to play.
    pub(crate) fn start(self, role: &str, path: &Path) -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", self.0, "--nocapture"]);
        command.env(ROLE, role).env(PATH, path);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Has another process write, and kills it after so many commits.
    pub(crate) fn killed_after(
        self,
        commits: u64,
        role: &str,
        path: &Path,
        known: &mut Acknowledged,
    ) {
        let mut writer = self.start(role, path);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert_eq!(ack(&mut lines).as_deref(), Some("open"));
        for _ in 0..commits {
            assert!(known.hear(&mut lines), "the other process gave up");
        }
        writer.kill().unwrap();
        while known.hear(&mut lines) {}
        writer.wait().unwrap();
    }

    /// Keeps the store open in another process while something is done.
    pub(crate) fn while_held(self, path: &Path, meanwhile: impl FnOnce()) {
        let mut first = self.start("hold", path);
        let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
        assert_eq!(ack(&mut lines).as_deref(), Some("open"));
        meanwhile();
        first.kill().unwrap();
        first.wait().unwrap();
    }
}

/// The role that this process has to play, and where.
pub(crate) fn role() -> Option<(String, String)> {
    Some((std::env::var(ROLE).ok()?, std::env::var(PATH).unwrap()))
}

/// Says that the store is open, and waits to be killed.
pub(crate) fn hold() {
    println!("\nack open");
    let _ = std::io::stdin().read(&mut [0]);
}

/// Commits turns and facts in a few channels, acknowledging each, until it is killed.
pub(crate) async fn write_for_ever(store: &dyn ChannelStore) {
    write(store, || {}).await;
}

/// The same, but does nothing after a commit until it is told to go on: what the disk has then was given
/// to it before the commit was acknowledged.
pub(crate) async fn write_and_pause(store: &dyn ChannelStore) {
    write(store, || {
        let _ = std::io::stdin().read(&mut [0]);
    })
    .await;
}

async fn write(store: &dyn ChannelStore, after_commit: impl Fn()) {
    let mut revisions = HashMap::new();
    for number in 0..CHANNELS {
        let channel = ChannelId::new(number);
        revisions.insert(channel, stored(store, channel).await.map_or(0, |(found, _)| found));
    }
    println!("\nack open");
    for number in 0_u64.. {
        let channel = ChannelId::new(number % CHANNELS);
        let revision = revisions.get_mut(&channel).unwrap();
        let is_fact = number % 7 == 0;
        if is_fact {
            fact(store, channel, *revision, *revision + 1).await;
        } else {
            turn(store, channel, *revision, *revision + 1).await;
        }
        *revision += 1;
        println!("\nack {channel} {revision} {is_fact}");
        after_commit();
    }
}

/// What is known of the channels after another process wrote.
#[derive(Default)]
pub(crate) struct Acknowledged {
    /// The newest revision of each channel that was acknowledged.
    pub(crate) made: HashMap<u64, u64>,
    /// The newest of them that was a fact.
    pub(crate) facts: HashMap<u64, u64>,
}

impl Acknowledged {
    /// Everything that was acknowledged is there, and nothing that was never asked for.
    pub(crate) async fn is_in(&self, store: &dyn ChannelStore, round: usize) {
        for (channel, made) in &self.made {
            let found = stored(store, ChannelId::new(*channel)).await;
            let (revision, mark) = found.expect("a channel is lost");
            assert_eq!(mark, revision, "what was written belongs to another commit");
            // The one that was being written may be there; nobody was told.
            assert!((*made..=made + 1).contains(&revision), "round {round}: {made} {revision}");
        }
        assert!(store.channels().await.unwrap().len() as u64 <= CHANNELS);
    }

    /// The other process wrote facts in every channel, and this many commits at least.
    pub(crate) fn is_worth_it(&self, commits: u64) {
        assert_eq!(self.facts.len() as u64, CHANNELS);
        assert!(self.made.values().sum::<u64>() > commits);
    }

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
