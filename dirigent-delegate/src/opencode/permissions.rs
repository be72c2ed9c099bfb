//! What opencode may do.

use std::fmt;

use serde_json::Value;

/// Something that opencode wants to do and asks about. `Debug` shows no path and no command.
///
/// ```
/// use dirigent_delegate::{OpenCode, PermissionReply};
///
/// let coder = OpenCode::new().permissions(|wanted| match wanted.permission.as_str() {
///     "edit" => PermissionReply::Once,
///     _ => PermissionReply::Reject,
/// });
/// # drop(coder);
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Permission {
    /// What sort it is: `edit`, `bash`, `webfetch` and the like.
    pub permission: String,
    /// What it is about: paths, commands, addresses.
    pub patterns: Vec<String>,
    /// What else opencode tells of it.
    pub metadata: Value,
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permission")
            .field("permission", &self.permission)
            .field("patterns", &self.patterns.len())
            .finish_non_exhaustive()
    }
}

/// The answer to a [`Permission`].
///
/// ```
/// assert_ne!(dirigent_delegate::PermissionReply::Once, dirigent_delegate::PermissionReply::Reject);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the three that opencode knows")]
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
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Reject => "reject",
        }
    }
}
