//! Worlds drawn from numbers: processes that die and come back, channels that change hands, a way that loses, doubles and
//! delays questions and answers. Whatever happens, at most one agent is allowed in a channel, no word of a person is lost, and no channel waits for a reply
//! that its agent may not post.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::hooks::{RunId, RunReport};
use dirigent::ports::{Standing, Timestamp};
use dirigent::snapshot::PhaseKind;
use dirigent::{AgentId, async_trait};
use dirigent_cluster::{Instance, Owners as _};
use dirigent_relay::{CarryError, Denied, HostId, InProcess, Relay};
use dirigent_testkit::worlds::{self, Worlds};
use dirigent_testkit::{ManualClock, Random};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::fleet::{AGENTS, Fleet, Process, SECOND};

const MILLI: Duration = Duration::from_millis(1);
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A way that the world disturbs.
#[derive(Clone)]
struct Way {
    inner: InProcess,
    clock: ManualClock,
    random: Arc<Mutex<Random>>,
    /// How many of a hundred questions something happens to.
    trouble: Arc<Mutex<u64>>,
}

impl Way {
    fn draw(&self, below: u64) -> u64 {
        self.random.lock().unwrap().below(below)
    }

    async fn delay(&self) {
        let by = MILLI * u32::try_from(self.draw(2_500)).unwrap();
        dirigent::Clock::sleep_until(&self.clock, self.clock_now() + by).await;
    }

    fn clock_now(&self) -> Timestamp {
        dirigent::Clock::now(&self.clock)
    }
}

#[async_trait]
impl Relay for Way {
    async fn carry(&self, to: &HostId, rule: &str, bytes: Vec<u8>) -> Result<Vec<u8>, CarryError> {
        let trouble = *self.trouble.lock().unwrap();
        if self.draw(100) >= trouble {
            return self.inner.carry(to, rule, bytes).await;
        }
        match self.draw(5) {
            0 => Err(CarryError::no_answer("the question is lost")),
            1 => {
                let _ = self.inner.carry(to, rule, bytes).await;
                Err(CarryError::no_answer("the answer is lost"))
            }
            2 => {
                let first = self.inner.carry(to, rule, bytes.clone()).await;
                let _ = self.inner.carry(to, rule, bytes).await;
                first
            }
            3 => {
                self.delay().await;
                self.inner.carry(to, rule, bytes).await
            }
            _ => {
                let answer = self.inner.carry(to, rule, bytes).await;
                self.delay().await;
                answer
            }
        }
    }
}

/// What an agent is doing, in a process of its own choice.
enum Doing {
    Nothing,
    Asking(RunId, JoinHandle<Option<bool>>),
    Running(RunId, Timestamp),
    Ending(RunId, bool, JoinHandle<Option<bool>>),
}

struct World {
    fleet: Fleet,
    way: Way,
    random: Random,
    processes: Vec<Option<Process>>,
    agents: Vec<(AgentId, Doing)>,
    /// Runs that were allowed, and whose end was not told yet.
    open: Vec<(AgentId, RunId)>,
    runs: u64,
    /// For how many more steps the store is late.
    late_steps: u64,
    /// For how many more steps a process does not know that its channel is another's.
    lapsed_steps: u64,
    allowed: u64,
    allowed_since_last_word: u64,
    story: Vec<String>,
}

impl World {
    async fn new(number: u64) -> Self {
        let mut fleet = Fleet::new().await;
        let way = Way {
            inner: fleet.relay.clone(),
            clock: fleet.clock.clone(),
            random: Arc::new(Mutex::new(Random::new(number ^ 0x5EED))),
            trouble: Arc::new(Mutex::new(0)),
        };
        let mut processes = Vec::new();
        for name in NAMES {
            processes.push(Some(fleet.start_with(
                name,
                Fleet::keys(name),
                Arc::new(way.clone()),
                Vec::new(),
            )));
        }
        fleet.chat(processes[0].as_ref().unwrap()).await;
        *way.trouble.lock().unwrap() = 30;
        let agents = AGENTS.into_iter().map(|agent| (agent.into(), Doing::Nothing)).collect();
        Self {
            fleet,
            way,
            random: Random::new(number),
            processes,
            agents,
            open: Vec::new(),
            runs: 0,
            late_steps: 0,
            lapsed_steps: 0,
            allowed: 0,
            allowed_since_last_word: 0,
            story: Vec::new(),
        }
    }

    /// Any process that lives.
    fn any(&mut self) -> &Process {
        let living: Vec<_> = self.processes.iter().flatten().collect();
        let place = usize::try_from(self.random.below(living.len() as u64)).unwrap();
        living[place]
    }

    fn instance(&mut self) -> Instance {
        self.any().instance.clone()
    }

    fn tell(&mut self, what: impl Into<String>) {
        self.story.push(format!(
            "{} {}",
            self.way.clock_now().as_millis() % 10_000_000,
            what.into()
        ));
    }

