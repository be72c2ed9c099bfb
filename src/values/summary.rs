//! The summary that the initiator of a discussion delivers, and what happens to it.

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
    /// The place of the summary: a path, a link or a title. It is posted in one line and as plain text
    /// ([`Texts::result_template`](crate::settings::Texts::result_template)).
    Path(String),
    /// The summary itself. It is posted without changes, in several messages if it is longer than one
    /// ([`Texts::result_text_template`](crate::settings::Texts::result_text_template)). It pings no account. A summary
    /// without any visible text counts as none.
    Text(String),
}

/// The state of a discussion's result when the call that concluded the discussion returned.
///
/// ```
/// use dirigent::operate::ResultPost;
/// assert_ne!(ResultPost::Posted, ResultPost::Queued);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ResultPost {
    /// The result is in the callback channel.
    Posted,
    /// The result is stored, and is posted as soon as possible, if need be after a restart.
    Queued,
    /// The discussion has no callback channel.
    Nowhere,
}
