//! A room in a hostile world, driven by one number: no task, no clock, no store, no chat.
//!
//! Invariants look at it from outside; see `books`, `start` and `step`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::large_enum_variant,
    clippy::match_same_arms,
    clippy::single_match_else,
    clippy::wildcard_enum_match_arm,
    reason = "small numbers, and worlds that draw from what there is"
)]

mod actors;
mod books;
mod chat;
mod dice;
mod exhaustive;
mod fingerprint;
mod finish;
mod flight;
mod forged;
mod ledger;
mod neighbours;
mod start;
mod step;
mod store;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use dirigent_testkit::told;

use self::world::World;

/// Steps of one world, before it comes to rest.
const STEPS: u64 = 1_500;

/// Runs one world. Returns what went wrong, and what was logged.
fn run(seed: u64, steps: u64, log: bool) -> (Option<String>, Vec<String>) {
    let mut world = World::new(seed, log);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..steps {
            world.step();
            if world.books.broken.is_some() {
                return;
            }
        }
        world.end();
    }));
    let broken = match outcome {
        Ok(()) => world.books.broken.take(),
        Err(_) => Some("panic".to_owned()),
    };
    (broken, world.log.take().unwrap_or_default())
}

/// Runs worlds with these seeds, and tells of the first that fails.
fn hunt(seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        let (broken, _) = run(seed, STEPS, false);
        if let Some(why) = broken {
            // The fewest steps with which it fails.
            let kind = |why: &str| {
                why.chars().filter(|c| !c.is_ascii_digit()).take(24).collect::<String>()
            };
            let same =
                |steps| run(seed, steps, false).0.is_some_and(|other| kind(&other) == kind(&why));
            let (mut fails, mut passes) = (STEPS, 0);
            while fails - passes > 1 {
                let middle = passes + (fails - passes) / 2;
                if same(middle) { fails = middle } else { passes = middle }
            }
            let (shorter, log) = run(seed, fails, true);
            let from = log.len().saturating_sub(told("DIRIGENT_ROOM_LINES").unwrap_or(150));
            eprintln!("{}", log[from..].join("\n"));
            panic!("seed {seed}, {fails} steps: {why} ({shorter:?})");
        }
    }
}

/// Worlds beyond those of the tests below that once failed. What was wrong has a story of its own in `tests/promises` or beside the
/// code, unless it was the judge (1,011,650 and 2,032,304); every change to what is drawn makes other worlds of them.
const ONCE_FAILED: [u64; 18] = [
    22_389,
    30_153,
    436_565,
    1_011_650,
    2_032_304,
    3_090_843_846,
    3_091_586_430,
    3_091_698_511,
    4_183_854_423,
    4_183_911_988,
    31_000_238_896,
    31_000_258_188,
    31_000_312_888,
    31_000_343_518,
    31_000_351_510,
    31_000_366_121,
    41_000_297_543,
    101_000_044_003,
];

/// WD14
#[test]
fn what_once_failed_holds() {
    hunt(ONCE_FAILED);
}

/// Worlds of one test, of [`STEPS`] each. CI asks for as many as make 20 million steps in both.
fn worlds() -> u64 {
    told("DIRIGENT_ROOM_WORLDS").unwrap_or(2_000)
}

#[test]
fn a_room_keeps_its_promises_in_a_hostile_world() {
    let first = told("DIRIGENT_ROOM_SEED").unwrap_or(1);
    hunt(first..first + worlds());
}

/// The other half: two tests run side by side.
#[test]
fn a_room_keeps_its_promises_in_other_hostile_worlds() {
    let first = told("DIRIGENT_ROOM_SEED").unwrap_or(1) + worlds();
    hunt(first..first + worlds());
}

#[test]
#[ignore = "a hunt: as many steps as DIRIGENT_ROOM_STEPS says"]
fn a_room_keeps_its_promises_for_very_many_steps() {
    let steps: u64 = told("DIRIGENT_ROOM_STEPS").unwrap_or(10_000_000);
    let first: u64 = told("DIRIGENT_ROOM_SEED").unwrap_or(1_000);
    let worlds = first..first + steps.div_ceil(STEPS);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for core in 0..cores {
            let share = worlds.clone().skip(core).step_by(cores);
            scope.spawn(|| hunt(share));
        }
    });
}