    async fn step(&mut self) {
        self.late_steps = self.late_steps.saturating_sub(1);
        if self.late_steps == 0 {
            self.fleet.hold_commits(false);
        }
        if self.lapsed_steps == 1 {
            self.fleet.table.hear_of(self.fleet.channel);
        }
        self.lapsed_steps = self.lapsed_steps.saturating_sub(1);
        match self.random.below(20) {
            0 => self.word().await,
            1 => self.hand_over(),
            2 => self.kill_or_start(),
            3 => self.be_late(),
            4..=6 if self.lapsed_steps == 0 => self.lapse(),
            // The moments in which an end may be taken and its answer lost are short.
            7..=9 if self.is_ending() => self.hand_over(),
            _ => {}
        }
        for place in 0..self.agents.len() {
            self.go_on(place).await;
        }
        let by = MILLI * u32::try_from(self.random.below(400)).unwrap();
        self.fleet.pass(by).await;
    }

    /// A person writes, and one of the processes has the shard of the gateway on which that is heard.
    async fn word(&mut self) {
        let (channel, person) = (self.fleet.channel, self.fleet.person);
        let id = self.fleet.discord.say(channel, person, "A word");
        let message = self.fleet.discord.message(channel, id).unwrap();
        self.allowed_since_last_word = 0;
        self.tell("a person writes");
        let _ = self.any().dirigent.message_created(message).await;
    }

    fn is_ending(&self) -> bool {
        self.agents.iter().any(|(_, doing)| matches!(doing, Doing::Ending(..)))
    }

    fn hand_over(&mut self) {
        let to = self.any().host.clone();
        let to = (self.random.below(4) > 0).then_some(to);
        self.tell(format!("the channel goes to {to:?}"));
        self.fleet.table.give(self.fleet.channel, to.as_ref());
    }

    /// A process is cut off: another one acts for the channel, and it does not know for some steps.
    fn lapse(&mut self) {
        self.lapsed_steps = 1 + self.random.below(10);
        let to = self.any().host.clone();
        self.tell(format!("the channel goes to {to}, and who had it is cut off"));
        self.fleet.table.give_unheard(self.fleet.channel, &to, Standing::Lapsed);
    }

    /// The store is late for some steps: shorter than a reply is waited for.
    fn be_late(&mut self) {
        self.late_steps = self.random.below(10);
        self.tell("the store is late");
        self.fleet.hold_commits(true);
    }

    fn kill_or_start(&mut self) {
        let place = usize::try_from(self.random.below(NAMES.len() as u64)).unwrap();
        let living = self.processes.iter().flatten().count();
        if let Some(process) = self.processes[place].take_if(|_| living > 1) {
            self.kill(process);
        } else if self.processes[place].is_none() {
            self.start(place);
        }
    }

    fn kill(&mut self, mut process: Process) {
        self.tell(format!("{} is killed", process.host));
        process.kill();
        self.fleet.relay.disconnect(&process.host);
    }

    fn start(&mut self, place: usize) {
        let name = NAMES[place];
        self.tell(format!("{name} is started"));
        let way = Arc::new(self.way.clone());
        self.processes[place] =
            Some(self.fleet.start_with(name, Fleet::keys(name), way, Vec::new()));
    }

    /// An agent asks, runs, and tells the end until that is answered: each time in any process.
    async fn go_on(&mut self, place: usize) {
        let agent = self.agents[place].0.clone();
        let doing = std::mem::replace(&mut self.agents[place].1, Doing::Nothing);
        let now = self.way.clock_now();
        self.agents[place].1 = match doing {
            Doing::Nothing if self.random.below(4) == 0 => {
                self.runs += 1;
                self.ask(agent, RunId::new(1_000_000 + self.runs))
            }
            Doing::Nothing => Doing::Nothing,
            Doing::Asking(run, asked) if asked.is_finished() => match asked.await.unwrap() {
                // It may have been allowed: it asks again for the same run.
                None => self.ask(agent, run),
                Some(false) => Doing::Nothing,
                Some(true) => {
                    self.tell(format!("{agent} is allowed the run {}", run.get()));
                    self.open.push((agent, run));
                    assert!(self.open.len() == 1, "two are allowed");
                    self.allowed += 1;
                    self.allowed_since_last_word += 1;
                    let thinks = MILLI * u32::try_from(self.random.below(3_000)).unwrap();
                    Doing::Running(run, now + thinks)
                }
            },
            Doing::Running(run, until) if now >= until => {
                let speaks = self.random.below(2) == 0;
                self.open.retain(|(_, open)| *open != run);
                self.end(agent, run, speaks)
            }
            Doing::Ending(run, speaks, told) if told.is_finished() => match told.await.unwrap() {
                Some(accepted) => {
                    let run = run.get();
                    self.tell(format!("{agent} has ended the run {run}: {accepted}"));
                    if !accepted {
                        self.is_not_waited_for(&agent).await;
                    }
                    self.ended(&agent, speaks && accepted).await
                }
                None => self.end(agent, run, speaks),
            },
            waits @ (Doing::Asking(..) | Doing::Running(..) | Doing::Ending(..)) => waits,
        };
    }

