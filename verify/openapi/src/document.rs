//! An OpenAPI document, and what it says of requests and answers.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::correction::Correction;
use super::exchange::{Exchange, Request};
use super::finding::{Finding, Place};
use super::form::{self, FORM};
use super::header_rules;
use super::operation::{Operation, Parameter, Token};
use super::rule::Fault;

/// An OpenAPI 3.1 document.
///
/// ```
/// use check_contract::Document;
///
/// let text = r#"{"openapi": "3.1.0", "info": {"title": "Rooms", "version": "2"}, "paths": {}}"#;
/// let document = Document::read(text, &[]).unwrap();
/// assert_eq!(document.title(), "Rooms, version 2, 0 operations");
/// assert!(Document::read("[]", &[]).is_err());
/// ```
#[derive(Debug)]
pub struct Document {
    pub(super) root: Value,
    /// The path of the first server, which stands before every path.
    pub(super) base: String,
    pub(super) operations: Vec<Operation>,
}

/// The values in a path, by name.
type Values = Vec<(String, String)>;

/// Why a document cannot be used.
///
/// ```
/// use check_contract::{Document, DocumentError};
/// assert!(matches!(Document::read("{", &[]), Err(DocumentError::NotJson(_))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentError {
    /// It is no JSON; what the parser said.
    NotJson(String),
    /// It is no OpenAPI 3.1 document; what is missing.
    NotOpenApi(String),
    /// A correction no longer fits: its place, and what is there.
    Correction {
        /// Where it should go.
        at: &'static str,
        /// What was found instead.
        found: String,
    },
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(says) => write!(f, "it is no JSON: {says}"),
            Self::NotOpenApi(says) => write!(f, "it is no OpenAPI 3.1 document: {says}"),
            Self::Correction { at, found } => {
                write!(f, "the correction at {at} does not fit: {found}; look at it again")
            }
        }
    }
}

impl std::error::Error for DocumentError {}

impl Document {
    /// Reads a document and corrects it.
    ///
    /// # Errors
    ///
    /// When it is no such document, or a correction does not fit.
    pub fn read(text: &str, corrections: &[Correction]) -> Result<Self, DocumentError> {
        let parsed = serde_json::from_str(text);
        let mut root: Value = parsed.map_err(|error| DocumentError::NotJson(error.to_string()))?;
        let wrong = |says: &str| DocumentError::NotOpenApi(says.to_owned());
        let version = root.get("openapi").and_then(Value::as_str);
        if !version.is_some_and(|version| version.starts_with("3.1.")) {
            return Err(wrong("its member `openapi` does not begin with 3.1"));
        }
        for correction in corrections {
            let at = correction.at;
            let applied = correction.apply(&mut root);
            applied.map_err(|found| DocumentError::Correction { at, found })?;
        }
        let paths = root.get("paths").and_then(Value::as_object);
        let mut operations = Vec::new();
        for (path, item) in paths.ok_or_else(|| wrong("it has no paths"))? {
            let read = Operation::read_all(&root, path, item);
            operations.extend(read.map_err(|says| wrong(&format!("{path}: {says}")))?);
        }
        let server = root.pointer("/servers/0/url").and_then(Value::as_str).unwrap_or_default();
        let after_scheme = server.split_once("://").map_or(server, |(_, rest)| rest);
        let base = after_scheme.find('/').and_then(|slash| after_scheme.get(slash..));
        let base = base.unwrap_or_default().trim_end_matches('/').to_owned();
        Ok(Self { root, base, operations })
    }

    /// What it calls itself, and how large it is.
    pub fn title(&self) -> String {
        let said = |key: &str| self.root.pointer(key).and_then(Value::as_str).unwrap_or("unnamed");
        let (title, version) = (said("/info/title"), said("/info/version"));
        format!("{title}, version {version}, {} operations", self.operations.len())
    }

    /// The operation that a request calls, such as `GET /channels/{channel_id}`; `None` if there is none.
    pub fn operation_of(&self, request: &Request) -> Option<String> {
        self.operation(request).map(|(operation, _)| operation.name()).ok()
    }

