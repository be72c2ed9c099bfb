//! The traits that your bot can implement.

use async_trait::async_trait;
use dirigent::AgentId;
use dirigent::replay::RecordedChannel;
use dirigent::snapshot::AgentKey;
use http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;

use crate::drawing::{WhatIf, WhatIfAsked};
use crate::page::auth::VisitorRole;
use crate::page::look::LoggedOrder;

/// Your own check of visitors. It is called if a request has none of the tokens that you gave to the builder.
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
    /// Returns the role of this visitor. If you return `None`, the page answers with the status 401. The page checks
    /// the origin of changes by itself.
    async fn role(&self, request: &Parts) -> Option<VisitorRole>;

    /// Returns the visitor's name for the log of orders, with 1 to 100 characters in one line. It is called after
    /// [`role`](Self::role) has admitted the visitor. Default: `None`, so that the log says `operator`.
    async fn name(&self, request: &Parts) -> Option<String> {
        let _ = request;
        None
    }
}

/// The file `ego.json` of padded-cell, which can fill the registry. `dirigent-store` can read it: with its
/// `ScannedIdentities` you implement each method in two lines.
#[async_trait]
pub trait EgoFile: Send + Sync + 'static {
    /// Returns true if the file is there and declares accounts. The page offers a scan only then.
    async fn is_there(&self) -> bool;

    /// Adds the agents of the file to the registry.
    ///
    /// # Errors
    ///
    /// Return the reason why the file was not scanned, as a sentence for people.
    async fn scan(&self) -> Result<ScanReport, String>;
}

/// Stores the log of orders beyond the end of the process. Pass it to
/// [`ControlBuilder::order_log`](crate::ControlBuilder::order_log). For example, [`OrderFile`](crate::OrderFile) is
/// such a store.
#[async_trait]
pub trait OrderStore: Send + Sync + 'static {
    /// Adds an order that was already performed or refused. It must be durable when this returns.
    ///
    /// # Errors
    ///
    /// Return the reason why it was not added, as a sentence for people. The library then logs a warning, and the order
    /// still counts.
    async fn add(&self, order: &LoggedOrder) -> Result<(), String>;

    /// Returns at most `most` of the newest orders, the oldest one first. It is called once, when the first page asks
    /// for the log.
    ///
    /// # Errors
    ///
    /// Return the reason why they cannot be read, as a sentence for people. The next page then calls it again.
    async fn newest(&self, most: usize) -> Result<Vec<LoggedOrder>, String>;
}

/// The result of a scan of `ego.json`, in lines for people.
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
    /// The agents that were already in the registry without a difference.
    pub unchanged: Vec<String>,
    /// The entries that were skipped, each with the reason.
    pub skipped: Vec<String>,
    /// The entries that differ between the file and the registry.
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

/// Reads recordings that people upload as files. `dirigent-store` has such a reader, which is
/// `ChannelRecording::parse`.
pub trait ReadRecording: Send + Sync + 'static {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Return the fault of the file, as a sentence for people.
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

/// Plays a recording again under other rules. `dirigent-lab` has such a player, which is `program::compare`.
pub trait PlayWhatIf: Send + Sync + 'static {
    /// Plays the recording under these rules. `name` returns the names of agents. It is called on a thread for blocking
    /// work, at most two at the same time, and nothing ends it from outside. So limit the work.
    ///
    /// # Errors
    ///
    /// Return the fault of the rules or of the recording, as a sentence for people.
    fn play(
        &self,
        recorded: &RecordedChannel,
        name: &dyn Fn(AgentKey) -> Option<AgentId>,
        asked: &WhatIfAsked,
    ) -> Result<WhatIf, String>;
}

impl<F> PlayWhatIf for F
where
    F: Fn(
            &RecordedChannel,
            &dyn Fn(AgentKey) -> Option<AgentId>,
            &WhatIfAsked,
        ) -> Result<WhatIf, String>
        + Send
        + Sync
        + 'static,
{
    fn play(
        &self,
        recorded: &RecordedChannel,
        name: &dyn Fn(AgentKey) -> Option<AgentId>,
        asked: &WhatIfAsked,
    ) -> Result<WhatIf, String> {
        self(recorded, name, asked)
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
    /// The names of the agents.
    pub agents: Vec<AgentId>,
    /// The recorded inputs.
    pub recorded: RecordedChannel,
}
