//! Many seeds of the driver simulation. `DRIVER_SEEDS` runs so many, `DRIVER_SEED` one,
//! `DRIVER_STEPS` makes them longer.

use dirigent_testkit::driver_simulation::{Tally, simulate};

fn number(name: &str, unless: u64) -> u64 {
    std::env::var(name).map_or(unless, |text| text.parse().unwrap_or(unless))
}

#[test]
fn the_driver_survives_chance() {
    let steps = number("DRIVER_STEPS", 300);
    let one = number("DRIVER_SEED", 0);
    let seeds = if one > 0 { one..=one } else { 1..=number("DRIVER_SEEDS", 1_000) };
    let (mut tally, mut failures) = (Tally::default(), Vec::new());
    for seed in seeds {
        match simulate(seed, steps) {
            Ok(run) => tally += run,
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    println!("{tally:?}");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(simulate(5, 100).unwrap(), simulate(5, 100).unwrap());
}
