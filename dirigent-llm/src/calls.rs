//! Tool calls as models really send them: in fragments, without ids, under other field names, or with arguments that
//! are not JSON.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A model's call of a tool. `Debug` shows no arguments. `Serialize` writes the call in the form in which a chat
/// endpoint reads the history of a conversation.
///
/// ```
/// use dirigent_llm::ModelToolCall;
/// let call = ModelToolCall::new("1", "weather", Some(serde_json::json!({ "town": "Tokyo" })));
/// assert!(!format!("{call:?}").contains("Tokyo"));
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelToolCall {
    /// The id of this call, which no other call of the answer has. It is the endpoint's id, or a made-up one if the
    /// endpoint sent none.
    pub id: String,
    /// The tool's name, as the model wrote it. It is empty if the model named no tool.
    pub name: String,
    /// The arguments, or `None` if the model did not write a JSON object.
    pub arguments: Option<Value>,
    /// Fields that came with the call and must be sent back with it.
    pub(crate) kept: Option<Arc<Kept>>,
}

/// Fields that came with a call and go back with it unread, for example signatures and reasoning. Some models refuse a
/// conversation that lacks them.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Kept {
    /// Fields of the call itself, and of its `function` object.
    pub(crate) of_call: Map<String, Value>,
    pub(crate) of_function: Map<String, Value>,
    /// Fields of the whole message. Only the first call of an answer carries them.
    pub(crate) of_message: Map<String, Value>,
    /// The endpoint and model that sent these fields, because they must go to no other.
    pub(crate) from: Arc<str>,
}

impl ModelToolCall {
    /// Creates a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Option<Value>) -> Self {
        Self { id: id.into(), name: name.into(), arguments, kept: None }
    }

    /// Returns the arguments as text. It returns `{}` for arguments that were not JSON, because some endpoints refuse a
    /// request that repeats them.
    pub(crate) fn arguments_text(&self) -> String {
        self.arguments.as_ref().map_or_else(|| "{}".to_owned(), Value::to_string)
    }
}

impl Kept {
    /// Returns roughly how many bytes these fields have.
    pub(crate) fn bytes(&self) -> usize {
        [&self.of_call, &self.of_function, &self.of_message].map(size_of_fields).iter().sum()
    }
}

impl Serialize for ModelToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            arguments: String,
            #[serde(flatten)]
            others: Option<&'a Map<String, Value>>,
        }

        let others = self.kept.as_ref().map(|kept| &kept.of_function);
        let function = Function { name: &self.name, arguments: self.arguments_text(), others };
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("id", &self.id)?;
        fields.serialize_entry("type", "function")?;
        fields.serialize_entry("function", &function)?;
        for (name, value) in self.kept.iter().flat_map(|kept| &kept.of_call) {
            fields.serialize_entry(name, value)?;
        }
        fields.end()
    }
}

impl fmt::Debug for ModelToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelToolCall")
            .field("id", &self.id)
            .field("has_arguments", &self.arguments.is_some())
            .finish_non_exhaustive()
    }
}

/// Collects the calls of an answer while it arrives.
#[derive(Default)]
pub(crate) struct Calls {
    kept: Vec<Fragments>,
    /// True if a call was dropped because there were too many. A fragment without an index, id or name then belongs to
    /// a dropped call.
    is_full: bool,
    /// The bytes of what was dropped.
    left_out: usize,
}

/// The parts of one call that have arrived.
#[derive(Default)]
struct Fragments {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The other fields that came with the call, and inside its `function` object.
    others: Map<String, Value>,
    in_function: Map<String, Value>,
    /// The repetitions of the call's name.
    repeats: usize,
}

/// The most calls of one answer. Further calls are dropped.
const CALLS_MAX: usize = 64;
const NAMES: [&str; 3] = ["name", "tool_name", "tool"];
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "args", "input"];
/// Fields that only identify a call. They are not sent back with the unread ones.
const OF_PLACE: [&str; 4] = ["index", "id", "type", "function"];

