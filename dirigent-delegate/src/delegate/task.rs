//! A task, as the agent that has it sees it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use dirigent::ports::Timestamp;
use serde_json::Value;

use crate::config::OrchestratorConfig;
use crate::request::{Image, Thinking, UserRequest};
use crate::result::AgentResult;

/// What an agent is to do, with all that the message brought. `Debug` shows no text.
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

/// Takes what an agent has so far.
type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// A task as it is decided, without the way back of its progress.
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
    /// Creates a task for a test of an agent: without a deadline, under the default configuration. The methods that begin with
    /// `with` add to it.
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

    /// Returns the same task, delegated for this message of a person.
    #[must_use]
    pub fn with_request(mut self, request: UserRequest) -> Self {
        self.parts.request = Arc::new(request);
        self
    }

    /// Returns the same task, under this configuration.
    #[must_use]
    pub fn with_config(mut self, config: OrchestratorConfig) -> Self {
        self.parts.config = Arc::new(config);
        self
    }

    /// Returns the same task for this model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.parts.model = Some(model.into());
        self
    }

    /// Returns the same task with this deadline.
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Timestamp) -> Self {
        self.parts.deadline = deadline;
        self
    }

    /// Returns the same task after these results.
    #[must_use]
    pub fn with_previous(mut self, previous: Vec<AgentResult>) -> Self {
        self.parts.previous = previous;
        self
    }

    /// Returns the same task, whose progress is given to this function.
    #[must_use]
    pub fn on_progress(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(report));
        self
    }

    /// Returns what the routing model wants done.
    pub fn message(&self) -> &str {
        &self.parts.message
    }

    /// Returns what the agent is to do as one text: the message, and below it the results that came before, where results are handed
    /// on ([`RouterBuilder::chain`](crate::RouterBuilder::chain)).
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

    /// Returns the arguments of the call, as the routing model wrote them; null where the task comes from no call.
    pub const fn arguments(&self) -> &Value {
        &self.parts.arguments
    }

    /// Returns the agent's model, as `provider/model`. `None`: the agent's own choice, for the embedded agent the host's default.
    pub fn model(&self) -> Option<&str> {
        self.parts.model.as_deref()
    }

    /// Returns the moment by which the agent should have ended. A second later its future is dropped.
    pub const fn deadline(&self) -> Timestamp {
        self.parts.deadline
    }

    /// Returns the person's message with what belongs to it.
    pub fn request(&self) -> &UserRequest {
        &self.parts.request
    }

    /// Returns the session that the message belongs to.
    pub fn session_id(&self) -> &str {
        &self.parts.request.session_id
    }

    /// Returns the images beside the person's message.
    pub fn images(&self) -> &[Image] {
        &self.parts.request.images
    }

    /// Returns how much the agent's model is to think.
    pub fn thinking(&self) -> Option<Thinking> {
        self.parts.request.thinking
    }

    /// Returns the configuration under which the task was decided.
    pub fn config(&self) -> &OrchestratorConfig {
        &self.parts.config
    }

    /// Returns the results of the delegations before this one, where results are handed on; otherwise none.
    pub fn previous(&self) -> &[AgentResult] {
        &self.parts.previous
    }

    /// Tells what the agent has said or done so far: [`Router::events`](crate::Router::events) shows it. What was told last is the
    /// output of a task whose time is over.
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
