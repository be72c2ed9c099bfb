//! WY13: two processes with the same tokens and no shared store are noticed, and one of them speaks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent::command::{Invoker, SlashCommand};
use dirigent::host::RunError;
use dirigent::operate::{Reason, SecondProcess};
use dirigent::ports::{GuildId, Ownership, Standing};
use dirigent::settings::Pacing;
use dirigent::store::MemoryChannels;
use dirigent::{
    Agent, AgentError, CallError, ChannelId, Clock as _, Denial, Dirigent, Mode, Reply, Settings,
    Turn, UserId, async_trait,
};
use dirigent_testkit::memory_discord::{Call, Event, Fault, Faults};
use dirigent_testkit::{Log, ManualClock, MemoryDiscord};
use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::kit::{MINUTE, SECOND};

/// Answers what people ask after five seconds, each time in other words.
struct Answers(ManualClock, Arc<AtomicUsize>);

#[async_trait]
impl Agent for Answers {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        self.0.sleep_until(self.0.now() + SECOND * 5).await;
        if !turn.missed().iter().any(|message| message.content.ends_with('?')) {
            return Ok(Reply::Pass);
        }
        let said = self.1.fetch_add(1, Ordering::SeqCst);
        Ok(format!("{} gives answer {said}.", turn.agent()).into())
    }
}

struct Town {
    clock: ManualClock,
    discord: MemoryDiscord,
    moderator: UserId,
    person: UserId,
    agents: [(&'static str, UserId); 2],
    guild: GuildId,
    channel: ChannelId,
    said: Arc<AtomicUsize>,
}

/// A process: its driver, and its ears.
struct Process {
    dirigent: Dirigent,
    driver: JoinHandle<Result<(), RunError>>,
    ears: JoinHandle<()>,
    /// While this is locked, it hears nothing, and all of it afterwards.
    late: Arc<tokio::sync::Mutex<()>>,
}

impl Process {
    fn kill(&self) {
        self.driver.abort();
        self.ears.abort();
    }

    /// Ends it; returns what its driver returned.
    async fn shutdown(self, town: &Town) -> Result<(), RunError> {
        let (dirigent, ended) = (self.dirigent.clone(), self.driver);
        let ends = tokio::spawn(async move { dirigent.shutdown(SECOND).await });
        town.clock.run_for(SECOND * 5).await;
        ends.await.unwrap();
        self.ears.abort();
        ended.await.unwrap()
    }

    async fn twin(&self, town: &Town) -> Option<SecondProcess> {
        self.dirigent.channel(town.channel).status().await.unwrap().and_then(|status| status.twin)
    }
}

impl Town {
    fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let agents = [("a", discord.add_bot()), ("b", discord.add_bot())];
        let guild = discord.add_guild(person);
        let members = [moderator, person, agents[0].1, agents[1].1];
        let channel = discord.add_channel(guild, "den", &members);
        let said = Arc::default();
        Self { clock, discord, moderator, person, agents, guild, channel, said }
    }

    fn process(&self, store: &MemoryChannels, ownership: Option<Arc<dyn Ownership>>) -> Process {
        let mut settings = Settings::default();
        (settings.limits.pacing, settings.time_limits.backfill) = (Pacing::off(), None);
        let mut builder = Dirigent::builder(self.discord.account(self.moderator))
            .clock(self.clock.clone())
            .channels(store.clone())
            .settings(settings);
        if let Some(ownership) = ownership {
            builder = builder.ownership(ownership);
        }
        for (agent, user) in self.agents {
            let answers = Answers(self.clock.clone(), Arc::clone(&self.said));
            builder = builder.host(agent, answers, self.discord.account(user));
        }
        let (dirigent, driver) = builder.build().unwrap();
        let late = Arc::<tokio::sync::Mutex<()>>::default();
        let (told, gate, mut events) = (dirigent.clone(), Arc::clone(&late), self.discord.events());
        let ears = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                drop(gate.lock().await);
                if let Event::MessageCreated(message) = event {
                    let _ = told.message_created(message).await;
                }
            }
        });
        Process { dirigent, driver: tokio::spawn(driver.run()), ears, late }
    }

    /// People ask. Returns how many answers there are in the end.
    async fn ask(&self, wait: Duration) -> usize {
        let before = self.said.load(Ordering::SeqCst);
        self.discord.say(self.channel, self.person, "What do you say?");
        self.clock.run_for(wait).await;
        self.said.load(Ordering::SeqCst) - before
    }

    /// How many messages of agents stand in the channel.
    fn replies(&self) -> usize {
        let messages = self.discord.messages(self.channel);
        messages
            .iter()
            .filter(|message| self.agents.iter().any(|agent| agent.1 == message.author))
            .count()
    }

    async fn chat(&self, process: &Process) {
        process.dirigent.channel(self.channel).set_mode(Mode::Chat).await.unwrap();
    }
}

