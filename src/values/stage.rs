//! How far the driver's life got.

/// How far the driver's life got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DriverStage {
    /// `run` was not called yet.
    NotStarted = 0,
    /// `run` is reading the stores.
    Starting = 1,
    /// Calls are answered.
    Running = 2,
    /// No new calls; what is under way is finished.
    Stopping = 3,
    /// What is still under way is dropped.
    Ending = 4,
    /// Over: `run` has returned or was dropped.
    Ended = 5,
}
