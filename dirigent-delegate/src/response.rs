//! The answer of the orchestrator.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::result::{AgentKind, AgentResult, DelegationStatus, whole_millis};

/// The answer to a message: the texts to post, in order, and how they came about.
///
/// ```
/// use dirigent_delegate::{AgentKind, AgentResult, Response, Schedule, DelegationStatus};
///
/// let of = |name: &str, kind, status| AgentResult::new(name, kind, status);
/// let results = vec![
///     of("Research", AgentKind::Research, DelegationStatus::Success).with_output("Hooks first."),
///     of("OpenCode", AgentKind::OpenCode, DelegationStatus::Error).with_error("no such folder"),
/// ];
/// let response = Response::aggregate(results, Schedule::Parallel);
/// assert_eq!(response.payloads[0].text, "**Research:**\nHooks first.");
/// assert_eq!(response.payloads[1].text, "**OpenCode Error:**\nno such folder");
/// assert!(response.payloads[1].is_error);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Response {
    /// The texts to post.
    pub payloads: Vec<Payload>,
    /// The result of each agent, in the order of the calls.
    pub agent_results: Vec<AgentResult>,
    /// How the answer came about.
    pub meta: Meta,
}

/// A text to post. `Debug` hides it.
///
/// ```
/// let payload = dirigent_delegate::Payload::new("Hello!");
/// assert_eq!(serde_json::to_string(&payload)?, r#"{"text":"Hello!"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Payload {
    /// The text, as Markdown.
    pub text: String,
    /// True if the text reports a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl Payload {
    /// Creates a payload that reports no failure.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// Creates a payload that reports a failure.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = if self.is_error { ", error" } else { "" };
        write!(f, "Payload({} bytes{error})", self.text.len())
    }
}

/// How an answer came about. `Debug` hides the note.
///
/// ```
/// let meta = dirigent_delegate::Meta::default();
/// assert_eq!((meta.duration_ms, meta.delegated_agents.len()), (0, 0));
/// ```
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Meta {
    /// The time that the agents took, in milliseconds. For delegations at the same time it is the longest, otherwise
    /// the sum.
    pub duration_ms: u64,
    /// The time from the beginning of the message to its end, in milliseconds.
    pub wall_ms: u64,
    /// The routing model that answered, which may be a fall-back. It is empty if none answered.
    pub orchestrator_model: String,
    /// The kinds of the agents that got work, in the order of the calls. The list is empty if the routing model
    /// answered itself.
    pub delegated_agents: Vec<AgentKind>,
    /// What the routing model said beside its calls. It is not posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("duration_ms", &self.duration_ms)
            .field("wall_ms", &self.wall_ms)
            .field("orchestrator_model", &self.orchestrator_model)
            .field("delegated_agents", &self.delegated_agents)
            .field("has_note", &self.note.is_some())
            .finish()
    }
}

/// The order of a message's delegations.
///
/// ```
/// use dirigent_delegate::{Response, Schedule};
/// assert_eq!(Response::aggregate(Vec::new(), Schedule::Parallel).meta.duration_ms, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Schedule {
    /// At the same time, as far as the limit of running agents allows.
    Parallel,
    /// One after the other, in the order of the calls.
    Sequential,
}

impl Response {
    /// Puts results together, in their order. A single result is shown as it is. Several are shown below the names of
    /// their agents. A failure or a timeout becomes an error payload, with the agent's text so far marked below it. A
    /// partial result ends with a line that says so.
    ///
    /// [`Meta::wall_ms`], [`Meta::orchestrator_model`] and [`Meta::note`] stay empty, because results do not contain
    /// them.
    pub fn aggregate(results: Vec<AgentResult>, schedule: Schedule) -> Self {
        let is_one = results.len() == 1;
        let payloads = results.iter().map(|result| payload(result, is_one)).collect();
        let durations = results.iter().map(|result| result.duration_ms);
        let duration_ms = match schedule {
            Schedule::Parallel => durations.max().unwrap_or(0),
            Schedule::Sequential => durations.fold(0, u64::saturating_add),
        };
        let kinds = results.iter().map(|result| result.agent_type.clone());
        let delegated_agents = kinds.filter(|kind| *kind != AgentKind::Orchestrator).collect();
        let meta = Meta { duration_ms, delegated_agents, ..Meta::default() };
        Self { payloads, agent_results: results, meta }
    }

    pub(crate) fn with_wall(mut self, wall: Duration) -> Self {
        self.meta.wall_ms = whole_millis(wall);
        self
    }

    /// Returns the payloads as one text for a person, with an empty line between them.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.payloads.iter().map(|payload| payload.text.as_str()).collect();
        texts.join("\n\n")
    }
}

/// The heading above the output of an agent that failed, was late or was cancelled.
pub(crate) const WRITTEN: &str = "*Written until then:*";

/// The note on a partial result that does not say what is missing.
const PARTIAL: &str = "the result is not complete";

fn payload(result: &AgentResult, is_one: bool) -> Payload {
    let AgentResult { agent_name: name, output, error_message, .. } = result;
    let message = error_message.as_deref().filter(|message| !message.is_empty());
    match result.status {
        DelegationStatus::Error | DelegationStatus::Timeout => {
            let written = match message {
                Some(_) if !output.trim().is_empty() => format!("\n{WRITTEN}\n{output}"),
                Some(_) | None => String::new(),
            };
            Payload::error(format!("**{name} Error:**\n{}{written}", message.unwrap_or(output)))
        }
        DelegationStatus::Success | DelegationStatus::Partial => {
            let heading = if is_one { String::new() } else { format!("**{name}:**\n") };
            let note = match result.status {
                DelegationStatus::Partial if output.is_empty() => {
                    format!("*Partial: {}*", message.unwrap_or(PARTIAL))
                }
                DelegationStatus::Partial => format!("\n*Partial: {}*", message.unwrap_or(PARTIAL)),
                DelegationStatus::Success | DelegationStatus::Error | DelegationStatus::Timeout => {
                    String::new()
                }
            };
            Payload::new(format!("{heading}{output}{note}"))
        }
    }
}