fn alarms(log: &Log) -> usize {
    log.lines().iter().filter(|line| line.contains("posts here with the same tokens")).count()
}

/// WY13
#[tokio::test]
async fn of_two_processes_that_share_nothing_the_one_that_began_later_falls_silent_and_says_so() {
    let (log, town) = (Log::default(), Town::new());
    let _listening = log.listen();
    let older = town.process(&MemoryChannels::default(), None);
    town.chat(&older).await;
    town.clock.run_for(MINUTE).await;
    let younger = town.process(&MemoryChannels::default(), None);
    town.chat(&younger).await;
    let began = town.clock.now();
    assert_eq!(town.ask(MINUTE).await, 4, "both speak");
    assert_eq!(alarms(&log), 0, "it may be late news");
    assert_eq!(younger.dirigent.gives_way().now_or_never(), None);
    town.clock.run_for(MINUTE * 2).await;
    assert_eq!(town.ask(MINUTE).await, 4);
    assert_eq!(alarms(&log), 2, "{:?}", log.lines());
    let (one, other) = (older.twin(&town).await.unwrap(), younger.twin(&town).await.unwrap());
    assert!(!one.gives_way && other.gives_way, "{one:?} {other:?}");
    let apart = one.began.since(other.began);
    assert!(began.since(one.began) < SECOND && apart >= SECOND * 59, "{apart:?}");
    assert_eq!(younger.dirigent.gives_way().now_or_never(), Some(town.channel));
    assert_eq!(older.dirigent.gives_way().now_or_never(), None);
    for _ in 0..10 {
        assert_eq!(town.ask(MINUTE * 3).await, 2, "one speaks");
    }
    let channel = younger.dirigent.channel(town.channel);
    let status = channel.status().await.unwrap().unwrap();
    assert_eq!(status.silence, Some(Reason::Elsewhere));
    assert!(status.failing.is_empty() && status.unrecognised.is_empty(), "{status:?}");
    let why = channel.explain(&"a".into()).await.unwrap();
    assert_eq!((why.reason, why.twin), (Reason::Elsewhere, status.twin));
    assert!(why.to_string().contains("with the same tokens"), "{why}");
    let asked = channel.may_speak(&"a".into(), None).await;
    assert!(matches!(asked, Err(Denial::Failed(CallError::Elsewhere))), "{asked:?}");
    let invoker = Invoker { guild: Some(town.guild), permissions: u64::MAX, host_word: None };
    let within = SlashCommand::ANSWER_WITHIN;
    let told = channel.command(SlashCommand::Status, invoker, "", within).await.text;
    assert!(told.contains("with the same tokens") && told.contains("began later"), "{told}");
    older.kill();
    // It posts nothing more. The other one is silent for ten minutes after its last post, and speaks again.
    town.clock.run_for(MINUTE * 5).await;
    assert_eq!(town.ask(MINUTE).await, 0);
    town.clock.run_for(MINUTE * 10).await;
    assert_eq!(younger.twin(&town).await, None);
    assert_eq!(town.ask(MINUTE).await, 2, "both of its agents");
    assert_eq!(alarms(&log), 2, "{:?}", log.lines());
    younger.kill();
}

/// WY13
#[tokio::test]
async fn a_process_that_ends_while_it_gives_way_ends_with_an_error_that_says_so() {
    let town = Town::new();
    let (older, younger) =
        (town.process(&MemoryChannels::default(), None), MemoryChannels::default());
    town.chat(&older).await;
    town.clock.run_for(MINUTE).await;
    let younger = town.process(&younger, None);
    town.chat(&younger).await;
    let (waits, wakes) = (younger.dirigent.clone(), town.clock.clone());
    let yielded = tokio::spawn(async move {
        let channel = waits.gives_way().await;
        (channel, wakes.now())
    });
    town.clock.run_for(MINUTE * 3).await;
    assert!(!yielded.is_finished());
    let asked_at = town.clock.now();
    let _ = town.ask(MINUTE).await;
    let (channel, at) = yielded.await.unwrap();
    assert!(channel == town.channel && at.since(asked_at) < MINUTE);
    let ended = younger.shutdown(&town).await.unwrap_err();
    assert!(matches!(ended, RunError::GivesWay(channel) if channel == town.channel), "{ended}");
    assert!(ended.to_string().contains("with the same tokens"), "{ended}");
    assert!(older.shutdown(&town).await.is_ok(), "it began earlier");
}

/// WY13
#[tokio::test]
async fn processes_that_share_the_channels_out_by_hand_raise_no_alarm() {
    let (log, town) = (Log::default(), Town::new());
    let _listening = log.listen();
    let here = town.process(&MemoryChannels::default(), None);
    town.chat(&here).await;
    town.clock.run_for(MINUTE).await;
    // It had the channel once, and has a record of it.
    let elsewhere = town.process(&MemoryChannels::default(), None);
    town.chat(&elsewhere).await;
    let channel = elsewhere.dirigent.channel(town.channel);
    channel.set_mode(Mode::None).await.unwrap();
    town.clock.run_for(MINUTE * 3).await;
    for _ in 0..3 {
        assert_eq!(town.ask(MINUTE).await, 2, "one speaks");
    }
    assert_eq!(elsewhere.twin(&town).await, None);
    assert_eq!(alarms(&log), 0, "{:?}", log.lines());
    assert!(elsewhere.shutdown(&town).await.is_ok());
    here.kill();
}

