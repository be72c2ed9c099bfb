//! The whole driver under chance: rooms full of agents, a chat and a store that fail, a process that
//! dies, a clock that jumps. One seed is one run, the same every time.
//!
//! What is checked at the boundary: no state is acted on before it is stored (I2); no nonce makes
//! two messages and nothing is said twice (I1); every post is short, has a nonce and pings only
//! who is addressed (I15); when the faults end, every room moves again and comes to rest (I16).
//! Requests that come before the chat allowed them are counted (I17).
//!
//! In one world of four everybody asks before each step why nobody speaks: the gate must say the same, and where a
//! time is named, the room must have gone on by then if only time passed.
//!
//! One seed in three has discussions too. Of each, the guide is in its channel and the result in the
//! callback channel once, as soon as nothing keeps them from it; no agent is given a turn before the
//! guide; every result wakes a channel that keeps turns; and no outbox message is left over.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use dirigent::ports::{Mentions, Nonce};
use dirigent::settings::TriggerCleanup;
use dirigent::snapshot::Pause;
use dirigent::{ChannelId, Clock, MessageId, Mode, UserId};
use dirigent_testkit::Random;
use dirigent_testkit::memory_discord::{Call, Faults, PostRecord};
use dirigent_testkit::scripted_agent::{Act, Line};
use dirigent_testkit::worlds::World;
use dirigent_testkit::{ManualClock, ScriptedAgent};

use crate::stage::{Setup, Stage, StoreFault};

mod talks;
mod told;
mod verdict;

use talks::Talks;

const SECOND: Duration = Duration::from_secs(1);

/// What an operator does in a channel.
const ORDERS: [&str; 9] =
    ["stop", "hold", "report", "chat", "mute bob", "unmute bob", "wake", "resume", "resume"];

/// How much happened in a run, or in many.
///
/// ```
/// use dirigent_testkit::worlds::Worlds;
/// use dirigent_verify::driver_simulation::DriverWorld;
///
/// let worlds = Worlds::fixed("", 1, 1, 50);
/// let tally = worlds.live(|number, _| DriverWorld::new(number), DriverWorld::tally);
/// assert!(tally.steps == 50 && tally.posts > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tally {
    /// Steps made.
    pub steps: u64,
    /// How often the process was killed.
    pub kills: u64,
    /// Attempts to post.
    pub posts: u64,
    /// Turns granted.
    pub turns: u64,
    /// Requests at the chat.
    pub requests: u64,
    /// Commits made.
    pub commits: u64,
    /// Requests made before the chat allowed them.
    pub too_early: u64,
    /// Seconds on the clock.
    pub seconds: u64,
    /// Discussions opened.
    pub discussions: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.kills += other.kills;
        self.posts += other.posts;
        self.turns += other.turns;
        self.requests += other.requests;
        self.commits += other.commits;
        self.too_early += other.too_early;
        self.seconds += other.seconds;
        self.discussions += other.discussions;
    }
}

/// A run of the driver, which is a hostile world of a number.
pub struct DriverWorld {
    stage: Stage,
    dice: Random,
    said: u64,
    /// Discussions, in a seed that has them.
    talks: Option<Talks>,
    /// Whether everybody asks why nobody speaks.
    asks: bool,
    /// Whether only time passed in this step.
    is_idle: bool,
    tally: Tally,
    story: Vec<String>,
}

impl fmt::Debug for DriverWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DriverWorld after {} steps", self.tally.steps)
    }
}

impl World for DriverWorld {
    fn step(&mut self) -> Result<(), String> {
        self.tally.steps += 1;
        let named = if self.asks { self.ask_everybody()? } else { None };
        self.is_idle = false;
        self.happen();
        match named.filter(|_| self.is_idle) {
            Some(named) => self.check_named(&named),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        self.come_to_rest()
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(&mut self.dice)
    }

    fn story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.story)
    }
}

