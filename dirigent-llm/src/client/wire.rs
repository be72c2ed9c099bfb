//! The fields of OpenAI's chat completions that this crate sends and reads. Reading accepts what endpoints really send,
//! and ignores what it does not understand.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::toolbox::Tool;

/// The body of a request, without its messages.
#[derive(Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "<[Tool]>::is_empty")]
    pub(crate) tools: &'a [Tool],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<&'static str>,
    /// The fields that you set on the endpoint.
    #[serde(flatten)]
    pub(crate) fields: &'a Map<String, Value>,
}

#[derive(Serialize)]
pub(crate) struct StreamOptions {
    pub(crate) include_usage: bool,
}

/// An answer, or a chunk of one.
#[derive(Deserialize)]
pub(crate) struct Completion<'a> {
    #[serde(borrow, default)]
    pub(crate) choices: Choices<'a>,
    #[serde(default)]
    pub(crate) usage: Option<Value>,
    #[serde(default)]
    pub(crate) error: Option<Value>,
    #[serde(borrow, default)]
    pub(crate) model: Option<Field<'a>>,
    /// Usually `chat.completion` or `chat.completion.chunk`; vLLM writes `error` here.
    #[serde(borrow, default)]
    object: Option<Field<'a>>,
    /// The name of an event in some protocols. Anthropic writes `error` here, and vLLM the type of an error.
    #[serde(rename = "type", borrow, default)]
    kind: Option<Field<'a>>,
    /// Set if the whole chunk is an error.
    #[serde(default)]
    code: Option<Value>,
    #[serde(default)]
    status: Option<Value>,
}

impl Completion<'_> {
    /// Takes out the error that the chunk reports, either in its field `error` or by calling itself an error.
    pub(crate) fn told_error(&mut self) -> Option<Value> {
        if let Some(error) = self.error.take().filter(|error| !error.is_null()) {
            return Some(error);
        }
        let kind = self.kind.as_ref().and_then(Field::as_str);
        let object = self.object.as_ref().and_then(Field::as_str);
        let is_error = |name: &str| name.eq_ignore_ascii_case("error");
        // Gateways send `{"code": 401, "message": …}`.
        let says_nothing = self.choices.0.is_empty() && self.usage.is_none();
        let mut statuses =
            [&self.code, &self.status].into_iter().flatten().filter_map(Value::as_u64);
        let is_bare = says_nothing && statuses.any(|status| (400..600).contains(&status));
        let kind_of_error = kind.filter(|kind| !is_error(kind));
        [object, kind]
            .into_iter()
            .flatten()
            .any(is_error)
            .then_some(())
            .or_else(|| is_bare.then_some(()))
            .map(|()| json!({ "code": self.code, "status": self.status, "type": kind_of_error }))
    }
}

/// The answers of a chunk. Only one is read. Their number is limited, because a hostile endpoint could send a
/// million.
#[derive(Default)]
pub(crate) struct Choices<'a>(pub(crate) Vec<Choice<'a>>);

/// The most answers that a chunk can have.
const CHOICES_MAX: usize = 128;

/// One of several answers. Only the first is read.
#[derive(Deserialize)]
pub(crate) struct Choice<'a> {
    /// The number of this answer.
    #[serde(default)]
    pub(crate) index: Option<Value>,
    /// Set in a chunk of a stream.
    #[serde(borrow, default)]
    pub(crate) delta: Option<Delta<'a>>,
    /// Set in a whole answer.
    #[serde(borrow, default)]
    pub(crate) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(crate) finish_reason: Option<Field<'a>>,
}

impl Choice<'_> {
    /// Returns the number of this answer. It is 0 if the endpoint gives none, or something that is not a number.
    pub(crate) fn index(&self) -> u64 {
        self.index.as_ref().and_then(Value::as_u64).unwrap_or_default()
    }
}

/// A message, or an addition to one.
#[derive(Default, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Option<Field<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Field<'a>>,
    #[serde(borrow, default)]
    reasoning: Option<Field<'a>>,
    #[serde(borrow, default)]
    reasoning_details: Option<Field<'a>>,
    #[serde(borrow, default)]
    thinking: Option<Field<'a>>,
    #[serde(borrow, default)]
    thinking_blocks: Option<Field<'a>>,
    #[serde(borrow, default)]
    extra_content: Option<Field<'a>>,
    #[serde(borrow, default)]
    thought_signature: Option<Field<'a>>,
    #[serde(borrow, default)]
    provider_specific_fields: Option<Field<'a>>,
    /// Sent in place of an answer.
    #[serde(default)]
    pub(crate) refusal: Words,
    #[serde(default)]
    pub(crate) tool_calls: Option<Value>,
    #[serde(default)]
    pub(crate) function_call: Option<Value>,
}

