//! An agent that asks a model.

use async_trait::async_trait;

use super::providers::Providers;
use crate::delegate::{Delegate, Task, TaskOutcome};
use crate::model::{ModelMessage, Question};
use crate::result::TokenUsage;

/// An agent that gives its task to a model and returns what the model says. Use it as the embedded agent if you have no
/// other, or as the search agent if the endpoint can search.
///
/// ```
/// use dirigent_delegate::llm::{ModelDelegate, Providers};
/// use dirigent_llm::Endpoint;
///
/// let providers = Providers::new().provider("local", Endpoint::new("http://127.0.0.1:11434/v1", ""));
/// let embedded = ModelDelegate::new(providers, "local/llama3.2").persona("You help people with their calendar.");
/// # let _: Box<dyn dirigent_delegate::Delegate> = Box::new(embedded);
/// ```
#[derive(Clone)]
pub struct ModelDelegate {
    providers: Providers,
    default: String,
    persona: String,
}

impl ModelDelegate {
    /// Creates an agent. `default` is your default model, as `provider/model`, for tasks that name none.
    pub fn new(providers: Providers, default: impl Into<String>) -> Self {
        Self { providers, default: default.into(), persona: String::new() }
    }

    /// Sets the text that tells the model who it is. Empty by default.
    #[must_use]
    pub fn persona(mut self, text: impl Into<String>) -> Self {
        self.persona = text.into();
        self
    }
}

#[async_trait]
impl Delegate for ModelDelegate {
    async fn run(&self, task: Task) -> TaskOutcome {
        let model = task.model().unwrap_or(&self.default);
        let mut messages = Vec::with_capacity(2);
        if !self.persona.is_empty() {
            messages.push(ModelMessage::system(&self.persona));
        }
        messages.push(ModelMessage::User { text: task.prompt(), images: task.images().into() });
        let question = Question::new(messages).thinking(task.thinking());
        let outcome = match self.providers.answer(model, &question).await {
            Ok(answer) => {
                let token_usage = answer.usage.as_ref().map(TokenUsage::from);
                let outcome = match answer.text.trim() {
                    "" => TaskOutcome::partial("", "The model said nothing."),
                    text => TaskOutcome::success(text),
                };
                TaskOutcome { token_usage, ..outcome }
            }
            Err(error) => TaskOutcome::error(format!("The model {model} gave no answer: {error}.")),
        };
        TaskOutcome { model: Some(model.to_owned()), ..outcome }
    }

    fn check_model(&self, model: Option<&str>) -> Result<(), String> {
        self.providers.check(model.unwrap_or(&self.default))
    }
}

/// Hides the persona.
impl std::fmt::Debug for ModelDelegate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelDelegate").field("default", &self.default).finish_non_exhaustive()
    }
}
