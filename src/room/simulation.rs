//! A room in a hostile world, driven by one number: no task, no clock, no store, no chat.
//!
//! Invariants look at it from outside; see `books`, `start`, `step` and `told`.

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
mod in_line;
mod ledger;
mod neighbours;
mod start;
mod step;
mod store;
mod told;
mod world;

use dirigent_testkit::Random;
use dirigent_testkit::worlds::{self, Worlds};

use self::world::World;

/// Steps of one world, before it comes to rest.
const STEPS: u64 = 1_500;

impl worlds::World for World {
    fn step(&mut self) -> Result<(), String> {
        Self::step(self);
        self.books.broken.take().map_or(Ok(()), Err)
    }

    fn end(&mut self) -> Result<(), String> {
        Self::end(self);
        self.books.broken.take().map_or(Ok(()), Err)
    }

    fn dice(&mut self) -> Option<&mut Random> {
        Some(self.dice.random())
    }

    fn story(&mut self) -> Vec<String> {
        self.log.take().unwrap_or_default()
    }
}

/// Lives through these worlds; gives how many.
fn live(worlds: &Worlds) -> u64 {
    worlds.live(World::new, |_| 1)
}

/// Worlds beyond those of the tests below that once failed. What was wrong has a story of its own in `tests/promises` or beside the
/// code, unless it was the judge (1,011,650 and 2,032,304); every change to what is drawn makes other worlds of them.
const ONCE_FAILED: [u64; 21] = [
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
    1_871_230_496,
    1_313_042_736,
    1_313_081_598,
];

/// WD14
#[test]
fn what_once_failed_holds() {
    for number in ONCE_FAILED {
        live(&Worlds::fixed("-p dirigent --lib what_once_failed_holds", number, 1, STEPS));
    }
}

/// CI asks for as many worlds as make 20 million steps.
#[test]
fn a_room_keeps_its_promises_in_a_hostile_world() {
    let test = "-p dirigent --lib room::simulation::a_room_keeps_its_promises";
    let worlds = Worlds::new(test, 4_000, STEPS);
    assert_eq!(live(&worlds), worlds.count());
}