impl Calls {
    /// Adds a call, or a fragment of one.
    pub(crate) fn add(&mut self, call: Value) {
        let Value::Object(mut outer) = call else {
            return;
        };
        let index = outer.get("index").and_then(Value::as_u64);
        let id = outer.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut inner = match outer.remove("function") {
            Some(Value::Object(function)) => function,
            _ => Map::new(),
        };
        let mut take = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| inner.remove(*key));
            found.or_else(|| keys.iter().find_map(|key| outer.remove(*key)))
        };
        let name = match take(&NAMES) {
            Some(Value::String(name)) => name,
            _ => String::new(),
        };
        let arguments = take(&ARGUMENTS);
        // The fields that remain go back to the endpoint unchanged and in their old place.
        for fields in [&mut outer, &mut inner] {
            fields.retain(|name, value| !value.is_null() && !OF_PLACE.contains(&name.as_str()));
        }
        let of_others = size_of_fields(&outer) + size_of_fields(&inner);
        let bytes = id.len() + name.len() + of_others + arguments.as_ref().map_or(0, length);
        let Some(fragments) = self.place(index, &id, &name) else {
            self.left_out += bytes;
            return;
        };
        if fragments.id.is_empty() {
            fragments.id = id;
        }
        if fragments.name.is_empty() {
            fragments.name = name;
        }
        for (kept, new) in [(&mut fragments.others, outer), (&mut fragments.in_function, inner)] {
            for (name, value) in new {
                kept.entry(name).or_insert(value);
            }
        }
        match arguments {
            Some(Value::String(piece)) => fragments.arguments.push_str(&piece),
            None | Some(Value::Null) => {}
            Some(whole) => fragments.arguments = whole.to_string(),
        }
    }

    /// Returns the call that a fragment continues. That is the call with its index or id, a new call if the fragment
    /// begins one, or otherwise the last call.
    fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<&mut Fragments> {
        let is_it = |call: &Fragments| match index {
            // Some endpoints number every call 0, so only their ids tell them apart.
            Some(_) => {
                call.index == index && (id.is_empty() || call.id.is_empty() || call.id == id)
            }
            None if !id.is_empty() => call.id == id,
            None => name.is_empty(),
        };
        let continues_last = index.is_none() && id.is_empty() && name.is_empty();
        let by_id = |call: &Fragments| name.is_empty() && !id.is_empty() && call.id == id;
        let found = self.kept.iter().rposition(is_it).or_else(|| self.kept.iter().rposition(by_id));
        // Others give all calls one number without an id, or one id. Then only the order tells them apart.
        let begins = found.and_then(|at| self.kept.get_mut(at)).is_some_and(|it| it.is_over(name));
        match found.filter(|_| !begins) {
            Some(_) if continues_last && self.is_full => None,
            Some(at) => self.kept.get_mut(at),
            None if self.kept.len() >= CALLS_MAX => {
                self.is_full = true;
                None
            }
            None => {
                self.kept.push(Fragments { index, ..Fragments::default() });
                self.kept.last_mut()
            }
        }
    }

    /// Returns how many bytes the calls have, dropped ones included.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |call: &Fragments| {
            let others = size_of_fields(&call.others) + size_of_fields(&call.in_function);
            call.id.len() + call.name.len() + call.arguments.len() + others
        };
        self.left_out + self.kept.iter().map(bytes).sum::<usize>()
    }

    /// Returns the calls, each with an id of its own and with the fields that came beside it. The first call also
    /// carries the fields of the message. If the answer `is_cut`, a call without arguments has lost them, so they
    /// become `None` instead of an empty object.
    pub(crate) fn into_calls(
        self,
        is_cut: bool,
        mut of_message: Map<String, Value>,
        from: &Arc<str>,
    ) -> Vec<ModelToolCall> {
        let mut calls: Vec<ModelToolCall> = Vec::new();
        for (at, fragments) in self.kept.into_iter().enumerate() {
            let Fragments { id, name, arguments, others, in_function, .. } = fragments;
            if name.is_empty() && arguments.is_empty() {
                continue;
            }
            let is_used = id.is_empty() || calls.iter().any(|call| call.id == id);
            let id = if is_used { format!("call_{at}") } else { id };
            let is_lost = is_cut && arguments.trim().is_empty();
            let arguments = if is_lost { None } else { object(&arguments) };
            let kept = Kept {
                of_call: others,
                of_function: in_function,
                of_message: std::mem::take(&mut of_message),
                from: Arc::clone(from),
            };
            let kept = (kept.bytes() > 0).then(|| Arc::new(kept));
            calls.push(ModelToolCall { id, name, arguments, kept });
        }
        calls
    }
}

/// The most repetitions of a name that are examined.
const REPEATS_MAX: usize = CALLS_MAX;

impl Fragments {
    /// Returns true if a fragment with this name begins another call. That is the case if the name differs, or if this
    /// call's arguments are complete. The name alone proves little, because some endpoints repeat it in every fragment.
    fn is_over(&mut self, name: &str) -> bool {
        if name.is_empty() || self.name.is_empty() {
            return false;
        }
        self.repeats += 1;
        name != self.name
            || (self.repeats <= REPEATS_MAX
                && self.arguments.trim_end().ends_with('}')
                && object(&self.arguments).is_some())
    }
}

