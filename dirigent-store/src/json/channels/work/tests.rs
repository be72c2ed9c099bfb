//! What becomes of turns, facts and deletions that fail, without threads and with the moment given.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dirigent::store::{ChannelRecord, Durability};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::super::options::ChannelOptions;
use super::super::sync::{Batch, ROLL_AFTER, Waiting};
use super::*;
use crate::disk::steps::{Step, fail};
use crate::error::Action;
use crate::record::parse_channel;
use crate::worker::{Queue, now};

const HERE: ChannelId = ChannelId::new(7);

/// What a newer version may have written.
const NEWER: &str = "{\"version\": 3}";

/// The work of a store whose threads were not started. No turn is synced for its own sake.
struct WorkStage {
    folder: TempDir,
    work: Work,
    /// The side of the thread that syncs.
    given: Receiver<Waiting>,
}

impl WorkStage {
    fn open(folder: TempDir) -> Self {
        let options = ChannelOptions::new(folder.path()).sync_after(Duration::from_secs(3_600));
        let (work, given) = Work::open(options).unwrap();
        let stage = Self { folder, work, given };
        let _ = stage.due(now());
        stage
    }

    /// With turns of one channel that another process left in a file of the log.
    fn with_turns(count: u64) -> Self {
        let mut stage = Self::open(tempfile::tempdir().unwrap());
        (0..count).for_each(|expected| drop(stage.commit(expected, Durability::Turn)));
        stage.reopened()
    }

    fn reopened(self) -> Self {
        let Self { folder, work, given } = self;
        drop((work, given));
        Self::open(folder)
    }

    fn commit(
        &mut self,
        expected: u64,
        durability: Durability,
    ) -> oneshot::Receiver<Result<Committed, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let commit = Commit {
            channel: HERE,
            expected: Revision::new(expected),
            record: ChannelRecord::default().into(),
            durability,
            transitions: Vec::new().into(),
            replaces_damaged: false,
        };
        self.work.ask(HERE, Ask::Commit(Box::new(commit), answer));
        answered
    }

    fn delete(&mut self) -> oneshot::Receiver<Result<bool, StoreError>> {
        let (answer, answered) = oneshot::channel();
        self.work.ask(HERE, Ask::Delete(answer));
        answered
    }

    /// What the thread that syncs is to do at a moment.
    fn due(&self, at: Instant) -> Option<Batch> {
        self.work.records.queue.look(|waiting| waiting.take(at, false))
    }

    fn next_due(&self) -> Option<Instant> {
        self.work.records.queue.look(|waiting| waiting.next_due())
    }

    fn turns_waiting(&self) -> usize {
        self.work.records.queue.turns_waiting()
    }

    fn file(&self) -> PathBuf {
        self.work.records.folders.file(HERE)
    }

    /// Puts a revision into the channel's file.
    fn write(&mut self, revision: u64) {
        let parsed = ParsedChannel::new(HERE, Revision::new(revision), ChannelRecord::default());
        self.work.records.make_folder(HERE).unwrap();
        fs::write(self.file(), parsed.to_json().unwrap()).unwrap();
    }

    fn log(&self, number: u64) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(format!("turns-{number}.log"))
    }

    fn newest(&self) -> Option<Revision> {
        self.work.records.log.revision(HERE)
    }
}

fn refused() -> StoreError {
    let full = std::io::ErrorKind::StorageFull.into();
    StoreError::not_done(Action::Write, "somewhere".as_ref(), full)
}

fn revision_of(content: &[u8]) -> u64 {
    parse_channel(content).unwrap().revision.get()
}

#[test]
fn a_turn_that_could_not_become_its_file_is_tried_again_after_a_minute_and_only_then() {
    let mut stage = WorkStage::with_turns(1);
    fs::create_dir_all(stage.file()).unwrap();
    for _ in 0..2 {
        let before = now();
        stage.work.roll();
        assert_eq!(stage.turns_waiting(), 0);
        let retried = stage.next_due().expect("it is never tried again");
        assert!(before + ROLL_AFTER <= retried && retried <= now() + ROLL_AFTER);
        assert!(stage.due(before + ROLL_AFTER / 60 * 59).is_none());
        assert!(stage.due(retried).unwrap().rolls);
    }
    fs::remove_dir(stage.file()).unwrap();
    stage.work.roll();
    let turns = stage.due(now()).unwrap().turns;
    assert_eq!((turns.len(), revision_of(&turns[0].content)), (1, 1));
    assert_eq!(stage.next_due(), None);
    // So it is where the disk refused it.
    stage.work.turn(HERE, Revision::new(1), Err(refused()));
    let retried = stage.next_due().expect("it is never tried again");
    assert!(stage.due(retried).unwrap().rolls);
    stage.work.roll();
    assert_eq!((stage.turns_waiting(), stage.newest()), (1, Some(Revision::new(1))));
}

