//! What one turn costs: hosted agents in a round robin over the in-memory Discord.
//!
//! `cargo bench --bench turns -- --agents 8 --turns 10000` prints one line of JSON. The agents
//! answer a constant. Pacing and ceilings are off, because the channel would become dormant at a
//! ceiling; everything else is as by default. `docs/performance.md` has the promised figures.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Meter, Options, Room};
use dirigent::{Agent, AgentError, Reply, Turn};
use tokio::sync::Notify;

const ANSWER: &str = "I have looked at the point above and agree with it; nothing to add for now.";
/// The cost at turn N is the mean over this many turns, up to and including N.
const STRETCH: usize = 100;

/// Counts the turns of all agents, and stamps those of interest.
struct Count {
    turns: usize,
    taken: AtomicUsize,
    stamps: Mutex<Vec<(usize, Meter)>>,
    done: Notify,
}

struct Agreeing(Arc<Count>);

#[dirigent::async_trait]
impl Agent for Agreeing {
    async fn speak(&self, _turn: Turn) -> Result<Reply, AgentError> {
        let count = &self.0;
        let turn = count.taken.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_stamped(turn) {
            count.stamps.lock().map_err(|_| "a stamp was lost")?.push((turn, Meter::read()));
        }
        if turn >= count.turns {
            count.done.notify_one();
            return Ok(Reply::Pass);
        }
        Ok(Reply::from(ANSWER))
    }
}

impl Count {
    fn is_stamped(&self, turn: usize) -> bool {
        let ends = [100, 1_000, 10_000];
        turn == 1
            || turn == self.turns
            || ends.iter().any(|end| turn == *end || turn + STRETCH == *end)
    }
}

fn main() {
    let options = Options::new("turns", "What one turn costs, as a line of JSON")
        .number("turns", 10_000, "How many turns")
        .number("agents", 8, "How many agents take turns")
        .read();
    let (turns, agents) = (options.number("turns"), options.number("agents"));
    let count = Arc::new(Count {
        turns,
        taken: AtomicUsize::new(0),
        stamps: Mutex::default(),
        done: Notify::new(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let calls = runtime.block_on(async {
        let room = Room::open(agents, |_| Agreeing(Arc::clone(&count))).await;
        let before = room.discord.calls();
        room.discord.say(room.channel, room.person, "What do you think?");
        room.wake().await;
        count.done.notified().await;
        let calls = room.discord.calls().since(&before).total();
        room.dirigent.shutdown(Duration::ZERO).await;
        calls
    });
    let stamps = count.stamps.lock().unwrap();
    let (first, last) = (stamps.first().unwrap(), stamps.last().unwrap());
    let between = (last.0 - first.0) as f64;
    let at = |end: usize| {
        let find = |turn: usize| stamps.iter().find(|(known, _)| *known == turn);
        let from = if end == STRETCH { find(1) } else { find(end - STRETCH) };
        match (from, find(end)) {
            (Some(from), Some(to)) => {
                format!("{:.2}", to.1.cpu_us_since(&from.1) / (to.0 - from.0) as f64)
            }
            _ => "null".to_owned(),
        }
    };
    println!(
        "{{\"agents\":{agents},\"turns\":{turns},\"cpu_us_per_turn\":{:.2},\"us_per_turn\":{:.2},\
         \"cpu_us_at_turn\":{{\"100\":{},\"1000\":{},\"10000\":{}}},\"peak_rss_mb\":{:.1},\
         \"rest_calls_per_turn\":{:.3}}}",
        last.1.cpu_us_since(&first.1) / between,
        last.1.wall_us_since(&first.1) / between,
        at(100),
        at(1_000),
        at(10_000),
        common::peak_rss_mb(),
        calls as f64 / turns as f64,
    );
}
