//! The stages of the driver's life.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DriverStage {
    /// `run` was not called yet.
    NotStarted = 0,
    /// `run` is reading the stores.
    Starting = 1,
    /// Calls are answered.
    Running = 2,
    /// The driver accepts no new calls, and finishes its work in progress.
    Stopping = 3,
    /// The driver drops the rest of its work.
    Ending = 4,
    /// `run` has returned or was dropped.
    Ended = 5,
}
