//! The errors of the handle's calls.

use std::sync::Arc;

use dirigent_core::Refusal;
use dirigent_core::snapshot::RestoreError;

use crate::AgentId;
use crate::values::error::ApiError;
use crate::values::load_error::{Barred, LoadError};

/// The reason why a call failed. The call changed nothing, with two exceptions: after [`CallError::NotStored`] the
/// change is in force, and after [`CallError::Failed`] it may be.
///
/// ```
/// use dirigent::CallError;
/// assert!(CallError::NotRunning.to_string().contains("Driver::run"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The driver does not run yet. The call has waited for it for
    /// [`TimeLimits::call`](crate::settings::TimeLimits::call), by default ten seconds.
    #[error("the driver is not running; spawn Driver::run first")]
    NotRunning,
    /// The driver has ended.
    #[error("the driver has ended: {0}")]
    Ended(DriverEnd),
    /// The channel was never given a mode.
    #[error("the channel was never given a mode; set or create one first")]
    UnknownChannel,
    /// The chat has no such channel, or does not show it to the library's own account.
    #[error(
        "there is no such channel, or the bot is not in its server; check the id, and invite the bot"
    )]
    NoChannel,
    /// The registry does not know the agent.
    #[error("agent {0} is not registered; register it, then call identities_changed")]
    UnknownAgent(AgentId),
    /// The machine refused the input.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The channel has accepted the change, and it is in force, but the store did not accept it within
    /// [`TimeLimits::call`](crate::settings::TimeLimits::call). The driver keeps trying to store it. If the process
    /// ends before that succeeds, the change is lost.
    #[error(
        "the change is in force, but the store has not taken it in time; the driver goes on storing it"
    )]
    NotStored,
    /// The store, or the chat, failed.
    #[error(transparent)]
    Failed(#[from] ApiError),
    /// The channel's stored record cannot be read, and no agent may speak there. The text says what happened and what
    /// you can do. The record did not change.
    #[error(transparent)]
    Barred(#[from] Barred),
    /// Another process acts for the channel, or may do so soon. Ask that process, or ask again in some seconds.
    #[error(
        "another process acts for the channel, or may do so soon; ask there, or ask again in some seconds"
    )]
    Elsewhere,
    /// The stored channel cannot be used. It did not change.
    #[error(transparent)]
    Unreadable(#[from] RestoreError),
    /// A setting of the rules cannot work.
    #[error(transparent)]
    Config(#[from] dirigent_core::config::ConfigError),
}

/// The reason why the driver has ended.
///
/// ```
/// use dirigent::operate::DriverEnd;
/// assert_eq!(DriverEnd::ShutDown.to_string(), "it was shut down");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriverEnd {
    /// [`Dirigent::shutdown`](crate::Dirigent::shutdown) ended it, and may still be in progress.
    #[error("it was shut down")]
    ShutDown,
    /// It could not start. `Driver::run` returned an error with this text.
    #[error("{0}")]
    NotStarted(Arc<str>),
    /// The driver was dropped, or the future of `Driver::run` was dropped before it ended. For example, its task was
    /// aborted, or the executor ended.
    #[error(
        "the driver, or the future of Driver::run, was dropped; keep it for as long as the bot runs, for example with \
         tokio::spawn(driver.run())"
    )]
    Dropped,
    /// It panicked while it ran. `Driver::run` returned an error with this text.
    #[error("it panicked: {0}")]
    Panicked(Arc<str>),
}

impl From<LoadError> for CallError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Barred { barred, .. } => Self::Barred(barred),
            LoadError::Store(error) => Self::Failed(error),
        }
    }
}
