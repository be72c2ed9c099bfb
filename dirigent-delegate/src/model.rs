//! The model that decides who answers.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
pub use dirigent_llm::{ChatAnswer, ModelMessage, ModelToolCall, Question, Tool};

/// A chat model that can call tools. It answers a message itself, or names the agents that should.
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
    /// Asks the model of this name, which is `provider/model` as in the configuration. Make a single attempt, because
    /// the next fall-back is asked at once if it fails.
    ///
    /// # Errors
    ///
    /// Says why the model gave no answer. Return [`ModelErrorKind::UnknownProvider`] if you do not know the provider.
    /// An answer without text and calls also counts as a failure, but the caller checks that.
    ///
    /// # Cancellation
    ///
    /// The future is dropped after [`RouterLimits::model`](crate::RouterLimits::model), when the message runs out of
    /// time, and when it is cancelled.
    async fn ask(
        &self,
        model: &str,
        question: &Question<'static>,
    ) -> Result<ChatAnswer, ModelError>;

    /// Checks a model's name, `provider/model`. It is called when a router is built or configured. By default every
    /// model passes.
    ///
    /// # Errors
    ///
    /// Returns a sentence without a full stop that names the model and the problem. For example, it says that no
    /// provider has this name.
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

/// Why a model gave no answer. `Display` and `Debug` show only the kind, and hide the source.
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
    /// Creates an error with its source.
    pub fn new(kind: ModelErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// Returns the kind of failure.
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

/// The kind of a model's failure.
///
/// ```
/// use dirigent_delegate::model::ModelErrorKind;
/// assert_eq!(ModelErrorKind::Empty.to_string(), "the model said nothing and called nothing");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The provider of this name is unknown, or the name has no provider.
    #[error("the model's provider is not known")]
    UnknownProvider,
    /// The provider cannot be reached.
    #[error("the provider cannot be reached")]
    Unreachable,
    /// The provider asks you to wait.
    #[error("the provider's rate limit is reached")]
    RateLimited,
    /// The provider has a fault that may pass.
    #[error("the provider is unavailable")]
    Unavailable,
    /// The provider refuses the request, for example because of a wrong key, an unknown model or used up credit.
    #[error("the provider refuses the request")]
    Refused,
    /// The answer did not come in time.
    #[error("the model did not answer in time")]
    TimedOut,
    /// The answer cannot be read, or is incomplete.
    #[error("the model's answer cannot be used")]
    Unusable,
    /// The answer has neither text nor calls.
    #[error("the model said nothing and called nothing")]
    Empty,
    /// The code that asks the model panicked.
    #[error("asking the model panicked")]
    Panic,
    /// Any other failure.
    #[error("the model failed")]
    Other,
}
