//! One caller's work in a transaction, and its answer.

use super::refusal::is_damage;
use super::tables::Tables;
use crate::error::StoreError;
use crate::worker::Answer;

/// One caller's work. It can be run again after its transaction was undone.
pub(super) trait Task: Send {
    /// Runs it.
    fn run(&mut self, tables: &mut Tables<'_>) -> Ran;

    /// Whether nothing of what it deletes may be left in the write-ahead log.
    fn erases(&self) -> bool;

    /// It failed, unless it did already.
    fn fail(&mut self, error: StoreError);

    /// Tells the caller what came of it.
    fn answer(self: Box<Self>);
}

/// What became of the transaction in which work was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// It can be committed; refused work changed nothing.
    Sound,
    /// It must be undone.
    Undo,
    /// It must be undone, for the database is damaged.
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
    pub(super) const fn new(work: F, answer: Answer<T>) -> Self {
        Self { work, erases: false, outcome: None, answer }
    }

    /// Work of which nothing may be left in the write-ahead log.
    pub(super) const fn erasing(work: F, answer: Answer<T>) -> Self {
        Self { work, erases: true, outcome: None, answer }
    }
}

impl<T, F> Task for Asked<T, F>
where
    T: Send,
    F: FnMut(&mut Tables<'_>) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, tables: &mut Tables<'_>) -> Ran {
        // What came of it in a transaction that was undone is of no account.
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
        // Who asked uses the memory of a commit again.
        drop(work);
        if let Some(outcome) = outcome {
            let _ = answer.send(outcome);
        }
    }
}