/// Returns roughly how many bytes a value has as JSON.
pub(crate) fn size_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(parts) => 2 + parts.iter().map(size_of).sum::<usize>(),
        Value::Object(fields) => 2 + size_of_fields(fields),
    }
}

pub(crate) fn size_of_fields(fields: &Map<String, Value>) -> usize {
    fields.iter().map(|(name, value)| name.len() + size_of(value)).sum()
}

/// Returns how many bytes the arguments have. It is a rough guess if they are not text.
fn length(arguments: &Value) -> usize {
    arguments.as_str().map_or(2, str::len)
}

/// Reads arguments as an object. An empty text is an empty object, and an object inside a string is unwrapped.
fn object(arguments: &str) -> Option<Value> {
    if arguments.trim().is_empty() {
        return Some(json!({}));
    }
    match serde_json::from_str(arguments).ok()? {
        Value::Null => Some(json!({})),
        Value::String(inner) => {
            let inner: Value = serde_json::from_str(&inner).ok()?;
            inner.is_object().then_some(inner)
        }
        value @ Value::Object(_) => Some(value),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls_of(calls: &[Value]) -> Vec<(String, String, Option<Value>)> {
        let mut all = Calls::default();
        calls.iter().cloned().for_each(|call| all.add(call));
        let fields = |call: ModelToolCall| (call.id, call.name, call.arguments);
        all.into_calls(false, Map::new(), &Arc::default()).into_iter().map(fields).collect()
    }

    fn call(id: &str, name: &str, arguments: &Value) -> (String, String, Option<Value>) {
        (id.to_owned(), name.to_owned(), Some(arguments.clone()))
    }

    #[test]
    fn fragments_are_joined_by_index_by_id_or_in_order() {
        let by_index = [
            json!({"index": 0, "id": "a", "function": {"name": "roll", "arguments": ""}}),
            json!({"index": 1, "id": "b", "function": {"name": "draw", "arguments": "{\"n\""}}),
            json!({"index": 0, "function": {"arguments": "{\"n\":"}}),
            json!({"index": 1, "function": {"arguments": ":2}"}}),
            json!({"index": 0, "function": {"arguments": "1}"}}),
        ];
        let expected = [call("a", "roll", &json!({"n": 1})), call("b", "draw", &json!({"n": 2}))];
        assert_eq!(calls_of(&by_index), expected);
        let by_id = [
            json!({"id": "a", "function": {"name": "roll", "arguments": "{\"n\":"}}),
            json!({"id": "b", "function": {"name": "draw", "arguments": "{\"n\":2"}}),
            json!({"id": "a", "function": {"arguments": "1}"}}),
            json!({"id": "b", "function": {"arguments": "}"}}),
        ];
        assert_eq!(calls_of(&by_id), expected);
        let in_order = [
            json!({"function": {"name": "roll", "arguments": "{\"n\":"}}),
            json!({"function": {"arguments": "1}"}}),
            json!({"function": {"name": "draw", "arguments": {"n": 2}}}),
        ];
        let made_up =
            [call("call_0", "roll", &json!({"n": 1})), call("call_1", "draw", &json!({"n": 2}))];
        assert_eq!(calls_of(&in_order), made_up);
    }

    #[test]
    fn calls_that_are_all_numbered_0_are_told_apart_by_their_ids() {
        let calls = [
            json!({"index": 0, "id": "a", "function": {"name": "roll", "arguments": "{}"}}),
            json!({"index": 0, "id": "b", "function": {"name": "draw", "arguments": "{}"}}),
        ];
        let expected = [call("a", "roll", &json!({})), call("b", "draw", &json!({}))];
        assert_eq!(calls_of(&calls), expected);
    }

    /// LM8: neither index nor id says that they are two.
    #[test]
    fn calls_with_one_index_and_one_id_or_none_are_told_apart_by_order() {
        let call_of = |id: &str, name: &str, arguments: &str| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"index": 0, "id": id, "function": function})
        };
        let two = [call_of("", "roll", "{\"n\":1}"), call_of("", "roll", "{\"n\":2}")];
        let expected =
            [call("call_0", "roll", &json!({"n": 1})), call("call_1", "roll", &json!({"n": 2}))];
        assert_eq!(calls_of(&two), expected);
        let other =
            [call_of("", "roll", ""), call_of("", "draw", "{\"n\":"), call_of("", "", "2}")];
        let expected =
            [call("call_0", "roll", &json!({})), call("call_1", "draw", &json!({"n": 2}))];
        assert_eq!(calls_of(&other), expected);
        let one_id = [
            json!({"id": "x", "function": {"name": "roll", "arguments": "{}"}}),
            json!({"id": "x", "function": {"name": "roll", "arguments": "{}"}}),
        ];
        let ids: Vec<String> = calls_of(&one_id).into_iter().map(|(id, ..)| id).collect();
        assert_eq!(ids, ["x", "call_1"]);
        let repeated =
            [call_of("x", "roll", ""), call_of("x", "roll", "{\"n\""), call_of("x", "roll", ":1}")];
        assert_eq!(calls_of(&repeated), [call("x", "roll", &json!({"n": 1}))]);
        let by_id = [
            json!({"index": 0, "id": "x", "function": {"name": "roll", "arguments": "{\"n\""}}),
            json!({"index": 1, "id": "x", "function": {"arguments": ":1}"}}),
        ];
        assert_eq!(calls_of(&by_id), [call("x", "roll", &json!({"n": 1}))]);
    }

    #[test]
    fn a_name_that_comes_again_and_again_costs_little() {
        let mut calls = Calls::default();
        calls.add(call_json("{\"n\":\""));
        let time = cpu_time::ThreadTime::now();
        for _ in 0..20_000 {
            calls.add(call_json("xxxxxxxx}"));
        }
        assert!(time.elapsed().as_secs() < 2, "{:?}", time.elapsed());
        assert_eq!(calls.kept.len(), 1);
    }

    fn call_json(arguments: &str) -> Value {
        json!({"index": 0, "function": {"name": "roll", "arguments": arguments}})
    }

    #[test]
    fn other_names_of_fields_missing_ids_and_doubled_ids_are_taken() {
        let calls = [
            json!({"name": "roll", "parameters": {"n": 1}}),
            json!({"id": "", "function": {"name": "draw", "input": null}}),
            json!({"id": "x", "tool_name": "deal", "args": "\"{\\\"n\\\": 2}\""}),
        ];
        let expected = [
            call("call_0", "roll", &json!({"n": 1})),
            call("call_1", "draw", &json!({})),
            call("x", "deal", &json!({"n": 2})),
        ];
        assert_eq!(calls_of(&calls), expected);
        assert_eq!(calls_of(&[json!(null), json!([]), json!({}), json!({"function": 7})]), []);
    }

    #[test]
    fn arguments_that_are_no_object_are_none_and_are_not_told_again() {
        for bad in ["{\"n\": ", "[1]", "7", "\"seven\"", "{'n': 1}"] {
            let calls =
                calls_of(&[json!({"id": "a", "function": {"name": "roll", "arguments": bad}})]);
            assert_eq!(calls, [("a".to_owned(), "roll".to_owned(), None)], "{bad}");
        }
        let call = ModelToolCall::new("a", "roll", None);
        assert_eq!(json!(call)["function"]["arguments"], "{}");
    }

    /// LM1: half a call is carried out as little as half an answer is posted.
    #[test]
    fn a_call_whose_arguments_were_cut_off_is_not_one_without_arguments() {
        for arguments in [json!(""), json!(null), json!("{\"n\": ")] {
            let call = json!({"id": "a", "function": {"name": "delete", "arguments": arguments}});
            let mut calls = Calls::default();
            calls.add(call);
            assert_eq!(
                calls.into_calls(true, Map::new(), &Arc::default())[0].arguments,
                None,
                "{arguments}"
            );
        }
        let mut calls = Calls::default();
        calls.add(json!({"id": "a", "function": {"name": "list", "arguments": "{}"}}));
        assert_eq!(
            calls.into_calls(true, Map::new(), &Arc::default())[0].arguments,
            Some(json!({}))
        );
    }

    #[test]
    fn calls_without_number_are_bounded() {
        let one = json!({"function": {"name": "roll", "arguments": "{}"}});
        assert_eq!(calls_of(&vec![one; 1_000]).len(), CALLS_MAX);
        let begun = json!({"function": {"name": "roll"}});
        let fragment = json!({"function": {"arguments": "{}"}});
        let pairs: Vec<Value> = std::iter::repeat_n([begun, fragment], 100).flatten().collect();
        let calls = calls_of(&pairs);
        assert_eq!(calls.len(), CALLS_MAX);
        assert!(calls.iter().all(|(_, _, arguments)| *arguments == Some(json!({}))), "{calls:?}");
    }
}