    /// Everything that the document does not allow in a request.
    pub fn check(&self, request: &Request) -> Vec<Finding> {
        let (operation, values) = match self.operation(request) {
            Ok(found) => found,
            Err(finding) => return vec![finding],
        };
        let mut faults: Vec<(Place, String)> = Vec::new();
        for (name, value) in values {
            let place = Place::Path(name.clone());
            let parameter = operation.parameters_in("path").find(|known| known.name == name);
            match parameter {
                Some(parameter) => {
                    let said = self.parameter_faults(parameter, &[value]);
                    faults.extend(said.into_iter().map(|says| (place.clone(), says)));
                }
                None => faults.push((place, "the document does not say what it is".to_owned())),
            }
        }
        faults.extend(self.query_faults(operation, request));
        faults.extend(header_faults(operation, request));
        faults.extend(self.body_faults(operation, request));
        let name = operation.name();
        let finding = |(place, says)| Finding { operation: name.clone(), place, says };
        faults.into_iter().map(finding).collect()
    }

    /// Everything in an answer that is not as the document says. More keys than it names are fine: Discord
    /// adds some at any time, and everybody must be able to live with that.
    pub fn check_answer(&self, exchange: &Exchange) -> Vec<Finding> {
        let (operation, _) = match self.operation(&exchange.request) {
            Ok(found) => found,
            Err(finding) => return vec![finding],
        };
        let status = exchange.answer.status;
        let body = exchange.answer.body.as_slice();
        let nowhere = |says: String| vec![Fault { pointer: String::new(), says }];
        let faults = match operation.answer(status) {
            None => nowhere(format!("the document knows no answer with {status}")),
            Some(None) if body.is_empty() => Vec::new(),
            Some(None) => nowhere(format!("with {status} comes no body")),
            Some(Some(rule)) => match serde_json::from_slice(body) {
                Ok(value) => rule.faults(&self.root, &value),
                Err(error) => nowhere(format!("is no JSON: {error}")),
            },
        };
        let name = format!("{} answered with {status}", operation.name());
        let finding = |fault: Fault| Finding {
            operation: name.clone(),
            place: Place::Answer(fault.pointer),
            says: fault.says,
        };
        faults.into_iter().map(finding).collect()
    }

    /// The operation that is meant, with the values in its path.
    pub(super) fn operation(&self, request: &Request) -> Result<(&Operation, Values), Finding> {
        let sent = format!("{} {}", request.method(), request.path());
        let none = |says: String| Finding { operation: sent, place: Place::Operation, says };
        let Some(path) = request.path().strip_prefix(&self.base) else {
            return Err(none(format!("the API is below {}", self.base)));
        };
        let fitting = self.operations.iter().filter_map(|operation| {
            operation.template.values(path).map(|values| (operation, values))
        });
        let fitting: Vec<_> = fitting.collect();
        let best = fitting.iter().map(|(operation, _)| operation.template.rank()).max();
        let on_path = fitting.into_iter().filter(|(operation, _)| {
            best.as_ref().is_some_and(|best| operation.template.rank() == *best)
        });
        let on_path: Vec<_> = on_path.collect();
        let methods: Vec<&str> =
            on_path.iter().map(|(operation, _)| operation.method.as_str()).collect();
        let says = if methods.is_empty() {
            "the document has no such path".to_owned()
        } else {
            format!("on this path the document has only {}", methods.join(", "))
        };
        let meant = on_path.into_iter().find(|(op, _)| op.method == request.method());
        meant.ok_or_else(|| none(says))
    }

    fn query_faults(&self, operation: &Operation, request: &Request) -> Vec<(Place, String)> {
        let pairs = match request.pairs() {
            Ok(pairs) => pairs,
            Err(says) => return vec![(Place::Query(String::new()), says)],
        };
        let mut faults = Vec::new();
        for parameter in operation.parameters_in("query") {
            let named = pairs.iter().filter(|(name, _)| *name == parameter.name);
            let values: Vec<String> = named.map(|(_, value)| value.clone()).collect();
            let place = || Place::Query(parameter.name.clone());
            if values.is_empty() {
                if parameter.is_required {
                    faults.push((place(), "is missing".to_owned()));
                }
                continue;
            }
            let said = self.parameter_faults(parameter, &values);
            faults.extend(said.into_iter().map(|says| (place(), says)));
        }
        for (name, _) in pairs {
            if operation.parameters_in("query").all(|known| known.name != name) {
                faults.push((Place::Query(name), "the document has no such parameter".to_owned()));
            }
        }
        faults
    }

