//! A request and its answer, as they went over the wire.

use std::fmt;

/// A request as it was sent. `Debug` shows neither headers nor body.
///
/// ```
/// use check_contract::Request;
///
/// let request = Request::new("POST", "/api/v10/channels/7/typing?a=b").header("Accept", "*/*");
/// assert_eq!(request.path(), "/api/v10/channels/7/typing");
/// assert_eq!(request.get("accept"), Some("*/*"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    method: String,
    path: String,
    query: Option<String>,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// A request without headers and body. The target is a path, with a query or without.
    pub fn new(method: &str, target: &str) -> Self {
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The same with this header, instead of any other of its name.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        let mut request = self.without_header(name);
        request.headers.push((name.to_lowercase(), value.to_owned()));
        request
    }

    /// The same without a header.
    #[must_use]
    pub fn without_header(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// The same with this body. Its type is a header like any other.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The method, in capital letters.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The path without its query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The query without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// A header's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// All headers, their names in small letters.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The body; empty where there is none.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    pub(super) fn to_method(&self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self.clone() }
    }

    pub(super) fn to_path(&self, path: String) -> Self {
        Self { path, ..self.clone() }
    }

    pub(super) fn to_query(&self, pairs: &[(String, String)]) -> Self {
        let pairs: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self { query: Some(pairs.join("&")), ..self.clone() }
    }

    /// The query's names and values, decoded; `Err` for what is no query.
    pub(super) fn pairs(&self) -> Result<Vec<(String, String)>, String> {
        let parts = self.query.iter().flat_map(|query| query.split('&'));
        parts
            .map(|part| {
                let (name, value) = part.split_once('=').unwrap_or((part, ""));
                match (decoded(name, true), decoded(value, true)) {
                    (Some(name), Some(value)) => Ok((name, value)),
                    _ => Err(format!("`{part}` is not percent-encoded text")),
                }
            })
            .collect()
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &self.query)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish_non_exhaustive()
    }
}

/// What was answered. `Debug` shows no body.
///
/// ```
/// let answer = check_contract::Answer { status: 204, body: Vec::new() };
/// assert_eq!(format!("{answer:?}"), "Answer { status: 204, body: 0 bytes }");
/// ```
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a server on loopback builds it")]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body; empty where there is none.
    pub body: Vec<u8>,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("status", &self.status)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

/// A request with its answer.
///
/// ```
/// use check_contract::{Answer, Exchange, Request};
///
/// let request = Request::new("GET", "/api/rooms");
/// let exchange = Exchange { request, answer: Answer { status: 200, body: b"[]".to_vec() } };
/// assert_eq!(exchange.answer.status, 200);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a server on loopback builds it")]
pub struct Exchange {
    /// What was asked.
    pub request: Request,
    /// What came back.
    pub answer: Answer,
}

/// Percent-encoded text in plain; `None` for what is no such text.
pub(super) fn decoded(text: &str, is_query: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            b'+' if is_query => b' ',
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    let digit = char::from(digit).to_digit(16)?;
    u8::try_from(digit).ok()
}
