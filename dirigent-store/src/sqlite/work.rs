//! The thread through which all work goes. This decides which work waits, which work is done together, and when the
//! write-ahead log is emptied.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::group::Groups;
use super::open::Database;
use super::options::FileDurability;
use super::problem::SqliteProblem;
use super::sync::{Broken, Syncer};
use super::tables::Tables;
use super::task::Task;
use crate::error::StoreError;
use crate::problems::Problems;
use crate::worker::{About, Inbox, Jobs, now};

/// The most callers that one transaction answers.
const GROUP_MAX: usize = 1_024;

/// The write-ahead log is emptied after this time, so that erased data is in no file.
const EMPTY_AFTER: Duration = Duration::from_secs(60);

/// The work for one transaction.
struct Group {
    tasks: Vec<Box<dyn Task>>,
    kind: GroupKind,
    /// What the tasks are about.
    given: Vec<About>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKind {
    /// It changes no data.
    Reads,
    /// It may change data.
    Writes,
    /// No part of the data that it deletes may be left in the write-ahead log.
    Erases,
}

impl Group {
    /// Takes the reads that need not wait, or all other waiting work if there are none. Returns an empty group if only
    /// the log is due.
    fn take(inbox: &mut Inbox<Box<dyn Task>>, is_log_due: bool) -> Option<Self> {
        let mut group = Self { tasks: Vec::new(), kind: GroupKind::Reads, given: Vec::new() };
        while group.tasks.len() < GROUP_MAX {
            let Some((about, read)) = inbox.next_read() else { break };
            group.add(about, read);
        }
        if !group.tasks.is_empty() {
            return Some(group);
        }
        while group.tasks.len() < GROUP_MAX {
            let Some((about, task)) = inbox.next_of_rest() else { break };
            let kind = if task.erases() { GroupKind::Erases } else { GroupKind::Writes };
            group.kind = group.kind.max(kind);
            group.add(about, task);
        }
        (!group.tasks.is_empty() || is_log_due).then_some(group)
    }

    fn add(&mut self, about: About, task: Box<dyn Task>) {
        self.given.push(about);
        self.tasks.push(task);
    }
}

/// The data that the thread works on.
pub(super) struct Work {
    database: Database,
    history_max: usize,
    problems: Arc<Problems<SqliteProblem>>,
    /// Answers the commits. Without it the thread that commits does so, because there are no syncs.
    syncer: Option<Syncer>,
    broken: Broken,
}

impl Work {
    pub(super) fn new(
        database: Database,
        durability: FileDurability,
        history_max: usize,
        problems: Arc<Problems<SqliteProblem>>,
    ) -> Result<Self, StoreError> {
        let broken = Broken::default();
        let syncer = match durability {
            FileDurability::Full => Some(Syncer::start(&database.path, Arc::clone(&broken))?),
            FileDurability::None => None,
        };
        Ok(Self { database, history_max, problems, syncer, broken })
    }

    /// Works until the store is closed: takes all waiting jobs, commits them, and answers them.
    pub(super) fn run(self, jobs: &Jobs<Box<dyn Task>>) {
        let Self { database: Database { path, conn, lock }, history_max, problems, .. } = self;
        match Tables::new(&conn, &path, history_max) {
            Ok(tables) => {
                let mut groups = Groups::new(tables, &problems, self.broken);
                let mut log = Log::new();
                while let Some(Group { mut tasks, kind, mut given }) =
                    jobs.next(log.next_due(), |inbox| Group::take(inbox, log.is_due()))
                {
                    groups.settle(&mut tasks, &mut || {
                        let (about, read) = jobs.look(Inbox::next_read)?;
                        given.push(about);
                        Some(read)
                    });
                    jobs.look(|inbox| given.into_iter().for_each(|about| inbox.done(about)));
                    finish(&mut groups, &mut log, self.syncer.as_ref(), kind, tasks);
                }
            }
            // The database was readable when it was opened.
            Err(error) => tracing::error!(%error, "the database cannot be read any more"),
        }
        // All commits are answered before this returns.
        drop(self.syncer);
        // A caller that sees the closed store can open it again.
        drop(conn);
        drop(lock);
    }
}

/// Empties the write-ahead log if it is time, and has the group answered.
fn finish(
    groups: &mut Groups<'_, '_>,
    log: &mut Log,
    syncer: Option<&Syncer>,
    kind: GroupKind,
    mut tasks: Vec<Box<dyn Task>>,
) {
    if kind != GroupKind::Reads {
        log.written();
    }
    if (kind == GroupKind::Erases || log.is_due()) && !groups.is_stopped() {
        log.tried(groups.empty_log(&mut tasks));
    }
    if groups.is_stopped() {
        log.left();
    }
    match syncer {
        Some(syncer) if kind != GroupKind::Reads => syncer.answer(tasks),
        _ => tasks.into_iter().for_each(Task::answer),
    }
}

/// Knows when the write-ahead log must be emptied. The log has the data that was replaced since the last time.
struct Log {
    /// The time of the first write to it, or the time at which it last could not be emptied.
    since: Option<Instant>,
}

impl Log {
    const fn new() -> Self {
        Self { since: None }
    }

    fn written(&mut self) {
        self.since.get_or_insert_with(now);
    }

    /// Notes a try to empty the log. If it failed, the next try is due as if the log had been written to just now.
    fn tried(&mut self, is_empty: bool) {
        self.since = (!is_empty).then(now);
    }

    /// Notes that the log stays as it is. The store has stopped, and the next opening empties the log.
    fn left(&mut self) {
        self.since = None;
    }

    fn next_due(&self) -> Option<Instant> {
        self.since?.checked_add(EMPTY_AFTER)
    }

