//! The simulated world: many numbers, all invariants after every step. CI takes 20,000,000 steps. A failing world is printed;
//! put it into `tests/seeds.txt`.

use dirigent_testkit::worlds::Worlds;
use dirigent_verify::simulation::{Faults, Profile, Report, World};

/// Steps of one world.
const STEPS: u64 = 10_000;

/// Lives through all these worlds.
fn live(worlds: &Worlds, profile: &Profile) -> Report {
    let begin = |number, is_told| {
        let world = World::new(number, profile);
        if is_told { world.recorded() } else { world }
    };
    worlds.live(begin, World::report)
}

/// Worlds of a test that is about these numbers.
fn fixed(test: &'static str, first: u64, worlds: u64, profile: &Profile) -> Report {
    live(&Worlds::fixed(test, first, worlds, STEPS), profile)
}

#[test]
fn no_invariant_breaks_in_many_worlds() {
    let test = "-p dirigent-verify --test all simulation::no_invariant_breaks_in_many_worlds";
    let worlds = Worlds::new(test, 300, STEPS);
    let total = live(&worlds, &Profile::default());
    println!("{total}");
    if !worlds.are_enough() {
        return;
    }
    assert!(total.turns > total.steps / 50, "hardly anything went on: {total}");
    assert!(total.restarts > 0 && total.faults > total.steps / 1_000, "too kind a world: {total}");
}

#[test]
fn no_invariant_breaks_in_a_kind_world() {
    let mut profile = Profile::default();
    profile.faults = Faults::none();
    let total = fixed("-p dirigent-verify --test all kind_world", 500_000, 50, &profile);
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
    let total = fixed("-p dirigent-verify --test all terrible_world", 600_000, 50, &profile);
    assert!(total.restarts > total.steps / 100, "too kind a world: {total}");
}

#[test]
fn no_invariant_breaks_in_a_crowd() {
    let mut profile = Profile::default();
    profile.agents_max = 60;
    fixed("-p dirigent-verify --test all in_a_crowd", 700_000, 20, &profile);
}

/// WD10
#[test]
fn no_invariant_breaks_in_a_channel_that_is_full() {
    let mut profile = Profile::default();
    (profile.agents_min, profile.agents_max) = (61, 64);
    fixed("-p dirigent-verify --test all that_is_full", 750_000, 20, &profile);
}

#[test]
fn a_seed_is_a_whole_story() {
    let profile = Profile::default();
    let test = "-p dirigent-verify --test all a_seed_is_a_whole_story";
    let [one, same, other] =
        [9, 9, 10].map(|number| live(&Worlds::fixed(test, number, 1, 5_000), &profile));
    assert_eq!(one, same);
    assert_ne!(one.digest, other.digest);
}

/// WD13
#[test]
fn seeds_that_once_failed_pass() {
    let lines = include_str!("seeds.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut numbers = line.split_whitespace().map(|text| text.parse::<u64>().unwrap());
        let (seed, steps) = (numbers.next().unwrap(), numbers.next().unwrap_or(STEPS));
        let test = "-p dirigent-verify --test all simulation::seeds_that_once_failed";
        live(&Worlds::fixed(test, seed, 1, steps), &Profile::default());
    }
}
