//! Worlds drawn from numbers: a way that loses, doubles and delays, processes that end and come back, a channel that changes hands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::{Clock, Reply, Turn};
use dirigent_testkit::Random;
use dirigent_testkit::worlds::{self, Worlds};
use tokio::runtime::{Builder, Runtime};

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
    posts: u64,
    story: Vec<String>,
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
        let mut world = Self {
            hall,
            ways,
            random,
            owners,
            homes,
            heard,
            words,
            owner: 0,
            posts: 0,
            story: Vec::new(),
        };
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
            0..5 => {
                self.tell("a person writes");
                self.person().await;
            }
            5 => {
                let name = self.random.pick(&["one", "two"]).unwrap();
                self.tell(&format!("{name} is killed and started"));
                self.homes.remove(name).unwrap().kill();
                self.hall.fleet.relay.disconnect(&named(name));
                let away = self.random.between(0, 6_000);
                self.hall.fleet.pass(Duration::from_millis(away)).await;
                self.start(name);
            }
            6 => {
                let name = self.random.pick(&["one", "two", "a", "b"]).unwrap();
                self.tell(&format!("{name} is cut off"));
                self.ways.cut(name);
                let cut = self.random.between(100, 7_000);
                self.hall.fleet.pass(Duration::from_millis(cut)).await;
                self.ways.mend(name);
            }
            7 => {
                self.tell("the channel goes to the other process");
                self.owner = 1 - self.owner;
                let to = named(["a", "b"][self.owner]);
                // No process has the lease until it has expired.
                self.hall.fleet.table.give(self.hall.fleet.channel, None);
                self.hall.fleet.pass(SECOND * 12).await;
                self.hall.fleet.table.give(self.hall.fleet.channel, Some(&to));
            }
            8 => {
                let name = self.random.pick(&["one", "two"]).unwrap();
                self.tell(&format!("{name} stands still"));
                let home = &self.homes[name];
                self.ways.cut(name);
                home.stand_still(true);
                let still = self.random.between(100, 9_000);
                self.hall.fleet.pass(Duration::from_millis(still)).await;
                self.homes[name].stand_still(false);
                self.ways.mend(name);
            }
            _ => self.tell("time passes"),
        }
        let by = self.random.between(50, 2_500);
        self.hall.fleet.pass(Duration::from_millis(by)).await;
    }

    fn tell(&mut self, what: &str) {
        let now = self.hall.fleet.clock.now().as_millis() % 10_000_000;
        self.story.push(format!("{now} {what}"));
    }

    /// The channel is there, a person writes, and faults begin.
    async fn begin(&mut self) {
        self.hall.fleet.pass(SECOND).await;
        self.hall.fleet.chat(&self.owners[0].process).await;
        self.person().await;
        let mut rate = || self.random.below(150);
        let faults = Faults { lost: rate(), doubled: rate(), delayed: rate() * 2 };
        self.ways.set(faults);
    }

    /// All is well from here on: what was said is heard.
    async fn end(&mut self) {
        self.ways.set(Faults::default());
        self.hall.fleet.pass(SECOND * 10).await;
        self.person().await;
        self.hall.fleet.pass(SECOND * 70).await;
        assert_eq!(self.hall.floor.overlaps(), [""; 0]);
        let posts = self.hall.posts().await;
        let texts: BTreeSet<_> = posts.iter().map(|(_, text)| text.clone()).collect();
        assert_eq!(texts.len(), posts.len(), "posted twice");
        let heard = self.heard.lock().unwrap();
        let answered: BTreeSet<_> = texts.iter().flat_map(|text| heard[text].clone()).collect();
        let lost: Vec<_> = self.words.iter().filter(|word| !answered.contains(*word)).collect();
        assert!(lost.is_empty(), "{lost:?} in none of {} answers", texts.len());
        self.posts = posts.len() as u64;
    }
}

/// A world with the executor that it lives on.
struct Lived {
    runtime: Runtime,
    world: World,
}

impl Lived {
    fn new(number: u64) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let world = runtime.block_on(async {
            let mut world = World::new(number).await;
            world.begin().await;
            world
        });
        Self { runtime, world }
    }
}

impl worlds::World for Lived {
    fn step(&mut self) -> Result<(), String> {
        self.runtime.block_on(self.world.step());
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        self.runtime.block_on(self.world.end());
        Ok(())
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(&mut self.world.random)
    }

    fn story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.world.story)
    }
}

/// Never two agents at once, nothing posted twice, no word of a person lost.
#[test]
fn whatever_befalls_questions_and_processes_one_agent_speaks_at_a_time_and_all_is_heard() {
    let worlds = Worlds::new("-p dirigent-cluster --test all remote::worlds", 10, 12);
    let posts = worlds.live(|number, _| Lived::new(number), |lived| lived.world.posts);
    assert!(posts > 8 * worlds.count() || !worlds.are_enough(), "{posts}");
}
