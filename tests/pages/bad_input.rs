//! Keeps `verify/bad-input.md` and the tests together.

use super::source;

/// The rows of the tables: the kind, what happens, the cell of tests.
fn rows(page: &str) -> Vec<[&str; 3]> {
    source::rows(page).filter(|[kind, ..]| !kind.starts_with("kind of ")).collect()
}

#[test]
fn every_kind_of_bad_input_has_a_test_that_exists() {
    let page = source::table("bad-input.md");
    let rows = rows(&page);
    assert!(rows.len() > 60, "only {} rows were found", rows.len());
    for [kind, happens, _] in &rows {
        assert!(!kind.trim().is_empty() && !happens.trim().is_empty(), "{kind}: {happens}");
    }
    let named = |[kind, _, tests]: [&str; 3]| (kind.to_owned(), source::named_tests(tests));
    source::all_exist(rows.into_iter().map(named));
}
