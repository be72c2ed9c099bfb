//! Method, path, query and headers made wrong.

use serde_json::Value;

use super::{Spoilt, Wrong};
use crate::document::Document;
use crate::exchange::Request;
use crate::finding::Place;
use crate::header_rules::REASON_CHARS_MAX;
use crate::landmark::meant;
use crate::operation::{Operation, Parameter, Token};

/// What looks like an id and is none: a name, a negative number, one of 65 bits, another notation.
pub(super) const NO_IDS: [&str; 5] = ["nobody", "-1", "18446744073709551616", "0x1f", "007"];

pub(super) fn spoil(
    document: &Document,
    operation: &Operation,
    request: &Request,
) -> Vec<Spoilt<Request>> {
    let mut spoilt = whole(document, operation, request);
    spoilt.extend(path_ids(document, operation, request));
    spoilt.extend(query(document, operation, request));
    spoilt.extend(headers(operation, request));
    spoilt
}

fn whole(document: &Document, operation: &Operation, request: &Request) -> Vec<Spoilt<Request>> {
    let one = |wrong, request| Spoilt { wrong, sent: request, place: Place::Operation };
    let methods = ["PATCH", "DELETE", "PUT", "POST", "GET", "TRACE"].into_iter();
    let methods = methods.map(|method| request.to_method(method));
    let other = methods.filter(|request| document.operation(request).is_err());
    let mut spoilt: Vec<Spoilt<Request>> =
        other.map(|request| one(Wrong::Method, request)).collect();
    let path = request.path();
    // Longer than any path, or with a word that is nearly one of the document's.
    let mut unknown = vec![format!("{path}{}", "/no-such-thing".repeat(10)), format!("{path}/")];
    unknown.extend(operation.template.misspelt(path, &document.base));
    for unknown in unknown {
        spoilt.push(one(Wrong::UnknownPath, request.to_path(unknown)));
    }
    if let Some(inner) = path.strip_prefix(&document.base).filter(|_| !document.base.is_empty()) {
        for outside in [inner.to_owned(), format!("/api/v6{inner}")] {
            spoilt.push(one(Wrong::Outside, request.to_path(outside)));
        }
    }
    spoilt
}

fn path_ids(document: &Document, operation: &Operation, request: &Request) -> Vec<Spoilt<Request>> {
    let Some(path) = request.path().strip_prefix(&document.base) else {
        return Vec::new();
    };
    let ids = operation.parameters_in("path").filter(|one| is_id(document, one));
    let every = ids.flat_map(|id| NO_IDS.map(|bad| (id, bad)));
    every
        .filter_map(|(id, bad)| {
            let path = operation.template.with_value(path, &id.name, bad)?;
            let request = request.to_path(format!("{}{path}", document.base));
            let place = Place::Path(id.name.clone());
            Some(Spoilt { wrong: Wrong::PathId, sent: request, place })
        })
        .collect()
}

fn query(document: &Document, operation: &Operation, request: &Request) -> Vec<Spoilt<Request>> {
    let pairs = request.pairs().unwrap_or_default();
    let place = |name: &str| Place::Query(name.to_owned());
    let mut more = pairs.clone();
    more.push(("no_such_parameter".to_owned(), "1".to_owned()));
    let unknown = request.to_query(&more);
    let name = "no_such_parameter";
    let mut spoilt = vec![Spoilt { wrong: Wrong::UnknownQuery, sent: unknown, place: place(name) }];
    for parameter in operation.parameters_in("query") {
        let Some(index) = pairs.iter().position(|(name, _)| *name == parameter.name) else {
            continue;
        };
        for (wrong, bad) in bad_values(document, parameter) {
            let mut pairs = pairs.clone();
            if let Some(pair) = pairs.get_mut(index) {
                pair.1 = bad;
            }
            let (request, place) = (request.to_query(&pairs), place(&parameter.name));
            spoilt.push(Spoilt { wrong, sent: request, place });
        }
        let mut twice = pairs.clone();
        twice.extend(pairs.get(index).cloned());
        let (request, place) = (request.to_query(&twice), place(&parameter.name));
        spoilt.push(Spoilt { wrong: Wrong::QueryType, sent: request, place });
    }
    spoilt
}

/// Values that a parameter of the query does not take.
fn bad_values(document: &Document, parameter: &Parameter) -> Vec<(Wrong, String)> {
    let schema = parameter_schema(document, parameter);
    let kind = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    let limit = |key: &str| schema.and_then(|schema| schema.get(key)).and_then(Value::as_i64);
    let beyond = [
        limit("maximum").and_then(|maximum| maximum.checked_add(1)),
        limit("minimum").and_then(|minimum| minimum.checked_sub(1)),
    ];
    let types: &[&str] = match kind {
        Some("integer") => &["many", "true", "1.5", "", "1e1", "%201"],
        Some("boolean") => &["maybe", "1", "True", ""],
        _ if is_id(document, parameter) => &NO_IDS,
        _ => &[],
    };
    let types = types.iter().map(|bad| (Wrong::QueryType, (*bad).to_owned()));
    let beyond = beyond.into_iter().flatten().map(|bad| (Wrong::QueryRange, bad.to_string()));
    types.chain(beyond).collect()
}

fn headers(operation: &Operation, request: &Request) -> Vec<Spoilt<Request>> {
    let one = |wrong, request, name: &str| {
        let place = Place::Header(name.to_owned());
        Spoilt { wrong, sent: request, place }
    };
    let mut spoilt =
        vec![one(Wrong::UserAgent, request.clone().without_header("user-agent"), "user-agent")];
    for agent in ["curl/8.0", "DiscordBot", "DiscordBot ()", "DiscordBot (https://x.example)"] {
        let request = request.clone().header("user-agent", agent);
        spoilt.push(one(Wrong::UserAgent, request, "user-agent"));
    }
    if operation.token == Token::Wanted {
        let without = request.clone().without_header("authorization");
        spoilt.push(one(Wrong::Authorization, without, "authorization"));
    }
    if request.get("authorization").is_some() {
        for value in ["Bearer token", "token", "Bot ", "bot token", "Bot two words"] {
            let request = request.clone().header("authorization", value);
            spoilt.push(one(Wrong::Authorization, request, "authorization"));
        }
    }
    if request.get("x-audit-log-reason").is_some() {
        let long = "x".repeat(REASON_CHARS_MAX + 1);
        let request = request.clone().header("x-audit-log-reason", &long);
        spoilt.push(one(Wrong::AuditReason, request, "x-audit-log-reason"));
    }
    spoilt
}

fn is_id(document: &Document, parameter: &Parameter) -> bool {
    let schema = parameter_schema(document, parameter);
    schema.is_some_and(|schema| schema.get("format").is_some_and(|format| format == "snowflake"))
}

fn parameter_schema<'a>(document: &'a Document, parameter: &'a Parameter) -> Option<&'a Value> {
    meant(&document.root, &parameter.rule.schema, &Value::String(String::new()))
}
