//! From a person's word to the first agent's call, where ten thousand channels that rest are spoken to within
//! one second.
//!
//! `cargo bench -p dirigent-store --features sqlite --bench woken -- --channels 10000 --store sqlite` prints one
//! line of JSON. `--store memory` keeps nothing, `--store json` (the default) keeps files; `--folder PATH` says on
//! which disk; `--spread-ms N` is the time in which the words are said, `--think-ms N` what an agent thinks before
//! it passes; `--in-order 1` lets each word wait until the one before was taken in, as the feed of one shard does.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot start says so")]
#![allow(clippy::disallowed_methods, reason = "a bench measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod common;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{Kind, Open, Options};
use dirigent::{
    Agent, AgentError, CallError, ChannelId, ChannelStore, Dirigent, Driver, Identity,
    MemoryChannels, MemoryIdentities, Mode, Pacing, Reply, Settings, SystemClock, Turn, UserId,
};
use dirigent_store::FileDurability;
use dirigent_testkit::MemoryDiscord;
use futures_util::StreamExt as _;

/// When each channel was spoken to, and when its first agent was called.
#[derive(Default)]
struct Watch {
    spoken: Mutex<HashMap<ChannelId, Instant>>,
    waits: Mutex<Vec<Duration>>,
}

struct Passing {
    watch: Arc<Watch>,
    think: Duration,
}

#[dirigent::async_trait]
impl Agent for Passing {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let called = Instant::now();
        let spoken = self.watch.spoken.lock().map_err(|_| "lost")?.remove(&turn.channel());
        if let Some(spoken) = spoken {
            self.watch.waits.lock().map_err(|_| "lost")?.push(called - spoken);
        }
        tokio::time::sleep(self.think).await;
        Ok(Reply::Pass)
    }
}

/// A chat with four hosted agents and a person, before its channels are made.
struct Stage {
    discord: MemoryDiscord,
    dirigent: Dirigent,
    person: UserId,
    users: Vec<UserId>,
    watch: Arc<Watch>,
}

impl Stage {
    fn new(store: impl ChannelStore, think: Duration) -> (Self, Driver) {
        let clock = SystemClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock)).with_history_max(20);
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let identities = MemoryIdentities::new();
        let mut settings = Settings::default();
        settings.pacing = Pacing::off();
        settings.calls_max = 1_000_000;
        let account = discord.account(moderator);
        let mut builder = Dirigent::builder(account, identities.clone(), clock);
        builder = builder.settings(settings).channels(store);
        let watch = Arc::new(Watch::default());
        let mut users = vec![moderator, person];
        for number in 0..4 {
            let user = discord.add_bot();
            let name = format!("agent-{number}");
            let agent_id = name.as_str().into();
            let identity = Identity { discord_user_id: user, agent_id, agent_name: name.clone() };
            identities.add(identity).unwrap();
            let agent = Passing { watch: Arc::clone(&watch), think };
            builder = builder.host(name.as_str(), agent, discord.account(user));
            users.push(user);
        }
        let (dirigent, driver) = builder.build().unwrap();
        (Self { discord, dirigent, person, users, watch }, driver)
    }

    /// Makes the channels, which rest when this returns.
    async fn channels(&self, count: usize) -> Vec<ChannelId> {
        let guild = self.discord.add_guild(self.person);
        let add = |number| self.discord.add_channel(guild, &format!("room-{number}"), &self.users);
        let channels: Vec<_> = (0..count).map(add).collect();
        while matches!(self.dirigent.reconnected().await, Err(CallError::NotRunning)) {
            tokio::task::yield_now().await;
        }
        let given = futures_util::stream::iter(&channels);
        given
            .for_each_concurrent(256, |channel| async {
                self.dirigent.set_mode(*channel, Mode::Chat).await.unwrap();
            })
            .await;
        // What is synced behind is on the disk.
        tokio::time::sleep(Duration::from_secs(3)).await;
        channels
    }

    /// Says a word in each channel, spread over a time, and waits until an agent was called in each.
    async fn wake(&self, channels: &[ChannelId], spread: Duration, in_order: bool) {
        let begin = Instant::now();
        for (channel, number) in channels.iter().zip(0_u32..) {
            let share = f64::from(number) / channels.len() as f64;
            let due = begin + spread.mul_f64(share);
            if due > Instant::now() + Duration::from_millis(1) {
                tokio::time::sleep_until(due.into()).await;
            }
            let id = self.discord.say(*channel, self.person, "What do you think?");
            let message = self.discord.message(*channel, id).expect("it was just said");
            // A word that had to wait for the one before was said when it was due.
            self.watch.spoken.lock().unwrap().insert(*channel, due.min(Instant::now()));
            let dirigent = self.dirigent.clone();
            let taken = async move { dirigent.message_created(message).await.unwrap() };
            if in_order {
                taken.await;
            } else {
                tokio::spawn(taken);
            }
        }
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.watch.spoken.lock().unwrap().is_empty() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn main() {
    let options = Options::read();
    let channels = options.number("--channels", 10_000);
    let spread = Duration::from_millis(options.number("--spread-ms", 1_000) as u64);
    let think = Duration::from_millis(options.number("--think-ms", 2_000) as u64);
    let in_order = options.number("--in-order", 0) > 0;
    let home = match options.value("--folder") {
        Some(folder) => tempfile::tempdir_in(PathBuf::from(folder)).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let name = options.value("--store").map_or("json", String::as_str);
    let open = (name != "memory").then(|| {
        let kind = Kind::of(options.value("--store"));
        kind.open(&home.path().join("store"), FileDurability::Full)
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let watch = runtime.block_on(async {
        let (stage, driver) = match &open {
            Some(Open::Json(store)) => Stage::new(store.clone(), think),
            #[cfg(feature = "sqlite")]
            Some(Open::Sqlite(store)) => Stage::new(store.clone(), think),
            None => Stage::new(MemoryChannels::default(), think),
        };
        tokio::spawn(driver.run());
        let channels = stage.channels(channels).await;
        stage.wake(&channels, spread, in_order).await;
        stage.watch
    });
    let mut waits = watch.waits.lock().unwrap().clone();
    waits.sort_unstable();
    let at = |per_mille: usize| {
        let index = (waits.len() * per_mille / 1_000).min(waits.len().saturating_sub(1));
        waits.get(index).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
    };
    println!(
        "{{\"store\":\"{name}\",\"channels\":{channels},\"in_order\":{in_order},\"called\":{},\
         \"p50_ms\":{:.1},\"p90_ms\":{:.1},\"p99_ms\":{:.1},\"max_ms\":{:.1}}}",
        waits.len(),
        at(500),
        at(900),
        at(990),
        at(1_000),
    );
    runtime.shutdown_background();
}