    fn is_due(&self) -> bool {
        self.next_due().is_some_and(|due| due <= now())
    }
}

#[cfg(test)]
mod tests {
    use dirigent::ChannelId;
    use tokio::sync::oneshot;

    use super::super::stage::{TestDatabase, ask, commit};
    use super::super::task::Asked;
    use super::*;
    use crate::error::{Action, BadFile};

    fn inbox(about: impl IntoIterator<Item = About>) -> Inbox<Box<dyn Task>> {
        let mut inbox = Inbox::<Box<dyn Task>>::default();
        for about in about {
            let (answer, _) = oneshot::channel();
            inbox.push(about, Box::new(Asked::new(|_: &mut Tables<'_>| Ok(()), false, answer)));
        }
        inbox
    }

    #[test]
    fn all_that_waits_is_one_group_up_to_a_limit() {
        let mut inbox = inbox((0..GROUP_MAX + 3).map(|_| About::Rest));
        assert_eq!(Group::take(&mut inbox, false).unwrap().tasks.len(), GROUP_MAX);
        assert_eq!(Group::take(&mut inbox, false).unwrap().tasks.len(), 3);
        assert!(Group::take(&mut inbox, false).is_none());
    }

    #[test]
    fn reads_that_wait_for_nothing_are_a_group_of_their_own() {
        let about = [ChannelId::new(1), ChannelId::new(2)].map(About::Change);
        let reads = [ChannelId::new(3), ChannelId::new(4), ChannelId::new(1)].map(About::Read);
        let mut inbox = inbox(about.into_iter().chain(reads));
        // The third read waits for the change of its channel.
        let kinds = [(2, GroupKind::Reads), (2, GroupKind::Writes), (1, GroupKind::Reads)];
        for expected in kinds {
            let group = Group::take(&mut inbox, false).unwrap();
            assert_eq!((group.tasks.len(), group.kind), expected);
            group.given.into_iter().for_each(|about| inbox.done(about));
        }
        assert!(Group::take(&mut inbox, false).is_none());
        // Without work, the log is emptied in time.
        let group = Group::take(&mut inbox, true).unwrap();
        assert_eq!((group.tasks.len(), group.kind), (0, GroupKind::Reads));
    }

    /// A missing sync would lose this. In this test the sync fails.
    #[test]
    fn a_commit_is_synced_before_it_is_answered_also_where_the_store_stops_beside_it() {
        let stage = TestDatabase::new();
        let syncer = Syncer::start(&stage.path, Arc::clone(&stage.broken)).unwrap();
        let mut groups = stage.groups();
        let mut tasks = Vec::new();
        let mut made = ask(&mut tasks, |tables| tables.add_agent(&"zoe".into()));
        let mut damaged = ask(&mut tasks, |tables| -> Result<(), _> {
            let path = tables.path.to_owned();
            Err(StoreError::BadFile { path, source: BadFile::BadDatabase })
        });
        groups.settle(&mut tasks, &mut || None);
        assert!(groups.is_stopped());
        stage.broken.set(()).unwrap();
        finish(&mut groups, &mut Log::new(), Some(&syncer), GroupKind::Writes, tasks);
        drop(syncer);
        let error = made.try_recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Io { action: Action::Sync, .. }), "{error}");
        let error = damaged.try_recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::BadFile { .. }), "{error}");
    }

    fn group(expected: u64) -> Vec<Box<dyn Task>> {
        let mut group = Vec::new();
        drop(ask(&mut group, move |tables| tables.commit(&commit(expected))));
        group
    }

    #[test]
    fn a_log_is_emptied_in_time_also_where_nothing_is_synced_and_again_where_that_failed() {
        let stage = TestDatabase::new();
        let mut groups = stage.groups();
        let mut log = Log::new();
        let written = || stage.log_length() > 0;
        let mut tasks = group(0);
        groups.settle(&mut tasks, &mut || None);
        finish(&mut groups, &mut log, None, GroupKind::Writes, tasks);
        assert!(log.next_due().is_some() && !log.is_due() && written());
        // The log is not emptied while it is read.
        let mut reader = stage.conn.prepare("SELECT * FROM channels").unwrap();
        let mut rows = reader.query([]).unwrap();
        assert!(rows.next().unwrap().is_some());
        log.since = now().checked_sub(EMPTY_AFTER);
        finish(&mut groups, &mut log, None, GroupKind::Reads, Vec::new());
        assert!(log.next_due().is_some() && !log.is_due() && written());
        drop(rows);
        log.since = now().checked_sub(EMPTY_AFTER);
        finish(&mut groups, &mut log, None, GroupKind::Reads, Vec::new());
        assert!(log.next_due().is_none() && !written());
    }

    #[test]
    fn a_store_that_has_stopped_waits_for_nothing_but_work() {
        let stage = TestDatabase::new();
        let mut groups = stage.groups();
        let mut log = Log::new();
        let mut tasks = group(0);
        groups.settle(&mut tasks, &mut || None);
        finish(&mut groups, &mut log, None, GroupKind::Writes, tasks);
        assert!(log.next_due().is_some());
        // The thread that syncs has failed; this one learns of it when the log is to be emptied.
        stage.broken.set(()).unwrap();
        log.since = now().checked_sub(EMPTY_AFTER);
        for (mut tasks, kind) in [
            (Vec::new(), GroupKind::Reads),
            (group(1), GroupKind::Writes),
            (group(1), GroupKind::Erases),
        ] {
            groups.settle(&mut tasks, &mut || None);
            finish(&mut groups, &mut log, None, kind, tasks);
            assert_eq!(log.next_due(), None, "{kind:?}");
        }
    }
}
