//! Many callers' work in one transaction: one wait for the disk answers them all.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

use super::open::keep_log;
use super::problem::Problems;
use super::refusal::{is_damage, refused};
use super::tables::Tables;
use crate::error::{Action, BadFile, StoreError};

/// Where an answer goes. Nobody may be waiting any more; what was asked is done all the same.
pub(super) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// One caller's work. It can be run again after its transaction was undone.
pub(super) trait Task: Send {
    /// Runs it.
    fn run(&mut self, tables: &mut Tables<'_>) -> Ran;

    /// Replaces what came of it.
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
    outcome: Option<Result<T, StoreError>>,
    answer: Answer<T>,
}

impl<T, F> Asked<T, F>
where
    F: FnMut(&mut Tables<'_>) -> Result<T, StoreError>,
{
    pub(super) const fn new(work: F, answer: Answer<T>) -> Self {
        Self { work, outcome: None, answer }
    }
}

impl<T, F> Task for Asked<T, F>
where
    T: Send,
    F: FnMut(&mut Tables<'_>) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, tables: &mut Tables<'_>) -> Ran {
        let outcome = (self.work)(tables);
        let ran = match &outcome {
            Err(error) if is_damage(error) => Ran::Damaged,
            Err(StoreError::Io { .. }) => Ran::Undo,
            Ok(_) | Err(_) => Ran::Sound,
        };
        self.outcome = Some(outcome);
        ran
    }

    fn fail(&mut self, error: StoreError) {
        self.outcome = Some(Err(error));
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            let _ = self.answer.send(outcome);
        }
    }
}

/// Why the store must not go on.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// A sync failed, or a transaction could not be undone.
    Broken,
    /// The database was damaged while it was open.
    Damaged,
}

/// What came of a transaction.
enum Attempt {
    /// It was committed.
    Made,
    /// It was undone; the error, unless its task has it.
    Undone(Option<StoreError>),
    /// Nobody knows.
    Doubtful(StoreError),
}

/// Runs the work of many in one transaction.
pub(super) struct Groups<'c, 'p> {
    tables: Tables<'c>,
    problems: &'p Problems,
    stop: Option<Stop>,
}

impl<'c, 'p> Groups<'c, 'p> {
    pub(super) const fn new(tables: Tables<'c>, problems: &'p Problems) -> Self {
        Self { tables, problems, stop: None }
    }

    /// Settles the work of a group: in one transaction, and if that fails, each by itself, so that
    /// nobody fails for another's sake.
    pub(super) fn settle(&mut self, group: &mut [Box<dyn Task>]) {
        if let Some(stop) = self.stop {
            for task in group {
                task.fail(self.stopped(stop));
            }
            return;
        }
        match self.attempt(group) {
            Attempt::Made => {
                self.tables.kept.drain(..).for_each(|problem| self.problems.push(problem));
            }
            Attempt::Undone(error) => {
                if let [task] = group {
                    if let Some(error) = error {
                        task.fail(error);
                    }
                } else {
                    group.chunks_mut(1).for_each(|alone| self.settle(alone));
                }
            }
            Attempt::Doubtful(error) => {
                self.stop(Stop::Broken);
                for task in group {
                    task.fail(again(&error));
                }
            }
        }
    }

    fn attempt(&mut self, group: &mut [Box<dyn Task>]) -> Attempt {
        let ran = catch_unwind(AssertUnwindSafe(|| self.run(group)));
        let attempt = ran.unwrap_or_else(|_| {
            Attempt::Undone(Some(StoreError::Interrupted { path: self.tables.path.to_owned() }))
        });
        if !matches!(attempt, Attempt::Made) && self.undo().is_err() {
            self.stop(Stop::Broken);
        }
        attempt
    }

    fn run(&mut self, group: &mut [Box<dyn Task>]) -> Attempt {
        let path = self.tables.path;
        if let Err(error) = self.tables.run.begin.execute([]) {
            return Attempt::Undone(Some(refused(path, Action::Write, &error)));
        }
        let is_alone = group.len() == 1;
        for task in group {
            match task.run(&mut self.tables) {
                Ran::Sound => {}
                Ran::Damaged if is_alone => {
                    self.stop(Stop::Damaged);
                    return Attempt::Undone(None);
                }
                Ran::Undo | Ran::Damaged => return Attempt::Undone(None),
            }
        }
        match self.tables.run.commit.execute([]) {
            Ok(_) => Attempt::Made,
            Err(error) => {
                let error = refused(path, Action::Write, &error);
                if error.is_failed_sync() {
                    Attempt::Doubtful(error)
                } else {
                    Attempt::Undone(Some(error))
                }
            }
        }
    }

    /// Undoes the transaction, unless SQLite did.
    fn undo(&mut self) -> Result<(), StoreError> {
        let path = self.tables.path;
        if !self.tables.conn.is_autocommit() {
            let undone = self.tables.run.rollback.execute([]);
            undone.map_err(|error| refused(path, Action::Write, &error))?;
        }
        match self.tables.forget() {
            Err(error) if is_damage(&error) => {
                self.stop(Stop::Damaged);
                Ok(())
            }
            other => other,
        }
    }

    /// Stops. What is on the disk stays as it is; whoever opens it next judges it.
    fn stop(&mut self, stop: Stop) {
        let _ = keep_log(self.tables.conn, true);
        self.stop.get_or_insert(stop);
    }

    fn stopped(&self, stop: Stop) -> StoreError {
        let path = self.tables.path.to_owned();
        match stop {
            Stop::Broken => StoreError::Broken { path },
            Stop::Damaged => StoreError::BadFile { path, source: BadFile::BadDatabase },
        }
    }
}

/// The same error once more: several callers wait for one sync.
fn again(error: &StoreError) -> StoreError {
    if let StoreError::Io { path, source, .. } = error {
        return StoreError::unknown(Action::Sync, path, source.kind().into());
    }
    StoreError::Interrupted { path: error.path().to_owned() }
}
