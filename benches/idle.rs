//! Measures what a resting channel costs: a number of channels, each with its agents, none of them awake.
//!
//! `cargo bench --bench idle -- --channels 1000000 --agents 4` prints one line of JSON. Every
//! channel is given its mode and members and rests for more than ten minutes of its clock; the
//! memory counted is that of the whole process: driver, in-memory store, look-up tables.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{Meter, Options};
use dirigent::operate::CreatedChannel;
use dirigent::ports::Identity;
use dirigent::{AgentId, ChannelId, Dirigent, MemoryIdentities, Mode};
use dirigent_testkit::{ManualClock, MemoryDiscord};

fn main() {
    let options = Options::new("idle", "What a resting channel costs, as a line of JSON")
        .number("channels", 100_000, "How many channels rest")
        .number("agents", 4, "How many agents each of them has")
        .read();
    let (channels, agents) = (options.number("channels"), options.number("agents"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(rest(channels, agents));
}

async fn rest(channels: usize, agents: usize) {
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
    let (dirigent, driver) =
        Dirigent::builder(account).identities(identities).clock(clock.clone()).build().unwrap();
    let driver = tokio::spawn(driver.run());
    tokio::task::yield_now().await;

    let (before, start) = (common::rss_mb(), Meter::read());
    for number in 0..channels {
        let channel = ChannelId::new(1_000_000_000_000_000 + number as u64);
        let made =
            CreatedChannel { mode: Mode::Chat, members: members.clone(), ..Default::default() };
        dirigent.channel(channel).register(made).await.unwrap();
        if number % 10_000 == 0 {
            clock.advance(Duration::from_secs(1));
        }
    }
    for _ in 0..3 {
        clock.advance(Duration::from_secs(700));
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
    }
    let used = common::rss_mb() - before;
    println!(
        "{{\"channels\":{channels},\"agents\":{agents},\"bytes_per_channel\":{:.0},\"rss_mb\":{:.1},\
         \"peak_rss_mb\":{:.1},\"cpu_us_per_channel_created\":{:.2}}}",
        used * 1_024.0 * 1_024.0 / channels as f64,
        common::rss_mb(),
        common::peak_rss_mb(),
        Meter::read().cpu_us_since(&start) / channels as f64,
    );
    driver.abort();
}