impl<'a> Delta<'a> {
    /// Takes out the fields that go back with the calls, with their names.
    pub(crate) fn take_beside(&mut self) -> [(&'static str, Option<Field<'a>>); 8] {
        [
            ("reasoning_content", self.reasoning_content.take()),
            ("reasoning", self.reasoning.take()),
            ("reasoning_details", self.reasoning_details.take()),
            ("thinking", self.thinking.take()),
            ("thinking_blocks", self.thinking_blocks.take()),
            ("extra_content", self.extra_content.take()),
            ("thought_signature", self.thought_signature.take()),
            ("provider_specific_fields", self.provider_specific_fields.take()),
        ]
    }

    /// Returns true if there is anything beside the answer.
    pub(crate) fn has_beside(&self) -> bool {
        let beside = [
            &self.reasoning_content,
            &self.reasoning,
            &self.reasoning_details,
            &self.thinking,
            &self.thinking_blocks,
            &self.extra_content,
            &self.thought_signature,
            &self.provider_specific_fields,
        ];
        beside.into_iter().flatten().any(|field| field.as_str() != Some(""))
    }

    /// Returns true if the content is a thought, which Gemini marks beside it.
    pub(crate) fn is_thought(&self) -> bool {
        let Some(Field::Other(Value::Object(makers))) = &self.extra_content else {
            return false;
        };
        makers.values().any(|maker| maker.get("thought") == Some(&Value::Bool(true)))
    }
}

/// A field that is usually text, and something else at some endpoints. The text is borrowed if possible, because there
/// is one for each token.
pub(crate) enum Field<'a> {
    Text(Cow<'a, str>),
    Other(Value),
}

impl Field<'_> {
    /// Returns the text, if the field is text.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// Returns true if the field contains any words, whatever they are.
    pub(crate) fn has_words(&self) -> bool {
        match self {
            Self::Text(words) => !words.trim().is_empty(),
            Self::Other(Value::Array(parts)) => !parts.is_empty(),
            Self::Other(Value::Object(fields)) => !fields.is_empty(),
            Self::Other(_) => false,
        }
    }

    /// Appends the text of this field, which is plain text or a list of parts. Returns true if any part is reasoning.
    pub(crate) fn add_to(self, text: &mut String) -> bool {
        match self {
            Self::Text(words) => {
                text.push_str(&words);
                false
            }
            Self::Other(Value::Array(parts)) => {
                let mut reasons = false;
                for part in parts {
                    reasons |= part_of(part, text);
                }
                reasons
            }
            Self::Other(_) => false,
        }
    }
}

/// True if a field contains any words, whatever they are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Words(pub(crate) bool);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Field::deserialize(deserializer).map(|field| Self(field.has_words()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyChoices)
    }
}

struct AnyChoices;

impl<'de> Visitor<'de> for AnyChoices {
    type Value = Choices<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of answers")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Choices::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut choices = Vec::new();
        while let Some(choice) = list.next_element()? {
            choices.push(choice);
            if choices.len() == CHOICES_MAX {
                while list.next_element::<IgnoredAny>()?.is_some() {}
            }
        }
        Ok(Choices(choices))
    }
}

fn part_of(part: Value, text: &mut String) -> bool {
    match part {
        Value::String(words) => text.push_str(&words),
        Value::Object(mut fields) => {
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or("text");
            let is_about_reasoning =
                ["think", "thought", "reason"].iter().any(|word| kind.contains(word));
            if !matches!(kind, "text" | "output_text") {
                return is_about_reasoning;
            }
            // Gemini marks its thoughts like this.
            if fields.get("thought") == Some(&Value::Bool(true)) {
                return true;
            }
            if let Some(Value::String(words)) = fields.remove("text") {
                text.push_str(&words);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
    false
}

impl<'de: 'a, 'a> Deserialize<'de> for Field<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyField)
    }
}

struct AnyField;

impl<'de> Visitor<'de> for AnyField {
    type Value = Field<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Field::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Field::Other(Value::Null))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Field::Other(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Field::Other(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Field::Other(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Field::Other(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(parts)).map(Field::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(fields)).map(Field::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_answers_without_number_few_are_kept() {
        fn read(json: &str) -> serde_json::Result<Vec<Choice<'_>>> {
            serde_json::from_str::<Completion<'_>>(json).map(|it| it.choices.0)
        }
        let choices = [r#"{"index": 3}"#; 1_000].join(",");
        let many = format!(r#"{{"choices": [{choices}]}}"#);
        let kept = read(&many).unwrap();
        assert_eq!((kept.len(), kept[0].index()), (CHOICES_MAX, 3));
        assert!(read(r#"{"choices": null}"#).unwrap().is_empty());
        assert!(read("{}").unwrap().is_empty());
        assert!(read(r#"{"choices": {}}"#).is_err());
        assert!(read(&format!(r#"{{"choices": [{choices}, 7"#)).is_err());
    }
}
