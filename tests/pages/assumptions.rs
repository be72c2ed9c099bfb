//! Keeps `verify/assumptions.md` true to the code that it names.

use std::fs;

use super::source;

/// The parts of a text that stand in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_assumption_names_code_that_exists_and_how_it_would_be_seen_to_be_wrong() {
    let page = source::table("assumptions.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    let rows: Vec<_> =
        rows.filter(|cells| cells[0].ends_with(|last: char| last.is_ascii_digit())).collect();
    assert!(rows.len() > 40, "{}", rows.len());
    for cells in rows {
        let [number, assumption, from, code, _self_test, wrong] = cells[..] else {
            panic!("a row has other cells: {cells:?}");
        };
        assert!(assumption.len() > 20 && wrong.len() > 20 && !from.is_empty(), "{number}");
        let mut content = None;
        for name in quoted(code) {
            if name.contains('/') {
                let file = fs::read_to_string(source::root().join(name));
                content = Some(file.unwrap_or_else(|error| panic!("{number}: {name}: {error}")));
            } else {
                let item = name.rsplit("::").next().unwrap();
                let file = content.as_deref().expect("a file stands before its items");
                assert!(file.contains(item), "{number}: {name} is not in its file");
            }
        }
        assert!(content.is_some(), "{number} names no code");
    }
}
