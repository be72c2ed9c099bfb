//! Keeps `docs/rules.md`, its pages and the code together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Map, Value};

use super::source;

/// A paragraph, a step or a table cell is read at one glance.
const WORDS_MAX: usize = 60;

/// The pages of rules by their names under `docs/`, the index first.
fn pages() -> Vec<(String, String)> {
    let folder = fs::read_dir(source::root().join("docs/rules")).unwrap();
    let files = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let groups: BTreeSet<String> = files.map(|file| format!("rules/{file}")).collect();
    let names = std::iter::once("rules.md".to_owned()).chain(groups);
    names.map(|name| (source::page(&name), name)).map(|(text, name)| (name, text)).collect()
}

/// The lines of a page that are prose or tables.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_diagram = false;
    page.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_diagram ^= is_fence;
        !is_fence && !is_diagram
    })
}

/// Paragraphs, steps and table cells of a page.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in prose(page) {
        if let Some(row) = line.strip_prefix('|') {
            blocks.extend(row.split('|').map(str::to_owned));
            blocks.push(String::new());
        } else if line.trim().is_empty() {
            blocks.push(String::new());
        } else {
            let number = line.trim_start().split_once(". ").map(|(number, _)| number);
            let is_step = number.is_some_and(|it| it.parse::<u32>().is_ok());
            if is_step || line.starts_with('#') || line.trim_start().starts_with("- ") {
                blocks.push(String::new());
            }
            if let Some(block) = blocks.last_mut() {
                block.push(' ');
                block.push_str(line);
            }
        }
    }
    blocks
}

/// The rules of a page: number and heading.
fn headings(page: &str) -> Vec<(u32, &str)> {
    let headings = page.lines().filter_map(|line| line.strip_prefix("## Rule "));
    let number =
        |heading: &str| heading.split_once(": ").and_then(|(number, _)| number.parse().ok());
    headings.map(|it| (number(it).unwrap_or_else(|| panic!("no number: {it}")), it)).collect()
}

/// The address that the page of a heading gives it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Every rule, with its page and heading.
fn rules() -> BTreeMap<u32, (String, String)> {
    let mut rules = BTreeMap::new();
    for (name, page) in pages() {
        for (number, heading) in headings(&page) {
            let before = rules.insert(number, (name.clone(), heading.to_owned()));
            assert_eq!(before, None, "rule {number} stands twice");
        }
    }
    rules
}

/// The numbers behind each `rule` or `rules` in a text: "rules 14, 49 and 63", "rules 40 to 42".
fn quoted(text: &str) -> Vec<u32> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let mut numbers = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        if word != "rule" && word != "rules" {
            continue;
        }
        let mut is_list = true; // a number follows, or a word that joins two
        for next in words.iter().skip(at + 1) {
            let bare = next.trim_end_matches(|c: char| !c.is_ascii_digit());
            let parts = bare.split('-').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>();
            match parts {
                Ok(parts) if is_list => {
                    numbers.extend(parts);
                    is_list = next.ends_with(',');
                    if !is_list && bare != *next {
                        break;
                    }
                }
                Err(_) if matches!(*next, "and" | "to" | "or") => is_list = true,
                Err(_) if matches!(*next, "//!" | "///" | "//") => {}
                Ok(_) | Err(_) => break,
            }
        }
    }
    numbers
}

#[test]
fn no_paragraph_step_or_cell_of_the_rules_is_longer_than_sixty_words() {
    for (name, page) in pages() {
        for block in blocks(&page) {
            let words = block.split_whitespace().count();
            assert!(words <= WORDS_MAX, "{name}: {words} words: {block}");
        }
    }
}

#[test]
fn rules_are_numbered_from_one_without_a_gap_and_each_stands_once() {
    let rules = rules();
    assert!(rules.len() > 70, "only {} rules were found", rules.len());
    let numbers: Vec<u32> = rules.keys().copied().collect();
    let last = u32::try_from(rules.len()).unwrap();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>());
    for (name, page) in pages() {
        let order: Vec<u32> = headings(&page).iter().map(|(number, _)| *number).collect();
        assert!(order.is_sorted(), "{name}: {order:?}");
    }
}

#[test]
fn the_index_lists_every_rule_with_its_page_and_nothing_else() {
    let index = source::page("rules.md");
    let table = index.split_once("\n## All rules\n").expect("the table of all rules").1;
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let rules = rules();
    assert_eq!(rows.len(), rules.len());
    for (row, (number, (page, heading))) in rows.iter().zip(&rules) {
        let title = heading.split_once(": ").expect("a title").1;
        let expected =
            format!("| {number} | [{title}]({page}#{}) | ", anchor(&format!("Rule {heading}")));
        assert!(row.starts_with(&expected), "{row}\nand not\n{expected}");
    }
}

#[test]
fn every_group_of_rules_has_a_state_diagram() {
    let pages = pages();
    let groups = pages.iter().filter(|(_, page)| !headings(page).is_empty());
    for (name, page) in groups {
        assert!(page.contains("```mermaid\nstateDiagram-v2\n"), "{name} has no diagram");
    }
}

#[test]
fn every_rule_that_code_and_pages_quote_exists() {
    let rules = rules();
    let mut quotes = 0;
    for file in source::sources_of_turns() {
        let text = fs::read_to_string(&file).unwrap();
        for number in quoted(&text) {
            quotes += 1;
            assert!(rules.contains_key(&number), "{} quotes rule {number}", file.display());
        }
    }
    assert!(quotes > 400, "only {quotes} quotations were found");
}

#[test]
fn numbers_of_rules_are_found_in_sentences() {
    let text = "Rule 2: a. (rules 14, 49 and 63) the rule 7's end; rules 40 to 42. Rules 7-9, 12\n    /// rules: 5 rule of 6, rule 49\n 0";
    assert_eq!(quoted(text), [2, 14, 49, 63, 7, 40, 42, 7, 9, 12, 49]);
}

#[test]
fn the_page_of_settings_has_every_setting_with_its_default() {
    let file = fs::read_to_string(source::root().join("tests/driver/settings.json")).unwrap();
    let mut expected = BTreeMap::new();
    for (group, value) in serde_json::from_str::<Map<String, Value>>(&file).unwrap() {
        // These say how the rules are carried out: the documentation of `Settings` has them.
        let how =
            ["texts", "reading", "hooks", "limits", "time_limits", "typing", "inherit_parent_mode"];
        if !how.contains(&group.as_str()) {
            defaults(&group, &value, &mut expected);
        }
    }
    assert!(expected.len() > 40, "only {} settings were found", expected.len());
    let page = source::page("rules/settings.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let seen = rows.map(|row| {
        let mut cells = row.split('|').skip(1).map(|cell| cell.trim().to_owned());
        (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
    });
    assert_eq!(seen.collect::<BTreeMap<_, _>>(), expected);
}

/// The settings below this name, each with its default as the page says it.
fn defaults(name: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(group) => {
            for (inner, value) in group {
                defaults(&format!("{name}.{inner}"), value, found);
            }
        }
        Value::String(text) => drop(found.insert(format!("`{name}`"), format!("`{text}`"))),
        Value::Bool(flag) => drop(found.insert(format!("`{name}`"), format!("`{flag}`"))),
        number @ (Value::Null | Value::Number(_) | Value::Array(_)) => {
            drop(found.insert(format!("`{name}`"), number.to_string()));
        }
    }
}
