//! Whatever a model may write into a tool's call.

use dirigent::tools::{ToolCall, definitions, parse};
use serde_json::Value;

/// The longest that a refusal may be.
const SENTENCE_BYTES_MAX: usize = 400;

/// Reads a call: the first byte names the tool, the rest is JSON.
///
/// ```
/// dirigent_verify::fuzzing::tools(b"\x00{\"name\":\"tea\"}");
/// ```
///
/// # Panics
///
/// When the same call is read in two ways, a refusal is no short plain sentence, or what was read
/// is not what the tools may be asked for.
pub fn tools(bytes: &[u8]) {
    let Some((which, json)) = bytes.split_first() else {
        return;
    };
    let Ok(arguments) = serde_json::from_slice::<Value>(json) else {
        return;
    };
    let known = definitions();
    let name = known.get(usize::from(*which % 7)).map_or("no-such-tool", |tool| tool.name);
    match parse(name, &arguments) {
        Ok(call) => {
            assert_sound(&call);
            assert_eq!(parse(name, &arguments).ok(), Some(call), "read in two ways");
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.len() <= SENTENCE_BYTES_MAX, "a long refusal: {}", error.code());
            assert!(!sentence.contains(char::is_control), "not in one line: {}", error.code());
        }
    }
}

fn assert_sound(call: &ToolCall) {
    let name = match call {
        ToolCall::CreateChatChannel(call) => Some(&call.name),
        ToolCall::CreateReportChannel(call) => Some(&call.name),
        ToolCall::CreateWorkChannel(call) => Some(&call.name),
        ToolCall::DirigentRegister(call) => call.agent_name.as_ref(),
        ToolCall::CreateDiscussionChannel(call) => {
            assert!((1..=16_000).contains(&call.discussion_guide.chars().count()), "a bad guide");
            None
        }
        ToolCall::DiscussionComplete(_) => None,
    };
    if let Some(name) = name {
        assert!((1..=100).contains(&name.chars().count()), "a name too long or empty");
        assert!(!name.contains(char::is_control) && name.trim() == name, "a name not in one line");
    }
}
