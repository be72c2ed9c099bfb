//! Puts the work of many callers into one transaction, so that one wait for the disk answers them all.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::open::{empty_log, keep_log};
use super::problem::SqliteProblem;
use super::refusal::{is_damage, refused};
use super::sync::Broken;
use super::tables::Tables;
use super::task::{Ran, Task};
use crate::error::{Action, BadFile, StoreError};
use crate::problems::Problems;

/// Why the store must not go on.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// A sync failed, or a transaction could not be undone.
    Broken,
    /// The database was damaged while it was open.
    Damaged,
}

enum Attempt {
    Made,
    /// It was undone. The error is here unless its task already has it.
    Undone(Option<StoreError>),
    /// It is unknown whether it was committed.
    Doubtful(StoreError),
}

/// Returns the next read that need not wait, if there is one.
pub(super) type Reads<'r> = dyn FnMut() -> Option<Box<dyn Task>> + 'r;

/// Runs the work of many callers in one transaction.
pub(super) struct Groups<'c, 'p> {
    tables: Tables<'c>,
    problems: &'p Problems<SqliteProblem>,
    /// Set if the log could not be synced.
    broken: Broken,
    stop: Option<Stop>,
    /// Reads that failed inside the transaction of other tasks. Each is tried again by itself.
    failed_reads: Vec<Box<dyn Task>>,
}

impl<'c, 'p> Groups<'c, 'p> {
    pub(super) const fn new(
        tables: Tables<'c>,
        problems: &'p Problems<SqliteProblem>,
        broken: Broken,
    ) -> Self {
        Self { tables, problems, broken, stop: None, failed_reads: Vec::new() }
    }

    /// Runs the tasks of a group in one transaction. If that fails, it runs each task by itself, so that no task
    /// fails because of another one. Between two tasks it answers the `reads` that arrived in the meantime. These are
    /// of channels that the group does not change.
    pub(super) fn settle(&mut self, group: &mut [Box<dyn Task>], reads: &mut Reads<'_>) {
        if self.stop.is_none() && self.broken.get().is_some() {
            self.stop(Stop::Broken);
        }
        if let Some(stop) = self.stop {
            for task in group {
                task.fail(self.stopped(stop));
            }
            return;
        }
        let attempt = self.attempt(group, reads);
        while let Some(mut read) = self.failed_reads.pop() {
            self.settle(std::slice::from_mut(&mut read), &mut || None);
            read.answer();
        }
        match attempt {
            Attempt::Made => {
                self.tables.found.drain(..).for_each(|problem| self.problems.push(problem));
            }
            Attempt::Undone(error) => {
                if let [task] = group {
                    if let Some(error) = error {
                        task.fail(error);
                    }
                } else {
                    group.chunks_mut(1).for_each(|alone| self.settle(alone, reads));
                }
            }
            Attempt::Doubtful(error) => {
                self.stop(Stop::Broken);
                for task in group {
                    task.fail(error.again());
                }
            }
        }
    }

    fn attempt(&mut self, group: &mut [Box<dyn Task>], reads: &mut Reads<'_>) -> Attempt {
        let ran = catch_unwind(AssertUnwindSafe(|| self.run(group, reads)));
        let attempt = ran.unwrap_or_else(|_| {
            Attempt::Undone(Some(StoreError::Interrupted { path: self.tables.path.to_owned() }))
        });
        if !matches!(attempt, Attempt::Made) && self.undo().is_err() {
            self.stop(Stop::Broken);
        }
        attempt
    }

