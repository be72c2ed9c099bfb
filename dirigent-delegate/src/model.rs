//! The model that decides who answers.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
pub use dirigent_llm::{ChatAnswer, ModelMessage, ModelToolCall, Question, Tool};

/// A chat model that can call tools: it answers a message itself, or names the agents that are to.
///
/// ```
/// use dirigent_delegate::model::{ChatAnswer, ModelError, Question, RoutingModel};
///
/// /// Leaves everything to the coding agent.
/// struct Coder;
///
/// #[dirigent::async_trait]
/// impl RoutingModel for Coder {
///     async fn ask(&self, _model: &str, question: &Question<'static>) -> Result<ChatAnswer, ModelError> {
///         let message = question.user_message();
///         Ok(ChatAnswer::call("delegate_to_opencode", serde_json::json!({ "message": message })))
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
    /// Dropped when the message's time is over, after [`RouterLimits::model`](crate::RouterLimits::model), and when the message is
    /// cancelled.
    async fn ask(
        &self,
        model: &str,
        question: &Question<'static>,
    ) -> Result<ChatAnswer, ModelError>;

    /// Checks a model's name, `provider/model`, when a router is built or configured. Default: every model is good.
    ///
    /// # Errors
    ///
    /// A sentence without its full stop that names the model and says what is wrong, for example that no provider has its name.
    fn check_model(&self, _model: &str) -> Result<(), String> {
        Ok(())
    }
}

#[async_trait]
impl<M: RoutingModel + ?Sized> RoutingModel for Arc<M> {
    async fn ask(
        &self,
        model: &str,
        question: &Question<'static>,
    ) -> Result<ChatAnswer, ModelError> {
        (**self).ask(model, question).await
    }

    fn check_model(&self, model: &str) -> Result<(), String> {
        (**self).check_model(model)
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
