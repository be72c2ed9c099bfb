//! Which schema speaks of which place of a value.
//!
//! This is read from the document by itself, without the validator: what the negative controls spoil must not
//! be chosen by what they test.

use serde_json::Value;

use super::operation::resolved;

/// A place of a value, and the one schema that speaks of it.
#[derive(Clone, Debug)]
pub(super) struct Landmark<'a> {
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
}

/// The places of a value whose schema is not in doubt. Of a list, two items stand for all.
pub(super) fn landmarks<'a>(
    document: &'a Value,
    schema: &'a Value,
    value: &Value,
) -> Vec<Landmark<'a>> {
    let mut found = Vec::new();
    walk(document, schema, value, String::new(), &mut found);
    found
}

fn walk<'a>(
    document: &'a Value,
    schema: &'a Value,
    value: &Value,
    pointer: String,
    found: &mut Vec<Landmark<'a>>,
) {
    let Some(schema) = meant(document, schema, value) else { return };
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if let Some(below) = schema.get("properties").and_then(|keys| keys.get(key)) {
                    walk(document, below, member, format!("{pointer}/{}", escaped(key)), found);
                }
            }
        }
        Value::Array(items) => {
            if let Some(below) = schema.get("items") {
                for (index, item) in items.iter().enumerate().take(2) {
                    walk(document, below, item, format!("{pointer}/{index}"), found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    found.push(Landmark { pointer, schema });
}

/// The schema behind references, and among alternatives the only one for this type and, of objects, for
/// what stands in those of their keys whose values are listed (such as `type`).
pub(super) fn meant<'a>(
    document: &'a Value,
    schema: &'a Value,
    value: &Value,
) -> Option<&'a Value> {
    let mut schema = resolved(document, schema).ok()?;
    while schema.get("properties").is_none() {
        let alternatives = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key));
        let Some(alternatives) = alternatives.and_then(Value::as_array) else { break };
        if alternatives.iter().all(|one| one.get("const").is_some()) {
            break;
        }
        let alternatives = alternatives.iter().filter_map(|one| resolved(document, one).ok());
        let mut fitting = alternatives.filter(|one| takes(one, value) && lists(one, value));
        schema = fitting.next()?;
        if fitting.next().is_some() {
            return None;
        }
    }
    Some(schema)
}

/// Whether a schema's type takes a value's.
fn takes(schema: &Value, value: &Value) -> bool {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        Some(_) | None => true,
    }
}

/// Whether an object's values are among those that a schema lists.
fn lists(schema: &Value, value: &Value) -> bool {
    let keys = schema.get("properties").and_then(Value::as_object);
    let mut keys = keys.into_iter().flatten();
    keys.all(|(key, one)| match (one.get("enum").and_then(Value::as_array), value.get(key)) {
        (Some(listed), Some(value)) => listed.contains(value),
        (Some(_) | None, _) => true,
    })
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
