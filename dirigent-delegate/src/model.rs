//! The model that decides who answers.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::request::{Image, Thinking};
use crate::result::TokenUsage;

/// A chat model that can call tools: it answers a message itself, or names the agents that are to.
///
/// ```
/// use dirigent_delegate::model::{ModelAnswer, ModelError, Question, RoutingModel};
///
/// /// Leaves everything to the coding agent.
/// struct Coder;
///
/// #[dirigent::async_trait]
/// impl RoutingModel for Coder {
///     async fn ask(&self, _model: &str, question: &Question) -> Result<ModelAnswer, ModelError> {
///         let message = question.user_message();
///         Ok(ModelAnswer::call("delegate_to_opencode", serde_json::json!({ "message": message })))
///     }
/// }
/// ```
#[async_trait]
pub trait RoutingModel: Send + Sync + 'static {
    /// Asks the model of this name, `provider/model` as the configuration has it. One attempt is made: when it fails, the next
    /// fall-back is asked at once.
    ///
    /// # Errors
    ///
    /// Why the model gave no answer. A provider that is not known is [`ModelErrorKind::UnknownProvider`]. An answer without text
    /// and calls is a failure as well, which the caller finds.
    ///
    /// # Cancellation
    ///
    /// Dropped when the message's time is over, after [`Limits::model`](crate::Limits::model), and when the message is
    /// cancelled.
    async fn ask(&self, model: &str, question: &Question) -> Result<ModelAnswer, ModelError>;
}

#[async_trait]
impl<M: RoutingModel + ?Sized> RoutingModel for Arc<M> {
    async fn ask(&self, model: &str, question: &Question) -> Result<ModelAnswer, ModelError> {
        (**self).ask(model, question).await
    }
}

/// What a routing model is asked. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::model::{Message, Question};
///
/// let question = Question::new(vec![Message::System("Be brief.".into()), Message::user("Hello!")]);
/// assert_eq!(question.user_message(), "Hello!");
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The conversation: the system prompt, the person's message, then what the model called and what each call came to.
    pub messages: Vec<Message>,
    /// The tools that may be called.
    pub tools: Vec<ToolOffer>,
    /// How much the model is to think.
    pub thinking: Option<Thinking>,
}

impl Question {
    /// Creates a question without tools.
    pub const fn new(messages: Vec<Message>) -> Self {
        Self { messages, tools: Vec::new(), thinking: None }
    }

    /// Returns what the person wrote; an empty text where there is no message of a person.
    pub fn user_message(&self) -> &str {
        let mut texts = self.messages.iter().rev().filter_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            Message::System(_) | Message::Assistant { .. } | Message::Tool { .. } => None,
        });
        texts.next().unwrap_or_default()
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("messages", &self.messages.len())
            .field("tools", &self.tools.len())
            .field("thinking", &self.thinking)
            .finish()
    }
}

/// A message of a conversation with a model. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::model::Message;
/// assert_eq!(format!("{:?}", Message::user("Hello!")), "User(6 bytes, 0 images)");
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// The system prompt.
    System(String),
    /// What the person wrote.
    User {
        /// The text.
        text: String,
        /// Images beside it.
        images: Vec<Image>,
    },
    /// What the model answered.
    Assistant {
        /// Its text, mostly empty beside calls.
        text: String,
        /// What it called.
        calls: Vec<ToolCall>,
    },
    /// What a call came to. Each call of an answer has exactly one before the model is asked again.
    Tool {
        /// The call's id.
        call: String,
        /// The result.
        text: String,
    },
}

impl Message {
    /// Creates a person's message without images.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(text) => write!(f, "System({} bytes)", text.len()),
            Self::User { text, images } => {
                write!(f, "User({} bytes, {} images)", text.len(), images.len())
            }
            Self::Assistant { text, calls } => {
                write!(f, "Assistant({} bytes, {} calls)", text.len(), calls.len())
            }
            Self::Tool { text, .. } => write!(f, "Tool({} bytes)", text.len()),
        }
    }
}

