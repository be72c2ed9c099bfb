//! The machine and the rules, side by side.
//!
//! `DIRIGENT_CASES` sets how many generated sequences are tried, `DIRIGENT_STEPS` how many steps the
//! seeded walks make together.

use std::sync::Arc;
use std::time::Instant;

use dirigent_core::{AgentKey, Config, Creation, Input, Mode};
use dirigent_testkit::check::{
    Failure, Random, Report, Step, check, check_twice, config_from_bytes, minimize,
};

/// Steps of one seeded walk.
const WALK: usize = 300;

fn number_from(variable: &str, default: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A channel as it usually begins.
fn opening(byte: u8) -> Option<Step> {
    let agents = |count: u32| (1..=count).map(AgentKey::new).collect();
    let discussion = byte & 1 != 0;
    let creation = Creation {
        mode: if discussion { Mode::Discussion } else { Mode::Chat },
        members: agents(u32::from(byte / 2 % 6)),
        initiator: discussion.then(|| AgentKey::new(1)),
    };
    (byte < 240).then(|| Step::input(0, Input::Create(creation)))
}

/// One seeded walk: the rules and the steps.
fn walk(seed: u64) -> (Arc<Config>, Vec<Step>) {
    let mut random = Random::new(seed);
    let rules = random.draw().to_le_bytes();
    let first = opening(random.draw().to_le_bytes()[0]);
    let steps = first.into_iter().chain(random.steps(WALK)).collect();
    (Arc::new(config_from_bytes(rules)), steps)
}

/// Fails with the shortest way to the difference.
fn complain(config: &Arc<Config>, seed: u64, steps: &[Step], failure: &Failure) -> ! {
    let shortest = minimize(config, seed, steps).map(|(_, _, failure)| failure);
    panic!("{}", shortest.as_ref().unwrap_or(failure));
}

#[test]
fn machine_and_rules_agree_on_seeded_walks() {
    let steps_wanted = number_from("DIRIGENT_STEPS", 300_000);
    let first = number_from("DIRIGENT_SEED", 0);
    let begun = Instant::now();
    let mut report = Report::default();
    for seed in (first..).take_while(|seed| (seed - first) * (WALK as u64) < steps_wanted) {
        let (config, steps) = walk(seed);
        match check(&config, seed, &steps) {
            Ok(seen) => report.add(&seen),
            Err(failure) => complain(&config, seed, &steps, &failure),
        }
    }
    let rate = report.steps as f64 / begun.elapsed().as_secs_f64();
    println!("{report:?}, {rate:.0} steps a second");
}

#[test]
fn what_is_delivered_twice_counts_once() {
    for seed in 0..number_from("DIRIGENT_STEPS", 300_000) / (WALK as u64) / 4 {
        let (config, steps) = walk(seed);
        if let Err(failure) = check_twice(&config, seed, &steps) {
            panic!("{failure}");
        }
    }
}