    /// What is wrong with the values of a parameter, which may be read as text, number, word or list.
    fn parameter_faults(&self, parameter: &Parameter, values: &[String]) -> Vec<String> {
        let text = |value: &String| Value::String(value.clone());
        let typed = |value: &String| {
            let read = serde_json::from_str::<Value>(value).ok();
            // Only as it would be written: `1e2` and ` 1` are texts.
            let plain = read.filter(|read| read.is_boolean() || read.is_i64() || read.is_u64());
            let as_written = |read: &Value| {
                let written = read.to_string();
                written == *value
            };
            plain.filter(as_written).unwrap_or_else(|| text(value))
        };
        let lists = [values.iter().map(text).collect(), values.iter().map(typed).collect()];
        let singles = match values {
            [value] => vec![text(value), typed(value)],
            _ => Vec::new(),
        };
        let readings: Vec<Value> = singles.into_iter().chain(lists).collect();
        let judged = readings.iter().map(|reading| parameter.rule.faults(&self.root, reading));
        let judged: Vec<Vec<Fault>> = judged.collect();
        if judged.iter().any(Vec::is_empty) {
            return Vec::new();
        }
        // The reading as a number says most of what is wrong with a number.
        let of_interest = usize::from(values.len() == 1);
        let faults = judged.into_iter().nth(of_interest).unwrap_or_default();
        faults.into_iter().map(|fault| fault.says).collect()
    }

    fn body_faults(&self, operation: &Operation, request: &Request) -> Vec<(Place, String)> {
        let whole = |says: &str| vec![(Place::Body(String::new()), says.to_owned())];
        let bytes = request.bytes();
        let Some(body) = &operation.body else {
            return if bytes.is_empty() { Vec::new() } else { whole("the operation takes none") };
        };
        if bytes.is_empty() {
            return if body.is_required { whole("is missing") } else { Vec::new() };
        }
        let header = || Place::Header("content-type".to_owned());
        let Some(content_type) = request.get("content-type") else {
            return vec![(header(), "is missing".to_owned())];
        };
        let media = content_type.split(';').next().unwrap_or_default().trim().to_lowercase();
        let Some(rule) = body.content.get(&media) else {
            let known: Vec<&str> = body.content.keys().map(String::as_str).collect();
            return vec![(header(), format!("is none of {}", known.join(", ")))];
        };
        let json = match media.as_str() {
            "application/json" => Cow::Borrowed(bytes),
            FORM => match form::payload(request) {
                Ok(json) => Cow::Owned(json),
                Err(says) => return whole(&format!("the form {says}")),
            },
            _ => return vec![(header(), "only JSON and forms can be looked at".to_owned())],
        };
        match serde_json::from_slice(&json) {
            Ok(value) => {
                let faults = rule.faults(&self.root, &value).into_iter();
                faults.map(|fault| (Place::Body(fault.pointer), fault.says)).collect()
            }
            Err(error) => whole(&format!("is no JSON: {error}")),
        }
    }
}

fn header_faults(operation: &Operation, request: &Request) -> Vec<(Place, String)> {
    let said = header_rules::faults(request).into_iter();
    let mut faults: Vec<_> =
        said.map(|(name, says)| (Place::Header(name.to_owned()), says)).collect();
    let authorization = request.get("authorization");
    let said = match operation.token {
        Token::Wanted => header_rules::authorization_fault(authorization),
        Token::Allowed => {
            authorization.and_then(|value| header_rules::authorization_fault(Some(value)))
        }
        Token::Refused => Some("the operation is not for bots".to_owned()),
    };
    faults.extend(said.map(|says| (Place::Header("authorization".to_owned()), says)));
    for parameter in operation.parameters_in("header") {
        if parameter.is_required && request.get(&parameter.name).is_none() {
            let place = Place::Header(parameter.name.to_lowercase());
            faults.push((place, "is missing".to_owned()));
        }
    }
    faults
}