/// A tool that a model may call: delegating to one agent.
///
/// ```
/// use dirigent_delegate::{AgentCard, model::ToolOffer};
/// assert_eq!(ToolOffer::from(&AgentCard::research()).name, "delegate_to_research");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOffer {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

impl From<&crate::AgentCard> for ToolOffer {
    fn from(card: &crate::AgentCard) -> Self {
        Self {
            name: card.tool().to_owned(),
            description: card.description(),
            parameters: card.schema().clone(),
        }
    }
}

/// A call of a tool. `Debug` shows no argument.
///
/// ```
/// use dirigent_delegate::model::ToolCall;
/// let call = ToolCall::new("1", "delegate_to_research", Some(serde_json::json!({ "message": "Tokyo" })));
/// assert!(!format!("{call:?}").contains("Tokyo"));
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

impl ToolCall {
    /// Creates a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Option<Value>) -> Self {
        Self { id: id.into(), name: name.into(), arguments }
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

/// What a model answered. With calls the text is not posted. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::model::ModelAnswer;
///
/// let mut both = ModelAnswer::call("delegate_to_research", serde_json::json!({ "message": "React" }));
/// both.calls.extend(ModelAnswer::call("delegate_to_opencode", serde_json::json!({ "message": "A form" })).calls);
/// assert_eq!(both.calls.len(), 2);
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelAnswer {
    /// What it says.
    pub text: String,
    /// What it calls.
    pub calls: Vec<ToolCall>,
    /// The tokens that it used, if they are known.
    pub usage: Option<TokenUsage>,
}

impl ModelAnswer {
    /// Creates an answer that says this.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates an answer that calls one tool.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self { calls: vec![ToolCall::new("call", tool, Some(arguments))], ..Self::default() }
    }

    /// Creates an answer with these calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.text.trim().is_empty()
    }
}

impl fmt::Debug for ModelAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelAnswer")
            .field("text", &format_args!("{} bytes", self.text.len()))
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

/// Why a model gave no answer. `Display` and `Debug` show the kind and nothing of the source.
///
/// ```
/// use dirigent_delegate::model::{ModelError, ModelErrorKind};
/// let error = ModelError::from(ModelErrorKind::RateLimited);
/// assert_eq!(error.to_string(), "the provider's rate limit is reached");
/// ```
#[derive(thiserror::Error)]
#[error("{kind}")]
pub struct ModelError {
    kind: ModelErrorKind,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ModelError {
    /// Creates an error with what it came from.
    pub fn new(kind: ModelErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// Returns what went wrong.
    pub const fn kind(&self) -> ModelErrorKind {
        self.kind
    }
}

impl From<ModelErrorKind> for ModelError {
    fn from(kind: ModelErrorKind) -> Self {
        Self { kind, source: None }
    }
}

impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelError({:?})", self.kind)
    }
}

/// What went wrong with a model.
///
/// ```
/// use dirigent_delegate::model::ModelErrorKind;
/// assert_eq!(ModelErrorKind::Empty.to_string(), "the model said nothing and called nothing");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The host knows no provider of this name, or the name has none.
    #[error("the model's provider is not known")]
    UnknownProvider,
    /// There is no connection to the provider.
    #[error("the provider cannot be reached")]
    Unreachable,
    /// The provider asks to be left alone for a while.
    #[error("the provider's rate limit is reached")]
    RateLimited,
    /// The provider has a fault that may pass.
    #[error("the provider is unavailable")]
    Unavailable,
    /// The provider does not take the request: a wrong key, an unknown model, no credit.
    #[error("the provider refuses the request")]
    Refused,
    /// The answer did not come in time.
    #[error("the model did not answer in time")]
    TimedOut,
    /// The answer cannot be read, or broke off.
    #[error("the model's answer cannot be used")]
    Unusable,
    /// The answer has neither text nor calls.
    #[error("the model said nothing and called nothing")]
    Empty,
    /// The code that asks the model panicked.
    #[error("asking the model panicked")]
    Panic,
    /// Anything else.
    #[error("the model failed")]
    Other,
}
