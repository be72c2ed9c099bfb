//! Measures the memory that resting channels take: a number of channels, each with its agents, and every agent asleep.
//!
//! `cargo bench -p dirigent-store --features sqlite --bench idle -- --channels 1000000 --agents 4 --store sqlite`
//! prints one line of JSON. Every channel gets its mode and its members, and rests for more than ten minutes of its
//! clock. The memory is that of the whole process, so it includes the driver, the store and the look-up tables. With
//! `--store memory` the records are in memory, too.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![allow(clippy::disallowed_methods, reason = "a bench measures real time")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod common;
#[path = "../../benches/common/memory.rs"]
mod memory;

use std::sync::Arc;
use std::time::Duration;

use common::{Given, Kind, Open, Options, STORES};
use dirigent::operate::CreatedChannel;
use dirigent::ports::Identity;
use dirigent::store::{ChannelStore, MemoryChannels};
use dirigent::{AgentId, CallError, ChannelId, Dirigent, MemoryIdentities, Mode};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use futures_util::StreamExt as _;
use memory::memory_mb;

fn flags() -> Given {
    Options::new("idle", "What a resting channel costs, as a line of JSON")
        .number("channels", 100_000, "How many channels rest")
        .number("agents", 4, "How many agents each of them has")
        .word("store", STORES, "Which store")
        .folder("folder", "Where the store is made, if not where temporary files are")
        .read()
}

fn main() {
    let options = flags();
    let (channels, agents) = (options.number("channels"), options.number("agents"));
    let home = match options.text("folder") {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let name = options.text("store").unwrap_or_default();
    let open = (name != "memory").then(|| {
        let kind = Kind::of(Some(name));
        kind.open(&home.path().join("store"), false)
    });
    let store = open.as_ref().map_or_else(|| Arc::new(MemoryChannels::default()) as _, Open::store);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let used = runtime.block_on(rest(channels, agents, store));
    println!(
        "{{\"store\":\"{name}\",\"channels\":{channels},\"agents\":{agents},\"bytes_per_channel\":{:.0},\
         \"rss_mb\":{:.1},\"peak_rss_mb\":{:.1}}}",
        used * 1_024.0 * 1_024.0 / channels as f64,
        memory_mb("VmRSS:"),
        memory_mb("VmHWM:"),
    );
    if let Some(open) = open {
        runtime.block_on(open.close());
    }
}

/// Lets this number of channels rest, and returns how many megabytes that takes.
async fn rest(channels: usize, agents: usize, store: Arc<dyn ChannelStore>) -> f64 {
    let clock = ManualClock::new();
    let discord = MemoryDiscord::new(Arc::new(clock.clone()));
    let moderator = discord.add_bot();
    let identities = MemoryIdentities::new();
    let mut members: Vec<AgentId> = Vec::new();
    for number in 0..agents {
        let agent_id: AgentId = format!("agent-{number}").into();
        members.push(agent_id.clone());
        let agent_name = agent_id.to_string();
        identities
            .add(Identity { discord_user_id: discord.add_bot(), agent_id, agent_name })
            .unwrap();
    }
    let account = Arc::new(discord.account(moderator));
    let builder = Dirigent::builder(account).identities(identities).clock(clock.clone());
    let (dirigent, driver) = builder.channels(store).build().unwrap();
    let driver = tokio::spawn(driver.run());
    while matches!(dirigent.reconnected().await, Err(CallError::NotRunning)) {
        tokio::task::yield_now().await;
    }

    let before = memory_mb("VmRSS:");
    let register = |number: usize| {
        let (dirigent, members, clock) = (&dirigent, &members, &clock);
        async move {
            let channel = ChannelId::new(1_000_000_000_000_000 + number as u64);
            let made =
                CreatedChannel { mode: Mode::Chat, members: members.clone(), ..Default::default() };
            dirigent.channel(channel).register(made).await.unwrap();
            if number.is_multiple_of(10_000) {
                clock.advance(Duration::from_secs(1));
            }
        }
    };
    futures_util::stream::iter(0..channels).for_each_concurrent(256, register).await;
    for _ in 0..3 {
        clock.advance(Duration::from_secs(700));
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
    }
    let used = memory_mb("VmRSS:") - before;
    driver.abort();
    used
}
