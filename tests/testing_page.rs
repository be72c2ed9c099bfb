//! Keeps the tables of bad input in `docs/testing.md` and the tests together.

#![cfg(test)]

use std::fs;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The rows of the tables of bad input: the kind, what happens, the cell of tests.
fn rows(page: &str) -> Vec<[&str; 3]> {
    let section = page.split_once("\n## Bad input\n").expect("the section of bad input").1;
    let section = section.split("\n## ").next().unwrap_or_default();
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .filter(|line| !line.starts_with("---") && !line.starts_with("kind of "))
        .map(|line| {
            let cells: Vec<&str> = line.split(" | ").collect();
            cells.try_into().unwrap_or_else(|_| panic!("not three cells: {line}"))
        })
        .collect()
}

/// Whether a source text has a test of this name.
fn has_test(source: &str, name: &str) -> bool {
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line.contains("test");
        } else if !line.starts_with("//") {
            let line = line.strip_prefix("async ").unwrap_or(line);
            let declared = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next());
            if is_test && declared == Some(name) {
                return true;
            }
            is_test = false;
        }
    }
    false
}

#[test]
fn every_kind_of_bad_input_has_a_test_that_exists() {
    let page = fs::read_to_string(root().join("docs/testing.md")).unwrap();
    let rows = rows(&page);
    assert!(rows.len() > 60, "only {} rows were found", rows.len());
    for [kind, happens, tests] in rows {
        assert!(!kind.trim().is_empty() && !happens.trim().is_empty(), "{kind}: {happens}");
        for test in tests.split(", ") {
            let named = test.strip_prefix('`').and_then(|test| test.strip_suffix('`'));
            let named = named.and_then(|test| test.split_once("::"));
            let (place, name) = named.unwrap_or_else(|| panic!("{kind}: not `path::name`: {test}"));
            let source = fs::read_to_string(root().join(place));
            let source = source.unwrap_or_else(|_| panic!("{kind}: there is no {place}"));
            assert!(has_test(&source, name), "{kind}: {place} has no test {name}");
        }
    }
}

#[test]
fn a_function_that_is_no_test_does_not_count() {
    let source = "#[test]\n/// R001\nfn a() {}\nfn b() {}\n#[tokio::test]\nasync fn c() {}";
    let found = ["a", "b", "c", "d"].map(|name| has_test(source, name));
    assert_eq!(found, [true, false, true, false]);
}
