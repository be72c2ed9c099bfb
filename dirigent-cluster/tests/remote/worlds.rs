//! Worlds drawn from numbers: a way that loses, doubles and delays, processes that end and come back, a channel that changes hands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{Clock, Reply, Turn};
use dirigent_testkit::{Random, told};

use super::fixture::{Hall, Home, Owner, Speaker, named};
use super::way::{Faults, Ways};
use crate::fleet::SECOND;

/// What agents heard before they answered this.
type Heard = Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>;

struct World {
    hall: Hall,
    ways: Ways,
    random: Random,
    owners: Vec<Owner>,
    homes: BTreeMap<&'static str, Home>,
    heard: Heard,
    words: Vec<String>,
    owner: usize,
}

const HOMES: [(&str, &[&str]); 2] = [("one", &["poet", "critic"]), ("two", &["clerk"])];

impl World {
    async fn new(seed: u64) -> Self {
        let mut hall = Hall::new().await;
        hall.rules.deadlines.run = Some(SECOND * 40);
        let ways = Ways::new(&hall.fleet.relay, &hall.fleet.clock, seed);
        let mut owners = Vec::new();
        for name in ["a", "b"] {
            owners.push(hall.owner_by(name, ways.of(name), |builder| builder));
        }
        let (homes, heard, words) = (BTreeMap::new(), Heard::default(), Vec::new());
        let random = Random::new(seed ^ 0x5eed);
        let mut world = Self { hall, ways, random, owners, homes, heard, words, owner: 0 };
        for (name, _) in HOMES {
            world.start(name);
        }
        world
    }

    /// Starts a process, or starts it anew.
    fn start(&mut self, name: &'static str) {
        let names = HOMES.iter().find(|(home, _)| *home == name).unwrap().1;
        let agents: Vec<_> = names.iter().map(|agent| self.agent(agent)).collect();
        let home = self.hall.home_by(name, self.ways.of(name), &agents);
        self.homes.insert(name, home);
    }

    /// An agent that answers each time, and notes what it heard before.
    fn agent(&mut self, name: &str) -> Speaker {
        let draws = Arc::new(Mutex::new(Random::new(self.random.draw())));
        let (clock, heard) = (self.hall.fleet.clock.clone(), Arc::clone(&self.heard));
        self.hall.speaker(name, move |turn: Turn| {
            let (clock, heard, draws) = (clock.clone(), Arc::clone(&heard), Arc::clone(&draws));
            async move {
                let takes = Duration::from_millis(draws.lock().unwrap().between(200, 6_000));
                tokio::select! {
                    () = clock.sleep_until(clock.now() + takes) => {}
                    () = turn.cancelled() => return Err("taken away".into()),
                }
                let injected = std::iter::from_fn(|| turn.take_injected());
                let messages = turn.missed().iter().cloned().chain(injected);
                let words = messages.map(|message| message.content.to_string()).collect();
                let text = {
                    let mut draws = draws.lock().unwrap();
                    let word = |_| format!("{:x}", draws.below(1 << 40));
                    (0..6).map(word).collect::<Vec<_>>().join(" ")
                };
                heard.lock().unwrap().insert(text.clone(), words);
                Ok(Reply::from(text))
            }
        })
    }

    async fn person(&mut self) {
        let word = format!("question {}", self.words.len());
        self.words.push(word.clone());
        let hears = self.random.place(self.owners.len());
        self.hall.fleet.say(&self.owners[hears].process, &word).await;
    }

    async fn step(&mut self) {
        match self.random.below(20) {
            0..5 => self.person().await,
            5 => {
                let name = self.random.pick(&["one", "two"]).unwrap();
                self.homes.remove(name).unwrap().kill();
                self.hall.fleet.relay.disconnect(&named(name));
                let away = self.random.between(0, 6_000);
                self.hall.fleet.pass(Duration::from_millis(away)).await;
                self.start(name);
            }
            6 => {
                let name = self.random.pick(&["one", "two", "a", "b"]).unwrap();
                self.ways.cut(name);
                let cut = self.random.between(100, 7_000);
                self.hall.fleet.pass(Duration::from_millis(cut)).await;
                self.ways.mend(name);
            }
            7 => {
                self.owner = 1 - self.owner;
                let to = named(["a", "b"][self.owner]);
                // No process has the lease until it has expired.
                self.hall.fleet.table.give(self.hall.fleet.channel, None);
                self.hall.fleet.pass(SECOND * 12).await;
                self.hall.fleet.table.give(self.hall.fleet.channel, Some(&to));
            }
            8 => {
                let name = self.random.pick(&["one", "two"]).unwrap();
                let home = &self.homes[name];
                self.ways.cut(name);
                home.stand_still(true);
                let still = self.random.between(100, 9_000);
                self.hall.fleet.pass(Duration::from_millis(still)).await;
                self.homes[name].stand_still(false);
                self.ways.mend(name);
            }
            _ => {}
        }
        let by = self.random.between(50, 2_500);
        self.hall.fleet.pass(Duration::from_millis(by)).await;
    }

    async fn run(mut self, seed: u64) -> usize {
        self.hall.fleet.pass(SECOND).await;
        self.hall.fleet.chat(&self.owners[0].process).await;
        self.person().await;
        let mut rate = || self.random.below(150);
        let faults = Faults { lost: rate(), doubled: rate(), delayed: rate() * 2 };
        self.ways.set(faults);
        for _ in 0..12 {
            self.step().await;
        }
        // All is well from here on: what was said is heard.
        self.ways.set(Faults::default());
        self.hall.fleet.pass(SECOND * 10).await;
        self.person().await;
        self.hall.fleet.pass(SECOND * 70).await;
        self.check(seed).await
    }

    async fn check(&self, seed: u64) -> usize {
        assert_eq!(self.hall.floor.overlaps(), [""; 0], "world {seed}");
        let posts = self.hall.posts().await;
        let texts: BTreeSet<_> = posts.iter().map(|(_, text)| text.clone()).collect();
        assert_eq!(texts.len(), posts.len(), "world {seed}: posted twice");
        let heard = self.heard.lock().unwrap();
        let answered: BTreeSet<_> = texts.iter().flat_map(|text| heard[text].clone()).collect();
        let lost: Vec<_> = self.words.iter().filter(|word| !answered.contains(*word)).collect();
        assert!(lost.is_empty(), "world {seed}: {lost:?} in none of {} answers", texts.len());
        posts.len()
    }
}

/// Never two agents at once, nothing posted twice, no word of a person lost.
#[tokio::test]
async fn whatever_befalls_questions_and_processes_one_agent_speaks_at_a_time_and_all_is_heard() {
    let worlds = told("DIRIGENT_GUEST_WORLDS").unwrap_or(10);
    let first = told("DIRIGENT_SEED").unwrap_or(0);
    let mut posts = 0;
    for seed in first..first + worlds {
        posts += World::new(seed).await.run(seed).await as u64;
    }
    assert!(posts > 8 * worlds, "{posts}");
}
