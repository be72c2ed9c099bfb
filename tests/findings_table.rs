//! Keeps `docs/findings.md` and the tests together.
//!
//! The page says for every finding what must hold and which tests fail when it does not. A test names
//! in its doc comment (`/// P3`) which finding it is about. Both must say the same.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How many findings of each kind there are: promises that broke, and mistakes that no test noticed.
const KINDS: [(char, u32); 2] = [('P', 22), ('M', 10)];

/// Findings for which a test is still missing. Take a number off this list with its `TODO`.
const OPEN: &[&str] = &[];

/// Where tests live: every `tests` folder of the workspace.
const HOMES: &[&str] =
    &["", "dirigent-core", "dirigent-testkit", "dirigent-discord", "dirigent-store"];

/// Elsewhere an M and a number in a doc comment name a requirement of the message flow.
const OF_FINDINGS: &[&str] =
    &["dirigent-testkit/tests/promises", "dirigent-testkit/tests/sweep.rs"];

/// One row of the page.
struct Row {
    number: String,
    holds: String,
    /// `path::name` of each test.
    tests: Vec<String>,
    is_open: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The rows in the page's order.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/findings.md")).unwrap();
    let row = |line: &str| -> Option<Row> {
        let line = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let cells: Vec<&str> = line.split(" | ").collect();
        let [number, holds, tests] = cells[..] else { panic!("not three cells: {line}") };
        let is_row = numbers(number).first().is_some_and(|first| first == number);
        let (named, open): (Vec<_>, Vec<_>) =
            tests.split(", ").partition(|test| !test.starts_with("TODO"));
        let tests = named.into_iter().map(|test| {
            let test = test.strip_prefix('`').and_then(|test| test.strip_suffix('`'));
            test.unwrap_or_else(|| panic!("{number}: not a test in backticks")).to_owned()
        });
        is_row.then(|| Row {
            number: number.to_owned(),
            holds: holds.to_owned(),
            tests: tests.collect(),
            is_open: !open.is_empty(),
        })
    };
    page.lines().filter_map(row).collect()
}

/// The numbers of findings in a text, as whole words: P or M and one or two digits.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_number = |word: &&str| {
        KINDS.iter().any(|(kind, last)| {
            let number = word.strip_prefix(*kind).filter(|digits| !digits.starts_with('0'));
            number.and_then(|digits| digits.parse().ok()).is_some_and(|n: u32| n <= *last)
        })
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
            let line = line.strip_prefix("async ").unwrap_or(line);
            let name = line.strip_prefix("fn ").and_then(|rest| rest.split(['(', '<']).next());
            if let Some(name) = name.filter(|_| is_test) {
                tests.push((name.to_owned(), claimed.clone()));
            }
            claimed.clear();
            is_test = false;
        }
    }
    tests
}

/// Every test in a `tests` folder as `path::name`, with the findings that it names.
fn all_tests() -> BTreeMap<String, Vec<String>> {
    let homes = HOMES.iter().map(|home| root().join(home).join("tests"));
    let mut tests = BTreeMap::new();
    for file in homes.flat_map(|home| rust_files(&home)) {
        let source = fs::read_to_string(&file).unwrap();
        let place = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let is_of_findings = OF_FINDINGS.iter().any(|folder| place.starts_with(folder));
        for (name, mut claimed) in tests_in(&source) {
            claimed.retain(|number| is_of_findings || number.starts_with('P'));
            tests.insert(format!("{place}::{name}"), claimed);
        }
    }
    tests
}

#[test]
fn every_finding_has_one_row_in_order() {
    let of_kind = |(kind, last): (char, u32)| (1..=last).map(move |n| format!("{kind}{n}"));
    let expected: Vec<_> = KINDS.into_iter().flat_map(of_kind).collect();
    let found: Vec<_> = rows().into_iter().map(|row| row.number).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_row_says_what_must_hold_and_has_tests_or_is_open() {
    let mut open: BTreeSet<&str> = OPEN.iter().copied().collect();
    assert_eq!(open.len(), OPEN.len(), "the open list names a row twice");
    for Row { number, holds, tests, is_open } in &rows() {
        assert!(holds.ends_with('.'), "{number} is no sentence");
        let is_listed = open.remove(number.as_str());
        assert_eq!(*is_open, is_listed, "{number}: page and open list differ");
        assert!(*is_open || !tests.is_empty(), "{number} has no test");
        let unique: BTreeSet<_> = tests.iter().collect();
        assert_eq!(unique.len(), tests.len(), "{number} names a test twice");
    }
    assert!(open.is_empty(), "open, but not on the page: {open:?}");
}

#[test]
fn every_test_that_the_page_names_exists() {
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
fn every_finding_that_a_test_names_has_that_test_in_its_row() {
    let rows: BTreeMap<String, Vec<String>> =
        rows().into_iter().map(|row| (row.number, row.tests)).collect();
    for (test, claimed) in all_tests() {
        for number in claimed {
            let named = rows.get(&number).is_some_and(|tests| tests.contains(&test));
            assert!(named, "{test} names {number}, but its row does not name the test");
        }
    }
}

#[test]
fn numbers_are_found_as_whole_words() {
    assert_eq!(
        numbers("P2, M4 (see P22; P23, P0, P03, XP3, R091, M10)"),
        ["P2", "M4", "P22", "M10"]
    );
    let source = "/// P1\n#[test]\n#[ignore = \"P1: later\"]\nfn a() {}\n/// P2\nfn b() {}";
    assert_eq!(tests_in(source), [("a".to_owned(), vec!["P1".to_owned()])]);
}
