//! Keeps `docs/performance.md` and what CI checks together.

use std::fs;

use super::source;

/// A number as pages write it: `31,000`.
fn in_words(number: &str) -> String {
    let digits: Vec<char> = number.chars().rev().collect();
    let groups: Vec<String> =
        digits.chunks(3).map(|group| group.iter().rev().collect::<String>()).rev().collect();
    groups.join(",")
}

#[test]
fn the_promised_cost_of_a_turn_is_the_one_that_ci_checks() {
    let script = fs::read_to_string(source::root().join(".ci/turn-cost")).unwrap();
    let page = source::page("performance.md");
    for name in ["instructions_max", "allocations_max", "bytes_max"] {
        let ceiling = script.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let promise = format!("| at most {}", in_words(ceiling.expect("a ceiling")));
        assert!(page.contains(&promise), "{name}: the page does not promise {promise}");
    }
}

#[test]
fn numbers_are_written_in_groups_of_three() {
    assert_eq!(["16", "800", "8000", "31000"].map(in_words), ["16", "800", "8,000", "31,000"]);
}
