//! Permissions of coding agents.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// Decides what an agent may do.
pub(crate) type Decide = Arc<dyn Fn(&PermissionRequest) -> PermissionReply + Send + Sync>;

/// A coding agent's request for permission. `Debug` shows no path and no command.
///
/// ```
/// use dirigent_delegate::{PermissionRequest, PermissionReply};
///
/// let policy = |wanted: &PermissionRequest| match wanted.permission.as_str() {
///     "edit" => PermissionReply::Once,
///     _ => PermissionReply::Reject,
/// };
/// # let _ = policy;
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The kind of action, for example `edit`, `bash` or `webfetch`.
    pub permission: String,
    /// The paths, commands or addresses that the request is about.
    pub patterns: Vec<String>,
    /// Further details from the agent.
    pub metadata: Value,
}

impl fmt::Debug for PermissionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionRequest")
            .field("permission", &self.permission)
            .field("patterns", &self.patterns.len())
            .finish_non_exhaustive()
    }
}

/// The answer to a [`PermissionRequest`].
///
/// ```
/// assert_ne!(dirigent_delegate::PermissionReply::Once, dirigent_delegate::PermissionReply::Reject);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the three that opencode and the protocol know")]
pub enum PermissionReply {
    /// Allowed this time.
    Once,
    /// Allowed for the rest of the session, without asking again.
    Always,
    /// Not allowed.
    Reject,
}

impl PermissionReply {
    /// Returns the name in opencode's requests.
    #[cfg(feature = "serve")]
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Reject => "reject",
        }
    }
}
