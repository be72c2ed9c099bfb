//! What a scan found and did.

use std::io;

use dirigent::ports::Identity;
use dirigent::{AgentId, UserId};

use crate::error::BadFile;

/// What a scan of `ego.json` found and did.
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
    /// Whether there is a padded-cell to read from. If not, all lists are empty.
    pub detection: Detection,
    /// The entries that are new, in order.
    pub added: Vec<Identity>,
    /// The entries that were changed, with [`KnownAgents::Overwrite`](crate::ego::KnownAgents) only.
    pub changed: Vec<Identity>,
    /// The agents that the registry knew already, with the same account.
    pub unchanged: Vec<AgentId>,
    /// The agents that were passed over, and why.
    pub skipped: Vec<(AgentId, SkipReason)>,
    /// Where the file and the registry say different things, and the registry stayed as it is.
    pub conflicts: Vec<Conflict>,
    /// Agents whose name in the file has over 100 characters, or one that cannot be shown in a
    /// line, or is no text. Where they are new, their id is their name.
    pub names_refused: Vec<AgentId>,
}

impl EgoReport {
    /// A report of a scan that has done nothing yet.
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

    /// Whether padded-cell was detected: the file is there and declares accounts.
    pub fn is_detected(&self) -> bool {
        self.detection == Detection::Detected
    }
}

/// Whether there is a padded-cell to read from.
///
/// ```
/// use dirigent_store::ego::{Detection, EgoAbsent};
/// assert_ne!(Detection::Detected, Detection::Absent(EgoAbsent::NoFile));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is there or it is not")]
pub enum Detection {
    /// There is.
    Detected,
    /// There is none, or none that can be used, which comes to the same.
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
    /// The host said that padded-cell is not loaded.
    #[error("the host has not loaded padded-cell")]
    NotLoaded,
    /// The file does not exist.
    #[error("there is no file")]
    NoFile,
    /// The file cannot be read: no permission, a folder, a pipe.
    #[error("the file cannot be read: {0}")]
    Unreadable(io::ErrorKind),
    /// The file is not what padded-cell writes.
    #[error("the file cannot be used: {0}")]
    Malformed(BadFile),
    /// The file is fine, but declares no accounts.
    #[error("the file declares no column discord-id")]
    NoColumn,
}

/// Why an agent of `ego.json` was passed over.
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
    /// The account is no Discord id in quotes, or there are two.
    #[error("its discord-id is no Discord id in quotes")]
    BadAccount,
    /// The agent's id is blank, longer than 100 characters, or has characters that break a line or
    /// turn its direction.
    #[error("its id cannot be shown")]
    BadAgent,
    /// The agent stands there more than once.
    #[error("it stands in the file more than once")]
    NamedTwice,
    /// What stands under the agent's id is no object.
    #[error("it is no object")]
    NotAnObject,
    /// The account is the moderator's.
    #[error("its account is the moderator's")]
    Moderator,
    /// The registry could not be written.
    #[error("the registry could not be written")]
    StoreFailed,
}

/// The file and the registry disagree about an agent.
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
    /// The agent.
    pub agent: AgentId,
    /// Its account in the file.
    pub account: UserId,
    /// What the registry says.
    pub registry: ConflictKind,
}

/// What the registry says against the file.
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
    /// The account is this agent's.
    OwnedBy(AgentId),
}
