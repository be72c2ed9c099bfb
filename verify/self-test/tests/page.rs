//! Keeps `verify/assumptions.md` and the self-test together.

use std::collections::BTreeSet;

use self_test::assumptions;

use super::Scene;

const PAGE: &str = include_str!("../../assumptions.md");

/// The rows of the page: the number of the assumption, and what the column says of the self-test.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    let numbered = cells.filter(|cells| cells[0].ends_with(|last: char| last.is_ascii_digit()));
    numbered.map(|cells| (cells[0], cells[4]))
}

#[test]
fn the_page_marks_exactly_the_assumptions_that_the_self_test_tries() {
    let is_tried = |(number, mark)| (mark != "no").then_some(number);
    let marked: BTreeSet<_> = rows().filter_map(is_tried).collect();
    assert!(marked.len() > 30, "{}", marked.len());
    assert_eq!(marked, assumptions().collect());
    assert_eq!(assumptions().count(), marked.len(), "an assumption is tried twice");
}

#[tokio::test]
async fn the_sample_in_the_page_is_what_the_self_test_prints() {
    let report = Scene::new().await.try_all().await.to_string();
    let sample = PAGE.split("```text\n").nth(1).unwrap().split("\n```").next().unwrap();
    assert_eq!(sample, report);
}

#[test]
fn the_page_says_of_each_assumption_what_the_self_test_needs_for_it() {
    for (number, mark) in rows() {
        assert!(matches!(mark, "yes" | "second bot" | "person" | "no"), "{number}: {mark}");
    }
}
