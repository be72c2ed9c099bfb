//! Keeps `docs/requirements.md` and the tests together.
//!
//! The page names for every requirement the tests that fail when it is broken, and a test names in
//! its doc comment (`/// R091, D39`) which requirements it is about. Both must say the same.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Rows that no test covers yet. Take a row off this list when its tests are written.
const OPEN: &[&str] = &[];

/// Where tests live: every `tests` folder of the workspace.
const HOMES: &[&str] =
    &["", "dirigent-core", "dirigent-testkit", "dirigent-discord", "dirigent-store"];

/// One row of the page.
struct Row {
    number: String,
    requirement: String,
    /// `path::name` of each test.
    tests: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The rows in the page's order.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/requirements.md")).unwrap();
    let cells = |line: &str| -> Option<Row> {
        let line = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (number, rest) = line.split_once(" | ")?;
        let (requirement, tests) = rest.rsplit_once(" | ")?;
        let is_row = numbers(number).first().is_some_and(|first| first == number);
        let tests = match tests {
            "—" => Vec::new(),
            some => some.split(", ").map(|test| test.trim_matches('`').to_owned()).collect(),
        };
        let (number, requirement) = (number.to_owned(), requirement.to_owned());
        is_row.then_some(Row { number, requirement, tests })
    };
    page.lines().filter_map(cells).collect()
}

/// The requirement numbers in a text: `R` and three digits, `F` and two.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_number = |word: &&str| {
        let digits = match word.as_bytes() {
            [b'R', digits @ ..] if digits.len() == 3 => digits,
            [b'F', digits @ ..] if digits.len() == 2 => digits,
            _ => return false,
        };
        digits.iter().all(u8::is_ascii_digit)
    };
    words.filter(is_number).map(str::to_owned).collect()
}

/// Every Rust file below a folder; none when there is no such folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The name of the function that a line declares.
fn function(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    let name = line.strip_prefix("fn ")?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// The tests of a source text, each with the numbers in its doc comment.
fn tests_in(source: &str) -> Vec<(String, Vec<String>)> {
    let mut tests = Vec::new();
    let (mut claimed, mut is_test) = (Vec::new(), false);
    for line in source.lines().map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            claimed.extend(numbers(doc));
        } else if line.starts_with("#[") {
            is_test |= line.contains("test");
        } else {
            if let Some(name) = function(line).filter(|_| is_test) {
                tests.push((name.to_owned(), claimed.clone()));
            }
            claimed.clear();
            is_test = false;
        }
    }
    tests
}

/// Every test of the workspace as `path::name`, with the numbers that it claims to cover.
fn all_tests() -> BTreeMap<String, Vec<String>> {
    let homes = HOMES.iter().map(|home| root().join(home).join("tests"));
    let mut tests = BTreeMap::new();
    for file in homes.flat_map(|home| rust_files(&home)) {
        let source = fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        for (name, claimed) in tests_in(&source) {
            tests.insert(format!("{place}::{name}"), claimed);
        }
    }
    tests
}

#[test]
fn every_test_that_the_table_names_exists() {
    let tests = all_tests();
    for row in rows() {
        for test in &row.tests {
            if tests.contains_key(test) {
                continue;
            }
            // Not in a `tests` folder: a unit test beside the code.
            let (place, name) = test.split_once("::").expect("written as path::name");
            let source = fs::read_to_string(root().join(place)).unwrap_or_default();
            let found = tests_in(&source).iter().any(|(other, _)| other == name);
            assert!(found, "{} names {test}, which does not exist", row.number);
        }
    }
}

#[test]
fn every_number_that_a_test_claims_is_in_the_table_with_that_test() {
    let rows: BTreeMap<String, Vec<String>> =
        rows().into_iter().map(|row| (row.number, row.tests)).collect();
    for (test, claimed) in all_tests() {
        for number in claimed {
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

#[test]
fn no_row_is_empty_but_the_open_ones() {
    let mut open: BTreeSet<&str> = OPEN.iter().copied().collect();
    assert_eq!(open.len(), OPEN.len(), "the open list names a row twice");
    for row in rows() {
        let Row { number, requirement, tests } = &row;
        assert!(!requirement.trim().is_empty(), "{number} says nothing");
        let is_open = open.remove(number.as_str());
        assert!(is_open || !tests.is_empty(), "{number} has no test and is not on the open list");
        assert!(!is_open || tests.is_empty(), "{number} has tests: take it off the open list");
        let unique: BTreeSet<_> = tests.iter().collect();
        assert_eq!(unique.len(), tests.len(), "{number} names a test twice");
    }
    assert!(open.is_empty(), "open, but not in the table: {open:?}");
}

#[test]
fn numbers_are_found_as_whole_words() {
    assert_eq!(numbers("R091, D39 (see F04; R1234, XR091, F4, RFC)"), ["R091", "F04"]);
    let source =
        "/// R001\n#[test]\nfn a() {}\n/// R002\nfn b() {}\n#[tokio::test]\nasync fn c() {}";
    let expected = [("a".to_owned(), vec!["R001".to_owned()]), ("c".to_owned(), Vec::new())];
    assert_eq!(tests_in(source), expected);
}
