//! WY11: an agent that blocks its thread is named, and freezes nothing where the host spawns agents' calls.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use dirigent::host::{Builder, Consultation, Orchestrator, RunError};
use dirigent::settings::{HumanInterrupt, Pacing};
use dirigent::store::{ChannelStore as _, MemoryChannels};
use dirigent::{
    Agent, AgentError, ChannelId, Clock, Config, Dirigent, Mode, Reply, Settings, Turn, UserId,
    async_trait,
};
use dirigent_testkit::{Log, ManualClock, MemoryDiscord};
use tokio::task::JoinHandle;

use super::kit::{MINUTE, SECOND};

/// What "a" does when people ask it; "b" says one thing.
#[derive(Clone)]
enum Does {
    /// One step that takes so many milliseconds.
    Step(u64),
    /// Waits so many milliseconds, and blocks nothing.
    Wait(u64),
    Hang,
    Panic,
    /// Blocks its thread until it is let go.
    Block(Arc<Blocked>),
}

struct Blocked {
    began: tokio::sync::mpsc::UnboundedSender<()>,
    let_go: Mutex<mpsc::Receiver<()>>,
}

struct Asked {
    does: Does,
    clock: ManualClock,
    /// How many calls are under way.
    calls: Arc<AtomicUsize>,
}

struct Call(Arc<AtomicUsize>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Agent for Asked {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let asked = turn.missed().iter().any(|message| message.content.ends_with('?'));
        if !asked {
            return Ok(Reply::Pass);
        }
        self.calls.fetch_add(1, Ordering::SeqCst);
        let _call = Call(Arc::clone(&self.calls));
        match &self.does {
            Does::Step(millis) => self.clock.advance(std::time::Duration::from_millis(*millis)),
            Does::Wait(millis) => {
                let over = self.clock.now() + std::time::Duration::from_millis(*millis);
                self.clock.sleep_until(over).await;
            }
            Does::Hang => pending().await,
            Does::Panic => panic!("a bug of the agent"),
            Does::Block(blocked) => {
                blocked.began.send(()).unwrap();
                blocked.let_go.lock().unwrap().recv().unwrap();
            }
        }
        Ok("This is my answer.".into())
    }
}

/// Says one thing when people ask.
struct Other;

#[async_trait]
impl Agent for Other {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let asked = turn.missed().iter().any(|message| message.content.ends_with('?'));
        Ok(if asked { "And this is mine.".into() } else { Reply::Pass })
    }
}

/// "a" and "b" in one channel, and the driver.
struct World {
    clock: ManualClock,
    discord: MemoryDiscord,
    person: UserId,
    channel: ChannelId,
    store: MemoryChannels,
    dirigent: Dirigent,
    driver: JoinHandle<Result<(), RunError>>,
    calls: Arc<AtomicUsize>,
}

