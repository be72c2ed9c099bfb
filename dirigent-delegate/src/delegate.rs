//! The trait of agents that get work. `task` is what such an agent gets, and `delegate_fn` makes one from a closure.

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

/// An agent that performs what the routing model delegates to it.
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
    /// Performs a task. A failure is also an outcome, so there is no separate error. A panic becomes an outcome with
    /// [`DelegationStatus::Error`]. Escapes of terminals are removed from the outcome and from progress reports.
    ///
    /// If your agent has something to say by [`Task::deadline`], it should say it then. One second later the future is
    /// dropped, and only the last [`Task::progress`] remains.
    ///
    /// # Cancellation
    ///
    /// The future is dropped at any await point if the task is cancelled or late. Make sure that nothing the agent
    /// started outlives it, for example a process or a session.
    async fn run(&self, task: Task) -> TaskOutcome;

    /// Checks the model that the configuration gives this agent; `None` means the agent's own choice. It is called when
    /// a router is built or configured. By default every model passes.
    ///
    /// # Errors
    ///
    /// Returns a sentence without a full stop that names the model and the problem. For example, it says that no
    /// provider has this name.
    fn check_model(&self, _model: Option<&str>) -> Result<(), String> {
        Ok(())
    }

    /// Returns true if the agent does one task at a time for each [session](Task::session_id). A second task then waits
    /// for the first without holding a place, so that other sessions and agents can use it. Default false.
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

/// The outcome of a task. `Debug` shows no text.
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
    /// The status of the task at its end.
    pub status: DelegationStatus,
    /// The agent's text.
    pub output: String,
    /// The agent's products beside its text. Default none.
    pub artifacts: Vec<Value>,
    /// The failure, or what is missing.
    pub error_message: Option<String>,
    /// The model that the agent used. By default it is the configured one.
    pub model: Option<String>,
    /// The tokens that the agent used, if known.
    pub token_usage: Option<TokenUsage>,
}

impl TaskOutcome {
    /// Creates the outcome of a task that succeeded.
    pub fn success(output: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Success, output.into(), None)
    }

    /// Creates the outcome of a task that failed.
    pub fn error(message: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Error, String::new(), Some(message.into()))
    }

    /// Creates the outcome of a task that ended well, but with something missing.
    pub fn partial(output: impl Into<String>, missing: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Partial, output.into(), Some(missing.into()))
    }

    /// Creates the outcome of a task that ran out of time, with the output so far.
    pub fn timeout(output: impl Into<String>, message: impl Into<String>) -> Self {
        Self::with(DelegationStatus::Timeout, output.into(), Some(message.into()))
    }

    fn with(status: DelegationStatus, output: String, error_message: Option<String>) -> Self {
        let artifacts = Vec::new();
        Self { status, output, artifacts, error_message, model: None, token_usage: None }
    }

    /// Removes the escapes of terminals from the outcome's texts.
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