/// WY13
#[tokio::test]
async fn a_reply_that_a_restart_posts_for_the_process_before_raises_no_alarm() {
    let (log, town, store) = (Log::default(), Town::new(), MemoryChannels::default());
    let _listening = log.listen();
    let mut process = town.process(&store, None);
    town.chat(&process).await;
    for _ in 0..4 {
        town.clock.run_for(MINUTE * 3).await;
        // The chat takes no posts while the one is killed and the next begins.
        let refused = |faults: &mut Faults| {
            *faults = Faults::new(1).with_call_rate(Call::Post, Fault::Refused, 1_000);
        };
        town.discord.inject(refused);
        let made = town.ask(SECOND * 20).await;
        assert_eq!(made, 1, "the next one waits for its turn");
        process.kill();
        process = town.process(&store, None);
        town.clock.run_for(MINUTE * 5).await;
        let posted = town.replies();
        town.discord.inject(Faults::stop);
        town.clock.run_for(MINUTE * 2).await;
        assert!(town.replies() > posted, "what the one made the next posts");
        assert_eq!(process.twin(&town).await, None);
    }
    assert_eq!(alarms(&log), 0, "{:?}", log.lines());
    process.kill();
}

/// WY13
#[tokio::test]
async fn a_process_that_is_killed_and_comes_back_raises_no_alarm() {
    let (log, town, store) = (Log::default(), Town::new(), MemoryChannels::default());
    let _listening = log.listen();
    let mut process = town.process(&store, None);
    town.chat(&process).await;
    for killed_after in [4_000, 5_000, 5_001, 7_000, 10_000, 60_000, 200_000] {
        let _ = town.ask(Duration::from_millis(killed_after)).await;
        process.kill();
        // What the one posted before its end is heard late by the next.
        let next = town.process(&store, None);
        let late = next.late.lock().await;
        town.clock.run_for(SECOND * 30).await;
        drop(late);
        town.clock.run_for(MINUTE * 5).await;
        assert_eq!(next.twin(&town).await, None);
        assert!(town.ask(MINUTE).await >= 2, "it speaks");
        process = next;
    }
    assert_eq!(alarms(&log), 0, "{:?}", log.lines());
    process.kill();
}

/// Whether this process has the channels.
#[derive(Default)]
struct Lease {
    channel: Option<ChannelId>,
    holds: Mutex<bool>,
    changed: Notify,
}

impl Lease {
    fn set(&self, holds: bool) {
        *self.holds.lock().unwrap() = holds;
        self.changed.notify_one();
    }
}

#[async_trait]
impl Ownership for Lease {
    fn standing(&self, _: ChannelId) -> Standing {
        if *self.holds.lock().unwrap() { Standing::Held } else { Standing::Elsewhere }
    }

    async fn changed(&self) -> Vec<ChannelId> {
        self.changed.notified().await;
        self.channel.filter(|_| *self.holds.lock().unwrap()).into_iter().collect()
    }
}

/// WY13
#[tokio::test]
async fn a_channel_that_is_taken_over_again_and_again_raises_no_alarm() {
    let (log, town, store) = (Log::default(), Town::new(), MemoryChannels::default());
    let _listening = log.listen();
    let leases = [true, false].map(|holds| {
        let (channel, holds) = (Some(town.channel), Mutex::new(holds));
        Arc::new(Lease { channel, holds, changed: Notify::new() })
    });
    let mut processes = Vec::new();
    for lease in &leases {
        processes.push(town.process(&store, Some(Arc::clone(lease) as _)));
        town.clock.run_for(SECOND).await;
    }
    town.chat(&processes[0]).await;
    town.clock.run_for(MINUTE * 10).await;
    for round in 0..4 {
        let (from, to) = (round % 2, (round + 1) % 2);
        // The next one hears of what the other posted after it has taken over.
        let late = processes[to].late.lock().await;
        assert_eq!(town.ask(MINUTE).await, 2);
        assert_eq!(town.ask(MINUTE).await, 2);
        leases[from].set(false);
        leases[to].set(true);
        town.clock.run_for(SECOND).await;
        drop(late);
        town.clock.run_for(MINUTE * 5).await;
        assert_eq!(processes[to].twin(&town).await, None);
        assert_eq!(town.ask(MINUTE).await, 2, "one speaks");
    }
    assert_eq!(alarms(&log), 0, "{:?}", log.lines());
    for process in processes {
        process.kill();
    }
}