impl World {
    async fn new(does: Does, change: impl FnOnce(Builder) -> Builder) -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let (a, b) = (discord.add_bot(), discord.add_bot());
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "den", &[moderator, person, a, b]);
        let (store, calls) = (MemoryChannels::default(), Arc::<AtomicUsize>::default());
        let mut settings = Settings::default();
        (settings.limits.pacing, settings.time_limits.backfill) = (Pacing::off(), None);
        let agent = Asked { does, clock: clock.clone(), calls: Arc::clone(&calls) };
        let builder = Dirigent::builder(discord.account(moderator))
            .clock(clock.clone())
            .channels(store.clone())
            .settings(settings);
        let builder = builder.host("a", agent, discord.account(a));
        let (dirigent, driver) =
            change(builder.host("b", Other, discord.account(b))).build().unwrap();
        let driver = tokio::spawn(driver.run());
        dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
        let world = Self { clock, discord, person, channel, store, dirigent, driver, calls };
        world.ask("Who speaks?").await;
        world
    }

    async fn ask(&self, words: &str) {
        let id = self.discord.say(self.channel, self.person, words);
        let message = self.discord.message(self.channel, id).unwrap();
        let _ = self.dirigent.message_created(message).await;
    }

    fn words(&self) -> Vec<String> {
        let said = self.discord.messages(self.channel).into_iter();
        let mut words: Vec<_> = said.map(|message| message.content.to_string()).collect();
        words.sort();
        words
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

fn spawned(builder: Builder) -> Builder {
    builder.spawn_calls(|call| _ = tokio::spawn(call))
}

/// What the agent does, what the host gives the builder, what the log says, and what is in the channel in the end.
type Case = (Does, fn(Builder) -> Builder, &'static str, &'static [&'static str]);

const BOTH: [&str; 3] = ["And this is mine.", "This is my answer.", "Who speaks?"];

/// WY11
#[tokio::test]
async fn an_agent_that_blocks_its_thread_is_named_counted_and_told_what_to_do() {
    for (does, is_told) in
        [(Does::Step(1_001), true), (Does::Step(1_000), false), (Does::Wait(5_000), false)]
    {
        for spawns in [false, true] {
            let log = Log::default();
            let listening = log.listen();
            let change = |builder| if spawns { spawned(builder) } else { builder };
            let world = World::new(does.clone(), change).await;
            world.clock.run_for(SECOND * 30).await;
            assert_eq!(world.words(), BOTH);
            drop(listening);
            let lines = log.lines();
            assert_eq!(lines.len(), usize::from(is_told), "{lines:?}");
            for line in lines {
                assert!(line.contains("an agent blocked its thread"), "{line}");
                assert!(line.contains("agent=a") && line.contains("took_ms=1001"), "{line}");
                assert!(line.contains("spawn_blocking"), "{line}");
            }
            assert_eq!(world.dirigent.tally().long_steps(), u64::from(is_told));
            world.driver.abort();
        }
    }
}

/// Blocks its thread for three seconds.
struct Blocking(ManualClock);

#[async_trait]
impl Orchestrator for Blocking {
    async fn answer(&self, _: Consultation) -> Result<Reply, AgentError> {
        self.0.advance(SECOND * 3);
        Ok(Reply::Pass)
    }
}

/// WY11
#[tokio::test]
async fn an_orchestrator_that_blocks_its_thread_is_told_too() {
    for spawns in [false, true] {
        let log = Log::default();
        let listening = log.listen();
        let change = |builder: Builder| {
            let mut config = Config::default();
            config.people.human_interrupt = HumanInterrupt::Interrupt;
            let builder = builder.config(config);
            if spawns { spawned(builder) } else { builder }
        };
        let world = World::new(Does::Wait(20_000), change).await;
        world.dirigent.set_orchestrator(Some(Arc::new(Blocking(world.clock.clone()))));
        world.clock.run_for(SECOND * 5).await;
        world.ask("And now?").await;
        world.clock.run_for(SECOND * 5).await;
        drop(listening);
        let lines = log.lines();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].contains("the orchestrator blocked its thread"), "{lines:?}");
        assert!(lines[0].contains("took_ms=3000"), "{lines:?}");
        assert_eq!(world.dirigent.tally().long_steps(), 1);
        world.driver.abort();
    }
}

/// WY11
#[tokio::test]
async fn a_blocked_agent_whose_calls_are_spawned_freezes_no_channel() {
    let pool = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let threads = pool.handle().clone();
    let (began, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let (let_go, waits) = mpsc::channel();
    let blocked = Arc::new(Blocked { began, let_go: Mutex::new(waits) });
    let spawn = move |builder: Builder| builder.spawn_calls(move |call| _ = threads.spawn(call));
    let world = World::new(Does::Block(blocked), spawn).await;
    // "b" may be asked first.
    while begins.try_recv().is_err() {
        world.clock.run_for(SECOND).await;
    }
    let id = world.discord.add_channel(world.discord.add_guild(world.person), "other", &[]);
    let other = world.dirigent.channel(id).set_mode(Mode::Report).await;
    assert!(other.is_ok(), "another channel is served: {other:?}");
    let channel = world.dirigent.channel(world.channel);
    channel.stop().await.unwrap();
    assert_eq!(world.calls(), 1, "it blocks still");
    world.clock.run_for(MINUTE * 10).await;
    assert!(channel.status().await.unwrap().unwrap().speaker.is_none());
    let_go.send(()).unwrap();
    // Its task ends with the thread.
    tokio::task::spawn_blocking(move || drop(pool)).await.unwrap();
    assert_eq!(world.calls(), 0);
    world.clock.run_for(MINUTE).await;
    assert!(!world.words().contains(&"This is my answer.".to_owned()), "its turn was taken away");
    world.driver.abort();
}

/// WY11
#[tokio::test]
async fn a_spawned_call_ends_with_its_turn_and_with_the_driver() {
    for ends in ["stop", "drop", "shutdown"] {
        let world = World::new(Does::Hang, spawned).await;
        world.clock.run_for(SECOND * 10).await;
        assert_eq!(world.calls(), 1, "{ends}");
        match ends {
            "stop" => world.dirigent.channel(world.channel).stop().await.unwrap(),
            "drop" => world.driver.abort(),
            _ => {
                let dirigent = world.dirigent.clone();
                let shut = tokio::spawn(async move { dirigent.shutdown(SECOND).await });
                world.clock.run_until(async || shut.is_finished()).await;
                assert!(world.driver.is_finished());
            }
        }
        world.clock.run_for(MINUTE * 5).await;
        assert_eq!(world.calls(), 0, "{ends}");
        world.driver.abort();
    }
}

/// WY11
#[tokio::test]
async fn the_reply_of_a_spawned_call_counts_during_a_shutdown() {
    let world = World::new(Does::Wait(4_000), spawned).await;
    world.clock.run_for(SECOND * 2).await;
    assert_eq!(world.calls(), 1);
    let dirigent = world.dirigent.clone();
    let shut = tokio::spawn(async move { dirigent.shutdown(SECOND * 10).await });
    world.clock.run_until(async || shut.is_finished()).await;
    let stored = world.store.load(world.channel).await.unwrap().unwrap();
    let is_posted = world.words().contains(&"This is my answer.".to_owned());
    assert!(is_posted || stored.record.outgoing.is_some());
}

/// WY11
#[tokio::test]
async fn a_spawned_call_that_panics_or_is_not_run_ends_its_turn_and_nothing_else() {
    let dropped = |builder: Builder| builder.spawn_calls(drop);
    let panics = |builder: Builder| builder.spawn_calls(|_| panic!("a bug of the host"));
    let cases: [Case; 3] = [
        (Does::Panic, spawned, "a hosted agent failed", &[BOTH[0], BOTH[2]]),
        (Does::Wait(1), dropped, "Builder::spawn_calls", &[BOTH[2]]),
        (Does::Wait(1), panics, "Builder::spawn_calls", &[BOTH[2]]),
    ];
    for (does, change, told, words) in cases {
        let log = Log::default();
        let listening = log.listen();
        let world = World::new(does, change).await;
        world.clock.run_for(MINUTE * 5).await;
        drop(listening);
        assert_eq!(world.words(), words);
        assert!(log.lines().iter().any(|line| line.contains(told)), "{:?}", log.lines());
        assert!(!world.driver.is_finished(), "{:?}", log.lines());
        let failed = world.dirigent.channel(world.channel).status().await.unwrap().unwrap();
        assert!(failed.speaker.is_none());
        world.driver.abort();
    }
}
