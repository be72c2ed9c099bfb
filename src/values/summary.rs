//! What the initiator of a discussion hands over, and what becomes of it.

use serde::{Deserialize, Serialize};

/// The summary of a discussion, for its callback channel.
///
/// ```no_run
/// # async fn conclude(channel: dirigent::Channel<'_>) -> Result<(), dirigent::CallError> {
/// use dirigent::operate::Summary;
///
/// channel.conclude(&"planner".into(), Some(Summary::Text("We take SQLite.".into()))).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Summary {
    /// Where it is: a path, a link or a title, posted in one line and as plain text
    /// ([`Texts::result_template`](crate::settings::Texts::result_template)).
    Path(String),
    /// The summary itself, posted as it is, in several messages where it is longer than one
    /// ([`Texts::result_text_template`](crate::settings::Texts::result_text_template)). It pings no account. One without
    /// anything visible counts as none.
    Text(String),
}

/// What became of a discussion's result when the call that concluded it returned.
///
/// ```
/// use dirigent::operate::ResultPost;
/// assert_ne!(ResultPost::Posted, ResultPost::Queued);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ResultPost {
    /// It is in the callback channel.
    Posted,
    /// It is stored, and is posted as soon as that is possible, if need be after a restart.
    Queued,
    /// The discussion has no callback channel.
    Nowhere,
}
