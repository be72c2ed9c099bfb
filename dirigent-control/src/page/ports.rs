//! What a host may plug in.

use async_trait::async_trait;
use dirigent::AgentId;
use dirigent::replay::RecordedChannel;
use http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;

use crate::page::auth::VisitorRole;
use crate::page::look::LoggedOrder;

/// A host's own check of who may come in, asked where a request brings no token of ours.
///
/// ```
/// use dirigent_control::{Check, VisitorRole};
///
/// struct BehindProxy;
///
/// #[dirigent::async_trait]
/// impl Check for BehindProxy {
///     async fn role(&self, request: &http::request::Parts) -> Option<VisitorRole> {
///         let groups = request.headers.get("x-groups")?.to_str().ok()?;
///         groups.split(',').any(|group| group == "ops").then_some(VisitorRole::Operator)
///     }
/// }
/// # let _ = BehindProxy;
/// ```
#[async_trait]
pub trait Check: Send + Sync + 'static {
    /// What this visitor may do; `None` answers 401. Changes are checked for their origin all the same.
    async fn role(&self, request: &Parts) -> Option<VisitorRole>;

    /// Who this visitor is, for the log of orders: 1 to 100 characters in one line. It is asked after [`role`](Self::role) let the
    /// visitor in. Default: `None`, which the log names `operator`.
    async fn name(&self, request: &Parts) -> Option<String> {
        let _ = request;
        None
    }
}

/// The file `ego.json` of padded-cell, from which the registry can be filled. `dirigent-store` reads it; an
/// implementation with its `ScannedIdentities` has two lines each.
#[async_trait]
pub trait EgoFile: Send + Sync + 'static {
    /// Whether it is there and names accounts: exactly then the page offers to scan it.
    async fn is_there(&self) -> bool;

    /// Scans it into the registry.
    ///
    /// # Errors
    ///
    /// Why nothing was scanned, as a sentence for people.
    async fn scan(&self) -> Result<ScanReport, String>;
}

/// Keeps the log of orders, so that it outlasts the process; given to
/// [`ControlBuilder::order_log`](crate::ControlBuilder::order_log). [`OrderFile`](crate::OrderFile) is one.
#[async_trait]
pub trait OrderStore: Send + Sync + 'static {
    /// Adds an order, which was carried out or refused already. Durable when it returns.
    ///
    /// # Errors
    ///
    /// Why it was not added, as a sentence for people. The library's log then says so, and the order stays given.
    async fn add(&self, order: &LoggedOrder) -> Result<(), String>;

    /// The newest orders, at most `most`, the oldest first. Asked once, at the first look.
    ///
    /// # Errors
    ///
    /// Why they cannot be read, as a sentence for people. They are asked for again at the next look.
    async fn newest(&self, most: usize) -> Result<Vec<LoggedOrder>, String>;
}

/// What a scan of `ego.json` did, in lines for people.
///
/// ```
/// let report = dirigent_control::ScanReport::default();
/// assert!(report.added.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts build")]
pub struct ScanReport {
    /// The agents that are new.
    pub added: Vec<String>,
    /// The agents that were changed.
    pub changed: Vec<String>,
    /// The agents that the registry knew as they are.
    pub unchanged: Vec<String>,
    /// What was passed over, and why.
    pub skipped: Vec<String>,
    /// Where file and registry disagree.
    pub conflicts: Vec<String>,
}

impl ScanReport {
    /// What there is to tell, under headings.
    pub(crate) fn told(&self) -> Vec<(&'static str, String)> {
        let lines = [
            ("Added", &self.added),
            ("Changed", &self.changed),
            ("Unchanged", &self.unchanged),
            ("Passed over", &self.skipped),
            ("In conflict", &self.conflicts),
        ];
        let told = lines.into_iter().filter(|(_, lines)| !lines.is_empty());
        told.map(|(heading, lines)| (heading, lines.join(", "))).collect()
    }
}

/// Reads recordings that people bring as files. `dirigent-store` has such a reader: `ChannelRecording::parse`.
pub trait ReadRecording: Send + Sync + 'static {
    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as a sentence for people.
    fn read(&self, text: &str) -> Result<RecordingFile, String>;
}

impl<F> ReadRecording for F
where
    F: Fn(&str) -> Result<RecordingFile, String> + Send + Sync + 'static,
{
    fn read(&self, text: &str) -> Result<RecordingFile, String> {
        self(text)
    }
}

/// A recording with the names of its agents, in the order of their keys.
///
/// ```
/// use dirigent::replay::RecordedChannel;
/// use dirigent::snapshot::Snapshot;
/// use dirigent_control::RecordingFile;
/// let recorded = RecordedChannel::new(Default::default(), Snapshot::default());
/// assert!(RecordingFile { agents: Vec::new(), recorded }.agents.is_empty());
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts build")]
pub struct RecordingFile {
    /// The names.
    pub agents: Vec<AgentId>,
    /// What was recorded.
    pub recorded: RecordedChannel,
}
