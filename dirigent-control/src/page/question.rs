//! A question that is asked before the page does something, and its answer, which is a part of the form.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

/// The field of a form with the mark of the question.
const ASKED: &str = "asked";
/// The field of a form that agrees, with the value [`YES`]. The page's script uses the name, too.
const SURE: &str = "sure";
const YES: &str = "yes";

/// The fields of a form, in their order.
pub(crate) type Pairs = Vec<(String, String)>;

/// Returns the first value of a field.
pub(crate) fn field<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(named, _)| named == name).map(|(_, value)| value.as_str())
}

/// The answer in a form.
enum Answer<'a> {
    /// The form does not agree.
    Missing,
    /// The form agrees without the mark of a question.
    Sure,
    /// The form agrees to the question with this mark.
    To(&'a str),
}

fn answer_in(pairs: &[(String, String)]) -> Answer<'_> {
    match (field(pairs, SURE), field(pairs, ASKED)) {
        (Some(YES), Some(asked)) => Answer::To(asked),
        (Some(YES), None) => Answer::Sure,
        (Some(_) | None, _) => Answer::Missing,
    }
}

/// Returns true if the answer to a form may be a question. A script that agrees without a mark is never asked.
pub(crate) fn may_be_asked(pairs: &[(String, String)]) -> bool {
    !matches!(answer_in(pairs), Answer::Sure)
}

/// A question that is asked before the page does something.
pub(crate) struct Question {
    pub(crate) words: String,
    /// The mark of this question. An answer with another mark does not count.
    pub(crate) mark: String,
}

impl Question {
    /// Creates a question that is asked again when any of its words change.
    pub(crate) fn of(words: String) -> Self {
        Self { mark: mark_of(&words), words }
    }

    /// Creates a question that is asked again when its subject changes. The subject leaves out words that change from
    /// moment to moment, for example the speaker, because a lively channel would lead to endless questions.
    pub(crate) fn about(what: &impl Hash, words: String) -> Self {
        Self { mark: mark_of(what), words }
    }

    /// Returns the question, or `None` if the form agrees to it.
    pub(crate) fn unless_agreed(self, pairs: &[(String, String)]) -> Option<Self> {
        match answer_in(pairs) {
            Answer::To(asked) if asked != self.mark => {
                let words = format!("This has changed meanwhile. {}", self.words);
                Some(Self { words, ..self })
            }
            Answer::To(_) | Answer::Sure => None,
            Answer::Missing => Some(self),
        }
    }

    /// Returns the form with the agreement to this question, and otherwise unchanged.
    pub(crate) fn agreed(&self, pairs: &[(String, String)]) -> Pairs {
        let is_given = |(name, _): &&(String, String)| name != ASKED && name != SURE;
        let mut agreed: Pairs = pairs.iter().filter(is_given).cloned().collect();
        let answer = [(ASKED, self.mark.as_str()), (SURE, YES)];
        agreed.extend(answer.map(|(name, value)| (name.to_owned(), value.to_owned())));
        agreed
    }
}

fn mark_of(what: &impl Hash) -> String {
    format!("{:016x}", FxBuildHasher.hash_one(what))
}
