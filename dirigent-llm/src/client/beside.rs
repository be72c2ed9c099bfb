//! Fields that come beside an answer and go back with its calls. For example, Gemini refuses a call without its
//! signature, and `DeepSeek` one without its reasoning. They are never read and never posted.

use serde_json::{Map, Value};

use crate::calls::size_of;
use crate::client::wire::Field;

/// The fields beside an answer that have arrived.
#[derive(Default)]
pub(crate) struct Beside {
    fields: Map<String, Value>,
    /// The bytes that came. If there are too many, all fields are dropped, because half a signature is useless.
    bytes: usize,
}

/// The most bytes of such fields in one answer.
const BYTES_MAX: usize = 256 * 1_024;
/// The fields of a `reasoning_details` part that grow from chunk to chunk.
const GROWING: [&str; 2] = ["text", "summary"];

impl Beside {
    /// Adds a field or a fragment of one. Texts and lists are appended, and an object gains the new fields.
    pub(crate) fn add(&mut self, name: &str, field: Field<'_>) {
        let new = match field {
            Field::Text(words) => Value::String(words.into_owned()),
            Field::Other(value) => value,
        };
        self.bytes = self.bytes.saturating_add(size_of(&new));
        if new.is_null() || self.bytes > BYTES_MAX {
            return;
        }
        match (self.fields.get_mut(name), new) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
            (Some(Value::Array(parts)), Value::Array(more)) => {
                for part in more {
                    add_part(parts, part);
                }
            }
            (Some(Value::Object(fields)), Value::Object(more)) => {
                for (name, value) in more {
                    fields.entry(name).or_insert(value);
                }
            }
            (Some(_), _) => {}
            (None, Value::Array(more)) => {
                let mut parts = Vec::new();
                for part in more {
                    add_part(&mut parts, part);
                }
                self.fields.insert(name.to_owned(), parts.into());
            }
            (None, new) => drop(self.fields.insert(name.to_owned(), new)),
        }
    }

    pub(crate) fn into_fields(self) -> Map<String, Value> {
        if self.bytes > BYTES_MAX { Map::new() } else { self.fields }
    }
}

/// Joins a part to the newest one if it continues it, and appends it otherwise.
fn add_part(parts: &mut Vec<Value>, part: Value) {
    let goes_on = |newest: &Value| {
        let is_same = |name| newest.get(name).is_some() && newest.get(name) == part.get(name);
        is_same("index") && is_same("type") && GROWING.iter().any(|name| part.get(*name).is_some())
    };
    let newest = parts.last_mut().filter(|newest| goes_on(newest));
    let (Some(Value::Object(newest)), Value::Object(fields)) = (newest, &part) else {
        parts.push(part);
        return;
    };
    for (name, value) in fields {
        match (newest.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more))
                if GROWING.contains(&name.as_str()) =>
            {
                text.push_str(more);
            }
            (Some(Value::Null) | None, value) => drop(newest.insert(name.clone(), value.clone())),
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields_of(fields: &[(&str, Value)]) -> Value {
        let mut beside = Beside::default();
        for (name, value) in fields {
            let text = value.as_str().map(|text| Field::Text(text.into()));
            let field = text.unwrap_or_else(|| Field::Other(value.clone()));
            beside.add(name, field);
        }
        Value::Object(beside.into_fields())
    }

    /// LM3: what comes in fragments goes back whole.
    #[test]
    fn fragments_of_texts_and_of_parts_are_joined() {
        let text = |index: u8, text: &str| json!([{"type": "reasoning.text", "index": index, "text": text}]);
        let fields = [
            ("reasoning_content", json!("I ")),
            ("reasoning_details", text(0, "I ")),
            ("reasoning_content", json!("think.")),
            ("reasoning_details", text(0, "think.")),
            (
                "reasoning_details",
                json!([{"type": "reasoning.text", "index": 0, "text": "", "signature": "c2ln"}]),
            ),
            (
                "reasoning_details",
                json!([{"type": "reasoning.encrypted", "index": 1, "data": "eA=="}]),
            ),
            ("extra_content", json!({"google": {"thought_signature": "c2ln"}})),
            ("extra_content", json!({"other": 1})),
            ("reasoning", json!("")),
        ];
        let expected = json!({
            "reasoning_content": "I think.",
            "reasoning": "",
            "reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": "I think.", "signature": "c2ln"},
                {"type": "reasoning.encrypted", "index": 1, "data": "eA=="},
            ],
            "extra_content": {"google": {"thought_signature": "c2ln"}, "other": 1},
        });
        assert_eq!(fields_of(&fields), expected);
    }

    /// LM3: half of it is nothing.
    #[test]
    fn more_than_may_be_kept_is_not_kept_at_all() {
        let much = json!("x".repeat(BYTES_MAX / 2));
        let fields = [("thought_signature", json!("c2ln")), ("reasoning", much.clone())];
        assert_eq!(fields_of(&fields)["thought_signature"], "c2ln");
        let fields = [
            ("thought_signature", json!("c2ln")),
            ("reasoning", much.clone()),
            ("reasoning", much),
        ];
        assert_eq!(fields_of(&fields), json!({}));
    }
}