    /// An end that was not accepted is one whose turn was taken away, and not one that was taken where the answer was lost.
    async fn is_not_waited_for(&self, agent: &AgentId) {
        for process in self.processes.iter().flatten() {
            let status = process.dirigent.channel(self.fleet.channel).status().await;
            let Ok(Some(status)) = status else { continue };
            let waits =
                status.phase == PhaseKind::Confirming && status.speaker == Some(agent.clone());
            assert!(!waits, "its reply is waited for");
        }
    }

    fn ask(&mut self, agent: AgentId, run: RunId) -> Doing {
        let (instance, channel) = (self.instance(), self.fleet.channel);
        let asked = async move {
            match instance.may_speak(channel, &agent, Some(run)).await {
                // The world ends every run.
                Ok(permission) => permission.holds_floor().then_some(true).or(Some(false)),
                Err(Denied::Denied { .. }) => Some(false),
                // Also by a process that was killed while it was asked: it may have been allowed.
                Err(_) => None,
            }
        };
        Doing::Asking(run, tokio::spawn(asked))
    }

    fn end(&mut self, agent: AgentId, run: RunId, speaks: bool) -> Doing {
        let (instance, channel) = (self.instance(), self.fleet.channel);
        let told = async move {
            let report = if speaks { RunReport::Text("I say so.") } else { RunReport::Pass };
            let answer = instance.turn_ended(channel, &agent, run, report).await;
            answer.ok().map(|answer| answer.accepted)
        };
        Doing::Ending(run, speaks, tokio::spawn(told))
    }

    async fn ended(&mut self, agent: &AgentId, speaks: bool) -> Doing {
        if speaks {
            let (channel, fleet) = (self.fleet.channel, &self.fleet);
            let (_, user) = fleet.agents.iter().find(|(name, _)| name == agent).unwrap();
            let id = fleet.discord.say(channel, *user, "I say so.");
            let message = fleet.discord.message(channel, id).unwrap();
            let _ = self.any().dirigent.message_created(message).await;
        }
        Doing::Nothing
    }

    /// All is well again: the last word must be heard, and the channel must come to rest.
    async fn come_to_rest(&mut self) {
        *self.way.trouble.lock().unwrap() = 0;
        self.fleet.hold_commits(false);
        self.fleet.table.hear_of(self.fleet.channel);
        for place in 0..NAMES.len() {
            if self.processes[place].is_none() {
                self.start(place);
            }
        }
        // Who takes a channel over reads it: where it has an owner, nothing is read that was not heard.
        let owner = self.fleet.table.owner(self.fleet.channel);
        let owner = owner.unwrap_or_else(|| {
            let owner = self.any().host.clone();
            self.fleet.table.give(self.fleet.channel, Some(&owner));
            owner
        });
        for _ in 0..3_000 {
            for place in 0..self.agents.len() {
                self.go_on(place).await;
            }
            self.fleet.pass(MILLI * 200).await;
            if self.is_at_rest(&owner).await {
                return;
            }
        }
        panic!("the channel does not come to rest");
    }

    async fn is_at_rest(&self, owner: &HostId) -> bool {
        let process =
            self.processes.iter().flatten().find(|process| process.host == *owner).unwrap();
        let status = process.dirigent.channel(self.fleet.channel).status().await;
        let Ok(Some(status)) = status else { return false };
        let is_idle = self.agents.iter().all(|(_, doing)| matches!(doing, Doing::Nothing));
        status.phase == PhaseKind::Dormant && !status.has_word && is_idle
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
            world.word().await;
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
        let Self { runtime, world } = self;
        runtime.block_on(async {
            for _ in 0..3 {
                world.word().await;
                world.come_to_rest().await;
                assert!(world.allowed_since_last_word > 0, "the last word is not heard");
                // The next one is heard while the channel rests, perhaps by the process that is cut off.
                world.lapse();
                world.fleet.pass(SECOND).await;
            }
            world.fleet.pass(SECOND).await;
        });
        Ok(())
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(&mut self.world.random)
    }

    fn story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.world.story)
    }
}

/// R178, D97 to D105.
#[test]
fn whatever_happens_one_agent_at_most_is_allowed_and_every_word_is_heard() {
    let worlds = Worlds::new("-p dirigent-cluster --test all worlds::whatever_happens", 8, 150);
    let allowed = worlds.live(|number, _| Lived::new(number), |lived| lived.world.allowed);
    let is_lively = allowed > 5 * worlds.count();
    assert!(is_lively || !worlds.are_enough(), "hardly any agent was allowed: {allowed}");
}
