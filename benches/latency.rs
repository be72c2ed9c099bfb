//! From one turn's end to the next agent's call, while ten thousand channels talk at once.
//!
//! `cargo bench --bench latency -- --channels 10000 --rate 1000 --seconds 20` prints one line of
//! JSON: the time from the moment a reply's post was answered to the next agent's call.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod common;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{BenchStage, Options};
use dirigent::store::MemoryChannels;
use dirigent::{Agent, AgentError, ChannelId, Mode, Reply, Turn};

/// When each channel's last reply was given to the library.
struct Watch {
    ended: Mutex<HashMap<ChannelId, Instant>>,
    waits: Mutex<Vec<Duration>>,
    think: Duration,
}

struct Thinking(Arc<Watch>);

#[dirigent::async_trait]
impl Agent for Thinking {
    #[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let called = Instant::now();
        let ended = self.0.ended.lock().map_err(|_| "lost")?.get(&turn.channel()).copied();
        if let Some(ended) = ended {
            self.0.waits.lock().map_err(|_| "lost")?.push(called - ended);
        }
        tokio::time::sleep(self.0.think).await;
        self.0.ended.lock().map_err(|_| "lost")?.insert(turn.channel(), Instant::now());
        Ok(Reply::from("I agree with the point above."))
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn main() {
    let options = Options::new("latency", "How long a word waits for its agent, as a line of JSON")
        .number("channels", 10_000, "How many channels are awake")
        .number("rate", 1_000, "How many words a second")
        .number("seconds", 20, "For how long; a test takes one second")
        .read();
    let (channels, rate) = (options.number("channels"), options.number("rate").max(1));
    let seconds = options.number("seconds").min(if options.is_test() { 1 } else { 3_600 });
    let think = Duration::from_secs_f64(channels as f64 / rate as f64);
    let watch = Arc::new(Watch { ended: Mutex::default(), waits: Mutex::default(), think });
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Arc::new(MemoryChannels::default());
        let (stage, driver) = BenchStage::new(4, |_| Thinking(Arc::clone(&watch)), store);
        let BenchStage { discord, dirigent, person, users } = stage;
        tokio::spawn(driver.run());
        tokio::task::yield_now().await;
        let guild = discord.add_guild(person);
        for number in 0..channels {
            let channel = discord.add_channel(guild, &format!("room-{number}"), &users);
            loop {
                match dirigent.channel(channel).set_mode(Mode::Chat).await {
                    Ok(_) => break,
                    Err(dirigent::CallError::NotRunning) => tokio::task::yield_now().await,
                    Err(error) => panic!("{error}"),
                }
            }
            dirigent.channel(channel).wake(None).await.unwrap();
            if number % rate.div_ceil(100) == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        watch.waits.lock().unwrap().clear();
        tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
    });
    let mut waits = watch.waits.lock().unwrap().clone();
    waits.sort_unstable();
    let at = |per_mille: usize| {
        let index = (waits.len() * per_mille / 1_000).min(waits.len().saturating_sub(1));
        waits.get(index).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
    };
    println!(
        "{{\"channels\":{channels},\"turns_per_second\":{:.0},\"p50_ms\":{:.3},\"p99_ms\":{:.3},\
         \"p999_ms\":{:.3},\"max_ms\":{:.3},\"peak_rss_mb\":{:.1}}}",
        waits.len() as f64 / seconds as f64,
        at(500),
        at(990),
        at(999),
        at(1_000),
        common::peak_rss_mb(),
    );
    runtime.shutdown_background();
}
