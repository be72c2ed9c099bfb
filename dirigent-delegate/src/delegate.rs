//! The trait of agents that work is delegated to. `task` is what such an agent gets, `delegate_fn` makes one of a
//! closure.

mod delegate_fn;
mod task;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

pub use delegate_fn::{DelegateFn, delegate_fn};
pub use task::Task;
pub(crate) use task::TaskParts;

use crate::config::OrchestratorConfig;
use crate::result::{DelegationStatus, TokenUsage};
use crate::terminal::plain;

/// An agent that carries out what the routing model delegates to it.
///
/// ```
/// use dirigent_delegate::{Delegate, TaskOutcome, Task};
///
/// struct Shout;
///
/// #[dirigent::async_trait]
/// impl Delegate for Shout {
///     async fn run(&self, task: Task) -> TaskOutcome {
///         TaskOutcome::success(task.message().to_uppercase())
///     }
/// }
/// ```
#[async_trait]
pub trait Delegate: Send + Sync + 'static {
    /// Carries out a task. Failures are results: there is no error beside them. A panic is a result with [`DelegationStatus::Error`].
    /// Escapes of terminals are removed from what it hands back and tells as progress.
    ///
    /// An agent that can say something by [`Task::deadline`] should: a second later the future is dropped, and what it had so
    /// far is lost but for the last [`Task::progress`].
    ///
    /// # Cancellation
    ///
    /// Dropped when the task is cancelled or late, at any await point. Nothing that the agent started may be left then: no
    /// process, no session that goes on.
    async fn run(&self, task: Task) -> TaskOutcome;

    /// Checks the model that the configuration gives this agent, `None` for the agent's own choice, when a router is built or
    /// configured. Default: every model is good.
    ///
    /// # Errors
    ///
    /// A sentence without its full stop that names the model and says what is wrong, for example that no provider has its name.
    fn check_model(&self, _model: Option<&str>) -> Result<(), String> {
        Ok(())
    }

    /// Returns whether the agent does one task at a time for each [session](Task::session_id). A task then waits for the one before it
    /// without a place, so that other sessions and agents have it. Default: it does not.
    fn is_single(&self, _config: &OrchestratorConfig) -> bool {
        false
    }
}

#[async_trait]
impl<D: Delegate + ?Sized> Delegate for Arc<D> {
    async fn run(&self, task: Task) -> TaskOutcome {
        (**self).run(task).await
    }

    fn check_model(&self, model: Option<&str>) -> Result<(), String> {
        (**self).check_model(model)
    }

    fn is_single(&self, config: &OrchestratorConfig) -> bool {
        (**self).is_single(config)
    }
}

/// How a task ended. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::{TaskOutcome, DelegationStatus};
///
/// let cut = TaskOutcome::partial("The first thousand lines.", "the output was too long");
/// assert_eq!(cut.status, DelegationStatus::Partial);
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct TaskOutcome {
    /// How it ended.
    pub status: DelegationStatus,
    /// What the agent said.
    pub output: String,
    /// What it made beside its text. Default none.
    pub artifacts: Vec<Value>,
    /// What went wrong, or what is missing.
    pub error_message: Option<String>,
    /// The model that it used. Default: the one that is configured.
    pub model: Option<String>,
    /// The tokens that it used. Default: not known.
    pub token_usage: Option<TokenUsage>,
}

impl TaskOutcome {
    /// Creates the outcome of a task that is done.
    pub fn success(output: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Success, output.into(), None)
    }

    /// Creates the outcome of a task that failed.
    pub fn error(message: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Error, String::new(), Some(message.into()))
    }

    /// Creates the outcome of a task that ended well, with something missing.
    pub fn partial(output: impl Into<String>, missing: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Partial, output.into(), Some(missing.into()))
    }

    /// Creates the outcome of a task whose time was over, with what was there by then.
    pub fn timeout(output: impl Into<String>, message: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Timeout, output.into(), Some(message.into()))
    }

    fn with(status: DelegationStatus, output: String, error_message: Option<String>) -> Self {
        let artifacts = Vec::new();
        Self { status, output, artifacts, error_message, model: None, token_usage: None }
    }

    /// The outcome without escapes of terminals in its texts.
    pub(crate) fn plain(mut self) -> Self {
        for text in std::iter::once(&mut self.output).chain(&mut self.error_message) {
            if let Cow::Owned(plain) = plain(text) {
                *text = plain;
            }
        }
        self
    }
}

impl fmt::Debug for TaskOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskOutcome")
            .field("status", &self.status)
            .field("output", &format_args!("{} bytes", self.output.len()))
            .field("has_error_message", &self.error_message.is_some())
            .finish_non_exhaustive()
    }
}
