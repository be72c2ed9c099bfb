//! The report of a scan.

use std::io;

use dirigent::ports::Identity;
use dirigent::{AgentId, UserId};

use crate::error::BadFile;

/// The result of a scan of `ego.json`.
///
/// ```
/// use dirigent::MemoryIdentities;
/// use dirigent_store::ego::{Detection, EgoAbsent, EgoOptions, scan_ego};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dirigent::ports::ApiError> {
/// let registry = MemoryIdentities::new();
/// let report = scan_ego("/nowhere/ego.json", &registry, &EgoOptions::default()).await?;
/// assert_eq!(report.detection, Detection::Absent(EgoAbsent::NoFile));
/// assert!(report.added.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EgoReport {
    /// Tells you if there is a padded-cell to read from. If not, all lists are empty.
    pub detection: Detection,
    /// The entries that are new, in order.
    pub added: Vec<Identity>,
    /// The entries that were changed. There are some only with
    /// [`KnownAgents::Overwrite`](crate::ego::KnownAgents).
    pub changed: Vec<Identity>,
    /// The agents that were already in the registry with the same account.
    pub unchanged: Vec<AgentId>,
    /// The agents that were skipped, each with the reason.
    pub skipped: Vec<(AgentId, SkipReason)>,
    /// The differences between the file and the registry. The registry was not changed there.
    pub conflicts: Vec<Conflict>,
    /// The agents with a name in the file that was refused. Such a name has more than 100
    /// characters, cannot be shown in a line, or is not text. A new agent gets its id as its name.
    pub names_refused: Vec<AgentId>,
}

impl EgoReport {
    /// Returns the report of a scan that has not changed anything yet.
    pub(super) const fn new(detection: Detection) -> Self {
        Self {
            detection,
            added: Vec::new(),
            changed: Vec::new(),
            unchanged: Vec::new(),
            skipped: Vec::new(),
            conflicts: Vec::new(),
            names_refused: Vec::new(),
        }
    }

    /// Returns true if padded-cell was detected: the file exists and declares accounts.
    pub fn is_detected(&self) -> bool {
        self.detection == Detection::Detected
    }
}

/// Tells you if a scan found a padded-cell to read from.
///
/// ```
/// use dirigent_store::ego::{Detection, EgoAbsent};
/// assert_ne!(Detection::Detected, Detection::Absent(EgoAbsent::NoFile));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there or it is not")]
pub enum Detection {
    /// There is a padded-cell.
    Detected,
    /// There is none, or its file cannot be used, which has the same effect.
    Absent(EgoAbsent),
}

/// Why there is no padded-cell to read from.
///
/// ```
/// use dirigent_store::ego::EgoAbsent;
/// assert_eq!(EgoAbsent::NoColumn.to_string(), "the file declares no column discord-id");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgoAbsent {
    /// Your program said that padded-cell is not loaded.
    #[error("the host has not loaded padded-cell")]
    NotLoaded,
    /// The file does not exist.
    #[error("there is no file")]
    NoFile,
    /// The file cannot be read. For example, the permission is missing, or the path is a folder or a
    /// pipe.
    #[error("the file cannot be read: {0}")]
    Unreadable(io::ErrorKind),
    /// The file is not in the form that padded-cell writes.
    #[error("the file cannot be used: {0}")]
    Malformed(BadFile),
    /// The file is valid, but it declares no accounts.
    #[error("the file declares no column discord-id")]
    NoColumn,
}

/// Why an agent of `ego.json` was skipped.
///
/// ```
/// use dirigent_store::ego::SkipReason;
/// assert_eq!(SkipReason::NoAccount.to_string(), "it has no discord-id");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// The account is missing, empty or blank.
    #[error("it has no discord-id")]
    NoAccount,
    /// The account is not a Discord id in quotes, or there are two accounts.
    #[error("its discord-id is no Discord id in quotes")]
    BadAccount,
    /// The agent's id is blank, is longer than 100 characters, or has characters that break a line
    /// or change the direction of the text.
    #[error("its id cannot be shown")]
    BadAgent,
    /// The file has the agent more than once.
    #[error("it stands in the file more than once")]
    NamedTwice,
    /// The value of the agent is not an object.
    #[error("it is no object")]
    NotAnObject,
    /// The account is the moderator's.
    #[error("its account is the moderator's")]
    Moderator,
    /// The registry could not be written.
    #[error("the registry could not be written")]
    StoreFailed,
}

/// A difference between the file and the registry.
///
/// ```
/// use dirigent::UserId;
/// use dirigent_store::ego::{Conflict, ConflictKind};
///
/// let conflict = Conflict {
///     agent: "poet".into(),
///     account: UserId::new(123456789012345678),
///     registry: ConflictKind::OwnedBy("developer".into()),
/// };
/// assert_eq!(conflict.agent.as_str(), "poet");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "who, what, and against what")]
pub struct Conflict {
    /// The agent that it is about.
    pub agent: AgentId,
    /// The agent's account in the file.
    pub account: UserId,
    /// The registry's entry instead.
    pub registry: ConflictKind,
}

/// The registry's entry that differs from the file's.
///
/// ```
/// use dirigent::UserId;
/// use dirigent_store::ego::ConflictKind;
/// assert_ne!(ConflictKind::OtherAccount(UserId::new(1)), ConflictKind::OwnedBy("poet".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "by agent or by account")]
pub enum ConflictKind {
    /// The agent has this account.
    OtherAccount(UserId),
    /// The account belongs to this agent.
    OwnedBy(AgentId),
}
