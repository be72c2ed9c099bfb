//! Keeps `verify/findings.md` and the tests together.
//!
//! The page says for every finding what must hold and which tests fail when it does not. A test names
//! in its doc comment (`/// P3`) which finding it is about. Both must say the same.

use std::collections::BTreeMap;

use super::source;

/// How many findings of each kind there are: promises that broke, other faults, what the documents want
/// otherwise, tests that said less than their name, mistakes that no test noticed, and what a newcomer met.
const KINDS: [(&str, u32); 6] = [("P", 22), ("B", 36), ("S", 12), ("T", 17), ("M", 10), ("N", 18)];

/// The findings of the third review, by what they are about: the driver, words and notices, models, programs, scenes, pages, the seeds, the cluster,
/// the first hour.
/// Its other findings concern no promise, and have no row.
const THIRD_REVIEW: [(&str, &[u32]); 9] = [
    ("WD", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]),
    ("WY", &[5, 7, 9, 10, 12, 14, 15]),
    ("LM", &[1]),
    ("DG", &[1, 2, 3, 4, 5, 6, 7]),
    ("SC", &[1, 2, 3, 4, 5]),
    ("PG", &[1, 2, 3]),
    ("SD", &[1, 2, 3, 4]),
    ("CL", &[1]),
    ("EZ", &[1, 2, 3, 4]),
];

/// Elsewhere one letter and a number in a doc comment may name a requirement, but for a P.
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
    let page = source::table("findings.md");
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
    let expected = expected();
    let is_number = |word: &&str| expected.iter().any(|number| number == word);
    source::words(text).filter(is_number).map(str::to_owned).collect()
}

/// The number of each finding, in the page's order.
fn expected() -> Vec<String> {
    let first = KINDS.iter().flat_map(|(kind, last)| (1..=*last).map(move |n| (*kind, n)));
    let third = THIRD_REVIEW.iter().flat_map(|(kind, some)| some.iter().map(move |n| (*kind, *n)));
    first.chain(third).map(|(kind, n)| format!("{kind}{n}")).collect()
}

/// Whether a test outside of [`OF_FINDINGS`] means the finding, and no requirement.
fn is_no_requirement(number: &str) -> bool {
    number.starts_with('P') || number.chars().nth(1).is_some_and(char::is_alphabetic)
}

#[test]
fn every_finding_has_one_row_in_order() {
    let found: Vec<_> = rows().into_iter().map(|row| row.number).collect();
    assert_eq!(found, expected());
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
        for number in claimed.filter(|number| is_of_findings || is_no_requirement(number)) {
            let named = rows.get(&number).is_some_and(|tests| tests.contains(&test));
            assert!(named, "{test} names {number}, but its row does not name the test");
        }
    }
}

#[test]
fn numbers_are_found_as_whole_words() {
    assert_eq!(
        numbers("P2, M4 (see P22; P23, P0, P03, XP3, R091, M10, N19), WD14, WD15, PG1, WY1, WD1"),
        ["P2", "M4", "P22", "M10", "WD14", "PG1", "WD1"]
    );
}
