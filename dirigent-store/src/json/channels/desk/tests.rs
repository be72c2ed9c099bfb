//! What becomes of a turn that cannot become its channel's own file.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use dirigent::ChannelRecord;

use super::super::options::ChannelOptions;
use super::super::sync::{Batch, ROLL_AFTER};
use super::*;
use crate::worker::now;

const HERE: ChannelId = ChannelId::new(7);

/// No turn is synced for its own sake in these tests.
const SYNC_AFTER: Duration = Duration::from_secs(3_600);

/// What another process finds that left so many turns of one channel in a file of the log.
fn desk(root: &Path, turns: u64) -> Desk {
    let open = || Desk::open(ChannelOptions::new(root)).unwrap();
    let mut desk = open();
    for revision in (1..=turns).map(Revision::new) {
        let parsed = ParsedChannel::new(HERE, revision, ChannelRecord::default());
        desk.make_folder(HERE).unwrap();
        desk.put_turn(HERE, revision, &parsed.to_json().unwrap()).unwrap();
    }
    drop(desk);
    open()
}

/// Lets the files become as new as their turns.
fn catch_up(desk: &mut Desk) {
    desk.roll();
    while let Some(channel) = desk.behind.pop_front() {
        desk.catch_up(channel);
    }
    desk.remove_empty();
}

/// What the thread that syncs is to do at a moment.
fn due(desk: &Desk, at: Instant) -> Batch {
    desk.queue.lock().take(at, SYNC_AFTER)
}

#[test]
fn a_turn_that_could_not_become_its_file_is_tried_again_after_a_minute_and_only_then() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 1);
    let _ = due(&desk, now());
    let file = desk.folders.file(HERE);
    fs::create_dir(&file).unwrap();
    for _ in 0..2 {
        let before = now();
        catch_up(&mut desk);
        assert_eq!(desk.queue.turns_waiting(), 0);
        let retried = desk.queue.lock().next_due(SYNC_AFTER).expect("it is never tried again");
        assert!(before + ROLL_AFTER <= retried && retried <= now() + ROLL_AFTER);
        assert!(due(&desk, before + ROLL_AFTER / 60 * 59).is_empty());
        assert!(due(&desk, retried).rolls);
    }
    fs::remove_dir(&file).unwrap();
    catch_up(&mut desk);
    let turns = due(&desk, now()).turns;
    assert_eq!(turns.len(), 1);
    assert_eq!(parse_channel(&turns[0].content).unwrap().revision, Revision::new(1));
    assert_eq!(desk.queue.lock().next_due(SYNC_AFTER), None);
}

/// A newer version's file: only that version can do anything about it.
#[test]
fn a_turn_whose_channel_is_barred_is_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 1);
    let _ = due(&desk, now());
    fs::write(desk.folders.file(HERE), "{\"version\": 2}").unwrap();
    catch_up(&mut desk);
    assert_eq!(desk.log.revision(HERE), Some(Revision::new(1)));
    assert_eq!(desk.queue.lock().next_due(SYNC_AFTER), None);
    assert!(due(&desk, now() + 2 * ROLL_AFTER).is_empty());
}

#[test]
fn a_turn_that_is_carried_over_is_synced_before_its_old_file_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 2);
    let _ = due(&desk, now());
    fs::write(desk.folders.file(HERE), "{\"version\": 2}").unwrap();
    catch_up(&mut desk);
    let batch = due(&desk, now());
    let path = |number| folder.path().canonicalize().unwrap().join(format!("turns-{number}.log"));
    assert_eq!(batch.emptied, [path(1)]);
    assert_eq!(batch.log.iter().map(|grown| &grown.path).collect::<Vec<_>>(), [&path(2)]);
    assert!(batch.log[0].is_new);
}

#[test]
fn a_turn_whose_channel_is_barred_and_that_could_not_be_carried_over_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 2);
    let _ = due(&desk, now());
    fs::write(desk.folders.file(HERE), "{\"version\": 2}").unwrap();
    let taken = folder.path().join("turns-2.log");
    fs::create_dir(&taken).unwrap();
    catch_up(&mut desk);
    let retried = desk.queue.lock().next_due(SYNC_AFTER).expect("it is never tried again");
    fs::remove_dir(taken).unwrap();
    assert!(due(&desk, retried).rolls);
    catch_up(&mut desk);
    assert_eq!(
        (due(&desk, now()).emptied.len(), desk.log.revision(HERE)),
        (1, Some(Revision::new(2)))
    );
}

/// As a kill leaves it between the two.
#[test]
fn a_turn_that_is_in_its_file_as_well_is_not_written_again_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 1);
    let _ = due(&desk, now());
    let parsed = ParsedChannel::new(HERE, Revision::new(1), ChannelRecord::default());
    fs::write(desk.folders.file(HERE), parsed.to_json().unwrap()).unwrap();
    catch_up(&mut desk);
    assert_eq!((desk.queue.turns_waiting(), desk.log.revision(HERE)), (0, None));
    assert_eq!(due(&desk, now()).emptied.len(), 1);
}

#[test]
fn nothing_is_tried_again_where_nothing_is_synced() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 1);
    let _ = due(&desk, now());
    desk.durability = FileDurability::None;
    let file = desk.folders.file(HERE);
    fs::create_dir(&file).unwrap();
    catch_up(&mut desk);
    assert_eq!(desk.queue.lock().next_due(SYNC_AFTER), None);
    // The next file of turns that is full tries it.
    fs::remove_dir(&file).unwrap();
    catch_up(&mut desk);
    assert_eq!(parse_channel(&fs::read(file).unwrap()).unwrap().revision, Revision::new(1));
    assert_eq!(desk.log.revision(HERE), None);
}
