//! The answers of the scripted model.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One answer of the script. In a file of the program it is a JSON object with the same fields.
///
/// ```
/// use dirigent_llm::script::ScriptedAnswer;
///
/// let slow = ScriptedAnswer { pause_ms: 50, ..ScriptedAnswer::text("Good morning.") };
/// let read: ScriptedAnswer = serde_json::from_str(r#"{"text": "Good morning.", "pause_ms": 50}"#)?;
/// assert_eq!(read, slow);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests write down")]
pub struct ScriptedAnswer {
    /// The text of the answer.
    pub text: String,
    /// Reasoning, sent in the field `reasoning_content`.
    pub reasoning: String,
    /// Tool calls, all well formed.
    pub calls: Vec<ScriptedCall>,
    /// The `delta`s of further chunks, sent unchanged after all others. Use them for what no well-behaved endpoint
    /// sends.
    pub deltas: Vec<Value>,
    /// The `finish_reason`. By default it is `stop`, or `tool_calls` if there are calls.
    pub finish: Option<String>,
    /// The tokens of prompt and answer, reported at the end. With `None` they are not reported.
    pub usage: Option<(u64, u64)>,
    /// The HTTP status. With any status but 200 only the [`body`](Self::body) is sent.
    pub status: u16,
    /// Headers beside the usual ones.
    pub headers: Vec<(String, String)>,
    /// The body to send in place of a completion, as `text/html`.
    pub body: Option<String>,
    /// True if the request is never answered.
    pub is_mute: bool,
    /// The number of chunks after which the answer stops, with the connection open.
    pub stalls_after: Option<usize>,
    /// The number of chunks after which the connection is cut.
    pub breaks_after: Option<usize>,
    /// True if a stream ends without saying so, with neither `finish_reason` nor `[DONE]`.
    pub is_unfinished: bool,
    /// The pause before each chunk, in milliseconds.
    pub pause_ms: u64,
}

/// A tool call in a scripted answer.
///
/// ```
/// use dirigent_llm::script::ScriptedCall;
/// let call = ScriptedCall { id: "a".to_owned(), name: "roll".to_owned(), arguments: "{}".to_owned() };
/// assert_eq!(call.name, "roll");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests write down")]
pub struct ScriptedCall {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON, which may be broken.
    pub arguments: String,
}

impl Default for ScriptedAnswer {
    fn default() -> Self {
        Self {
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            deltas: Vec::new(),
            finish: None,
            usage: Some((10, 5)),
            status: 200,
            headers: Vec::new(),
            body: None,
            is_mute: false,
            stalls_after: None,
            breaks_after: None,
            is_unfinished: false,
            pause_ms: 0,
        }
    }
}

impl ScriptedAnswer {
    /// Creates an answer with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates an answer that calls one tool, with the id `call-1`.
    pub fn call(name: impl Into<String>, arguments: &Value) -> Self {
        let (id, arguments) = ("call-1".to_owned(), arguments.to_string());
        Self { calls: vec![ScriptedCall { id, name: name.into(), arguments }], ..Self::default() }
    }

    /// Creates a refusal with this status, and a body like that of real endpoints.
    pub fn refusal(status: u16) -> Self {
        let body = json!({ "error": { "message": "No.", "code": "refused" } }).to_string();
        Self { status, body: Some(body), ..Self::default() }
    }

    /// Returns the lines of an evening, with everything between them that models and endpoints do wrong. For example,
    /// there is reasoning in the text, in a field and without an answer, names before the words, and an empty answer.
    /// The endpoint limits the rate, fails, breaks a connection, and answers with something that is not JSON. All
    /// reasoning contains `hidden-thought`, so that your test can check that no reader sees it.
    pub fn evening() -> Vec<Self> {
        let no_wait = ("retry-after".to_owned(), "0".to_owned());
        let overloaded = Self { headers: vec![no_wait.clone()], ..Self::refusal(429) };
        let down = Self { headers: vec![no_wait], ..Self::refusal(503) };
        vec![
            Self::text("I like the sound of it."),
            Self::text("<think>hidden-thought: agree politely</think>\n\nWho would pay for it?"),
            Self {
                reasoning: "hidden-thought: be brief".into(),
                ..Self::text("A friend of mine.")
            },
            overloaded,
            Self::text("NO_REPLY"),
            Self::text(
                "hidden-thought: the tag was never opened\n</think>\nThen let us try it for a week.",
            ),
            Self { breaks_after: Some(3), ..Self::text("This sentence is never finished at all.") },
            Self::text("optimist: sceptic: A week is short."),
            Self { body: Some("<html>hidden-thought</html>".into()), ..Self::default() },
            Self::text("**NO_REPLY**"),
            down,
            Self::text("Two weeks, then."),
            Self { reasoning: "hidden-thought: and nothing said".into(), ..Self::default() },
            Self::text("\"NO_REPLY\"."),
        ]
    }

    fn finish(&self) -> &str {
        let usual = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        self.finish.as_deref().unwrap_or(usual)
    }

    fn told_usage(&self) -> Value {
        match self.usage {
            Some((prompt, reply)) => {
                let total = prompt + reply;
                json!({ "prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": total })
            }
            None => Value::Null,
        }
    }

    /// Returns the chunks of a stream, each as JSON, and the end of the stream.
    pub(crate) fn chunks(&self, model: &str) -> Vec<String> {
        let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
        deltas.extend(pieces(&self.reasoning).map(|piece| json!({ "reasoning_content": piece })));
        deltas.extend(pieces(&self.text).map(|piece| json!({ "content": piece })));
        for (index, call) in self.calls.iter().enumerate() {
            let function = json!({ "name": call.name, "arguments": "" });
            let begun =
                json!({ "index": index, "id": call.id, "type": "function", "function": function });
            deltas.push(json!({ "tool_calls": [begun] }));
            for piece in pieces(&call.arguments) {
                let more = json!({ "index": index, "function": { "arguments": piece } });
                deltas.push(json!({ "tool_calls": [more] }));
            }
        }
        deltas.extend(self.deltas.iter().cloned());
        let chunk = |choices: Value, usage: Value| {
            let chunk = json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
                "choices": choices, "usage": usage,
            });
            chunk.to_string()
        };
        let of_delta = |delta: Value, finish: Value| {
            chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), Value::Null)
        };
        let mut chunks: Vec<String> =
            deltas.into_iter().map(|delta| of_delta(delta, Value::Null)).collect();
        if !self.is_unfinished {
            chunks.push(of_delta(json!({}), self.finish().into()));
            if self.usage.is_some() {
                chunks.push(chunk(json!([]), self.told_usage()));
            }
            chunks.push("[DONE]".to_owned());
        }
        chunks
    }

    /// Returns the answer as a whole. If there are deltas, the last one is the message.
    pub(crate) fn whole(&self, model: &str) -> String {
        let call = |call: &ScriptedCall| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        };
        let calls: Vec<Value> = self.calls.iter().map(call).collect();
        let fields = [
            ("role", Some("assistant".into())),
            ("content", Some(self.text.as_str().into())),
            (
                "reasoning_content",
                Some(self.reasoning.as_str().into()).filter(|_| !self.reasoning.is_empty()),
            ),
            ("tool_calls", Some(Value::from(calls)).filter(|_| !self.calls.is_empty())),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let message: Value = fields.collect();
        let message = self.deltas.last().unwrap_or(&message);
        let choice = json!({ "index": 0, "message": message, "finish_reason": self.finish() });
        let whole = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
            "choices": [choice], "usage": self.told_usage(),
        });
        whole.to_string()
    }
}

/// Splits a text into pieces of one word.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}
