//! The final text of a run, out of the messages a host hands over when the run ended.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The text with which a run ended: the text parts of the *last* assistant message, joined without
/// a separator.
///
/// Thinking, tool calls and images contribute nothing, and plain string content is taken whole.
/// Without an assistant message, or when the last one only called tools, the text is empty:
/// an earlier message was not how the run ended. Borrows where there is nothing to join.
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
/// Deserialises from the shapes that OpenClaw gives to `agent_end`. That list is typed "unknown"
/// there and holds more than chat, so nothing in it is an error as long as each message is a map:
/// unknown fields are ignored, unknown roles and parts become `Other`, and missing content is no
/// content. `Debug` shows no text.
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
    /// Whose message it is.
    #[serde(default)]
    pub role: Role,
    /// What it holds.
    #[serde(default)]
    pub content: Content,
}

/// Whose message it is.
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
    /// What the agent was told.
    User,
    /// What the agent answered.
    Assistant,
    /// What a tool answered.
    ToolResult,
    /// Anything else.
    #[default]
    Other,
}

/// What a message holds.
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

/// A part of a message. Only text is kept; of the rest it is enough to know that it was there.
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
    /// Text that is said.
    Text(String),
    /// Reasoning, which is not said.
    Thinking,
    /// A call of a tool.
    ToolCall,
    /// A picture.
    Image,
    /// Anything else.
    Other,
}

impl Part {
    /// What this part says.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Thinking | Self::ToolCall | Self::Image | Self::Other => None,
        }
    }
}

impl Default for Content {
    /// No content.
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

/// A value of the expected shape, or any other, which is passed over.
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
