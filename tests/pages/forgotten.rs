//! Keeps `verify/forgotten.md` and the tests together: what a row says is looked for by the test that it names.

use std::fs;

use super::source;

#[test]
fn each_row_names_a_test_that_looks_for_what_it_says() {
    let page = source::table("forgotten.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let rows = rows.iter().filter(|row| row.first() != Some(&"forgotten"));
    let mut tried = 0;
    for row in rows.filter(|row| !row[0].starts_with("---")) {
        let [forgotten, _, said, test] = row[..] else { panic!("not four cells: {row:?}") };
        let (path, name) = test.trim_matches('`').split_once("::").unwrap();
        let source = fs::read_to_string(source::root().join(path)).unwrap();
        assert!(source.contains(&format!("fn {name}(")), "{forgotten}: no test {name}");
        let words = said.split('*').nth(1).unwrap();
        assert!(source.contains(words), "{forgotten}: {path} does not look for {words:?}");
        tried += 1;
    }
    assert!(tried >= 20, "{tried} rows");
}
