//! What an agent hands back.

use std::fmt;
use std::time::Duration;

use dirigent_llm::Usage;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// What came of one delegation, or of an answer of the routing model itself. `Debug` shows no text.
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
    /// What kind of agent it is.
    pub agent_type: AgentKind,
    /// How it ended.
    pub status: DelegationStatus,
    /// What it said; if it failed, was late or was cancelled, what it had said until then.
    pub output: String,
    /// What it made beside its text, in a form of the agent's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Value>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// How long it took, in milliseconds. The time in the queue is not counted.
    pub duration_ms: u64,
    /// The model that it used, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tokens that it used, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
}

impl AgentResult {
    /// Creates a result without output that took no time.
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

    /// Returns the same result with this output.
    #[must_use]
    pub fn with_output(mut self, output: impl Into<String>) -> Self {
        self.output = output.into();
        self
    }

    /// Returns the same result with this error message.
    #[must_use]
    pub fn with_error(mut self, message: impl Into<String>) -> Self {
        self.error_message = Some(message.into());
        self
    }

    /// What other models read of it: what it brought, and what is missing.
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

    /// Returns the same result with this duration.
    #[must_use]
    pub fn with_duration(mut self, duration: Duration) -> Self {
        self.duration_ms = whole_millis(duration);
        self
    }
}

/// A duration in whole milliseconds; the longest that there are at most.
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

/// How a delegation ended.
///
/// ```
/// assert_eq!(serde_json::to_string(&dirigent_delegate::DelegationStatus::Timeout)?, "\"timeout\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the four that a result knows")]
pub enum DelegationStatus {
    /// It did what it was asked for.
    Success,
    /// It failed.
    Error,
    /// It ended well, and something is missing: it said nothing, or its output was cut.
    Partial,
    /// Its time was over, or the message's.
    Timeout,
}

/// What kind of agent it is. In JSON it is a text; the name of an agent of the host's own stands for itself.
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
    /// The agent that searches.
    Research,
    /// The host's own agent.
    Embedded,
    /// The routing model, which answered itself.
    Orchestrator,
    /// An agent that the host registered, by its name.
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
    /// Tokens of the prompts.
    pub input: u64,
    /// Tokens of the answers.
    pub output: u64,
}

impl From<&Usage> for TokenUsage {
    fn from(usage: &Usage) -> Self {
        Self { input: usage.prompt_tokens, output: usage.reply_tokens }
    }
}
