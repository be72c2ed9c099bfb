//! Stage directions, and which of them is an exit.

use super::words::{sentences, words};

/// A stage direction, with how much is said behind it.
pub(super) struct Direction<'a> {
    text: &'a str,
    sentences_behind: usize,
}

/// Divides a speech into what is said and its stage directions in square brackets.
pub(super) fn split_directions(speech: &str) -> (String, Vec<Direction<'_>>) {
    let mut said = String::with_capacity(speech.len());
    let mut found: Vec<(&str, usize)> = Vec::new();
    let mut rest = speech;
    while let Some((before, behind)) = rest.split_once('[') {
        let Some((direction, after)) = behind.split_once(']') else {
            break;
        };
        said.push_str(before.strip_suffix('*').unwrap_or(before));
        // What stands before and behind a direction is not one word.
        said.push(' ');
        found.push((direction, said.len()));
        rest = after.strip_prefix('*').unwrap_or(after);
    }
    said.push_str(rest);
    let directions = found.into_iter().map(|(text, at)| {
        let behind = said.get(at..).unwrap_or_default();
        Direction { text, sentences_behind: sentences(behind).len() }
    });
    let directions = directions.collect();
    (said, directions)
}

/// The actions that are exits.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Exits {
    actions: Vec<Action>,
}

#[derive(Clone, PartialEq, Eq)]
struct Action {
    words: Vec<String>,
    may_go_on: bool,
}

/// Words that may stand before an action and behind it.
const MANNERS: [&str; 16] = [
    "slowly",
    "quickly",
    "quietly",
    "silently",
    "softly",
    "finally",
    "abruptly",
    "suddenly",
    "gently",
    "then",
    "he",
    "she",
    "they",
    "just",
    "simply",
    "wordlessly",
];
/// An exit is none when one of these follows it.
const RETURNS: [&str; 9] =
    ["returns", "return", "back", "again", "stops", "pauses", "reenters", "hesitates", "turns"];

impl Exits {
    pub(super) fn new<'a>(actions: impl IntoIterator<Item = &'a str>) -> Self {
        let action = |text: &str| Action { words: words(text), may_go_on: text.ends_with('…') };
        let actions = actions.into_iter().map(action);
        Self { actions: actions.filter(|action| !action.words.is_empty()).collect() }
    }

    /// Whether the last thing that the speaker does is to leave.
    pub(super) fn is_exit(&self, directions: &[Direction<'_>], speaker: &str) -> bool {
        let name = words(speaker);
        let mut left = false;
        for direction in directions {
            for clause in clauses(direction.text) {
                let is_exit = self.actions.iter().any(|action| action.fits(&clause, &name));
                let is_return = clause.iter().any(|word| RETURNS.contains(&word.as_str()));
                left = if is_exit { direction.sentences_behind <= 1 } else { left && !is_return };
            }
        }
        left
    }
}

impl Action {
    fn fits(&self, clause: &[String], name: &[String]) -> bool {
        let is_manner = |word: &String| MANNERS.contains(&word.as_str()) || name.contains(word);
        let lead = clause.iter().take_while(|word| is_manner(word)).count();
        let Some(rest) = clause.get(lead..).and_then(|rest| rest.strip_prefix(&*self.words)) else {
            return false;
        };
        self.may_go_on || rest.iter().all(is_manner)
    }
}

/// The clauses of a direction, in words.
fn clauses(direction: &str) -> Vec<Vec<String>> {
    let mut clauses = Vec::new();
    for part in direction.split([',', ';', '.', '—', '–', '!', ':']) {
        for clause in words(part).split(|word| matches!(word.as_str(), "and" | "then" | "before")) {
            if !clause.is_empty() {
                clauses.push(clause.to_vec());
            }
        }
    }
    clauses
}
