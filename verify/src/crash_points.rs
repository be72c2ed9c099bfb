//! Killing the process at every point at which it can die, and looking at what is left.
//!
//! A [`Scenario`] is a script on a [`Stage`]. It runs once undisturbed, which counts its crash
//! points; then once for each point, killed there and started again. Afterwards nothing may be
//! lost, nothing doubled, and the room must have come to the same end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dirigent::snapshot::{Pause, PhaseKind};
use dirigent::{ChannelId, Config, Mode, UserId};
use dirigent_core::TurnMachine;
use dirigent_testkit::memory_discord::PostRecord;

use crate::stage::{Points, Setup, Stage};

/// A story that is told with and without crashes.
///
/// ```
/// use dirigent_verify::crash_points::{Scenario, at_every_point};
/// use dirigent_verify::stage::Setup;
///
/// let survey = at_every_point(&Scenario {
///     name: "a greeting",
///     setup: || Setup::new().hosted("a", ["Good morning".into()]).hosted("b", []),
///     script: |stage| {
///         stage.chat();
///         stage.say("Hello");
///         stage.until_dormant();
///     },
/// });
/// assert!(survey.unwrap().points > 10);
/// ```
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a story that tests write down")]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// The world.
    pub setup: fn() -> Setup,
    /// What happens. Everything a person asks for is asked by [`Stage::insist`].
    pub script: fn(&mut Stage),
}

/// How much was tried.
///
/// ```
/// let survey = dirigent_verify::crash_points::Survey::default();
/// assert_eq!(survey.points, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Survey {
    /// The crash points of the undisturbed run.
    pub points: u64,
    /// How often the scenario was run.
    pub runs: u64,
}

/// What went wrong, and where the process was killed.
///
/// ```
/// # use dirigent_verify::crash_points::{Scenario, at_every_point};
/// # use dirigent_verify::stage::Setup;
/// let wrong = Scenario { name: "wrong", setup: Setup::new, script: |_| panic!("no story") };
/// let failure = at_every_point(&wrong).unwrap_err();
/// assert!(failure.to_string().contains("wrong, undisturbed: no story"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashFailure {
    scenario: &'static str,
    strikes: Vec<u64>,
    deaths: Vec<&'static str>,
    what: String,
}

impl fmt::Display for CrashFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.strikes.is_empty() {
            return write!(f, "{}, undisturbed: {}", self.scenario, self.what);
        }
        write!(
            f,
            "{}, killed at {:?} ({}): {}",
            self.scenario,
            self.strikes,
            self.deaths.join(", "),
            self.what
        )
    }
}

impl std::error::Error for CrashFailure {}

/// Kills the process at each of its points, one a run.
///
/// # Errors
///
/// The first run after which something was lost, doubled, or otherwise not as without a crash.
pub fn at_every_point(scenario: &Scenario) -> Result<Survey, CrashFailure> {
    let whole = run(scenario, &[])?;
    for point in 1..=whole.points {
        compare(scenario, &whole, &[point])?;
    }
    Ok(Survey { points: whole.points, runs: whole.points + 1 })
}

/// Kills the process twice, at every pair of points that lie at most `apart` points from each
/// other.
///
/// # Errors
///
/// As [`at_every_point`].
pub fn at_every_pair(scenario: &Scenario, apart: u64) -> Result<Survey, CrashFailure> {
    let whole = run(scenario, &[])?;
    let mut runs = 1;
    for first in 1..=whole.points {
        for second in first + 1..=first + apart {
            compare(scenario, &whole, &[first, second])?;
            runs += 1;
        }
    }
    Ok(Survey { points: whole.points, runs })
}

/// What is left when the story is over.
struct Ending {
    points: u64,
    deaths: Vec<&'static str>,
    rooms: BTreeMap<ChannelId, RoomEnd>,
    posts: Vec<PostRecord>,
    agents: usize,
    /// What people said and agents were told of.
    heard: BTreeSet<String>,
}

/// How triggers end, as they are configured by default.
const TRIGGER: &str = "➡️";

/// One room's end.
#[derive(PartialEq, Eq)]
struct RoomEnd {
    facts: Facts,
    /// What the library posted and left there, without triggers and reminders.
    notices: Vec<String>,
    /// How many triggers are still there.
    triggers: usize,
    /// How often the initiator was reminded.
    reminders: usize,
}

/// What must be the same with and without crashes.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    mode: Mode,
    phase: PhaseKind,
    rest: Option<Pause>,
    muted: usize,
}

fn run(scenario: &Scenario, strikes: &[u64]) -> Result<Ending, CrashFailure> {
    let points = Points::default();
    points.crash_at(strikes.iter().copied());
    let told = catch_unwind(AssertUnwindSafe(|| {
        let mut stage = (scenario.setup)().stage_with(points.clone());
        (scenario.script)(&mut stage);
        ending(&mut stage)
    }));
    let told = told.unwrap_or_else(|panic| Err(words_of(panic.as_ref())));
    told.map_err(|what| CrashFailure {
        scenario: scenario.name,
        strikes: strikes.to_vec(),
        deaths: points.deaths(),
        what,
    })
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}

