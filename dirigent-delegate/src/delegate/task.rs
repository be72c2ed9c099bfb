//! A task, as its agent sees it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use serde_json::Value;

use crate::config::OrchestratorConfig;
use crate::request::{Image, Thinking, UserRequest};
use crate::result::AgentResult;

/// The work of an agent, with everything that came with the person's message. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::{UserRequest, Task};
///
/// let task = Task::new("List the files.").with_request(UserRequest::new("session-1", "What is in here?"));
/// assert_eq!((task.message(), task.session_id()), ("List the files.", "session-1"));
/// ```
#[derive(Clone)]
pub struct Task {
    parts: TaskParts,
    progress: Option<Report>,
}

/// Receives the agent's work so far.
type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// A task without its channel for progress.
#[derive(Clone)]
pub(crate) struct TaskParts {
    pub(crate) message: String,
    pub(crate) arguments: Value,
    pub(crate) model: Option<String>,
    pub(crate) deadline: Timestamp,
    pub(crate) request: Arc<UserRequest>,
    pub(crate) config: Arc<OrchestratorConfig>,
    pub(crate) previous: Vec<AgentResult>,
}

impl Task {
    /// Creates a task for a test of your agent. It has no deadline and uses the default configuration. The methods that
    /// begin with `with` change that.
    pub fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        let request = UserRequest::new("", message.clone());
        let parts = TaskParts {
            message,
            arguments: Value::Null,
            model: None,
            deadline: Timestamp::from_millis(u64::MAX),
            request: Arc::new(request),
            config: Arc::default(),
            previous: Vec::new(),
        };
        Self { parts, progress: None }
    }

    pub(crate) fn linked(parts: TaskParts, progress: Report) -> Self {
        Self { parts, progress: Some(progress) }
    }

    /// Returns the task, delegated for this message of a person.
    #[must_use]
    pub fn with_request(mut self, request: UserRequest) -> Self {
        self.parts.request = Arc::new(request);
        self
    }

    /// Returns the task with this configuration.
    #[must_use]
    pub fn with_config(mut self, config: OrchestratorConfig) -> Self {
        self.parts.config = Arc::new(config);
        self
    }

    /// Returns the task with this model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.parts.model = Some(model.into());
        self
    }

    /// Returns the task with this deadline.
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Timestamp) -> Self {
        self.parts.deadline = deadline;
        self
    }

    /// Returns the task with these earlier results.
    #[must_use]
    pub fn with_previous(mut self, previous: Vec<AgentResult>) -> Self {
        self.parts.previous = previous;
        self
    }

    /// Returns the task with a function that receives its progress.
    #[must_use]
    pub fn on_progress(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(report));
        self
    }

    /// Returns the order of the routing model.
    pub fn message(&self) -> &str {
        &self.parts.message
    }

    /// Returns the whole order as one text. Below the message stand the earlier results, if they are passed on
    /// ([`RouterBuilder::chain`](crate::RouterBuilder::chain)).
    pub fn prompt(&self) -> Cow<'_, str> {
        if self.parts.previous.is_empty() {
            return Cow::Borrowed(&self.parts.message);
        }
        let mut prompt = format!("{}\n\nWhat other agents found before:", self.parts.message);
        for result in &self.parts.previous {
            prompt.extend(["\n\n**", &result.agent_name, ":**\n", &result.told()]);
        }
        Cow::Owned(prompt)
    }

    /// Returns the arguments of the call, as the routing model wrote them. They are null if the task comes from no
    /// call.
    pub const fn arguments(&self) -> &Value {
        &self.parts.arguments
    }

    /// Returns the agent's model, as `provider/model`. With `None` the agent chooses; the embedded agent then uses your
    /// default.
    pub fn model(&self) -> Option<&str> {
        self.parts.model.as_deref()
    }

    /// Returns the time by which the agent should end. Its future is dropped one second later.
    pub const fn deadline(&self) -> Timestamp {
        self.parts.deadline
    }

    /// Returns the person's message with everything that belongs to it.
    pub fn request(&self) -> &UserRequest {
        &self.parts.request
    }

    /// Returns the session of the message.
    pub fn session_id(&self) -> &str {
        &self.parts.request.session_id
    }

    /// Returns the images beside the person's message.
    pub fn images(&self) -> &[Image] {
        &self.parts.request.images
    }

    /// Returns how much the agent's model should think.
    pub fn thinking(&self) -> Option<Thinking> {
        self.parts.request.thinking
    }

    /// Returns the configuration that applied when the task was delegated.
    pub fn config(&self) -> &OrchestratorConfig {
        &self.parts.config
    }

    /// Returns the results of earlier delegations, if they are passed on. Otherwise the list is empty.
    pub fn previous(&self) -> &[AgentResult] {
        &self.parts.previous
    }

    /// Reports what the agent has said or done so far, and [`Router::events`](crate::Router::events) shows it. If the
    /// task runs out of time, the last report becomes its output.
    pub fn progress(&self, so_far: &str) {
        if let Some(report) = &self.progress {
            report(so_far);
        }
    }
}

impl fmt::Debug for TaskParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("message", &format_args!("{} bytes", self.message.len()))
            .field("model", &self.model)
            .field("deadline", &self.deadline)
            .field("previous", &self.previous.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.fmt(f)
    }
}
