//! Calls of tools, as models really send them: in fragments, without ids, with other names of fields, with arguments that are
//! no JSON.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A call of a tool. `Debug` shows no argument; `Serialize` writes it as chat endpoints are told of it again.
///
/// ```
/// use dirigent_llm::ModelToolCall;
/// let call = ModelToolCall::new("1", "weather", Some(serde_json::json!({ "town": "Tokyo" })));
/// assert!(!format!("{call:?}").contains("Tokyo"));
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelToolCall {
    /// Its id, different from those of the answer's other calls: the endpoint's, or one that was made up.
    pub id: String,
    /// The tool's name, as the model wrote it; empty where the model named none.
    pub name: String,
    /// The arguments; `None` where the model wrote no JSON object.
    pub arguments: Option<Value>,
}

impl ModelToolCall {
    /// Creates a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Option<Value>) -> Self {
        Self { id: id.into(), name: name.into(), arguments }
    }

    /// The arguments as a text. Those that were no JSON are left out: some endpoints refuse a request with them.
    pub(crate) fn arguments_text(&self) -> String {
        self.arguments.as_ref().map_or_else(|| "{}".to_owned(), Value::to_string)
    }
}

impl Serialize for ModelToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Echo<'a> {
            id: &'a str,
            r#type: &'static str,
            function: Function<'a>,
        }

        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            arguments: String,
        }

        let function = Function { name: &self.name, arguments: self.arguments_text() };
        Echo { id: &self.id, r#type: "function", function }.serialize(serializer)
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

/// The calls of an answer, as far as they have come.
#[derive(Default)]
pub(crate) struct Calls {
    kept: Vec<Fragments>,
    /// Whether there are more than are kept, so that a fragment of none in particular belongs to one that is not.
    is_full: bool,
    /// The bytes of what was not kept.
    left_out: usize,
}

/// What has come of one call.
#[derive(Default)]
struct Fragments {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// The most calls of one answer; what comes beyond them is left aside.
const CALLS_MAX: usize = 64;
const NAMES: [&str; 3] = ["name", "tool_name", "tool"];
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "args", "input"];

impl Calls {
    /// Takes a call, or a fragment of one.
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
        let bytes = id.len() + name.len() + arguments.as_ref().map_or(0, length);
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
        match arguments {
            Some(Value::String(piece)) => fragments.arguments.push_str(&piece),
            None | Some(Value::Null) => {}
            Some(whole) => fragments.arguments = whole.to_string(),
        }
    }

    /// Where a fragment belongs: to the call of its index or its id, to a new one if it begins one, else to the last.
    fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<&mut Fragments> {
        let is_it = |call: &Fragments| match index {
            // Some endpoints number all calls 0, and tell them apart by their ids.
            Some(_) => {
                call.index == index && (id.is_empty() || call.id.is_empty() || call.id == id)
            }
            None if !id.is_empty() => call.id == id,
            None => name.is_empty(),
        };
        let continues_last = index.is_none() && id.is_empty() && name.is_empty();
        match self.kept.iter().rposition(is_it) {
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

    /// How many bytes they have, or would have.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |call: &Fragments| call.id.len() + call.name.len() + call.arguments.len();
        self.left_out + self.kept.iter().map(bytes).sum::<usize>()
    }

    /// The calls, each with an id of its own. In an answer that `is_cut` a call without arguments has lost them, and is none without
    /// arguments.
    pub(crate) fn into_calls(self, is_cut: bool) -> Vec<ModelToolCall> {
        let mut calls: Vec<ModelToolCall> = Vec::new();
        for (at, Fragments { id, name, arguments, .. }) in self.kept.into_iter().enumerate() {
            if name.is_empty() && arguments.is_empty() {
                continue;
            }
            let is_used = id.is_empty() || calls.iter().any(|call| call.id == id);
            let id = if is_used { format!("call_{at}") } else { id };
            let is_lost = is_cut && arguments.trim().is_empty();
            let arguments = if is_lost { None } else { object(&arguments) };
            calls.push(ModelToolCall { id, name, arguments });
        }
        calls
    }
}

/// How many bytes arguments have, roughly where they are no text.
fn length(arguments: &Value) -> usize {
    arguments.as_str().map_or(2, str::len)
}

/// Arguments as an object. Nothing is an empty one, and an object within a string is taken out of it.
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
        all.into_calls(false).into_iter().map(fields).collect()
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
            assert_eq!(calls.into_calls(true)[0].arguments, None, "{arguments}");
        }
        let mut calls = Calls::default();
        calls.add(json!({"id": "a", "function": {"name": "list", "arguments": "{}"}}));
        assert_eq!(calls.into_calls(true)[0].arguments, Some(json!({})));
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
