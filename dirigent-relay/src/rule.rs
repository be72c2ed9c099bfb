//! The question of a rule, and its answer.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::Refused;

/// The most bytes of a question with its seal: 1 MiB. A larger one is neither sent nor accepted.
pub const QUESTION_MAX: usize = 1 << 20;
/// The most bytes of an answer with its seal: 4 MiB.
pub const ANSWER_MAX: usize = 4 << 20;

/// A question of one rule. Its JSON is the body that is sent.
pub trait RelayQuestion: Serialize + DeserializeOwned + Send + Sync {
    /// The name of the rule.
    const RULE: &'static str;
    /// The answer to the question.
    type Answer: Serialize + DeserializeOwned + Send;
}

/// Reads the body of a question.
///
/// # Errors
///
/// Returns [`Refused::BadQuestion`], which names the place of the mistake, without any of the content.
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