/// A newer version's file: only that version can do anything about it.
#[test]
fn a_turn_whose_channel_is_barred_is_not_tried_again() {
    let mut stage = WorkStage::with_turns(1);
    fs::write(stage.file(), NEWER).unwrap();
    stage.work.roll();
    assert_eq!((stage.newest(), stage.next_due()), (Some(Revision::new(1)), None));
    assert!(stage.due(now() + 2 * ROLL_AFTER).is_none());
}

#[test]
fn a_turn_that_is_carried_over_is_synced_before_its_old_file_goes() {
    let mut stage = WorkStage::with_turns(2);
    fs::write(stage.file(), NEWER).unwrap();
    stage.work.roll();
    let batch = stage.due(now()).unwrap();
    assert_eq!(batch.emptied, [stage.log(1)]);
    let grown: Vec<_> = batch.log.iter().map(|grown| (grown.path.clone(), grown.is_new)).collect();
    assert_eq!(grown, [(stage.log(2), true)]);
}

#[test]
fn a_turn_whose_channel_is_barred_and_that_could_not_be_carried_over_is_tried_again() {
    let mut stage = WorkStage::with_turns(2);
    fs::write(stage.file(), NEWER).unwrap();
    fs::create_dir(stage.log(2)).unwrap();
    stage.work.roll();
    let retried = stage.next_due().expect("it is never tried again");
    fs::remove_dir(stage.log(2)).unwrap();
    assert!(stage.due(retried).unwrap().rolls);
    stage.work.roll();
    assert_eq!(stage.due(now()).unwrap().emptied.len(), 1);
    assert_eq!(stage.newest(), Some(Revision::new(2)));
}

/// As a kill leaves it between the two.
#[test]
fn a_turn_that_is_in_its_file_as_well_is_not_written_again_and_goes() {
    let mut stage = WorkStage::with_turns(1);
    stage.write(1);
    stage.work.roll();
    assert_eq!((stage.turns_waiting(), stage.newest()), (0, None));
    assert_eq!(stage.due(now()).unwrap().emptied.len(), 1);
}

#[test]
fn nothing_is_tried_again_where_nothing_is_synced() {
    let mut stage = WorkStage::with_turns(1);
    stage.work.records.durability = FileDurability::None;
    fs::create_dir_all(stage.file()).unwrap();
    stage.work.roll();
    assert_eq!(stage.next_due(), None);
    // The next file of turns that is full tries it.
    fs::remove_dir(stage.file()).unwrap();
    stage.work.roll();
    assert_eq!((revision_of(&fs::read(stage.file()).unwrap()), stage.newest()), (1, None));
}

#[test]
fn a_fact_on_its_way_is_not_overtaken_by_the_turn_before_it() {
    let mut stage = WorkStage::with_turns(1);
    stage.work.roll();
    assert_eq!(stage.turns_waiting(), 1);
    let _answer = stage.commit(1, Durability::Fact);
    assert_eq!(stage.turns_waiting(), 0);
    stage.work.roll();
    assert_eq!(stage.turns_waiting(), 0);
    let _answer = stage.delete();
    stage.work.fact(HERE, Revision::new(2), Ok(()));
    stage.work.roll();
    assert_eq!(stage.turns_waiting(), 0);
}

#[test]
fn a_fact_that_failed_leaves_what_is_stored_and_the_turn_before_it_becomes_the_file() {
    for is_placed in [false, true] {
        let mut stage = WorkStage::with_turns(1);
        let mut answer = stage.commit(1, Durability::Fact);
        if is_placed {
            // It may be in its place all the same.
            stage.write(2);
        }
        stage.work.fact(HERE, Revision::new(2), Err(refused()));
        assert!(answer.try_recv().unwrap().is_err());
        assert_eq!(stage.turns_waiting(), usize::from(!is_placed));
        let stored = if is_placed { 2 } else { 1 };
        let mut answer = stage.commit(stored, Durability::Turn);
        let made = Committed::Done(Revision::new(stored + 1));
        assert_eq!(answer.try_recv().unwrap().unwrap(), made);
    }
}

/// What failed may have been done all the same; that is found out although no turn can become a file for a while.
#[test]
fn what_failed_is_read_again_where_many_turns_wait() {
    for deletes in [false, true] {
        let mut stage = WorkStage::with_turns(0);
        stage.write(1);
        let mut stage = stage.reopened();
        assert_eq!(stage.work.records.revision(HERE).unwrap(), Revision::new(1));
        for number in 100..132 {
            let (channel, revision) = (ChannelId::new(number), Revision::new(1));
            stage.work.records.queue.push_turn(Write { channel, revision, content: Vec::new() });
        }
        if deletes {
            let _answer = stage.delete();
            fs::remove_file(stage.file()).unwrap();
            stage.work.deleted(HERE, Err(refused()));
            assert_eq!(stage.work.records.revision(HERE).unwrap(), Revision::new(0));
        } else {
            let _answer = stage.commit(1, Durability::Fact);
            stage.write(2);
            stage.work.fact(HERE, Revision::new(2), Err(refused()));
            assert_eq!(stage.work.records.revision(HERE).unwrap(), Revision::new(2));
        }
    }
}

