//! The thread that gives the disk what waits for it.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dirigent::ChannelId;

use super::folders::{Folders, number_of};
use super::job::Job;
use super::sync::{SyncQueue, Waiting, Write};
use super::turn_log::{self, Grown};
use crate::disk::{Replacement, sync_folder};
use crate::error::StoreError;
use crate::worker::{Inbox, Receiver, Sender};

/// What the thread works with.
#[derive(Debug)]
pub(super) struct Syncing {
    pub(super) queue: Arc<SyncQueue>,
    pub(super) folders: Arc<Folders>,
    pub(super) given: Receiver<Waiting>,
    /// Takes the results.
    pub(super) jobs: Sender<Inbox<Job>>,
    /// Folders that the disk is known to have.
    pub(super) durable: BTreeSet<u8>,
}

impl Syncing {
    /// Gives the disk what it is to be given, until the end.
    pub(super) fn run(mut self) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work())).unwrap_or_else(|_| {
            let path = self.folders.root().to_owned();
            self.queue.broke(&path);
            Err(StoreError::Interrupted { path })
        });
        self.tell(Job::SyncEnded(outcome));
    }

    /// Tells the thread that everything passes; after a panic there is none any more.
    fn tell(&self, job: Job) {
        self.jobs.change(|jobs| (jobs.push(job), true));
    }

    fn work(&mut self) -> Result<(), StoreError> {
        let mut last = Ok(());
        while let Some(batch) = self.given.next() {
            self.sync_facts(batch.facts);
            self.delete(batch.deletions);
            // After the first failure nothing is synced any more.
            last = last.and(self.sync_log(&batch.log, batch.emptied));
            self.sync_turns(batch.turns);
            self.sync_folders(batch.folders);
            if batch.rolls {
                self.tell(Job::Roll);
            }
        }
        last
    }

    fn sync_facts(&mut self, facts: Vec<Write>) {
        for (Write { channel, revision, .. }, outcome) in self.write(facts) {
            self.tell(Job::Fact { channel, revision, outcome });
        }
    }

    fn delete(&self, channels: Vec<ChannelId>) {
        for channel in channels {
            let outcome = self.queue.check().and_then(|()| self.folders.remove(channel));
            if let Err(error) = &outcome {
                self.queue.note(error, error.path());
            }
            self.tell(Job::Deleted { channel, outcome });
        }
    }

    /// One sync a file makes all turns in it durable. Files that are empty go afterwards: what they held stands in
    /// those that were synced.
    fn sync_log(&self, log: &[Grown], emptied: Vec<PathBuf>) -> Result<(), StoreError> {
        // What could not be synced before may stand in no other file.
        self.queue.check()?;
        let mut synced = log.iter().map(Grown::sync);
        synced
            .try_for_each(|synced| synced)
            .inspect_err(|error| self.queue.note(error, error.path()))?;
        turn_log::remove(emptied);
        Ok(())
    }

    /// A turn stays in the log until it is in its channel's file.
    fn sync_turns(&mut self, turns: Vec<Write>) {
        for (Write { channel, revision, .. }, outcome) in self.write(turns) {
            if let Err(error) = &outcome {
                tracing::warn!(%channel, %error, "a turn of the log could not be written into its channel's file");
            }
            self.tell(Job::Turn { channel, revision, outcome });
        }
    }

    /// What a process before us put into these folders may never have been synced.
    fn sync_folders(&mut self, folders: Vec<u8>) {
        for number in folders {
            let folder = self.folders.folder(number);
            if let Err(error) = self.sync_folder(number) {
                self.queue.note(&error, &folder);
            }
        }
    }

    /// Writes all, syncs all, puts all in their places, and syncs each folder once.
    fn write(&mut self, writes: Vec<Write>) -> Vec<(Write, Result<(), StoreError>)> {
        let folders = Arc::clone(&self.folders);
        let paths: Vec<_> = writes.iter().map(|write| folders.file(write.channel)).collect();
        let mut staged = Vec::with_capacity(writes.len());
        for (write, path) in writes.iter().zip(&paths) {
            staged.push(self.stage(path, &write.content));
        }
        let hold = self.queue.hold();
        let placed: Vec<_> = staged.into_iter().map(|new| new.and_then(Replacement::put)).collect();
        drop(hold);
        let mut synced = HashMap::new();
        let mut outcomes = Vec::with_capacity(writes.len());
        for ((write, path), placed) in writes.into_iter().zip(&paths).zip(placed) {
            let outcome = placed.and_then(|()| {
                let number = number_of(write.channel);
                let folder = synced.entry(number).or_insert_with(|| self.sync_folder(number));
                folder.as_ref().copied().map_err(StoreError::again)
            });
            if let Err(error) = &outcome {
                self.queue.note(error, path);
            }
            outcomes.push((write, outcome));
        }
        outcomes
    }

    fn stage<'a>(&self, path: &'a Path, content: &[u8]) -> Result<Replacement<'a>, StoreError> {
        self.queue.check()?;
        let mut new = Replacement::write(path, content)?;
        new.sync()?;
        Ok(new)
    }

    /// Syncs a folder, and once the one above, which names it.
    fn sync_folder(&mut self, number: u8) -> Result<(), StoreError> {
        if !self.durable.contains(&number) {
            sync_folder(self.folders.channels())?;
            self.durable.insert(number);
        }
        sync_folder(&self.folders.folder(number))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use dirigent::store::Revision;

    use super::*;
    use crate::disk::steps::{Step, fail};
    use crate::worker::{self, Queue, now};

    /// A channel's file and a file of the log, and the thread that is to sync something.
    struct SyncingStage {
        home: tempfile::TempDir,
        file: PathBuf,
        log: PathBuf,
        told: Receiver<Inbox<Job>>,
        syncing: Syncing,
    }

    const HERE: ChannelId = ChannelId::new(7);

    impl SyncingStage {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            let folders = Arc::new(Folders::below(home.path().to_owned()).unwrap());
            let (file, log) = (folders.file(HERE), home.path().join("turns-1.log"));
            fs::create_dir(file.parent().unwrap()).unwrap();
            for path in [&file, &log] {
                fs::write(path, "old").unwrap();
            }
            let (queue, given) = SyncQueue::new(Vec::new(), Duration::ZERO);
            let (jobs, told) = worker::queue(Inbox::default());
            let durable = BTreeSet::new();
            let syncing = Syncing { queue: Arc::new(queue), folders, given, jobs, durable };
            Self { home, file, log, told, syncing }
        }

        /// Does what waits. Returns what came of it, the end last.
        fn run(self) -> (tempfile::TempDir, Vec<Result<(), StoreError>>, bool) {
            let Self { home, told, syncing, .. } = self;
            let queue = Arc::clone(&syncing.queue);
            queue.close();
            syncing.run();
            let mut ended = Vec::new();
            while let Some(job) = told.look(|jobs| jobs.take(now(), false)) {
                if let Job::Deleted { outcome, .. } = job {
                    ended.push(outcome.map(drop));
                } else if let Job::Fact { outcome, .. } | Job::SyncEnded(outcome) = job {
                    ended.push(outcome);
                }
            }
            (home, ended, queue.check().is_err())
        }
    }

    fn write() -> Write {
        Write { channel: HERE, revision: Revision::new(2), content: b"new".to_vec() }
    }

    /// After a failed sync it is not known what the disk has: what it may be needed for stays.
    #[test]
    fn nothing_is_removed_or_written_once_a_sync_failed() {
        let stage = SyncingStage::new();
        let (queue, file, log) = (&stage.syncing.queue, stage.file.clone(), stage.log.clone());
        queue.broke(stage.home.path());
        queue.push_fact(write());
        queue.push_deletion(HERE);
        queue.remove(vec![log.clone()]);
        let (_home, ended, _) = stage.run();
        assert_eq!(ended.len(), 3);
        assert!(ended.iter().all(|ended| matches!(ended, Err(StoreError::Broken { .. }))));
        assert!([&file, &log].iter().all(|path| fs::read(path).unwrap() == b"old"));
    }

    #[test]
    fn a_sync_that_fails_ends_the_store_whatever_it_was_for() {
        type Push = fn(&SyncingStage) -> Step;
        let pushes: [Push; 5] = [
            |stage| {
                stage.syncing.queue.push_fact(write());
                Step::SyncFile(stage.file.clone())
            },
            |stage| {
                stage.syncing.queue.push_fact(write());
                Step::SyncFolder(stage.file.parent().unwrap().to_owned())
            },
            |stage| {
                stage.syncing.queue.push_turn(write());
                Step::SyncFolder(stage.file.parent().unwrap().to_owned())
            },
            |stage| {
                stage.syncing.queue.push_deletion(HERE);
                Step::SyncFolder(stage.file.parent().unwrap().to_owned())
            },
            |stage| {
                let file = Arc::new(fs::File::open(&stage.log).unwrap());
                let (path, synced) = (stage.log.clone(), Arc::default());
                stage.syncing.queue.grew(Grown { path, file, is_new: false, length: 3, synced });
                Step::SyncFile(stage.log.clone())
            },
        ];
        for (number, push) in pushes.into_iter().enumerate() {
            let stage = SyncingStage::new();
            fail(push(&stage));
            let (_home, ended, is_broken) = stage.run();
            assert!(is_broken, "{number}: {ended:?}");
        }
    }
}
