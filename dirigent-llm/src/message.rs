//! The messages between you and a model.

use std::borrow::Cow;
use std::fmt;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::calls::ModelToolCall;

/// A message of a conversation with a model. It borrows or owns its words. `Debug` shows no text. `Serialize` writes it
/// as chat endpoints read it, with `role` and `content`.
///
/// ```
/// use dirigent_llm::ModelMessage;
///
/// let message = ModelMessage::user("Hello!");
/// assert_eq!(serde_json::to_value(&message)?, serde_json::json!({ "role": "user", "content": "Hello!" }));
/// assert_eq!(format!("{message:?}"), "User(6 bytes, 0 images)");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "four roles; a client of the host's own writes each of them"
)]
pub enum ModelMessage<'a> {
    /// Instructions for the model: who it is, and its task.
    System(Cow<'a, str>),
    /// Words for the model to answer.
    User {
        /// The text.
        text: Cow<'a, str>,
        /// Images beside the text.
        images: Cow<'a, [Image]>,
    },
    /// Words that the model said earlier.
    Assistant {
        /// The text, which is usually empty if there are calls.
        text: Cow<'a, str>,
        /// The tools that the model called.
        calls: Cow<'a, [ModelToolCall]>,
    },
    /// The result of a tool call. Each call needs exactly one result before you ask the model again.
    Tool {
        /// The id of the call.
        call: Cow<'a, str>,
        /// The result.
        text: Cow<'a, str>,
    },
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl<'a> ModelMessage<'a> {
    /// Creates a message with instructions for the model.
    pub fn system(text: impl Into<Cow<'a, str>>) -> Self {
        Self::System(text.into())
    }

    /// Creates a message to the model, without images.
    pub fn user(text: impl Into<Cow<'a, str>>) -> Self {
        Self::User { text: text.into(), images: Cow::Borrowed(&[]) }
    }

    /// Creates a message that the model said, without calls.
    pub fn assistant(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Assistant { text: text.into(), calls: Cow::Borrowed(&[]) }
    }

    /// Returns the text of the message.
    pub fn text(&self) -> &str {
        match self {
            Self::System(text)
            | Self::User { text, .. }
            | Self::Assistant { text, .. }
            | Self::Tool { text, .. } => text,
        }
    }

    /// Returns the images of the message.
    pub(crate) fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } => images,
            Self::System(_) | Self::Assistant { .. } | Self::Tool { .. } => &[],
        }
    }

    pub(crate) const fn role(&self) -> Role {
        match self {
            Self::System(_) => Role::System,
            Self::User { .. } => Role::User,
            Self::Assistant { .. } => Role::Assistant,
            Self::Tool { .. } => Role::Tool,
        }
    }
}

impl Serialize for ModelMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("role", &self.role())?;
        match self {
            Self::User { text, images } if !images.is_empty() => {
                let text = Part::Text { text };
                let images = images
                    .iter()
                    .map(|image| Part::ImageUrl { image_url: Address { url: image.data_url() } });
                let parts: Vec<Part<'_>> = [text].into_iter().chain(images).collect();
                fields.serialize_entry("content", &parts)?;
            }
            Self::Assistant { text, calls } if !calls.is_empty() => {
                // Some endpoints refuse an empty text beside calls.
                let text = Some(text).filter(|text| !text.is_empty());
                fields.serialize_entry("content", &text)?;
                fields.serialize_entry("tool_calls", calls)?;
                let kept = calls.iter().filter_map(|call| call.kept.as_ref());
                for (name, value) in kept.flat_map(|kept| &kept.of_message) {
                    fields.serialize_entry(name, value)?;
                }
            }
            Self::Tool { call, text } => {
                fields.serialize_entry("content", text)?;
                fields.serialize_entry("tool_call_id", call)?;
            }
            Self::System(text) | Self::User { text, .. } | Self::Assistant { text, .. } => {
                fields.serialize_entry("content", text)?;
            }
        }
        fields.end()
    }
}

/// A part of a message that has images.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Address },
}

#[derive(Serialize)]
struct Address {
    url: String,
}

impl fmt::Debug for ModelMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.text().len();
        match self {
            Self::System(_) => write!(f, "System({bytes} bytes)"),
            Self::User { images, .. } => write!(f, "User({bytes} bytes, {} images)", images.len()),
            Self::Assistant { calls, .. } => {
                write!(f, "Assistant({bytes} bytes, {} calls)", calls.len())
            }
            Self::Tool { .. } => write!(f, "Tool({bytes} bytes)"),
        }
    }
}

/// An image in a message. `Debug` hides its bytes.
///
/// ```
/// let image = dirigent_llm::Image::new("image/png", "iVBORw0KGgo=");
/// assert_eq!(image.data_url(), "data:image/png;base64,iVBORw0KGgo=");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Image {
    /// The media type, for example `image/png`.
    pub mime_type: String,
    /// The bytes of the image, in base64.
    pub data: String,
}

impl Image {
    /// Creates an image from its bytes in base64.
    pub fn new(mime_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { mime_type: mime_type.into(), data: base64.into() }
    }

    /// Returns the image as a `data:` address, the form in which chat endpoints read it.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {} bytes of base64)", self.mime_type, self.data.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_written_as_endpoints_take_them() {
        let call = ModelToolCall::new("a", "roll", Some(json!({ "sides": 6 })));
        let bare = ModelToolCall::new("b", "roll", None);
        let image = Image::new("image/png", "AAAA");
        let messages = [
            ModelMessage::system("Be brief."),
            ModelMessage::user("Hi"),
            ModelMessage::User { text: "This?".into(), images: vec![image].into() },
            ModelMessage::assistant(""),
            ModelMessage::Assistant { text: "".into(), calls: vec![call, bare].into() },
            ModelMessage::Tool { call: "a".into(), text: "4".into() },
        ];
        let function = |arguments: &str| json!({ "name": "roll", "arguments": arguments });
        let expected = json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Hi" },
            { "role": "user", "content": [
                { "type": "text", "text": "This?" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } },
            ] },
            { "role": "assistant", "content": "" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "a", "type": "function", "function": function("{\"sides\":6}") },
                { "id": "b", "type": "function", "function": function("{}") },
            ] },
            { "role": "tool", "content": "4", "tool_call_id": "a" },
        ]);
        assert_eq!(json!(messages), expected);
    }

    #[test]
    fn no_word_and_no_picture_is_shown() {
        let image = Image::new("image/png", "hidden");
        let call = ModelToolCall::new("a", "roll", Some(json!({ "word": "hidden" })));
        let messages = [
            ModelMessage::system("hidden"),
            ModelMessage::User { text: "hidden".into(), images: vec![image.clone()].into() },
            ModelMessage::Assistant { text: "hidden".into(), calls: vec![call].into() },
            ModelMessage::Tool { call: "a".into(), text: "hidden".into() },
        ];
        let shown = format!("{messages:?} {image:?}");
        assert!(!shown.contains("hidden"), "{shown}");
        assert!(shown.contains("Assistant(6 bytes, 1 calls)"), "{shown}");
    }
}
