//! Extracts the final text of a run from the messages that a host reports when the run ended.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Returns the text with which a run ended. It joins the text parts of the *last* assistant message without a
/// separator.
///
/// Thinking, tool calls and images add no text, and plain string content is taken whole. The text is empty if there is
/// no assistant message, or if the last one only called tools, because the run did not end with an earlier message. The
/// result borrows if there is nothing to join.
///
/// ```
/// use dirigent::host::{TranscriptMessage, final_text};
///
/// let messages: Vec<TranscriptMessage> = serde_json::from_str(
///     r#"[
///         {"role": "user", "content": "Ready?"},
///         {"role": "assistant", "stopReason": "stop", "content": [
///             {"type": "thinking", "thinking": "They ask me."},
///             {"type": "text", "text": "Yes, "},
///             {"type": "text", "text": "ready."}
///         ]}
///     ]"#,
/// )?;
/// assert_eq!(final_text(&messages), "Yes, ready.");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn final_text(messages: &[TranscriptMessage]) -> Cow<'_, str> {
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant);
    let mut text = Cow::Borrowed("");
    match last.map(|message| &message.content) {
        None => {}
        Some(Content::Text(whole)) => text = Cow::Borrowed(whole.as_str()),
        // Adding to an empty `Cow` borrows.
        Some(Content::Parts(parts)) => {
            parts.iter().filter_map(Part::text).for_each(|part| text += part);
        }
    }
    text
}

/// One message of a run, as far as its final text needs it.
///
/// It deserializes from the messages that OpenClaw passes to `agent_end`. That list has the type "unknown" there and
/// contains more than chat, so no message is an error as long as it is a map. Unknown fields are ignored, unknown roles
/// and parts become `Other`, and missing content counts as none. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::host::{Content, Part, Role, TranscriptMessage};
///
/// let message = TranscriptMessage {
///     role: Role::Assistant,
///     content: Content::Parts(vec![Part::ToolCall, Part::Text("a secret".to_owned())]),
/// };
/// assert!(!format!("{message:?}").contains("secret"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "plain data that hosts build")]
pub struct TranscriptMessage {
    /// The author of the message.
    #[serde(default)]
    pub role: Role,
    /// The content of the message.
    #[serde(default)]
    pub content: Content,
}

/// The author of a message.
///
/// ```
/// use dirigent::host::Role;
///
/// assert_eq!(serde_json::from_str::<Role>(r#""assistant""#)?, Role::Assistant);
/// assert_eq!(serde_json::from_str::<Role>(r#""bashExecution""#)?, Role::Other);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "Lenient<String>")]
#[non_exhaustive]
pub enum Role {
    /// The user, who writes to the agent.
    User,
    /// The agent.
    Assistant,
    /// A tool that answers the agent.
    ToolResult,
    /// Any other author.
    #[default]
    Other,
}

/// The content of a message.
///
/// ```
/// use dirigent::host::{Content, Part};
///
/// assert_eq!(serde_json::from_str::<Content>(r#""hi""#)?, Content::Text("hi".to_owned()));
/// let parts = serde_json::from_str::<Content>(r#"[{"type": "toolCall", "name": "search"}]"#)?;
/// assert_eq!(parts, Content::Parts(vec![Part::ToolCall]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Lenient<RawContent>")]
#[non_exhaustive]
pub enum Content {
    /// One plain text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<Part>),
}

/// A part of a message. Only its text is kept, because for other parts it is enough to know that they exist.
///
/// ```
/// use dirigent::host::Part;
///
/// let part: Part = serde_json::from_str(r#"{"type": "text", "text": "hi", "index": 0}"#)?;
/// assert_eq!(part, Part::Text("hi".to_owned()));
/// assert_eq!(serde_json::from_str::<Part>(r#"{"type": "hologram"}"#)?, Part::Other);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Lenient<RawPart>")]
#[non_exhaustive]
pub enum Part {
    /// A text for readers.
    Text(String),
    /// Reasoning, which is not for readers.
    Thinking,
    /// A call of a tool.
    ToolCall,
    /// A picture.
    Image,
    /// Any other part.
    Other,
}

impl Part {
    /// Returns the text of this part.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Thinking | Self::ToolCall | Self::Image | Self::Other => None,
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Parts(Vec::new())
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
        }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Thinking => f.write_str("Thinking"),
            Self::ToolCall => f.write_str("ToolCall"),
            Self::Image => f.write_str("Image"),
            Self::Other => f.write_str("Other"),
        }
    }
}

/// A value of the expected shape, or any other value, which is ignored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lenient<T> {
    Known(T),
    Unknown(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawContent {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct RawPart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<Lenient<String>>,
}

impl From<Lenient<String>> for Role {
    fn from(role: Lenient<String>) -> Self {
        match role {
            Lenient::Known(role) => match role.as_str() {
                "user" => Self::User,
                "assistant" => Self::Assistant,
                "toolResult" => Self::ToolResult,
                _ => Self::Other,
            },
            Lenient::Unknown(_) => Self::Other,
        }
    }
}

impl From<Lenient<RawContent>> for Content {
    fn from(content: Lenient<RawContent>) -> Self {
        match content {
            Lenient::Known(RawContent::Text(text)) => Self::Text(text),
            Lenient::Known(RawContent::Parts(parts)) => Self::Parts(parts),
            Lenient::Unknown(_) => Self::default(),
        }
    }
}

impl From<Lenient<RawPart>> for Part {
    fn from(part: Lenient<RawPart>) -> Self {
        let Lenient::Known(part) = part else {
            return Self::Other;
        };
        match (part.kind.as_str(), part.text) {
            ("text", Some(Lenient::Known(text))) => Self::Text(text),
            ("thinking", _) => Self::Thinking,
            ("toolCall", _) => Self::ToolCall,
            ("image", _) => Self::Image,
            _ => Self::Other,
        }
    }
}