#[test]
fn a_deletion_that_failed_leaves_what_is_stored() {
    for is_removed in [false, true] {
        let mut stage = WorkStage::with_turns(1);
        let mut answer = stage.delete();
        if is_removed {
            let logs = stage.work.records.log.erase(HERE);
            logs.unwrap();
        }
        stage.work.deleted(HERE, Err(refused()));
        assert!(answer.try_recv().unwrap().is_err());
        assert_eq!(stage.turns_waiting(), usize::from(!is_removed));
        let stored = u64::from(!is_removed);
        let mut answer = stage.commit(stored, Durability::Turn);
        let made = Committed::Done(Revision::new(stored + 1));
        assert_eq!(answer.try_recv().unwrap().unwrap(), made);
    }
}

/// A power cut must not bring the turn back.
#[test]
fn that_a_fact_supersedes_a_turn_is_synced_with_the_log() {
    let mut stage = WorkStage::with_turns(1);
    let _answer = stage.commit(1, Durability::Fact);
    stage.write(2);
    stage.work.fact(HERE, Revision::new(2), Ok(()));
    let batch = stage.due(now()).unwrap();
    let grown: Vec<_> = batch.log.iter().map(|grown| grown.path.clone()).collect();
    assert_eq!((grown, batch.emptied), (vec![stage.log(2)], vec![stage.log(1)]));
}

#[test]
fn that_a_turn_is_lost_is_synced_with_the_log() {
    let mut stage = WorkStage::with_turns(1);
    stage.write(1);
    stage.work.records.committed(HERE, Revision::new(2));
    // The turn is damaged while the store is open, and its file is older than what was committed.
    let damaged = fs::read_to_string(stage.log(1)).unwrap().replace("\"now\"", "\"non\"");
    fs::write(stage.log(1), damaged).unwrap();
    let _unused = stage.work.records.read(HERE);
    let waiting = stage.work.records.queue.look(|waiting| waiting.take(now(), true)).unwrap();
    assert_eq!(
        waiting.log.iter().map(|grown| grown.path.clone()).collect::<Vec<_>>(),
        [stage.log(2)]
    );
}

#[test]
fn of_a_damaged_record_one_copy_is_kept_however_often_its_replacement_fails() {
    let mut stage = WorkStage::with_turns(0);
    stage.write(1);
    let mut stage = stage.reopened();
    fs::write(stage.file(), "no JSON").unwrap();
    for _ in 0..3 {
        stage.work.records.keep_damaged(HERE).unwrap();
    }
    assert_eq!(fs::read_dir(stage.file().parent().unwrap()).unwrap().count(), 2);
}

#[test]
fn nothing_is_written_of_a_channel_whose_files_were_moved_away() {
    let mut stage = WorkStage::with_turns(0);
    stage.write(1);
    let mut stage = stage.reopened();
    let (channel, revision) = (HERE, Revision::new(1));
    stage.work.records.queue.push_turn(Write { channel, revision, content: Vec::new() });
    fs::remove_file(stage.file()).unwrap();
    assert!(stage.work.records.read(HERE).unwrap().is_none());
    assert_eq!(stage.turns_waiting(), 0);
}

#[test]
fn the_log_goes_at_the_end_where_everything_was_synced_and_only_there() {
    for outcome in [Ok(()), Err(refused())] {
        let mut stage = WorkStage::with_turns(1);
        let (answer, _answered) = oneshot::channel();
        stage.work.closing = Some(answer);
        stage.work.turn(HERE, Revision::new(1), Ok(()));
        let (is_synced, log) = (outcome.is_ok(), stage.log(1));
        stage.work.end(outcome);
        assert_eq!(log.exists(), !is_synced);
    }
}

/// After a failed sync it is not known what the disk has, and asking again would not tell.
#[test]
fn whatever_could_not_be_synced_ends_the_store() {
    type Syncs = fn(&mut WorkStage) -> Step;
    let syncs: [Syncs; 3] = [
        |stage| {
            let step = Step::SyncFile(stage.work.records.folders.agents());
            fail(step.clone());
            assert!(stage.work.add_agent("zoe".into()).is_err());
            assert!(stage.work.agents.names().is_empty());
            step
        },
        |stage| {
            let step = Step::SyncFile(stage.log(1));
            fail(step.clone());
            assert!(stage.work.records.forget(HERE).is_err());
            step
        },
        |stage| {
            // The turn that speaks for a damaged file.
            let step = Step::SyncFile(stage.log(1));
            fail(step.clone());
            fs::write(stage.file(), "no JSON").unwrap();
            assert!(stage.work.records.read(HERE).is_err());
            assert!(stage.file().exists());
            step
        },
    ];
    for sync in syncs {
        let mut stage = WorkStage::with_turns(1);
        stage.work.check().unwrap();
        let step = sync(&mut stage);
        assert!(matches!(stage.work.check(), Err(StoreError::Broken { .. })), "{step:?}");
        let mut answer = stage.commit(1, Durability::Turn);
        assert!(matches!(answer.try_recv(), Ok(Err(StoreError::Broken { .. }))), "{step:?}");
    }
}