fn ending(stage: &mut Stage) -> Result<Ending, String> {
    let breaches = stage.points().breaches();
    if let Some(breach) = breaches.first() {
        return Err(breach.clone());
    }
    let mut rooms = BTreeMap::new();
    for room in stage.rooms().to_vec() {
        rooms.insert(room, room_end(stage, room)?);
    }
    let agents = stage.agents();
    let turns = agents.flat_map(dirigent_testkit::scripted_agent::ScriptedAgent::turns);
    let heard = turns.flat_map(|turn| turn.missed.into_iter().chain(turn.injected));
    Ok(Ending {
        heard: heard.filter(|text| text.starts_with("human")).collect(),
        points: stage.points().passed(),
        deaths: stage.points().deaths(),
        rooms,
        posts: stage.discord().take_posts(),
        agents: stage.agents().count(),
    })
}

fn room_end(stage: &mut Stage, room: ChannelId) -> Result<RoomEnd, String> {
    let status = stage.status_of(room);
    let muted = stage.store().stored(room).map(|stored| {
        let channel = TurnMachine::restore(Arc::new(Config::default()), &stored.record.snapshot);
        let audited =
            channel.map_err(|e| e.to_string()).and_then(|c| c.audit().map_err(|b| b.to_string()));
        audited.map(|()| stored.record.snapshot.state.roster.muted.value().len())
    });
    let muted = muted.transpose()?.unwrap_or(0);
    let messages = stage.discord().messages(room);
    let mut seen = BTreeSet::new();
    for message in &messages {
        let own = message.author == stage.moderator();
        if !own && !seen.insert((message.author, message.content.clone())) {
            return Err(format!("said twice: {:?}", message.content));
        }
    }
    let (triggers, notices): (Vec<_>, Vec<_>) =
        stage.moderation(room).into_iter().partition(|text| text.ends_with(TRIGGER));
    let reminders =
        [dirigent_core::text::IDLE_REMINDER, dirigent::settings::Texts::CEILING_REMINDER];
    let is_reminder = |text: &String| reminders.iter().any(|words| text.ends_with(words));
    let (reminders, notices): (Vec<_>, Vec<_>) = notices.into_iter().partition(is_reminder);
    let facts = Facts {
        mode: status.as_ref().map_or(Mode::None, |s| s.mode),
        phase: status.as_ref().map_or(PhaseKind::Disabled, |s| s.phase),
        rest: status.as_ref().and_then(|s| s.rest),
        muted,
    };
    let (triggers, reminders) = (triggers.len(), reminders.len());
    Ok(RoomEnd { facts, notices, triggers, reminders })
}

fn compare(scenario: &Scenario, whole: &Ending, strikes: &[u64]) -> Result<(), CrashFailure> {
    let cut = run(scenario, strikes)?;
    let checked = compare_endings(whole, &cut);
    checked.map_err(|what| CrashFailure {
        scenario: scenario.name,
        strikes: strikes.to_vec(),
        deaths: cut.deaths.clone(),
        what,
    })
}

fn compare_endings(whole: &Ending, cut: &Ending) -> Result<(), String> {
    for (room, end) in &cut.rooms {
        let Some(expected) = whole.rooms.get(room) else {
            return Err(format!("a room came from nowhere: {room}"));
        };
        if end.facts != expected.facts {
            return Err(format!("{:?} in place of {:?}", end.facts, expected.facts));
        }
        if end.notices != expected.notices {
            let (found, wanted) = (&end.notices, &expected.notices);
            return Err(format!("the library left {found:?} in place of {wanted:?}"));
        }
        // A turn that was cut off may be triggered once more, and so may those after it.
        let kills = cut.deaths.len();
        let triggers_max = match expected.triggers {
            0 => kills,
            triggers => triggers + 4 * kills,
        };
        if end.triggers > triggers_max {
            return Err(format!("{} triggers were left", end.triggers));
        }
        // A kill may take the act that ends a discussion: its initiator is reminded until a person ends it,
        // but three times at most while no message comes (rule 36).
        if end.reminders > (expected.reminders + kills).max(3) {
            return Err(format!("{} reminders were posted", end.reminders));
        }
    }
    // As many kills as agents may cut off every run that was told of it.
    let told = cut.deaths.len() < cut.agents;
    if let Some(lost) = whole.heard.difference(&cut.heard).next().filter(|_| told) {
        return Err(format!("no agent was ever told {lost:?}"));
    }
    check_posts(&cut.posts, cut.deaths.len())
}

/// No nonce makes two messages, and each kill repeats at most one post.
fn check_posts(posts: &[PostRecord], kills: usize) -> Result<(), String> {
    let mut by_nonce: BTreeMap<(UserId, &str), Vec<&PostRecord>> = BTreeMap::new();
    for post in posts {
        by_nonce.entry((post.author, post.nonce.as_str())).or_default().push(post);
    }
    let repeated = by_nonce.values().filter(|posts| posts.len() > 1);
    let mut repetitions = 0;
    for same in repeated {
        repetitions += same.len() - 1;
        let made: BTreeSet<_> = same.iter().filter_map(|post| post.message).collect();
        if made.len() > 1 {
            return Err("one nonce made two messages".to_owned());
        }
    }
    if repetitions > kills {
        return Err(format!("{repetitions} posts repeated after {kills} kills"));
    }
    Ok(())
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("name", &self.name).finish_non_exhaustive()
    }
}
