//! A request to the orchestrator.

use std::fmt;
use std::time::Duration;

pub use dirigent_llm::{Image, Thinking};

/// A person's message, with everything that belongs to it. The agents get all of it. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::{UserRequest, Thinking};
/// use std::time::Duration;
///
/// let mut request = UserRequest::new("session-1", "Write a Python script to parse JSON");
/// request.thinking = Some(Thinking::Low);
/// request.timeout = Some(Duration::from_secs(60));
/// assert!(!format!("{request:?}").contains("Python"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserRequest {
    /// The person's text.
    pub user_message: String,
    /// The session of the message, which is usually a channel. An agent with sessions of its own has one for each.
    pub session_id: String,
    /// Your own key of the session. Default none.
    pub session_key: Option<String>,
    /// Images beside the text. Default none.
    pub images: Vec<Image>,
    /// The longest time until the answer. By default it is [`RouterLimits::request`](crate::RouterLimits::request).
    pub timeout: Option<Duration>,
    /// How much the models should think. By default they think as they are set.
    pub thinking: Option<Thinking>,
}

impl UserRequest {
    /// Creates a request with only a message.
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

impl fmt::Debug for UserRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserRequest")
            .field("user_message", &format_args!("{} bytes", self.user_message.len()))
            .field("images", &self.images.len())
            .field("timeout", &self.timeout)
            .field("thinking", &self.thinking)
            .finish_non_exhaustive()
    }
}
