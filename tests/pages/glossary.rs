//! Keeps `docs/glossary.md` and the code together.

use std::collections::BTreeSet;
use std::fs;

use super::source;

/// The rows of the tables of terms: the term and the names in the code.
fn terms(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'));
    let cells = rows.map(|row| row.split(" | ").map(str::trim).collect::<Vec<_>>());
    let terms = cells.filter_map(|cells| match *cells.as_slice() {
        [term, _, code, _] => Some((term, code)),
        _ => None,
    });
    terms.filter(|(term, code)| *term != "term" && !code.starts_with("---")).collect()
}

/// A source file: the words in it, and the names that it declares.
struct Source {
    words: BTreeSet<String>,
    declared: BTreeSet<String>,
}

fn sources() -> Vec<Source> {
    let texts = source::sources().into_iter().map(|file| fs::read_to_string(file).unwrap());
    let read = texts.map(|text| {
        let words = text.split(|c: char| !is_of_a_name(c)).map(str::to_owned).collect();
        Source { words, declared: text.lines().filter_map(declared).collect() }
    });
    read.collect()
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name that a line declares: an item, a field or a variant.
fn declared(line: &str) -> Option<String> {
    let mut line = line.trim_start();
    let keywords = [
        "pub ", "async ", "const ", "unsafe ", "fn ", "struct ", "enum ", "trait ", "type ", "mod ",
    ];
    while let Some(rest) = keywords.iter().find_map(|keyword| line.strip_prefix(keyword)) {
        line = rest;
    }
    let end = line.find(|c: char| !is_of_a_name(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let is_declared =
        [":", ",", " {", "(", ";", "<", " = ", " =>"].iter().any(|it| rest.starts_with(it));
    (is_declared && !name.is_empty()).then(|| name.to_owned())
}

/// Whether a file declares the last name of a path and knows the others.
fn exists(path: &str, sources: &[Source]) -> bool {
    let mut names = path.rsplit("::");
    let name = names.next().unwrap_or(path);
    let owners: Vec<&str> = names.collect();
    sources.iter().any(|source| {
        source.declared.contains(name) && owners.iter().all(|owner| source.words.contains(*owner))
    })
}

#[test]
fn every_name_that_the_glossary_gives_stands_in_the_code() {
    let page = source::page("glossary.md");
    let sources = sources();
    let terms = terms(&page);
    assert!(terms.len() > 80, "only {} terms were found", terms.len());
    for (term, code) in terms {
        let names: Vec<&str> = code.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "{term} has no name in the code: {code}");
        for name in names {
            assert!(exists(name, &sources), "{term}: no {name} is declared");
        }
    }
}

#[test]
fn the_glossary_has_each_term_once() {
    let page = source::page("glossary.md");
    let mut seen = BTreeSet::new();
    for (term, _) in terms(&page) {
        assert!(seen.insert(term), "{term} stands twice");
    }
}
