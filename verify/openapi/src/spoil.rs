//! Requests made wrong on purpose.

mod answer;
mod body;
mod controls;
mod head;

use std::fmt;

pub use controls::{Controls, Missed};

use super::document::Document;
use super::exchange::{Exchange, Request};
use super::finding::Place;

/// A request, or an exchange by its answer, with one thing wrong in it.
///
/// ```
/// use check_contract::{Document, Request, Wrong};
///
/// let text = r#"{"openapi": "3.1.0", "paths": {"/rooms": {"get": {}}}}"#;
/// let document = Document::read(text, &[]).unwrap();
/// let request = Request::new("GET", "/rooms").header("user-agent", "DiscordBot (https://x.example, 1)");
/// let spoilt = document.spoil(&request);
/// assert!(spoilt.iter().any(|one| one.wrong == Wrong::UnknownQuery));
/// for one in spoilt {
///     assert!(document.check(&one.sent).iter().any(|found| found.place == one.place));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spoilt<T> {
    /// What was made wrong.
    pub wrong: Wrong,
    /// What went over the wire, as it is now.
    pub sent: T,
    /// Where the checker must find it.
    pub place: Place,
}

/// What can be made wrong in a request.
///
/// ```
/// use check_contract::Wrong;
/// assert_eq!(Wrong::UnknownKey.to_string(), "an unknown key in the body");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Wrong {
    /// A method that the path does not have.
    Method,
    /// A path that the document does not have.
    UnknownPath,
    /// A path outside the API.
    Outside,
    /// An id in the path that is none.
    PathId,
    /// A query parameter that the operation does not have.
    UnknownQuery,
    /// A query parameter of another type.
    QueryType,
    /// A query parameter beyond its limits.
    QueryRange,
    /// No token, or not in the form of one.
    Authorization,
    /// No user agent, or not in Discord's form.
    UserAgent,
    /// A reason for the audit log that is too long.
    AuditReason,
    /// No type of the body, or another one.
    ContentType,
    /// No body where there must be one.
    NoBody,
    /// A body where there is none.
    UnexpectedBody,
    /// A body that is no JSON.
    NotJson,
    /// A key that the document does not name.
    UnknownKey,
    /// A value of another type.
    Type,
    /// A key that must be there is not.
    MissingKey,
    /// A text that is too long.
    TooLong,
    /// A list that is too long.
    TooMany,
    /// A number beyond its limits.
    Range,
    /// A value that is not among those listed.
    NotListed,
    /// An id in the body that is none.
    BodyId,
    /// An answer with another status.
    Status,
    /// An answer without a body, or with one where there is none, or with one that is no JSON.
    AnswerBody,
    /// A value in an answer that is not as it should be.
    AnswerValue,
    /// A key is missing in an answer.
    AnswerKey,
}

impl Wrong {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::Method,
        Self::UnknownPath,
        Self::Outside,
        Self::PathId,
        Self::UnknownQuery,
        Self::QueryType,
        Self::QueryRange,
        Self::Authorization,
        Self::UserAgent,
        Self::AuditReason,
        Self::ContentType,
        Self::NoBody,
        Self::UnexpectedBody,
        Self::NotJson,
        Self::UnknownKey,
        Self::Type,
        Self::MissingKey,
        Self::TooLong,
        Self::TooMany,
        Self::Range,
        Self::NotListed,
        Self::BodyId,
        Self::Status,
        Self::AnswerBody,
        Self::AnswerValue,
        Self::AnswerKey,
    ];
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Method => "a method that the path does not have",
            Self::UnknownPath => "an unknown path",
            Self::Outside => "a path outside the API",
            Self::PathId => "a bad id in the path",
            Self::UnknownQuery => "an unknown query parameter",
            Self::QueryType => "a query parameter of another type",
            Self::QueryRange => "a query parameter beyond its limits",
            Self::Authorization => "no token, or another form of it",
            Self::UserAgent => "no user agent, or another form of it",
            Self::AuditReason => "a reason for the audit log that is too long",
            Self::ContentType => "no content type, or another one",
            Self::NoBody => "no body where there must be one",
            Self::UnexpectedBody => "a body where there is none",
            Self::NotJson => "a body that is no JSON",
            Self::UnknownKey => "an unknown key in the body",
            Self::Type => "a value of another type",
            Self::MissingKey => "a missing key",
            Self::TooLong => "a text that is too long",
            Self::TooMany => "a list that is too long",
            Self::Range => "a number beyond its limits",
            Self::NotListed => "a value that is not listed",
            Self::BodyId => "a bad id in the body",
            Self::Status => "an answer with another status",
            Self::AnswerBody => "an answer whose body is missing, unexpected or no JSON",
            Self::AnswerValue => "a wrong value in an answer",
            Self::AnswerKey => "a missing key in an answer",
        })
    }
}

impl Document {
    /// A request spoilt in every way that is known, one way at a time. A request of no operation is not
    /// spoilt: it is found as it is.
    pub fn spoil(&self, request: &Request) -> Vec<Spoilt<Request>> {
        let Ok((operation, _)) = self.operation(request) else {
            return Vec::new();
        };
        let mut spoilt = head::spoil(self, operation, request);
        spoilt.extend(body::spoil(self, operation, request));
        spoilt
    }

    /// An exchange with its answer spoilt in every way that is known.
    pub fn spoil_answer(&self, exchange: &Exchange) -> Vec<Spoilt<Exchange>> {
        let operation = self.operation(&exchange.request);
        operation.map(|(found, _)| answer::spoil(self, found, exchange)).unwrap_or_default()
    }
}
