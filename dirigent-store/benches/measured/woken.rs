//! Measures how long agents wait, with the store that `common` opens.

#[path = "../../../benches/common/stage.rs"]
mod stage;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Given, Kind, Open, Options, STORES};
use dirigent::store::MemoryChannels;
use dirigent::{Agent, AgentError, CallError, ChannelId, Mode, Reply, Turn};
use futures_util::StreamExt as _;
use stage::BenchStage;

/// The time at which a person spoke in each channel, and the time at which its first agent was
/// called.
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

/// The stage once its driver runs.
struct Woken {
    stage: BenchStage,
    watch: Arc<Watch>,
}

impl Woken {
    /// Makes the channels. They rest when this returns.
    async fn channels(&self, count: usize) -> Vec<ChannelId> {
        let BenchStage { discord, dirigent, person, users } = &self.stage;
        let guild = discord.add_guild(*person);
        let add = |number| discord.add_channel(guild, &format!("room-{number}"), users);
        let channels: Vec<_> = (0..count).map(add).collect();
        while matches!(dirigent.reconnected().await, Err(CallError::NotRunning)) {
            tokio::task::yield_now().await;
        }
        let given = futures_util::stream::iter(&channels);
        given
            .for_each_concurrent(256, |channel| async {
                dirigent.channel(*channel).set_mode(Mode::Chat).await.unwrap();
            })
            .await;
        // By then the data that is synced later is on the disk.
        tokio::time::sleep(Duration::from_secs(3)).await;
        channels
    }

    /// Posts one message in each channel, spread over a time, and waits until an agent was called in
    /// each.
    async fn wake(&self, channels: &[ChannelId], spread: Duration, in_order: bool) {
        let BenchStage { discord, dirigent, person, .. } = &self.stage;
        let begin = Instant::now();
        for (channel, number) in channels.iter().zip(0_u32..) {
            let share = f64::from(number) / channels.len() as f64;
            let due = begin + spread.mul_f64(share);
            if due > Instant::now() + Duration::from_millis(1) {
                tokio::time::sleep_until(due.into()).await;
            }
            let id = discord.say(*channel, *person, "What do you think?");
            let message = discord.message(*channel, id).expect("it was just said");
            // A message that had to wait for the one before counts from the moment at which it was
            // due.
            self.watch.spoken.lock().unwrap().insert(*channel, due.min(Instant::now()));
            let dirigent = dirigent.clone();
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

fn flags() -> Given {
    Options::new(
        "woken",
        "How long agents wait when many resting channels are spoken to, as a line of JSON",
    )
    .number("channels", 10_000, "How many channels are spoken to")
    .number("spread-ms", 1_000, "Within how many milliseconds")
    .number("think-ms", 2_000, "How many milliseconds an agent thinks")
    .number("in-order", 0, "1: each word waits for the one before")
    .word("store", STORES, "Which store")
    .folder("folder", "Where the store is made, if not where temporary files are")
    .read()
}

pub(crate) fn main() {
    let options = flags();
    let channels = options.number("channels");
    let spread = Duration::from_millis(options.number("spread-ms") as u64);
    let think = Duration::from_millis(options.number("think-ms") as u64);
    let in_order = options.number("in-order") > 0;
    let home = match options.text("folder") {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let name = options.text("store").unwrap_or_default();
    let open = (name != "memory").then(|| {
        let kind = Kind::of(Some(name));
        kind.open(&home.path().join("store"), true)
    });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let watch = runtime.block_on(async {
        let store =
            open.as_ref().map_or_else(|| Arc::new(MemoryChannels::default()) as _, Open::store);
        let watch = Arc::new(Watch::default());
        let agent = |_| Passing { watch: Arc::clone(&watch), think };
        let (stage, driver) = BenchStage::new(4, agent, store);
        tokio::spawn(driver.run());
        let woken = Woken { stage, watch: Arc::clone(&watch) };
        let channels = woken.channels(channels).await;
        woken.wake(&channels, spread, in_order).await;
        watch
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
    if let Some(open) = open {
        runtime.block_on(open.close());
    }
    runtime.shutdown_background();
}
