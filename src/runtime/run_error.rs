//! Why the driver could not start.

use crate::values::error::ApiError;

/// Why the driver could not start.
///
/// ```
/// use dirigent::ports::{ApiError, ErrorKind};
/// use dirigent::host::RunError;
/// let error = RunError::Discord(ApiError::new(ErrorKind::Unauthorized));
/// assert!(error.to_string().contains("token is not valid"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The chat did not say which account this is.
    #[error("the chat did not answer at the start: {0}")]
    Discord(#[source] ApiError),
    /// The registry could not be read.
    #[error("the registry could not be read: {0}")]
    Identities(#[source] ApiError),
    /// The channels could not be read.
    #[error("the channel store could not be read: {0}")]
    Channels(#[source] ApiError),
}
