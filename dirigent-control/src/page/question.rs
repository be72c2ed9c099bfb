//! What is asked before something is done, and what its answer is for.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

/// The field of a form that says what was asked.
pub(crate) const ASKED: &str = "asked";

/// A question before something is done.
pub(crate) struct Question {
    pub(crate) words: String,
    /// What an answer agrees to: one to another mark is no answer.
    pub(crate) mark: String,
}

impl Question {
    /// A question whose answer is for these very words.
    pub(crate) fn of(words: String) -> Self {
        Self { mark: mark_of(&words), words }
    }

    /// A question whose answer is for what it is about. Words that change from moment to moment, such as who speaks, are no part of
    /// that: in a lively channel it would be asked without end.
    pub(crate) fn about(what: &impl Hash, words: String) -> Self {
        Self { mark: mark_of(what), words }
    }

    /// What is still to be asked of who sends these fields; `None` if they agree. A script that is sure without saying what it was
    /// asked is taken at its word.
    pub(crate) fn unless_agreed(self, pairs: &[(String, String)]) -> Option<Self> {
        let first = |name: &str| {
            pairs.iter().find(|(named, _)| named == name).map(|(_, value)| value.as_str())
        };
        match (first("sure"), first(ASKED)) {
            (Some("yes"), Some(asked)) if asked != self.mark => {
                let words = format!("This has changed meanwhile. {}", self.words);
                Some(Self { words, ..self })
            }
            (Some("yes"), _) => None,
            _ => Some(self),
        }
    }
}

fn mark_of(what: &impl Hash) -> String {
    format!("{:016x}", FxBuildHasher.hash_one(what))
}
