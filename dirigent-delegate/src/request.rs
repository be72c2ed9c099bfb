//! What the orchestrator is asked.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A person's message, with what belongs to it. All of it is handed on to the agents. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::{Request, Thinking};
/// use std::time::Duration;
///
/// let mut request = Request::new("session-1", "Write a Python script to parse JSON");
/// request.thinking = Some(Thinking::Low);
/// request.timeout = Some(Duration::from_secs(60));
/// assert!(!format!("{request:?}").contains("Python"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// What the person wrote.
    pub user_message: String,
    /// The session that the message belongs to: a channel, mostly. An agent with sessions of its own has one for each.
    pub session_id: String,
    /// The host's key of the session. Default none.
    pub session_key: Option<String>,
    /// Images beside the text. Default none.
    pub images: Vec<Image>,
    /// How long all of it may take. Default [`Limits::request`](crate::Limits::request).
    pub timeout: Option<Duration>,
    /// How much the models are to think. Default none: as they are set.
    pub thinking: Option<Thinking>,
}

impl Request {
    /// Creates a request with nothing but a message.
    pub fn new(session_id: impl Into<String>, user_message: impl Into<String>) -> Self {
        Self {
            user_message: user_message.into(),
            session_id: session_id.into(),
            session_key: None,
            images: Vec::new(),
            timeout: None,
            thinking: None,
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("user_message", &format_args!("{} bytes", self.user_message.len()))
            .field("images", &self.images.len())
            .field("timeout", &self.timeout)
            .field("thinking", &self.thinking)
            .finish_non_exhaustive()
    }
}

/// An image in a message. `Debug` shows no picture.
///
/// ```
/// let image = dirigent_delegate::Image::new("image/png", "iVBORw0KGgo=");
/// assert_eq!(image.data_url(), "data:image/png;base64,iVBORw0KGgo=");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Image {
    /// Its media type, such as `image/png`.
    pub mime_type: String,
    /// Its bytes in base64.
    pub data: String,
}

impl Image {
    /// Creates an image from its bytes in base64.
    pub fn new(mime_type: impl Into<String>, base64: impl Into<String>) -> Self {
        Self { mime_type: mime_type.into(), data: base64.into() }
    }

    /// Returns the image as a `data:` address, as chat endpoints take it.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {} bytes of base64)", self.mime_type, self.data.len())
    }
}

/// How much a model is to think before it answers.
///
/// ```
/// use dirigent_delegate::Thinking;
/// assert_eq!(Thinking::High.as_str(), "high");
/// assert_eq!(serde_json::to_string(&Thinking::Xhigh)?, "\"xhigh\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Thinking {
    /// Not at all.
    Off,
    /// As little as the model can.
    Minimal,
    /// A little.
    Low,
    /// As much as most questions need.
    Medium,
    /// Much.
    High,
    /// More than that, where a model knows it.
    Xhigh,
}

impl Thinking {
    /// Returns its name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
        }
    }
}