    fn run(&mut self, group: &mut [Box<dyn Task>], reads: &mut Reads<'_>) -> Attempt {
        let path = self.tables.path;
        if let Err(error) = self.tables.run.begin.execute([]) {
            return Attempt::Undone(Some(refused(path, Action::Write, &error)));
        }
        let is_alone = group.len() == 1;
        for task in group {
            while let Some(mut read) = reads() {
                if read.run(&mut self.tables) == Ran::Sound {
                    read.answer();
                } else {
                    self.failed_reads.push(read);
                }
            }
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

    /// Undoes the transaction, unless SQLite has already done so.
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

    /// Stops the work. The data on the disk stays as it is, and the next opening checks it.
    fn stop(&mut self, stop: Stop) {
        let _ = keep_log(self.tables.conn, true);
        self.stop.get_or_insert(stop);
    }

    /// Empties the write-ahead log. If that fails, the tasks that erase fail as well, because the data that they
    /// deleted is still readable in the log. The other tasks were done, unless the failure is a failed sync. Returns
    /// true if the log is empty.
    pub(super) fn empty_log(&mut self, tasks: &mut [Box<dyn Task>]) -> bool {
        let Err(error) = empty_log(self.tables.conn, self.tables.path) else { return true };
        tracing::error!(%error, "the write-ahead log could not be emptied");
        let is_failed_sync = error.is_failed_sync();
        if is_failed_sync {
            self.stop(Stop::Broken);
        }
        for task in tasks.iter_mut().filter(|task| is_failed_sync || task.erases()) {
            task.fail(error.again());
        }
        false
    }

    /// Returns true if all work is refused from now on.
    pub(super) const fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    fn stopped(&self, stop: Stop) -> StoreError {
        let path = self.tables.path.to_owned();
        match stop {
            Stop::Broken => StoreError::Broken { path },
            Stop::Damaged => StoreError::BadFile { path, source: BadFile::BadDatabase },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use dirigent::snapshot::AgentKey;
    use dirigent::store::Revision;
    use dirigent::{AgentId, ChannelId};

    use super::super::stage::{TestDatabase, ask, commit, erase};
    use super::super::tables::channels;
    use super::*;

    fn add(agent: &str) -> impl FnMut(&mut Tables<'_>) -> Result<AgentKey, StoreError> + use<> {
        let agent = AgentId::from(agent);
        move |tables| tables.add_agent(&agent)
    }

    #[test]
    fn a_group_waits_for_the_disk_once() {
        let stage = TestDatabase::new();
        let mut groups = stage.groups();
        let before = stage.log_length();
        let mut group = Vec::new();
        let answers: Vec<_> = (0..500)
            .map(|expected| {
                let commit = commit(expected);
                ask(&mut group, move |tables| tables.commit(&commit))
            })
            .collect();
        groups.settle(&mut group, &mut || None);
        // 500 transactions would have written a page each.
        assert!(stage.log_length() - before < 20 * 4_096);
        group.into_iter().for_each(Task::answer);
        for (mut answer, number) in answers.into_iter().zip(1..) {
            let made = answer.try_recv().unwrap().unwrap();
            assert_eq!(made, Ok(Revision::new(number)));
        }
    }

    #[test]
    fn who_fails_fails_alone() {
        let stage = TestDatabase::new();
        let mut groups = stage.groups();
        let mut group = Vec::new();
        let mut first = ask(&mut group, add("zoe"));
        let mut refused = ask(&mut group, |tables| -> Result<(), _> {
            tables.add_agent(&"ghost".into())?;
            let full = io::ErrorKind::StorageFull.into();
            Err(StoreError::not_done(Action::Write, tables.path, full))
        });
        let mut panicked = ask(&mut group, |tables| -> Result<(), _> {
            tables.commit(&commit(0))?.unwrap();
            panic!("on purpose")
        });
        let mut last = ask(&mut group, add("adam"));
        groups.settle(&mut group, &mut || None);
        group.into_iter().for_each(Task::answer);
        assert_eq!(first.try_recv().unwrap().unwrap(), AgentKey::new(0));
        let error = refused.try_recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Io { action: Action::Write, .. }), "{error}");
        let error = panicked.try_recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Interrupted { .. }), "{error}");
        assert_eq!(last.try_recv().unwrap().unwrap(), AgentKey::new(1));
        // Neither in memory nor in the database is anything left of the others.
        let mut tables = Tables::new(&stage.conn, &stage.path, 0).unwrap();
        for tables in [&mut groups.tables, &mut tables] {
            assert_eq!(tables.agents(), ["zoe", "adam"].map(AgentId::from));
            assert_eq!(channels(tables).unwrap(), []);
        }
    }

    #[test]
    fn a_log_that_cannot_be_emptied_fails_what_erases_and_nothing_else() {
        let stage = TestDatabase::new();
        let mut groups = stage.groups();
        let mut group = Vec::new();
        let mut made = ask(&mut group, |tables| tables.commit(&commit(0)));
        let mut erased = erase(&mut group, ChannelId::new(8));
        groups.settle(&mut group, &mut || None);
        // The log is not emptied while it is read.
        let mut reader = stage.conn.prepare("SELECT * FROM channels").unwrap();
        let mut rows = reader.query([]).unwrap();
        assert!(rows.next().unwrap().is_some());
        assert!(!groups.empty_log(&mut group));
        assert!(!groups.is_stopped());
        drop(rows);
        assert!(groups.empty_log(&mut []));
        group.into_iter().for_each(Task::answer);
        assert_eq!(made.try_recv().unwrap().unwrap(), Ok(Revision::new(1)));
        let error = erased.try_recv().unwrap().unwrap_err();
        assert_eq!(error.certainty(), dirigent::ports::Certainty::Unknown, "{error}");
    }

    #[test]
    fn after_a_failed_sync_nothing_is_done_any_more() {
        let stage = TestDatabase::new();
        let mut groups = stage.groups();
        groups.stop(Stop::Broken);
        let mut group = Vec::new();
        let mut answer = ask(&mut group, |tables| -> Result<(), _> {
            tables.add_agent(&"ghost".into())?;
            panic!("it was run")
        });
        groups.settle(&mut group, &mut || None);
        group.into_iter().for_each(Task::answer);
        let error = answer.try_recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Broken { .. }), "{error}");
    }
}
