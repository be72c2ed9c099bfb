//! Many worlds of the driver: CI takes 300 more, from a number of its commit. One that fails goes into `tests/driver_seeds.txt`.

use dirigent_testkit::worlds::Worlds;
use dirigent_verify::driver_simulation::{DriverWorld, Tally};

fn live(worlds: &Worlds) -> Tally {
    worlds.live(|number, _| DriverWorld::new(number), DriverWorld::tally)
}

#[test]
fn the_driver_survives_chance() {
    let test = "-p dirigent-verify --test all driver_simulation::the_driver_survives_chance";
    println!("{:?}", live(&Worlds::new(test, 200, 300)));
}

#[test]
fn seeds_that_once_failed_stay_well() {
    let numbers = |line: &str| -> Vec<u64> {
        line.split_whitespace().map(|number| number.parse().unwrap()).collect()
    };
    let lines = include_str!("driver_seeds.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let [seed, steps] = numbers(line)[..] else { panic!("not a seed and its steps: {line}") };
        let test = "-p dirigent-verify --test all driver_simulation::seeds_that_once_failed";
        live(&Worlds::fixed(test, seed, 1, steps));
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let [one, other] = [(); 2].map(|()| live(&Worlds::fixed("", 5, 1, 100)));
    assert_eq!(one, other);
}
