//! The text that a person posts as the moderator.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A text that is posted as the moderator. `Debug` shows only its length.
///
/// ```
/// let text: dirigent_control::PostText = serde_json::from_str(r#""a secret""#)?;
/// assert_eq!(format!("{text:?}"), "8 bytes");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(transparent)]
pub struct PostText(pub(crate) String);

impl fmt::Debug for PostText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}
