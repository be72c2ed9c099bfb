//! Which provider is at which endpoint.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::host::IntoShared;
use dirigent::{Clock, SystemClock};
use dirigent_llm::{Chat, ChatAnswer, ChatError, Endpoint, Limits, Tool};
use serde_json::{Value, json};

use crate::model::{
    Message, ModelAnswer, ModelError, ModelErrorKind, Question, RoutingModel, ToolCall, ToolOffer,
};
use crate::request::{Image, Thinking};
use crate::result::TokenUsage;

/// A host's providers, by the names that stand before the slash in `provider/model`, and a [`RoutingModel`] that asks their models.
/// `Debug` shows no key.
///
/// ```
/// use dirigent_delegate::llm::Providers;
/// use dirigent_delegate::Router;
/// use dirigent_llm::Endpoint;
///
/// let providers = Providers::new()
///     .provider("openai", Endpoint::new("https://api.openai.com/v1", "").key("sk-…"))
///     .provider("local", Endpoint::new("http://127.0.0.1:11434/v1", ""));
/// let router = Router::builder(providers);
/// # drop(router);
/// ```
#[derive(Clone, Debug)]
pub struct Providers {
    endpoints: BTreeMap<String, Endpoint>,
    limits: Limits,
    clock: SharedClock,
}

#[derive(Clone)]
struct SharedClock(Arc<dyn Clock>);

impl std::fmt::Debug for SharedClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

impl Default for Providers {
    fn default() -> Self {
        Self::new()
    }
}

impl Providers {
    /// Creates a table without providers: every model fails.
    pub fn new() -> Self {
        let clock = SharedClock(Arc::new(SystemClock::new()));
        Self { endpoints: BTreeMap::new(), limits: Limits::default(), clock }
    }

    /// Adds a provider. Address, key, headers and fields are the endpoint's; its model is replaced by the one that is asked.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>, endpoint: Endpoint) -> Self {
        self.endpoints.insert(name.into(), endpoint);
        self
    }

    /// Changes the limits of one request: the time to the first byte, between bytes, the length of an answer.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets where time comes from. Default: the [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = SharedClock(clock.into_shared());
        self
    }

    /// Asks a model, `provider/model`. What follows the first slash is the model's name, which may have more of them.
    pub(super) async fn chat(
        &self,
        name: &str,
        question: &Question,
    ) -> Result<ChatAnswer, ModelError> {
        let known = name.split_once('/');
        let known =
            known.and_then(|(provider, model)| Some((self.endpoints.get(provider)?, model)));
        let Some((endpoint, model)) = known.filter(|(_, model)| !model.is_empty()) else {
            return Err(ModelErrorKind::UnknownProvider.into());
        };
        let endpoint = match question.thinking.filter(|thinking| *thinking != Thinking::Off) {
            Some(thinking) => {
                endpoint.with_model(model).field("reasoning_effort", thinking.as_str())
            }
            None => endpoint.with_model(model),
        };
        let chat = Chat::new(endpoint).clock(Arc::clone(&self.clock.0));
        let chat = chat.limits(|limits| limits.clone_from(&self.limits));
        let messages: Vec<Value> = question.messages.iter().map(written).collect();
        let tools: Vec<Tool> = question.tools.iter().map(tool).collect();
        chat.ask(&messages, &tools).await.map_err(|error| ModelError::new(kind(&error), error))
    }
}

#[async_trait]
impl RoutingModel for Providers {
    async fn ask(&self, model: &str, question: &Question) -> Result<ModelAnswer, ModelError> {
        let answer = self.chat(model, question).await?;
        let usage = usage(&answer);
        let calls = answer.calls.into_iter();
        let calls = calls.map(|call| ToolCall::new(call.id, call.name, call.arguments)).collect();
        Ok(ModelAnswer { text: answer.text, calls, usage: Some(usage) })
    }
}

pub(super) fn usage(answer: &ChatAnswer) -> TokenUsage {
    TokenUsage { input: answer.usage.prompt_tokens, output: answer.usage.reply_tokens }
}

fn tool(offer: &ToolOffer) -> Tool {
    Tool::new(&offer.name, &offer.description).parameters(offer.parameters.clone())
}

/// A message as endpoints take it.
fn written(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User { text, images } if images.is_empty() => {
            json!({ "role": "user", "content": text })
        }
        Message::User { text, images } => {
            let mut parts = vec![json!({ "type": "text", "text": text })];
            parts.extend(images.iter().map(picture));
            json!({ "role": "user", "content": parts })
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> = calls.iter().map(echo).collect();
            let content = Some(text).filter(|text| !text.is_empty());
            json!({ "role": "assistant", "content": content, "tool_calls": calls })
        }
        Message::Tool { call, text } => {
            json!({ "role": "tool", "tool_call_id": call, "content": text })
        }
    }
}

fn picture(image: &Image) -> Value {
    json!({ "type": "image_url", "image_url": { "url": image.data_url() } })
}

/// A call as the model is told of it again. Arguments that were no JSON are left out: some endpoints refuse a request with them.
fn echo(call: &ToolCall) -> Value {
    let arguments = call.arguments.as_ref().map_or_else(|| "{}".to_owned(), Value::to_string);
    let function = json!({ "name": call.name, "arguments": arguments });
    json!({ "id": call.id, "type": "function", "function": function })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the errors of another crate may become more")]
fn kind(error: &ChatError) -> ModelErrorKind {
    match error {
        ChatError::BadEndpoint | ChatError::Refused { .. } => ModelErrorKind::Refused,
        ChatError::Unreachable => ModelErrorKind::Unreachable,
        ChatError::RateLimited { .. } => ModelErrorKind::RateLimited,
        ChatError::Unavailable { .. } | ChatError::Reported { .. } => ModelErrorKind::Unavailable,
        ChatError::NoFirstByte { .. } | ChatError::Stalled { .. } => ModelErrorKind::TimedOut,
        ChatError::Withheld | ChatError::OnlyReasoning { .. } => ModelErrorKind::Empty,
        ChatError::Broken | ChatError::NotChat | ChatError::TooLong { .. } => {
            ModelErrorKind::Unusable
        }
        _ => ModelErrorKind::Other,
    }
}
