//! What the benches share: options, meters, and a room full of agents.
#![allow(dead_code, reason = "each bench uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot start says so")]
#![allow(clippy::disallowed_methods, reason = "a bench measures real time")]

mod memory;
mod options;
mod stage;

use std::sync::Arc;
use std::time::Instant;

use cpu_time::ProcessTime;
use dirigent::store::MemoryChannels;
use dirigent::{Agent, ChannelId, Dirigent, Mode, UserId};
use dirigent_testkit::MemoryDiscord;

pub(crate) use self::options::Options;
pub(crate) use self::stage::BenchStage;

/// CPU time of the process, and wall time.
#[derive(Clone, Copy)]
pub(crate) struct Meter {
    cpu: ProcessTime,
    wall: Instant,
}

impl Meter {
    pub(crate) fn read() -> Self {
        Self { cpu: ProcessTime::now(), wall: Instant::now() }
    }

    pub(crate) fn cpu_us_since(&self, earlier: &Self) -> f64 {
        self.cpu.duration_since(earlier.cpu).as_secs_f64() * 1e6
    }

    pub(crate) fn wall_us_since(&self, earlier: &Self) -> f64 {
        self.wall.duration_since(earlier.wall).as_secs_f64() * 1e6
    }
}

/// The most memory that the process had, in megabytes.
pub(crate) fn peak_rss_mb() -> f64 {
    memory::memory_mb("VmHWM:")
}

/// A channel with hosted agents and a person.
pub(crate) struct Room {
    pub(crate) discord: MemoryDiscord,
    pub(crate) dirigent: Dirigent,
    pub(crate) channel: ChannelId,
    pub(crate) person: UserId,
}

impl Room {
    pub(crate) async fn open<A: Agent>(agents: usize, agent: impl Fn(usize) -> A) -> Self {
        let (stage, driver) = BenchStage::new(agents, agent, Arc::new(MemoryChannels::default()));
        let BenchStage { discord, dirigent, person, users } = stage;
        tokio::spawn(driver.run());
        tokio::task::yield_now().await;
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "bench", &users);
        dirigent.channel(channel).set_mode(Mode::Chat).await.unwrap();
        Self { discord, dirigent, channel, person }
    }

    /// Lets the round begin.
    pub(crate) async fn wake(&self) {
        self.dirigent.channel(self.channel).wake(None).await.unwrap();
    }
}
