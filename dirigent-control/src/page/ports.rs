//! Ports that your bot may implement.

use async_trait::async_trait;
use dirigent::AgentId;
use dirigent::replay::RecordedChannel;
use http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;

use crate::page::auth::VisitorRole;
use crate::page::look::LoggedOrder;

/// Your own check of visitors. It is asked if a request brings no token that you gave to the builder.
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
    /// Returns the rights of this visitor. `None` answers 401. The origin of changes is checked besides.
    async fn role(&self, request: &Parts) -> Option<VisitorRole>;

    /// Returns the visitor's name for the log of orders, with 1 to 100 characters in one line. It is asked after
    /// [`role`](Self::role) let the visitor in. Default: `None`, and the log says `operator`.
    async fn name(&self, request: &Parts) -> Option<String> {
        let _ = request;
        None
    }
}

/// The file `ego.json` of padded-cell, which can fill the registry. `dirigent-store` reads it, so that you implement each
/// method in two lines with its `ScannedIdentities`.
#[async_trait]
pub trait EgoFile: Send + Sync + 'static {
    /// Returns whether it is there and names accounts. Only then the page offers a scan.
    async fn is_there(&self) -> bool;

    /// Adds its agents to the registry.
    ///
    /// # Errors
    ///
    /// The reason why it was not scanned, as a sentence for people.
    async fn scan(&self) -> Result<ScanReport, String>;
}

/// Keeps the log of orders, so that it outlasts the process. Give it to
/// [`ControlBuilder::order_log`](crate::ControlBuilder::order_log). [`OrderFile`](crate::OrderFile) is one.
#[async_trait]
pub trait OrderStore: Send + Sync + 'static {
    /// Adds an order, which was carried out or refused already. Durable when it returns.
    ///
    /// # Errors
    ///
    /// The reason why it was not added, as a sentence for people. The library then logs a warning, and the order stands.
    async fn add(&self, order: &LoggedOrder) -> Result<(), String>;

    /// Returns at most `most` of the newest orders, the oldest first. It is called once, at the first look.
    ///
    /// # Errors
    ///
    /// The reason why they cannot be read, as a sentence for people. The next look calls it again.
    async fn newest(&self, most: usize) -> Result<Vec<LoggedOrder>, String>;
}

/// The outcome of a scan of `ego.json`, in lines for people.
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
    /// The entries that were skipped, with the reason.
    pub skipped: Vec<String>,
    /// The entries on which file and registry disagree.
    pub conflicts: Vec<String>,
}

impl ScanReport {
    /// Returns the lines under headings.
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
    /// The fault of the file, as a sentence for people.
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
    /// The recording.
    pub recorded: RecordedChannel,
}
