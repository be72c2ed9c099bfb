//! A question of a rule, and its answer.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::Refused;

/// The most bytes of a question with its seal: 1 MiB. A larger one is neither sent nor taken.
pub const QUESTION_MAX: usize = 1 << 20;
/// The most bytes of an answer with its seal: 4 MiB.
pub const ANSWER_MAX: usize = 4 << 20;

/// What is asked under one rule: a value whose JSON is the body of the question.
pub trait RelayQuestion: Serialize + DeserializeOwned + Send + Sync {
    /// The rule's name.
    const RULE: &'static str;
    /// What is answered.
    type Answer: Serialize + DeserializeOwned + Send;
}

/// Reads a question's body.
///
/// # Errors
///
/// [`Refused::BadQuestion`] says where, and nothing of what stands there.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| {
        let what = match error.classify() {
            Category::Io | Category::Eof => "it ends too early",
            Category::Syntax => "it is no JSON",
            Category::Data => "a field is missing or has another form",
        };
        Refused::BadQuestion { why: format!("{what} (column {})", error.column()) }
    })
}

/// Writes a body. Structs of texts, numbers and lists always convert.
pub fn write(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