impl DriverWorld {
    /// The world of this number.
    pub fn new(seed: u64) -> Self {
        let mut dice = Random::new(seed);
        let mut talks = Talks::are_in(seed).then(|| Talks::new(seed));
        let setup = Setup::new()
            .rooms(3)
            .seed(seed)
            .hosted("ann", lines("ann", talks.is_some(), &mut dice))
            .hosted("bob", lines("bob", false, &mut dice))
            .hooked("cis", lines("cis", false, &mut dice))
            .settings(|settings| {
                settings.limits.pacing = dirigent::settings::Pacing::default();
                if dice.one_in(3) {
                    settings.hooks.lost_runs = dirigent::settings::LostRuns::Rerun;
                }
            })
            .config(|config| {
                config.deadlines.run = Some(SECOND * 90);
                config.ceilings.chat.turns = Some(20);
                config.ceilings.discussion.turns = Some(20);
                config.trigger_cleanup = match dice.below(4) {
                    0 => TriggerCleanup::OnNext,
                    1 => TriggerCleanup::After(SECOND * 10),
                    2 => TriggerCleanup::Never,
                    _ => TriggerCleanup::Immediate,
                };
            })
            .downtime(Duration::from_secs(dice.between(1, 100)));
        let setup = if dice.one_in(3) { setup.post_first() } else { setup };
        let setup = if dice.one_in(3) { setup.direct() } else { setup };
        let setup = match &mut talks {
            Some(talks) => talks.set_up(setup),
            None => setup,
        };
        let setup = if Self::asks_in(seed) { setup.hosted("dan", []) } else { setup };
        let mut stage = setup.stage();
        stage.agents().for_each(ScriptedAgent::say_once);
        stage.chat();
        let faults = Faults::hostile(seed);
        let faults = match &talks {
            Some(talks) => talks.faults(faults),
            None => faults,
        };
        stage.discord().inject(|plan| *plan = faults);
        for (fault, per_mille) in [
            (StoreFault::Fails, 10),
            (StoreFault::FailsInDoubt, 10),
            (StoreFault::LosesAnswer, 10),
            (StoreFault::TakesSoLong(SECOND * 10), 5),
            (StoreFault::Hangs, 2),
        ] {
            stage.store().with_rate(fault, per_mille, seed);
        }
        let (tally, story) = (Tally::default(), Vec::new());
        let (asks, is_idle) = (Self::asks_in(seed), false);
        if asks {
            let user = stage.agent("dan").user();
            for room in stage.rooms().to_vec() {
                stage.discord().leave(room, user);
            }
            stage.settle();
        }
        Self { stage, dice, said: 0, talks, asks, is_idle, tally, story }
    }

    /// What happened so far; all of it once the world came to rest.
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    fn happen(&mut self) {
        self.supervise();
        if self.talk() {
            return self.tell("a discussion");
        }
        match self.dice.below(100) {
            0..55 => {
                let seconds = self.dice.between(1, 20);
                self.is_idle = true;
                self.tell(&format!("{seconds} s pass"));
                self.stage.advance(Duration::from_secs(seconds));
            }
            55..80 => self.speak(),
            80..84 => self.move_somebody(),
            84..90 => self.operate(),
            90..93 => self.strangers(),
            93..97 => {
                let points = self.dice.between(1, 60);
                self.tell(&format!("the process dies at await point {points} from here"));
                self.stage.points().strike_in(points);
            }
            97 => {
                let minutes = self.dice.between(1, 60);
                self.is_idle = true;
                self.tell(&format!("{minutes} min pass"));
                self.stage.advance(Duration::from_secs(60 * minutes));
            }
            98 => {
                let hours = self.dice.between(1, 24);
                self.tell(&format!("the clock jumps by {hours} h"));
                self.stage.clock().advance(Duration::from_secs(3_600 * hours));
                self.stage.settle();
            }
            _ => self.long_crash(),
        }
    }

    fn tell(&mut self, what: &str) {
        let passed = self.stage.clock().now().since(ManualClock::START);
        self.story.push(format!("{:>9} s: {what}", passed.as_secs()));
    }

    /// A driver that could not start, because the chat did not say who it is, is started again.
    fn supervise(&mut self) {
        if self.stage.take_end().is_some() {
            self.stage.restart();
        }
    }

    /// Down for up to ten minutes, on a machine whose clock is then set.
    fn long_crash(&mut self) {
        self.tell("the process is down for a while");
        self.stage.crash();
        let clock = self.stage.clock().clone();
        clock.advance(Duration::from_secs(self.dice.between(1, 600)));
        if self.dice.one_in(4) {
            clock.set(clock.now().saturating_sub(Duration::from_secs(self.dice.between(1, 3_600))));
        }
        self.stage.restart();
    }

