//! Keeps `docs/findings.md` and the tests together.
//!
//! The page says for every finding what must hold and which tests fail when it does not. A test names
//! in its doc comment (`/// P3`) which finding it is about. Both must say the same.

use std::collections::BTreeMap;

use super::source;

/// How many findings of each kind there are: promises that broke, other faults, what the documents want
/// otherwise, tests that said less than their name, mistakes that no test noticed, and what a newcomer met.
const KINDS: [(char, u32); 6] = [('P', 22), ('B', 36), ('S', 12), ('T', 17), ('M', 10), ('N', 18)];

/// Elsewhere a letter and a number in a doc comment may name a requirement, but for a P.
const OF_FINDINGS: &str = "tests/promises";

/// One row of the page.
struct Row {
    number: String,
    holds: String,
    /// `path::name` of each test.
    tests: Vec<String>,
}

/// The rows in the page's order.
fn rows() -> Vec<Row> {
    let page = source::page("findings.md");
    let rows = source::rows(&page).filter(|[number, ..]| numbers(number) == [*number]);
    let row = |[number, holds, tests]: [&str; 3]| Row {
        number: number.to_owned(),
        holds: holds.to_owned(),
        tests: source::named_tests(tests),
    };
    rows.map(row).collect()
}

/// The numbers of findings in a text, as whole words: the kind and one or two digits.
fn numbers(text: &str) -> Vec<String> {
    let is_number = |word: &&str| {
        KINDS.iter().any(|(kind, last)| {
            let number = word.strip_prefix(*kind).filter(|digits| !digits.starts_with('0'));
            number.and_then(|digits| digits.parse().ok()).is_some_and(|n: u32| n <= *last)
        })
    };
    source::words(text).filter(is_number).map(str::to_owned).collect()
}

#[test]
fn every_finding_has_one_row_in_order() {
    let of_kind = |(kind, last): (char, u32)| (1..=last).map(move |n| format!("{kind}{n}"));
    let expected: Vec<_> = KINDS.into_iter().flat_map(of_kind).collect();
    let found: Vec<_> = rows().into_iter().map(|row| row.number).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_row_says_what_must_hold() {
    for Row { number, holds, .. } in &rows() {
        assert!(holds.ends_with('.'), "{number} is no sentence");
    }
}

#[test]
fn every_test_that_the_page_names_exists() {
    source::all_exist(rows().into_iter().map(|row| (row.number, row.tests)));
}

#[test]
fn every_finding_that_a_test_names_has_that_test_in_its_row() {
    let rows: BTreeMap<String, Vec<String>> =
        rows().into_iter().map(|row| (row.number, row.tests)).collect();
    for (test, docs) in source::all_tests() {
        let is_of_findings = test.starts_with(OF_FINDINGS);
        let claimed = numbers(&docs).into_iter();
        for number in claimed.filter(|number| is_of_findings || number.starts_with('P')) {
            let named = rows.get(&number).is_some_and(|tests| tests.contains(&test));
            assert!(named, "{test} names {number}, but its row does not name the test");
        }
    }
}

#[test]
fn numbers_are_found_as_whole_words() {
    assert_eq!(
        numbers("P2, M4 (see P22; P23, P0, P03, XP3, R091, M10, N19)"),
        ["P2", "M4", "P22", "M10"]
    );
}
