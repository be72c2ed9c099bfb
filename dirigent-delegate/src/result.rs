//! The result of an agent.

use std::fmt;
use std::time::Duration;

use dirigent_llm::Usage;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The result of one delegation, or an answer of the routing model itself. `Debug` shows no text.
///
/// ```
/// use dirigent_delegate::{AgentKind, AgentResult, DelegationStatus};
///
/// let result = AgentResult::new("OpenCode", AgentKind::OpenCode, DelegationStatus::Success).with_output("Done.");
/// let json = serde_json::to_value(&result)?;
/// assert_eq!(json["agentType"], "opencode");
/// assert_eq!((&json["status"], &json["durationMs"]), (&"success".into(), &0.into()));
/// assert!(json.get("errorMessage").is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentResult {
    /// The agent's name, as people see it.
    pub agent_name: String,
    /// The kind of the agent.
    pub agent_type: AgentKind,
    /// The status of the delegation at its end.
    pub status: DelegationStatus,
    /// The agent's text. If it failed, was late or was cancelled, this is the text so far.
    pub output: String,
    /// The agent's products beside its text, in a form of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Value>,
    /// The failure, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The time that it took, in milliseconds, without the time in the queue.
    pub duration_ms: u64,
    /// The model that the agent used, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tokens that the agent used, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
}

impl AgentResult {
    /// Creates a result without output and with a duration of zero.
    pub fn new(name: impl Into<String>, kind: AgentKind, status: DelegationStatus) -> Self {
        Self {
            agent_name: name.into(),
            agent_type: kind,
            status,
            output: String::new(),
            artifacts: Vec::new(),
            error_message: None,
            duration_ms: 0,
            model: None,
            token_usage: None,
        }
    }

    /// Returns the result with this output.
    #[must_use]
    pub fn with_output(mut self, output: impl Into<String>) -> Self {
        self.output = output.into();
        self
    }

    /// Returns the result with this error message.
    #[must_use]
    pub fn with_error(mut self, message: impl Into<String>) -> Self {
        self.error_message = Some(message.into());
        self
    }

    /// Returns the text for other models: the output, and what is missing.
    pub(crate) fn told(&self) -> String {
        let (output, error) = (&self.output, self.error_message.as_deref().unwrap_or_default());
        let written = if output.trim().is_empty() { "" } else { &format!("{output}\n") };
        match self.status {
            DelegationStatus::Success => output.clone(),
            DelegationStatus::Partial => format!("{written}(partial: {error})"),
            DelegationStatus::Error => format!("{written}(failed: {error})"),
            DelegationStatus::Timeout => format!("{written}(its time was over: {error})"),
        }
    }

    /// Returns the result with this duration.
    #[must_use]
    pub fn with_duration(mut self, duration: Duration) -> Self {
        self.duration_ms = whole_millis(duration);
        self
    }
}

/// Returns a duration in whole milliseconds, at most `u64::MAX`.
pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for AgentResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentResult")
            .field("agent_type", &self.agent_type)
            .field("status", &self.status)
            .field("output", &format_args!("{} bytes", self.output.len()))
            .field("has_error_message", &self.error_message.is_some())
            .field("duration_ms", &self.duration_ms)
            .finish_non_exhaustive()
    }
}

/// The status of a delegation that has ended.
///
/// ```
/// assert_eq!(serde_json::to_string(&dirigent_delegate::DelegationStatus::Timeout)?, "\"timeout\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the four that a result knows")]
pub enum DelegationStatus {
    /// The agent did its task.
    Success,
    /// The agent failed.
    Error,
    /// The agent ended well, but something is missing: its text, or the rest of a long output.
    Partial,
    /// The agent or the message ran out of time.
    Timeout,
}

/// The kind of an agent. In JSON it is a text. For an agent of your own it is that agent's name.
///
/// ```
/// use dirigent_delegate::AgentKind;
///
/// assert_eq!(AgentKind::from("embedded"), AgentKind::Embedded);
/// assert_eq!(AgentKind::from("translator").as_str(), "translator");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AgentKind {
    /// The coding agent.
    OpenCode,
    /// The search agent.
    Research,
    /// Your product's own agent.
    Embedded,
    /// The routing model, if it answered itself.
    Orchestrator,
    /// An agent that you registered, by its name.
    Host(Box<str>),
}

impl AgentKind {
    /// Returns its name in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::OpenCode => "opencode",
            Self::Research => "research",
            Self::Embedded => "embedded",
            Self::Orchestrator => "orchestrator",
            Self::Host(name) => name,
        }
    }
}

impl From<&str> for AgentKind {
    fn from(name: &str) -> Self {
        match name {
            "opencode" => Self::OpenCode,
            "research" => Self::Research,
            "embedded" => Self::Embedded,
            "orchestrator" => Self::Orchestrator,
            name => Self::Host(name.into()),
        }
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for AgentKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AgentKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from(&*String::deserialize(deserializer)?))
    }
}

/// The tokens of one or more requests to a model.
///
/// ```
/// let usage = dirigent_delegate::TokenUsage { input: 900, output: 40 };
/// assert_eq!(serde_json::to_string(&usage)?, r#"{"input":900,"output":40}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct TokenUsage {
    /// The tokens of the prompts.
    pub input: u64,
    /// The tokens of the answers.
    pub output: u64,
}

impl From<&Usage> for TokenUsage {
    fn from(usage: &Usage) -> Self {
        Self { input: usage.prompt_tokens, output: usage.reply_tokens }
    }
}
