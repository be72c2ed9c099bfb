//! The simulated world: many seeds, all invariants after every step.
//!
//! `DIRIGENT_STEPS` sets how many steps are lived through (CI takes 20,000,000),
//! `DIRIGENT_SEED` the first seed. A failing seed is printed; put it into `tests/seeds.txt`.

use std::thread;

use dirigent_testkit::told;
use dirigent_verify::simulation::{Faults, Profile, Report, simulate};

/// Steps of one world.
const STEPS_A_SEED: u64 = 10_000;
/// Steps in all, by default.
const STEPS: u64 = 3_000_000;

/// Lives through all these worlds, on every core.
fn live(first: u64, worlds: u64, profile: &Profile) -> Report {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let live_share = |core: usize| {
        let mut total = Report::default();
        for seed in (first..first + worlds).skip(core).step_by(cores) {
            match simulate(seed, STEPS_A_SEED, profile) {
                Ok(report) => total += report,
                Err(failure) => panic!("{failure}"),
            }
        }
        total
    };
    thread::scope(|scope| {
        let shares: Vec<_> = (0..cores).map(|core| scope.spawn(move || live_share(core))).collect();
        let mut total = Report::default();
        for share in shares {
            match share.join() {
                Ok(report) => total += report,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        total
    })
}

#[test]
fn no_invariant_breaks_in_many_worlds() {
    let steps: u64 = told("DIRIGENT_STEPS").unwrap_or(STEPS);
    let first = told("DIRIGENT_SEED").unwrap_or(1);
    let total = live(first, steps.div_ceil(STEPS_A_SEED), &Profile::default());
    println!("seeds from {first}: {total}");
    assert!(total.turns > total.steps / 50, "hardly anything went on: {total}");
    assert!(total.restarts > 0 && total.faults > total.steps / 1_000, "too kind a world: {total}");
}

#[test]
fn no_invariant_breaks_in_a_kind_world() {
    let mut profile = Profile::default();
    profile.faults = Faults::none();
    let total = live(500_000, 50, &profile);
    assert_eq!(total.faults, 0);
    assert!(total.turns > total.steps / 50, "hardly anything went on: {total}");
}

#[test]
fn no_invariant_breaks_in_a_terrible_world() {
    let mut profile = Profile::default();
    profile.faults.message_lost = 300_000;
    profile.faults.answer_lost = 200_000;
    profile.faults.clock_jump = 50_000;
    profile.faults.crash = 30_000;
    profile.faults.timer_late = 500_000;
    let total = live(600_000, 50, &profile);
    assert!(total.restarts > total.steps / 100, "too kind a world: {total}");
}

#[test]
fn no_invariant_breaks_in_a_crowd() {
    let mut profile = Profile::default();
    profile.agents_max = 60;
    live(700_000, 20, &profile);
}

/// WD10
#[test]
fn no_invariant_breaks_in_a_channel_that_is_full() {
    let mut profile = Profile::default();
    (profile.agents_min, profile.agents_max) = (61, 64);
    live(750_000, 20, &profile);
}

#[test]
fn a_seed_is_a_whole_story() {
    let profile = Profile::default();
    let [one, other] = [(); 2].map(|()| simulate(9, 5_000, &profile).unwrap());
    assert_eq!(one, other);
    assert_ne!(one.digest, simulate(10, 5_000, &profile).unwrap().digest);
}

/// WD13
#[test]
fn seeds_that_once_failed_pass() {
    let lines = include_str!("seeds.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut numbers = line.split_whitespace().map(|text| text.parse::<u64>().unwrap());
        let (seed, steps) = (numbers.next().unwrap(), numbers.next().unwrap_or(STEPS_A_SEED));
        if let Err(failure) = simulate(seed, steps, &Profile::default()) {
            panic!("{failure}");
        }
    }
}
