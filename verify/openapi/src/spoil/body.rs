//! Bodies made wrong.

use serde_json::{Value, json};

use super::head::NO_IDS;
use super::{Spoilt, Wrong};
use crate::document::Document;
use crate::exchange::Request;
use crate::finding::Place;
use crate::form;
use crate::landmark::{Landmark, landmarks};
use crate::operation::Operation;

const JSON: &str = "application/json";

pub(super) fn spoil(
    document: &Document,
    operation: &Operation,
    request: &Request,
) -> Vec<Spoilt<Request>> {
    let place = Place::Body(String::new());
    let Some(body) = &operation.body else {
        let request = request.clone().header("content-type", JSON).body("{}");
        return vec![Spoilt { wrong: Wrong::UnexpectedBody, sent: request, place }];
    };
    let mut spoilt = Vec::new();
    if body.is_required {
        let request = request.clone().body("");
        spoilt.push(Spoilt { wrong: Wrong::NoBody, sent: request, place: place.clone() });
    }
    if request.bytes().is_empty() {
        return spoilt;
    }
    for request in [
        request.clone().without_header("content-type"),
        request.clone().header("content-type", "text/plain"),
        request.clone().header("content-type", "application/jsonp"),
    ] {
        let place = Place::Header("content-type".to_owned());
        spoilt.push(Spoilt { wrong: Wrong::ContentType, sent: request, place });
    }
    let in_form = form::payload(request).ok();
    let json = in_form.as_deref().unwrap_or(request.bytes());
    let saying = |bytes: &[u8]| match in_form {
        Some(_) => form::with_payload(request, json, bytes),
        None => request.clone().body(bytes),
    };
    let cut = json.split_last().map(|(_, rest)| rest).unwrap_or_default();
    for bytes in [cut, b"\xef\xbb\xbf{}", b"{\"content\":\"\xff\"}"] {
        if bytes.is_empty() {
            continue;
        }
        spoilt.push(Spoilt { wrong: Wrong::NotJson, sent: saying(bytes), place: place.clone() });
    }
    let value = serde_json::from_slice::<Value>(json);
    if let (Ok(value), Some(rule)) = (value, body.content.get(JSON)) {
        for landmark in landmarks(&document.root, &rule.schema, &value) {
            for (wrong, bent) in bent_at(&landmark, &value) {
                let place = Place::Body(landmark.pointer.clone());
                let sent = saying(bent.to_string().as_bytes());
                spoilt.push(Spoilt { wrong, sent, place });
            }
        }
    }
    spoilt
}

/// A value made wrong at one place, in every way that its schema lends itself to.
pub(super) fn bent_at(landmark: &Landmark<'_>, whole: &Value) -> Vec<(Wrong, Value)> {
    let Landmark { pointer, schema } = landmark;
    let Some(value) = whole.pointer(pointer) else {
        return Vec::new();
    };
    let other_type = if value.is_array() { json!(true) } else { json!([[]]) };
    let mut bent = Vec::new();
    if schema.get("type").is_some() {
        bent.push((Wrong::Type, other_type));
    }
    match value {
        Value::Object(_) => bent.extend(bent_object(schema, value)),
        Value::Array(items) => bent.extend(bent_list(schema, items)),
        Value::String(_) => bent.extend(bent_text(schema)),
        Value::Number(_) => bent.extend(bent_number(schema)),
        Value::Bool(_) | Value::Null => {}
    }
    let bent = bent.into_iter().filter_map(|(wrong, bad)| {
        let mut whole = whole.clone();
        *whole.pointer_mut(pointer)? = bad;
        Some((wrong, whole))
    });
    bent.collect()
}

/// The value with two items in its list, if it is one: more would prove no more.
pub(super) fn first_items(mut value: Value) -> Value {
    if let Value::Array(items) = &mut value {
        items.truncate(2);
    }
    value
}

fn bent_object(schema: &Value, value: &Value) -> Vec<(Wrong, Value)> {
    let Some(keys) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut bent = Vec::new();
    if schema.get("additionalProperties").is_none() {
        // Another name, another case, and one that other objects have.
        let names = ["no_such_key", "Content", "guild_experiments"].into_iter();
        for name in names.filter(|name| !keys.contains_key(*name)) {
            let mut value = value.clone();
            if let Value::Object(members) = &mut value {
                members.insert(name.to_owned(), Value::Null);
            }
            bent.push((Wrong::UnknownKey, value));
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for key in required.filter_map(Value::as_str) {
        let mut value = value.clone();
        if value.as_object_mut().and_then(|members| members.remove(key)).is_some() {
            bent.push((Wrong::MissingKey, value));
        }
    }
    bent
}

fn bent_list(schema: &Value, items: &[Value]) -> Option<(Wrong, Value)> {
    let most = usize::try_from(schema.get("maxItems")?.as_u64()?).ok()?;
    let item = items.first()?;
    // Each of its own, so that nothing but their number is wrong.
    let numbered = |number: usize| match item {
        Value::String(_) => json!(number.to_string()),
        Value::Object(members) if members.contains_key("id") => {
            let mut members = members.clone();
            members.insert("id".to_owned(), json!(number.to_string()));
            Value::Object(members)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            item.clone()
        }
    };
    Some((Wrong::TooMany, (0..=most).map(numbered).collect()))
}

fn bent_text(schema: &Value) -> Vec<(Wrong, Value)> {
    let mut bent = Vec::new();
    let longest = schema.get("maxLength").and_then(Value::as_u64);
    if let Some(longest) = longest.and_then(|longest| usize::try_from(longest).ok()) {
        // Two bytes each: it is characters that count.
        bent.push((Wrong::TooLong, json!("ü".repeat(longest + 1))));
    }
    if schema.get("format").is_some_and(|format| format == "snowflake") {
        bent.extend(NO_IDS.map(|bad| (Wrong::BodyId, json!(bad))));
    }
    if is_list_of_values(schema) {
        bent.push((Wrong::NotListed, json!("no-such-value")));
    }
    bent
}

fn bent_number(schema: &Value) -> Vec<(Wrong, Value)> {
    let limit = |key: &str| schema.get(key).and_then(Value::as_i64);
    let beyond = [
        limit("maximum").and_then(|maximum| maximum.checked_add(1)),
        limit("minimum").and_then(|minimum| minimum.checked_sub(1)),
    ];
    let beyond = beyond.into_iter().flatten().map(|bad| (Wrong::Range, json!(bad)));
    let unlisted = is_list_of_values(schema).then(|| (Wrong::NotListed, json!(991)));
    let too_wide = schema.get("format").is_some_and(|format| format == "int32");
    let too_wide = too_wide.then(|| (Wrong::Range, json!(i64::from(i32::MAX) + 1)));
    beyond.chain(unlisted).chain(too_wide).collect()
}

fn is_list_of_values(schema: &Value) -> bool {
    let constants = schema.get("oneOf").and_then(Value::as_array);
    let constants = constants.is_some_and(|all| all.iter().all(|one| one.get("const").is_some()));
    constants || schema.get("enum").is_some() || schema.get("const").is_some()
}
