//! The process is killed at every point of every story, and nothing is lost or doubled.

use dirigent_testkit::told;
use dirigent_verify::crash_points::{Scenario, at_every_pair, at_every_point};

mod stories;
mod troubles;

fn all() -> Vec<Scenario> {
    stories::ALL.iter().chain(troubles::ALL).copied().collect()
}

/// Only stories whose name contains this, for looking closer.
fn chosen(scenario: &Scenario) -> bool {
    std::env::var("STORY").map_or(true, |name| scenario.name.contains(&name))
}

#[test]
fn a_kill_at_any_point_loses_nothing_and_doubles_nothing() {
    let (mut points, mut failures) = (0, Vec::new());
    for scenario in all().iter().filter(|scenario| chosen(scenario)) {
        match at_every_point(scenario) {
            Ok(survey) => {
                println!("{:>5} points: {}", survey.points, scenario.name);
                points += survey.points;
            }
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    println!("{points} points in all");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn two_kills_in_a_row_lose_nothing_and_double_nothing() {
    let apart = told("PAIRS_APART").unwrap_or(20);
    let mut failures = Vec::new();
    for name in stories::SHORTEST {
        let scenarios = all();
        let scenario = scenarios.iter().find(|scenario| scenario.name == *name);
        let Some(scenario) = scenario.filter(|scenario| chosen(scenario)) else {
            continue;
        };
        match at_every_pair(scenario, apart) {
            Ok(survey) => println!("{:>6} runs: {name}", survey.runs),
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
