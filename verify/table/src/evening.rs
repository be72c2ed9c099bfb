//! What happens at the table.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{Clock, SystemClock};
use dirigent_loopback::GatewayFaults;
use dirigent_testkit::memory_discord::PushFault;

use crate::Result;
use crate::party::until;
use crate::stage::{ASKERS, HELPERS, Table};
use crate::told::Told;

/// The turns that there are at least.
const TURNS: u64 = 100;
/// How many of the gateway's events are lost, in thousandths.
const LOST: u32 = 50;
/// The time after which an asker has surely ended its thinking.
const THOUGHT: Duration = Duration::from_secs(4);
/// The time at rest after which nothing comes any more, and everything was looked for.
const REST: Duration = Duration::from_secs(7);
/// What a person says, one after the other, over and over. `@1` and `@2` are two helpers.
const WORDS: [&str; 4] = [
    "Tabs or spaces?",
    "<@1> <@2> What do you two say?",
    "And in Python?",
    "Who tells the others?",
];

/// What the judge must know of the evening.
#[derive(Debug)]
pub(crate) struct Played {
    /// When the person wrote `stop`, and when `resume`.
    pub(crate) stop: Timestamp,
    pub(crate) resume: Timestamp,
    /// When the table came to rest at last.
    pub(crate) rest: Timestamp,
    /// The kills, each with its moment.
    pub(crate) kills: Vec<(&'static str, Timestamp)>,
}

/// When a program is killed.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// Its trigger has been posted.
    Triggered,
    /// This agent's run has begun.
    Runs(&'static str),
}

/// Each is killed once, in this order: before it begins, in its run, and while another speaks.
const KILLS: [(&str, Moment); 6] = [
    ("anna", Moment::Triggered),
    ("piet", Moment::Runs("piet")),
    ("dirigent", Moment::Runs("sceptic")),
    ("bert", Moment::Runs("bert")),
    ("josh", Moment::Triggered),
    ("cleo", Moment::Runs("optimist")),
];

pub(crate) async fn play(table: &mut Table, seed: u64) -> Result<Played> {
    table.start_dirigent().await?;
    for (_, bot) in &mut table.bots {
        bot.begin()?;
    }
    for (_, bot) in &table.bots {
        bot.takes_part().await?;
    }
    lose(table, seed);
    let mut kills = Kills { due: KILLS.into(), done: Vec::new(), seen: 0 };
    let (mut words, mut stopped) = (WORDS.into_iter().cycle(), None);
    while !kills.due.is_empty() || stopped.is_none() || newest_turn(table) < TURNS {
        let is_time = kills.due.is_empty() && stopped.is_none();
        if is_time {
            stopped = Some(stop(table, seed).await?);
        }
        table.think();
        let from = say(table, if is_time { "Go on." } else { words.next().unwrap_or_default() });
        while until("a kill or rest", || kills.next(table, from)).await? == Next::Kill {
            kills.kill(table).await?;
        }
    }
    let clock = SystemClock::new();
    let rest = clock.now();
    until("a last look", || (clock.now() > rest + REST).then_some(())).await?;
    let (stop, resume) = stopped.unwrap_or_default();
    Ok(Played { stop, resume, rest, kills: kills.done })
}

fn lose(table: &Table, seed: u64) {
    let faults = GatewayFaults::new(seed).with_event_rate(PushFault::Dropped, LOST);
    table.server.set_gateway_faults(faults);
}

/// The person says this. Returns from which line of the log on something follows from it.
fn say(table: &Table, words: &str) -> usize {
    let mut words = words.to_owned();
    for (place, name) in ["<@1>", "<@2>"].into_iter().zip(HELPERS) {
        let mention = table.account(name).map(|user| format!("<@{user}>")).unwrap_or_default();
        words = words.replace(place, &mention);
    }
    let from = table.log().count();
    table.discord.say(table.channel, table.person, words);
    from
}

fn newest_turn(table: &Table) -> u64 {
    table.log().told(0).iter().filter_map(|told| told.turn).max().unwrap_or_default()
}

fn at_rest(table: &Table, from: usize) -> bool {
    let told = table.log().told(from);
    told.iter().rev().find_map(|told| told.is.as_deref()) == Some("dormant")
}

/// Whom a person stops while an asker thinks.
async fn stop(table: &Table, seed: u64) -> Result<(Timestamp, Timestamp)> {
    table.think();
    let from = say(table, "Take your time to think.");
    until("a thought", || {
        let told = table.log().told(from);
        let thinks = told.iter().rev().find(|told| told.is.is_some())?;
        let is_asker = ASKERS.iter().any(|name| thinks.agent.as_deref() == Some(*name));
        (is_asker && thinks.is.as_deref() == Some("running")).then_some(())
    })
    .await?;
    // A word whose event is lost is heard with the next look at the history. This one must be heard now.
    table.server.stop_gateway_faults();
    let clock = SystemClock::new();
    let stop = clock.now();
    let from = say(table, "stop");
    until("the stop", || {
        table.log().told(from).iter().find(|told| told.cause == "stopped").map(drop)
    })
    .await?;
    until("the end of the thought", || (clock.now() > stop + THOUGHT).then_some(())).await?;
    let (from, resume) = (table.log().count(), clock.now());
    say(table, "resume");
    until("the resumption", || {
        table.log().told(from).iter().find(|told| told.cause == "resumed").map(drop)
    })
    .await?;
    lose(table, seed.wrapping_add(1));
    Ok((stop, resume))
}

/// What the evening waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Kill,
    Rest,
}

struct Kills {
    due: VecDeque<(&'static str, Moment)>,
    done: Vec<(&'static str, Timestamp)>,
    /// The lines of the log that were there at the kill before.
    seen: usize,
}

impl Kills {
    /// What comes next, if it is there.
    fn next(&self, table: &Table, from: usize) -> Option<Next> {
        let is_due = self.due.front().is_some_and(|kill| self.is_due(table, from, *kill));
        let is_over = is_due || at_rest(table, from);
        is_over.then_some(if is_due { Next::Kill } else { Next::Rest })
    }

    fn is_due(&self, table: &Table, from: usize, (name, moment): (&str, Moment)) -> bool {
        let told = table.log().told(from.max(self.seen));
        match moment {
            Moment::Runs(agent) => {
                let is_its = |told: &&Told| told.agent.as_deref() == Some(agent);
                told.iter().filter(is_its).any(|told| told.cause == "run-started")
            }
            Moment::Triggered => {
                let newest = told.iter().rev().find(|told| told.is.is_some());
                let has_turn = newest.is_some_and(|told| {
                    told.agent.as_deref() == Some(name) && told.is.as_deref() == Some("granted")
                });
                let Some(mention) = table.account(name).map(|user| format!("<@{user}>")) else {
                    return false;
                };
                let messages = table.discord.messages(table.channel);
                let mut newest = messages.iter().rev().take(2);
                has_turn
                    && newest
                        .any(|it| it.author == table.moderator && it.content.starts_with(&mention))
            }
        }
    }

    /// Kills the next, and starts it again at once.
    async fn kill(&mut self, table: &mut Table) -> Result {
        let Some((name, _)) = self.due.pop_front() else { return Ok(()) };
        if name == "dirigent" {
            table.kill_dirigent().await?;
            table.start_dirigent().await?;
        } else {
            let bot = table.bot(name)?;
            bot.kill().await?;
            bot.begin()?;
            bot.takes_part().await?;
        }
        self.done.push((name, SystemClock::new().now()));
        self.seen = table.log().count();
        Ok(())
    }
}
