//! Measures the CPU time that a scene adds to a turn: machine, log on disk and routing, with actors that answer at
//! once.
//!
//! `cargo bench -p dirigent-scene --bench turn` prints one line of JSON for each size of a scene. It fails if a turn
//! costs more than the bar, or if a late turn costs clearly more than an early one. The files are written to a
//! temporary folder.
#![expect(clippy::print_stdout, reason = "the figures are the output")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot start says so")]
#![allow(clippy::future_not_send, reason = "it measures on its own thread")]

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::{Arg, ArgAction, Command, value_parser};
use cpu_time::ProcessTime;
use dirigent_scene::{
    Actor, ActorError, ActorFactory, Briefing, CastRole, Character, CoordinatorRole, Cue, CueKind,
    Isolation, Output, Scene, async_trait,
};

/// The most CPU time that a turn may cost.
const BAR: Duration = Duration::from_micros(20);

/// A turn of an actor.
const TURN: &str = "<thinking>\nThere is a knock at the door. I take a breath, and set down the tea.\n</thinking>\n\n\
    <speech>\n*[opens the door]* Hi, come in. It is good to see you, even at this hour. Will you sit?\n</speech>";

/// Actors that read the clock at each turn.
#[derive(Clone)]
struct Actors(Arc<Mutex<(ProcessTime, Vec<Duration>)>>);

#[async_trait]
impl ActorFactory for Actors {
    async fn spawn(&mut self, _: &CastRole) -> Result<Box<dyn Actor>, ActorError> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl Actor for Actors {
    async fn brief(&mut self, _: Briefing) -> Result<(), ActorError> {
        Ok(())
    }

    async fn respond(&mut self, cue: Cue) -> Result<Output, ActorError> {
        let mut times = self.0.lock().unwrap();
        let now = times.0.elapsed();
        times.1.push(now);
        let is_turn = cue.kind() == CueKind::Turn;
        Ok(Output::text(if is_turn { TURN } else { "It was a long scene." }))
    }
}

fn main() -> ExitCode {
    let turns = Arg::new("turns").long("turns").value_name("N");
    let matches = Command::new("turn")
        .about("CPU that a scene adds to a turn, as lines of JSON")
        .arg(turns.default_value("1000").value_parser(value_parser!(u32)).help("Turns of a scene"))
        .arg(
            Arg::new("test")
                .long("test")
                .action(ArgAction::SetTrue)
                .help("A few turns, and no bar"),
        )
        .arg(Arg::new("bench").long("bench").action(ArgAction::SetTrue).hide(true))
        .get_matches();
    let is_test = matches.get_flag("test");
    let turns = if is_test { 20 } else { matches.get_one("turns").copied().unwrap_or(1_000) };
    let mut is_met = true;
    for count in [2, 3, 8] {
        // Take the quietest of several scenes, because other work on the machine disturbs the caches.
        let scenes = (0..if is_test { 1 } else { 7 }).map(|_| measure(count, turns));
        let (turn, early, late) = scenes.min().unwrap();
        is_met &= is_test || (turn <= BAR && late <= early * 2);
        println!(
            "{{\"characters\": {count}, \"turns\": {turns}, \"turn_us\": {:.1}, \"first_tenth_us\": {:.1}, \"last_tenth_us\": {:.1}, \"bar_us\": {}}}",
            micros(turn),
            micros(early),
            micros(late),
            BAR.as_micros()
        );
    }
    if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Returns the mean cost of a turn: in all, in the first tenth of a scene, and in its last.
fn measure(count: u32, turns: u32) -> (Duration, Duration, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let times = Arc::new(Mutex::new((ProcessTime::now(), Vec::new())));
    let cap = turns / count + 1;
    let mut scene = Scene::builder(Isolation::Conversations, CoordinatorRole::Code)
        .caps(cap, cap)
        .actors(Actors(Arc::clone(&times)))
        .folder(folder.path().join("scene"));
    for number in 0..count {
        scene = scene.character(Character::new(format!("Character {number}")));
    }
    let scene = scene.build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    drop(runtime.block_on(scene.run()).unwrap());
    let times = times.lock().unwrap();
    let moments = times.1.get(..usize::try_from(turns).unwrap()).unwrap();
    let mean = |moments: &[Duration]| {
        let (first, last) = (moments.first().unwrap(), moments.last().unwrap());
        last.saturating_sub(*first) / u32::try_from(moments.len() - 1).unwrap()
    };
    let tenth = (moments.len() / 10).max(2);
    let (early, late) =
        (moments.get(..tenth).unwrap(), moments.get(moments.len() - tenth..).unwrap());
    (mean(moments), mean(early), mean(late))
}
