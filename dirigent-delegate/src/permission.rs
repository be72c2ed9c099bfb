//! What a coding agent may do.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// Decides what an agent may do.
pub(crate) type Decide = Arc<dyn Fn(&PermissionRequest) -> PermissionReply + Send + Sync>;

/// Something that a coding agent wants to do and asks about. `Debug` shows no path and no command.
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
    /// What sort it is: `edit`, `bash`, `webfetch` and the like.
    pub permission: String,
    /// What it is about: paths, commands, addresses.
    pub patterns: Vec<String>,
    /// What else the agent tells of it.
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
    /// It may, this time.
    Once,
    /// It may, and need not ask again in this session.
    Always,
    /// It may not.
    Reject,
}

impl PermissionReply {
    /// Its name in opencode's requests.
    #[cfg(feature = "serve")]
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Reject => "reject",
        }
    }
}