    fn room(&mut self) -> ChannelId {
        let rooms = self.stage.rooms();
        self.dice.pick(rooms).unwrap_or(ChannelId::new(0))
    }

    fn speak(&mut self) {
        self.said += 1;
        let (room, text) = (self.room(), format!("human {}", self.said));
        self.tell(&format!("a person writes {text:?} in {room}"));
        self.stage.say_in(room, &text);
    }

    fn strangers(&mut self) {
        let room = self.room();
        self.tell(&format!("a stranger writes in {room}"));
        let discord = self.stage.discord().clone();
        let stranger = match self.dice.below(2) {
            1 if self.talks.is_none() => self.stage.moderator(),
            // In a run with discussions the moderator may have lost its right to write there.
            _ => discord.add_webhook(),
        };
        discord.say(room, stranger, "beep");
        self.stage.settle();
    }

    fn move_somebody(&mut self) {
        let room = self.room();
        let name = self.dice.pick(&["ann", "bob", "cis"]).unwrap_or("ann");
        self.tell(&format!("{name} leaves or joins {room}"));
        let user = self.stage.agent(name).user();
        if self.dice.one_in(2) {
            self.stage.discord().leave(room, user);
        } else {
            self.stage.discord().join(room, user);
        }
        self.stage.settle();
    }

    fn operate(&mut self) {
        let room = self.room();
        let order = self.dice.pick(&ORDERS).unwrap_or("resume");
        self.tell(&format!("an operator in {room}: {order}"));
        let _ = self.stage.try_call(move |d| async move {
            match order {
                "stop" => d.channel(room).stop().await,
                "hold" => d.channel(room).hold().await,
                "report" => d.channel(room).set_mode(Mode::Report).await.map(drop),
                "chat" => d.channel(room).set_mode(Mode::Chat).await.map(drop),
                "mute bob" => d.channel(room).mute(&"bob".into()).await,
                "unmute bob" => d.channel(room).unmute(&"bob".into()).await,
                "wake" => d.channel(room).wake(None).await,
                _ => d.channel(room).resume().await,
            }
        });
    }

    /// The faults end; every room must move again, and come to rest.
    fn come_to_rest(&mut self) -> Result<(), String> {
        self.stage.points().crash_at([]);
        self.stage.discord().stop_faults();
        self.stage.store().stop_faults();
        self.supervise();
        self.stage.advance(SECOND * 120);
        for room in self.stage.rooms().to_vec() {
            for user in self.stage.agents().map(ScriptedAgent::user).collect::<Vec<_>>() {
                self.stage.discord().join(room, user);
            }
            let _ = self.stage.try_call(move |d| async move {
                let _ = d.channel(room).resume().await;
                d.channel(room).set_mode(Mode::Chat).await
            });
        }
        self.stage.advance(SECOND * 120);
        self.check_recovery()?;
        let discussions = self.check_talks()?;
        self.check_posts()?;
        let calls = self.stage.discord().calls();
        let turns = self.stage.rooms().to_vec().into_iter();
        let turns = turns.filter_map(|room| self.stage.status_of(room));
        self.tally = Tally {
            steps: self.tally.steps,
            discussions,
            turns: turns.map(|status| status.turn.get()).sum(),
            kills: self.stage.points().deaths().len() as u64,
            posts: calls.of(Call::Post),
            requests: calls.total(),
            commits: self.stage.store().commits().len() as u64,
            too_early: calls.too_early(),
            seconds: self.stage.clock().now().since(ManualClock::START).as_secs(),
        };
        Ok(())
    }
}

/// What an agent says in its life: every line once. One who opens discussions may end them.
fn lines(name: &str, concludes: bool, dice: &mut Random) -> Vec<Line> {
    let line = |number| {
        let act = match dice.below(20) {
            0 => Act::Fail,
            1 => Act::Hang,
            2 => Act::Deaf,
            3 => Act::Say(format!("{name} {number} ").repeat(300)),
            4 if concludes => Act::Conclude(format!("{name} {number} ends it.")),
            4..10 => Act::Pass,
            _ => Act::Say(format!("{name} {number}.")),
        };
        Line::from(act).taking(Duration::from_millis(500 * dice.below(20)))
    };
    (0..400).map(line).collect()
}
