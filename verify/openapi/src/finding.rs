//! What is wrong with a request or an answer.

use std::fmt;

/// Something that the document does not allow.
///
/// ```
/// use check_contract::{Finding, Place};
///
/// let finding = Finding {
///     operation: "GET /rooms".to_owned(),
///     place: Place::Query("limit".to_owned()),
///     says: "101 is greater than the maximum of 100".to_owned(),
/// };
/// assert_eq!(
///     finding.to_string(),
///     "GET /rooms, query parameter `limit`: 101 is greater than the maximum of 100"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a program prints it")]
pub struct Finding {
    /// The operation, as the document writes it, or the request as it was sent where there is none.
    pub operation: String,
    /// Where.
    pub place: Place,
    /// What. It holds no text of a message.
    pub says: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.operation, self.place, self.says)
    }
}

/// The part of a request or an answer that a finding is about.
///
/// ```
/// use check_contract::Place;
/// assert_eq!(Place::Body("/nonce".to_owned()).to_string(), "body at /nonce");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Place {
    /// The operation as a whole: the document has none like it.
    Operation,
    /// A parameter in the path.
    Path(String),
    /// A parameter in the query.
    Query(String),
    /// A header, in small letters.
    Header(String),
    /// A place in the body, as a JSON pointer.
    Body(String),
    /// A place in the answer's body, as a JSON pointer.
    Answer(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation => f.write_str("the operation"),
            Self::Path(name) => write!(f, "path parameter `{name}`"),
            Self::Query(name) => write!(f, "query parameter `{name}`"),
            Self::Header(name) => write!(f, "header `{name}`"),
            Self::Body(pointer) if pointer.is_empty() => f.write_str("body"),
            Self::Body(pointer) => write!(f, "body at {pointer}"),
            Self::Answer(pointer) if pointer.is_empty() => f.write_str("answer"),
            Self::Answer(pointer) => write!(f, "answer at {pointer}"),
        }
    }
}
