//! Keeps `verify/requirements.md` and the tests together.
//!
//! The page names for every requirement the tests that fail when it is broken, and a test names in
//! its doc comment (`/// R091, D39`) which requirements it is about. Both must say the same.

use std::collections::BTreeMap;

use super::source;

/// One row of the page.
struct Row {
    number: String,
    requirement: String,
    /// `path::name` of each test.
    tests: Vec<String>,
}

/// The rows in the page's order.
fn rows() -> Vec<Row> {
    let page = source::table("requirements.md");
    let rows = source::rows(&page).filter(|[number, ..]| numbers(number) == [*number]);
    let row = |[number, requirement, tests]: [&str; 3]| Row {
        number: number.to_owned(),
        requirement: requirement.to_owned(),
        tests: source::named_tests(tests),
    };
    rows.map(row).collect()
}

/// The requirement numbers in a text: `R` and three digits, `F` and two.
fn numbers(text: &str) -> Vec<String> {
    let is_number = |word: &&str| {
        let digits = match word.as_bytes() {
            [b'R', digits @ ..] if digits.len() == 3 => digits,
            [b'F', digits @ ..] if digits.len() == 2 => digits,
            _ => return false,
        };
        digits.iter().all(u8::is_ascii_digit)
    };
    source::words(text).filter(is_number).map(str::to_owned).collect()
}

#[test]
fn every_test_that_the_table_names_exists() {
    source::all_exist(rows().into_iter().map(|row| (row.number, row.tests)));
}

#[test]
fn every_number_that_a_test_claims_is_in_the_table_with_that_test() {
    let rows: BTreeMap<String, Vec<String>> =
        rows().into_iter().map(|row| (row.number, row.tests)).collect();
    for (test, docs) in source::all_tests() {
        for number in numbers(&docs) {
            let row = rows.get(&number);
            let row = row.unwrap_or_else(|| panic!("{test} claims {number}: no such row"));
            assert!(row.contains(&test), "{test} claims {number}, but its row does not name it");
        }
    }
}

#[test]
fn rows_are_unique_and_sorted() {
    let key = |row: &Row| (row.number.starts_with('F'), row.number.clone());
    let keys: Vec<_> = rows().iter().map(key).collect();
    assert!(keys.len() > 100, "the table was found");
    for pair in keys.windows(2) {
        assert!(pair[0] < pair[1], "{} stands before {}", pair[0].1, pair[1].1);
    }
}

/// All numbers of both kinds, without a gap.
#[test]
fn no_requirement_is_missing() {
    let numbers: Vec<_> = rows().into_iter().map(|row| row.number).collect();
    let all = (1..=319).map(|number| format!("R{number:03}"));
    let all: Vec<_> = all.chain((1..=29).map(|number| format!("F{number:02}"))).collect();
    assert_eq!(all.len(), 348);
    assert_eq!(numbers, all);
}

#[test]
fn every_row_says_what_is_required() {
    for Row { number, requirement, .. } in rows() {
        assert!(!requirement.trim().is_empty(), "{number} says nothing");
    }
}

#[test]
fn numbers_are_found_as_whole_words() {
    assert_eq!(numbers("R091, D39 (see F04; R1234, XR091, F4, RFC)"), ["R091", "F04"]);
}
