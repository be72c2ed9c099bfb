//! Many seeds of the driver simulation. `DRIVER_SEEDS` sets how many (CI takes 1,000), `DRIVER_SEED` the first,
//! `DRIVER_STEPS` makes them longer. A failing seed goes into `tests/driver_seeds.txt`.

use std::thread;

use dirigent_testkit::told;
use dirigent_verify::driver_simulation::{Tally, simulate};

#[test]
fn the_driver_survives_chance() {
    let steps = told("DRIVER_STEPS").unwrap_or(300);
    let first: u64 = told("DRIVER_SEED").unwrap_or(1);
    let seeds = first..first + told::<u64>("DRIVER_SEEDS").unwrap_or(200);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (mut tally, mut failures) = (Tally::default(), Vec::new());
    thread::scope(|scope| {
        let shares: Vec<_> = (0..cores)
            .map(|core| {
                let seeds = seeds.clone().skip(core).step_by(cores);
                scope.spawn(move || seeds.map(|seed| simulate(seed, steps)).collect::<Vec<_>>())
            })
            .collect();
        for run in shares.into_iter().flat_map(|share| share.join().unwrap()) {
            match run {
                Ok(run) => tally += run,
                Err(failure) => failures.push(failure.to_string()),
            }
        }
    });
    println!("{tally:?}");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn seeds_that_once_failed_stay_well() {
    let numbers = |line: &str| -> Vec<u64> {
        line.split_whitespace().map(|number| number.parse().unwrap()).collect()
    };
    let lines = include_str!("driver_seeds.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let [seed, steps] = numbers(line)[..] else { panic!("not a seed and its steps: {line}") };
        assert_eq!(simulate(seed, steps).err(), None);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(simulate(5, 100).unwrap(), simulate(5, 100).unwrap());
}
