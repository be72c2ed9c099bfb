//! One question to a model, outside any turn.

use std::fmt;
use std::sync::Arc;

use dirigent::host::IntoShared;
use dirigent::{Clock, SystemClock};
use serde_json::Value;

use crate::answer::Wanted;
use crate::client::Sender;
use crate::endpoint::Endpoint;
use crate::error::ChatError;
use crate::limits::Limits;
use crate::toolbox::Tool;
use crate::usage::Usage;
use crate::wire::{Request, StreamOptions};

/// A model that is asked one question at a time, by code that is no agent in a room: a router, a judge, a summary. Answers are read as a
/// [`ChatAgent`](crate::ChatAgent) reads them, without reasoning, and calls of tools as models really send them. Nothing is repeated.
///
/// ```no_run
/// use dirigent_llm::{Chat, Endpoint};
/// use serde_json::json;
///
/// # async fn ask() -> Result<(), dirigent_llm::ChatError> {
/// let chat = Chat::new(Endpoint::new("http://127.0.0.1:11434/v1", "llama3.2"));
/// let answer = chat.ask(&[json!({ "role": "user", "content": "Good morning." })], &[]).await?;
/// println!("{}", answer.text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Chat {
    endpoint: Endpoint,
    limits: Limits,
    clock: Arc<dyn Clock>,
}

/// What a model answered. `Debug` shows no text.
///
/// ```
/// fn is_done(answer: &dirigent_llm::ChatAnswer) -> bool {
///     answer.calls.is_empty()
/// }
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ChatAnswer {
    /// What it says, without reasoning.
    pub text: String,
    /// What it calls.
    pub calls: Vec<ToolCall>,
    /// What it used. Its cost is 0: prices are an agent's.
    pub usage: Usage,
}

/// A call of a tool. `Debug` shows no argument.
///
/// ```
/// fn is_usable(call: &dirigent_llm::ToolCall) -> bool {
///     call.arguments.is_some()
/// }
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Its id, different from those of the answer's other calls.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments; `None` where the model wrote no JSON object.
    pub arguments: Option<Value>,
}

impl Chat {
    /// Creates a chat with the model of this endpoint. It makes no request.
    pub fn new(endpoint: Endpoint) -> Self {
        let clock = Arc::new(SystemClock::new());
        Self { endpoint, limits: Limits::default(), clock }
    }

    /// Changes the limits: [`Limits::first_byte`], [`Limits::between_bytes`] and [`Limits::answer_bytes`] count here.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets where time comes from. Default: the [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Asks once. Messages are written as the endpoint takes them: objects with a `role` and a `content`, which may be a list of
    /// parts.
    ///
    /// # Errors
    ///
    /// What went wrong with the request or its answer.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the request.
    pub async fn ask(&self, messages: &[Value], tools: &[Tool]) -> Result<ChatAnswer, ChatError> {
        let is_streaming = self.endpoint.is_streaming();
        let tools: Vec<Value> = tools.iter().map(Tool::declaration).collect();
        let request = Request {
            model: self.endpoint.model(),
            messages,
            stream: is_streaming,
            stream_options: is_streaming.then_some(StreamOptions { include_usage: true }),
            tools: &tools,
            tool_choice: None,
            fields: self.endpoint.fields(),
        };
        let body = serde_json::to_vec(&request).map_err(|_| ChatError::BadEndpoint)?;
        let sender = Sender { clock: &self.clock, limits: &self.limits, wanted: Wanted::Said };
        let outcome = sender.send(&self.endpoint, body.into()).await;
        let answer = outcome.answer?;
        let call = |call: crate::calls::Call| {
            let crate::calls::Call { id, name, arguments } = call;
            ToolCall { id, name, arguments }
        };
        let calls = answer.calls.into_iter().map(call).collect();
        Ok(ChatAnswer { text: answer.text, calls, usage: outcome.usage.unwrap_or_default() })
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl fmt::Debug for ChatAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatAnswer")
            .field("text", &format_args!("{} bytes", self.text.len()))
            .field("calls", &self.calls)
            .field("usage", &self.usage)
            .finish()
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("has_arguments", &self.arguments.is_some())
            .finish_non_exhaustive()
    }
}
