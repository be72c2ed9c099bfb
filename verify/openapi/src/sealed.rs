//! A schema of the document as a schema of its own, which refuses keys that it does not name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What is to be thought of a key that no schema names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unnamed {
    Refused,
    Allowed,
}

/// Copies a schema, with all that it refers to in the document.
///
/// A schema that lists an object's keys is sealed with `unevaluatedProperties`. Where several parts speak
/// of the same object (`allOf`, or keys beside a reference), they know all its keys only together: the
/// whole is sealed and the parts are not. Of alternatives each is sealed by itself, so that a key
/// of one is no excuse for another.
pub(super) fn sealed(document: &Value, schema: &Value, unnamed: Unnamed) -> Result<Value, String> {
    let mut copy = Copying { document, unnamed, names: BTreeMap::new(), waiting: Vec::new() };
    let root = copy.schema(schema, unnamed == Unnamed::Refused);
    let mut definitions = Map::new();
    while let Some((pointer, seal, name)) = copy.waiting.pop() {
        let target = document.pointer(&pointer);
        let target = target.ok_or_else(|| format!("nothing is at #{pointer}"))?;
        let copied = copy.schema(target, seal);
        definitions.insert(name, copied);
    }
    Ok(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "allOf": [root],
        "$defs": definitions,
    }))
}

struct Copying<'a> {
    document: &'a Value,
    unnamed: Unnamed,
    /// What was referred to, sealed or not, and its name in the copy.
    names: BTreeMap<(String, bool), String>,
    waiting: Vec<(String, bool, String)>,
}

impl Copying<'_> {
    /// Copies a schema; `seal` says whether it alone speaks of its object.
    fn schema(&mut self, schema: &Value, seal: bool) -> Value {
        let Value::Object(schema) = schema else {
            return schema.clone();
        };
        let has = |key: &str| schema.contains_key(key);
        let parts = ["properties", "allOf", "anyOf", "oneOf", "$ref"];
        let count = parts.into_iter().filter(|part| has(part)).count();
        let together = count > 1 || has("properties") || has("allOf");
        let mut copy: Map<String, Value> = schema
            .iter()
            .map(|(key, value)| (key.clone(), self.keyword(key, value, seal && !together)))
            .collect();
        if seal && together && !has("additionalProperties") && !has("unevaluatedProperties") {
            copy.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
        }
        bound(&mut copy);
        Value::Object(copy)
    }

    fn keyword(&mut self, key: &str, value: &Value, seal_parts: bool) -> Value {
        let below = self.unnamed == Unnamed::Refused;
        match (key, value) {
            ("$ref", Value::String(target)) => self.reference(target, seal_parts),
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                parts.iter().map(|part| self.schema(part, seal_parts)).collect()
            }
            ("prefixItems", Value::Array(parts)) => {
                parts.iter().map(|part| self.schema(part, below)).collect()
            }
            ("properties" | "patternProperties", Value::Object(keys)) => {
                let keys = keys.iter().map(|(key, one)| (key.clone(), self.schema(one, below)));
                Value::Object(keys.collect())
            }
            ("items" | "additionalProperties", _) => self.schema(value, below),
            _ => value.clone(),
        }
    }

    fn reference(&mut self, target: &str, seal: bool) -> Value {
        // What points elsewhere is looked for nowhere, and not found.
        let pointer = target.strip_prefix('#').unwrap_or(target).to_owned();
        let number = self.names.len();
        let name = self.names.entry((pointer.clone(), seal)).or_insert_with(|| {
            let name = format!("d{number}");
            self.waiting.push((pointer, seal, name.clone()));
            name
        });
        debug_assert!(self.document.is_object(), "a document is an object");
        Value::String(format!("#/$defs/{name}"))
    }
}

/// Formats of numbers are bounds; a validator knows those of strings only.
fn bound(schema: &mut Map<String, Value>) {
    let bounds = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Some("int64") => (i64::MIN, i64::MAX),
        Some(_) | None => return,
    };
    schema.entry("minimum").or_insert_with(|| bounds.0.into());
    schema.entry("maximum").or_insert_with(|| bounds.1.into());
}
