//! The work for one caller in a transaction, and its answer.

use super::refusal::is_damage;
use super::tables::Tables;
use crate::error::StoreError;
use crate::worker::Answer;

/// The work for one caller. It can run again after its transaction was undone.
pub(super) trait Task: Send {
    /// Runs the work.
    fn run(&mut self, tables: &mut Tables<'_>) -> Ran;

    /// Returns true if no part of the data that it deletes may be left in the write-ahead log.
    fn erases(&self) -> bool;

    /// Makes the work fail, unless it has failed already.
    fn fail(&mut self, error: StoreError);

    /// Sends the result to the caller.
    fn answer(self: Box<Self>);
}

/// What must happen to a transaction after the work has run in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// It can be committed. Refused work changed nothing.
    Sound,
    /// It must be undone.
    Undo,
    /// It must be undone because the database is damaged.
    Damaged,
}

/// Work with its caller.
pub(super) struct Asked<T, F> {
    work: F,
    erases: bool,
    outcome: Option<Result<T, StoreError>>,
    answer: Answer<T>,
}

impl<T, F> Asked<T, F>
where
    F: FnMut(&mut Tables<'_>) -> Result<T, StoreError>,
{
    /// Creates work. If it erases, no part of the data that it deletes may be left in the write-ahead log.
    pub(super) const fn new(work: F, erases: bool, answer: Answer<T>) -> Self {
        Self { work, erases, outcome: None, answer }
    }
}

impl<T, F> Task for Asked<T, F>
where
    T: Send,
    F: FnMut(&mut Tables<'_>) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, tables: &mut Tables<'_>) -> Ran {
        // The result from a transaction that was undone does not count.
        self.outcome = None;
        let outcome = (self.work)(tables);
        let ran = match &outcome {
            Err(error) if is_damage(error) => Ran::Damaged,
            Err(StoreError::Io { .. }) => Ran::Undo,
            Ok(_) | Err(_) => Ran::Sound,
        };
        self.outcome = Some(outcome);
        ran
    }

    fn erases(&self) -> bool {
        self.erases
    }

    fn fail(&mut self, error: StoreError) {
        if !matches!(self.outcome, Some(Err(_))) {
            self.outcome = Some(Err(error));
        }
    }

    fn answer(self: Box<Self>) {
        let Self { work, outcome, answer, .. } = *self;
        // The commit is dropped first, because the caller reuses its memory.
        drop(work);
        if let Some(outcome) = outcome {
            let _ = answer.send(outcome);
        }
    }
}
