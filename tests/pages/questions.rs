//! Keeps `verify/questions.md` and what quotes its numbers together.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::source;

/// The letters of the seeds: each has questions.
const LETTERS: &str = "CDMOWX";

/// Here one letter and a number are a finding.
const OF_FINDINGS: &str = "tests/promises";

/// The numbers of the page's rows, in its order.
fn rows() -> Vec<String> {
    let page = source::table("questions.md");
    let number = |[number, question, answer]: [&str; 3]| {
        let is_whole = !question.trim().is_empty() && !answer.trim().is_empty();
        (numbers(number) == [number] && is_whole).then(|| number.to_owned())
    };
    source::rows(&page).filter_map(number).collect()
}

/// The numbers of questions in a text, as whole words.
fn numbers(text: &str) -> Vec<String> {
    let is_number = |word: &&str| {
        let digits = word.strip_prefix(|letter| LETTERS.contains(letter)).unwrap_or_default();
        (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    source::words(text).filter(is_number).map(str::to_owned).collect()
}

/// The comments of a source, or the whole of a page.
fn prose(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    if path.extension().is_some_and(|it| it == "md") {
        return text;
    }
    let comment = |line: &str| line.split_once("//").map(|(_, comment)| comment.to_owned());
    text.lines().filter_map(comment).collect::<Vec<_>>().join("\n")
}

/// SD3
#[test]
fn every_number_that_is_quoted_has_a_question_and_an_answer() {
    let rows: BTreeSet<String> = rows().into_iter().collect();
    assert!(rows.len() > 190, "only {} rows were found", rows.len());
    let tests = source::all_tests().into_iter().map(|(test, docs)| (test, numbers(&docs)));
    let sources = source::sources_of_turns().into_iter().filter(|path| {
        let is_rules = path.parent().is_some_and(|folder| folder.ends_with("docs/rules"));
        is_rules || path.extension().is_some_and(|it| it == "rs")
    });
    let sources = sources.map(|path| (path.display().to_string(), numbers(&prose(&path))));
    let quoted = tests.chain(sources).filter(|(place, _)| !place.contains(OF_FINDINGS));
    let mut unknown = Vec::new();
    for (place, numbers) in quoted {
        let missing = numbers.into_iter().filter(|number| !rows.contains(number));
        unknown.extend(missing.map(|number| format!("{place}: {number}")));
    }
    assert_eq!(unknown, <[String; 0]>::default());
}

#[test]
fn questions_are_unique_and_in_order() {
    let key = |row: &String| {
        let (letter, number) = row.split_at(1);
        ("DWCMOX".find(letter), number.parse::<u32>().unwrap())
    };
    let keys: Vec<_> = rows().iter().map(key).collect();
    assert!(keys.is_sorted_by(|one, next| one < next), "{keys:?}");
}

#[test]
fn numbers_of_questions_are_found_as_whole_words() {
    assert_eq!(numbers("R091, D39 (see X4; D1234, XD91, W, C++)"), ["D39", "X4"]);
}
