use std::fs;

use tempfile::TempDir;

use super::*;

const HERE: ChannelId = ChannelId::new(7);
const THERE: ChannelId = ChannelId::new(8);

fn append(log: &mut TurnLog, channel: ChannelId, revision: u64) {
    let content = format!("{{\n  \"text\": {revision}\n}}\n");
    log.append(channel, Revision::new(revision), content.as_bytes()).unwrap();
}

/// The number that stands in a channel's newest turn.
fn newest(log: &TurnLog, channel: ChannelId) -> Option<u64> {
    let content = String::from_utf8(log.read(channel)?.1.unwrap()).unwrap();
    let digits: String = content.chars().filter(char::is_ascii_digit).collect();
    Some(digits.parse().unwrap())
}

/// The same of both channels.
fn newest_two(log: &TurnLog) -> (Option<u64>, Option<u64>) {
    (newest(log, HERE), newest(log, THERE))
}

fn open(folder: &TempDir) -> TurnLog {
    TurnLog::open(folder.path()).unwrap().0
}

/// Opens a log in which nothing is damaged.
fn sound(folder: &TempDir) -> TurnLog {
    let (log, damaged) = TurnLog::open(folder.path()).unwrap();
    assert!(damaged.is_empty(), "{damaged:?}");
    log
}

/// Opens a log whose first file has this content, which is damaged.
fn damaged(folder: &TempDir, content: impl AsRef<[u8]>) -> TurnLog {
    let path = folder.path().join("turns-1.log");
    fs::write(&path, content).unwrap();
    let (log, found) = TurnLog::open(folder.path()).unwrap();
    assert_eq!(found, [path]);
    log
}

fn written() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut log = sound(&folder);
    for revision in 1..=4 {
        append(&mut log, HERE, revision);
        append(&mut log, THERE, 10 + revision);
    }
    let path = folder.path().join("turns-1.log");
    (folder, path)
}

#[test]
fn the_newest_turn_of_each_channel_counts_and_comes_back() {
    let (folder, path) = written();
    let mut log = open(&folder);
    assert_eq!(newest_two(&log), (Some(4), Some(14)));
    // What an earlier process left is not appended to, and goes when all that it holds is elsewhere.
    append(&mut log, HERE, 5);
    assert!(folder.path().join("turns-2.log").exists());
    assert!(log.take_empty().is_empty());
    log.forget(THERE, Revision::new(13));
    assert!(log.take_empty().is_empty());
    log.forget(THERE, Revision::new(14));
    assert_eq!(log.take_empty(), [path]);
    assert_eq!(newest_two(&log), (Some(5), None));
    log.seal();
    log.forget(HERE, Revision::new(5));
    assert_eq!(log.take_empty(), [folder.path().join("turns-2.log")]);
}

#[test]
fn a_file_that_was_cut_anywhere_has_every_turn_that_is_whole() {
    let (folder, path) = written();
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let log = sound(&folder);
        let frames = u64::try_from(whole[..cut].split(|byte| *byte == b'}').count() - 1).unwrap();
        let complete = if whole[..cut].ends_with(b"}") { frames - 1 } else { frames };
        let expected = |number: u64, base| (number > 0).then_some(base + number);
        assert_eq!(newest(&log, HERE), expected(complete.div_ceil(2), 0), "cut at {cut}");
        assert_eq!(newest(&log, THERE), expected(complete / 2, 10), "cut at {cut}");
    }
}

/// The same, of which the disk has the first five turns by the sixth.
fn synced() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(&folder);
    for revision in 1..=4 {
        append(&mut log, HERE, revision);
        if revision == 3 {
            log.file_of(HERE).unwrap().sync().unwrap();
        }
        append(&mut log, THERE, 10 + revision);
    }
    let path = folder.path().join("turns-1.log");
    (folder, path)
}

#[test]
fn a_hole_in_the_newest_turn_costs_that_turn_and_none_before() {
    for (folder, path) in [written(), synced()] {
        let whole = fs::read(&path).unwrap();
        let frame = scan(&whole).frames.pop().unwrap();
        for at in frame.begin..whole.len() {
            for end in [at + 1, whole.len()] {
                let mut bent = whole.clone();
                bent[at..end].fill(0);
                fs::write(&path, &bent).unwrap();
                let (log, damaged) = TurnLog::open(folder.path()).unwrap();
                assert_eq!(newest_two(&log), (Some(4), Some(13)), "at {at}");
                assert_eq!(damaged.as_slice(), std::slice::from_ref(&path), "at {at}");
            }
        }
    }
}

#[test]
fn two_turns_that_one_sync_did_not_reach_cost_themselves_alone() {
    let (folder, path) = synced();
    let whole = fs::read(&path).unwrap();
    let frames = scan(&whole).frames;
    let (last, before) = (&frames[7], &frames[6]);
    let mut both = whole.clone();
    both[before.body.clone()].fill(0);
    both[last.begin..].fill(0);
    let mut first = whole.clone();
    first[before.begin + 3..before.body.end].fill(0);
    for (bent, expected) in [(both, (Some(3), Some(13))), (first, (Some(3), Some(14)))] {
        fs::write(&path, &bent).unwrap();
        let (log, damaged) = TurnLog::open(folder.path()).unwrap();
        assert_eq!(newest_two(&log), expected);
        assert_eq!((damaged.len(), log.is_lost(HERE), log.is_lost(THERE)), (1, false, false));
    }
}

#[test]
fn a_turn_that_the_disk_had_and_that_is_damaged_is_no_reason_to_go_on_from_an_older_one() {
    let (folder, path) = synced();
    let mut bent = fs::read(&path).unwrap();
    let frames = scan(&bent).frames;
    // The third turn, after which the channel has no other.
    bent.truncate(frames[6].begin);
    bent[frames[4].body.start + 4] ^= 1;
    let mut log = damaged(&folder, bent);
    assert_eq!((log.revision(HERE), log.is_lost(HERE)), (Some(Revision::new(3)), true));
    assert_eq!((newest(&log, THERE), log.is_lost(THERE)), (Some(13), false));
    // It stays so in another file, and is forgotten with a newer turn.
    let damaged = log.read(HERE).unwrap().1.unwrap();
    assert!(log.carry_over(HERE).unwrap().is_some());
    let mut log = open(&folder);
    assert_eq!((log.read(HERE).unwrap().1.unwrap(), log.is_lost(HERE)), (damaged, true));
    append(&mut log, HERE, 4);
    assert_eq!((newest(&log, HERE), log.is_lost(HERE)), (Some(4), false));
}

#[test]
fn a_number_that_was_changed_takes_its_turn_out_and_no_other() {
    for (folder, path) in [written(), synced()] {
        let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        for (sound, bent) in [("turn 7 3 ", "turn 7 9 "), ("turn 7 3 ", "turn 8 99 ")] {
            let log = damaged(&folder, whole.replacen(sound, bent, 1));
            assert_eq!(newest_two(&log), (Some(4), Some(14)), "{bent}");
        }
    }
}

#[test]
fn a_turn_is_carried_over_where_that_lets_a_file_go_and_nowhere_else() {
    let (folder, path) = written();
    let mut log = open(&folder);
    log.forget(THERE, Revision::new(14));
    assert!(log.carry_over(HERE).unwrap().unwrap().is_new);
    assert_eq!(log.take_empty(), [path]);
    assert_eq!(newest(&log, HERE), Some(4));
    assert!(log.carry_over(HERE).unwrap().is_none(), "the file takes more turns");
    log.seal();
    assert!(log.carry_over(HERE).unwrap().is_none(), "nothing else is in the file");
    append(&mut log, THERE, 15);
    assert!(log.carry_over(THERE).unwrap().is_none());
    assert!(log.take_empty().is_empty());
    let log = open(&folder);
    assert_eq!(newest_two(&log), (Some(4), Some(15)));
}

#[test]
fn damage_costs_the_turn_that_it_hits_and_is_reported() {
    let (folder, path) = written();
    let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    for (sound, bent) in
        [("turn 7 3 ", "tarn 7 3 "), ("turn 7 3 ", "turn 7 9"), ("turn 7 3 ", "\0\0\0\0")]
    {
        let log = damaged(&folder, whole.replacen(sound, bent, 1));
        assert_eq!(newest_two(&log), (Some(4), Some(14)), "{bent}");
    }
}

#[test]
fn a_file_that_is_about_to_be_removed_is_erased_as_well() {
    let (folder, path) = written();
    let mut log = open(&folder);
    append(&mut log, THERE, 15);
    append(&mut log, HERE, 5);
    assert_eq!(log.take_empty(), [path]);
    log.erase(HERE).unwrap();
    let log = open(&folder);
    assert_eq!(newest_two(&log), (None, Some(15)));
}

#[test]
fn what_is_damaged_may_be_of_any_channel_and_goes_with_the_first_that_is_erased() {
    let (folder, path) = written();
    let whole = fs::read(&path).unwrap();
    let frames = scan(&whole).frames;
    let mut bent = whole.clone();
    bent[frames[2].begin + 5] = b'9';
    bent[frames[6].body.start] = b'x';
    bent.truncate(whole.len() - 3);
    fs::write(&path, &bent).unwrap();
    let mut log = open(&folder);
    log.erase(HERE).unwrap();
    let left = fs::read_to_string(&path).unwrap();
    assert_eq!(left.matches("\"text\"").count(), 3, "{left}");
    let log = sound(&folder);
    assert_eq!(newest_two(&log), (None, Some(13)));
}

#[test]
fn what_was_erased_is_in_no_file_and_does_not_come_back() {
    let (folder, path) = written();
    let mut log = open(&folder);
    append(&mut log, HERE, 5);
    log.erase(HERE).unwrap();
    append(&mut log, HERE, 1);
    let log = sound(&folder);
    assert_eq!(newest_two(&log), (Some(1), Some(14)));
    let first = fs::read_to_string(path).unwrap();
    assert_eq!(first.matches("\"text\"").count(), 4, "{first}");
}

#[test]
fn an_erasure_that_fails_half_way_leaves_the_channel_its_newest_turn_until_it_is_repeated() {
    let (folder, path) = written();
    let mut log = open(&folder);
    append(&mut log, HERE, 5);
    // What cannot be read stands between the two files.
    fs::rename(folder.path().join("turns-2.log"), folder.path().join("turns-3.log")).unwrap();
    fs::create_dir(folder.path().join("turns-2.log")).unwrap();
    log.erase(HERE).unwrap_err();
    assert!(!fs::read_to_string(&path).unwrap().contains("turn 7 "), "nothing was erased");
    assert_eq!((log.revision(HERE), newest(&log, HERE)), (Some(Revision::new(5)), Some(5)));
    fs::remove_dir(folder.path().join("turns-2.log")).unwrap();
    log.erase(HERE).unwrap();
    assert_eq!(log.revision(HERE), None);
    let log = open(&folder);
    assert_eq!(newest_two(&log), (None, Some(14)));
}

#[test]
fn an_erasure_that_a_kill_cut_short_is_finished_when_it_is_repeated() {
    let (folder, path) = written();
    let mut bent = fs::read(&path).unwrap();
    let frame = scan(&bent).frames.swap_remove(2);
    let header = Header { kind: Kind::Erased, sum: 0, ..frame.header };
    bent[frame.begin..frame.body.start].copy_from_slice(header.line().as_bytes());
    fs::write(&path, &bent).unwrap();
    let mut log = open(&folder);
    log.erase(HERE).unwrap();
    let left = fs::read_to_string(&path).unwrap();
    assert_eq!(left.matches("\"text\"").count(), 4, "{left}");
}

#[test]
fn a_turn_that_a_fact_superseded_does_not_come_back_however_the_file_of_the_log_stays() {
    for is_in_file in [false, true] {
        let (folder, path) = written();
        let mut log = open(&folder);
        if is_in_file {
            // The turn became its channel's file, and the log has it still.
            log.forget(HERE, Revision::new(4));
        }
        let grown = log.supersede(HERE, Revision::new(5)).unwrap().unwrap();
        assert!(grown.is_new);
        assert_eq!(newest(&log, HERE), None);
        assert!(
            log.supersede(HERE, Revision::new(6)).unwrap().is_none(),
            "it stands there already"
        );
        // What says so stays as long as the turn does.
        log.seal();
        assert!(log.take_empty().is_empty(), "the turn is alone in the log");
        let mut log = sound(&folder);
        assert_eq!(newest_two(&log), (None, Some(14)));
        log.forget(THERE, Revision::new(14));
        assert_eq!(log.take_empty(), [path, folder.path().join("turns-2.log")]);
        append(&mut log, HERE, 6);
        let log = open(&folder);
        assert_eq!(newest(&log, HERE), Some(6));
    }
}

#[test]
fn a_fact_says_nothing_in_a_log_that_has_no_older_turn_of_its_channel() {
    let (folder, _) = written();
    let mut log = open(&folder);
    let other = ChannelId::new(9);
    assert!(log.supersede(other, Revision::new(5)).unwrap().is_none());
    // The file with the turn went.
    for channel in [HERE, THERE] {
        log.forget(channel, Revision::new(99));
    }
    assert_eq!(log.take_empty().len(), 1);
    assert!(log.supersede(HERE, Revision::new(99)).unwrap().is_none());
}

#[test]
fn a_turn_that_is_found_damaged_later_is_lost_for_the_next_process_too() {
    let (folder, _) = written();
    let mut log = open(&folder);
    assert!(log.lose(HERE).unwrap().is_some());
    assert!(log.is_lost(HERE) && !log.is_lost(THERE));
    assert!(log.lose(HERE).unwrap().is_none(), "it is said once");
    let log = open(&folder);
    assert!(log.is_lost(HERE) && !log.is_lost(THERE));
}

#[test]
fn a_file_is_full_at_its_limit_and_the_next_turn_begins_another() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(&folder);
    let mut content = vec![b' '; usize::try_from(SEGMENT_MAX).unwrap()];
    content.push(b'\n');
    assert!(log.append(HERE, Revision::new(1), &content).unwrap().is_new);
    assert!(log.is_full());
    assert!(log.append(HERE, Revision::new(2), b"{}\n").unwrap().is_new);
    assert!(!log.is_full());
    assert_eq!(log.take_empty(), [folder.path().join("turns-1.log")]);
}

/// A text as a channel's file has it while a reply of many parts is being posted.
fn reply(parts: usize, posted: usize) -> Vec<u8> {
    let part = |number| {
        let id = if number < posted { "\"7\"" } else { "null" };
        format!("{{\"posted\": {id}, \"content\": \"{}\"}}", "x".repeat(1_900))
    };
    let all: Vec<_> = (0..parts).map(part).collect();
    format!("{{\n  \"posted\": {posted},\n  \"parts\": [{}]\n}}\n", all.join(", ")).into_bytes()
}

#[test]
fn what_is_written_for_a_part_does_not_grow_with_the_reply() {
    let mut sizes = Vec::new();
    for parts in [64, 256] {
        let folder = tempfile::tempdir().unwrap();
        let mut log = open(&folder);
        for posted in 0..=parts {
            let revision = Revision::new(posted as u64 + 1);
            log.append(HERE, revision, &reply(parts, posted)).unwrap();
            append(&mut log, THERE, revision.get());
        }
        let written = fs::metadata(folder.path().join("turns-1.log")).unwrap().len();
        sizes.push((written - reply(parts, 0).len() as u64) / parts as u64);
        for log in [log, TurnLog::open(folder.path()).unwrap().0] {
            assert_eq!(log.read(HERE).unwrap().1.unwrap(), reply(parts, parts));
        }
    }
    assert!(sizes.iter().all(|bytes| *bytes < 200), "{sizes:?} bytes a part");
}

#[test]
fn a_change_of_a_text_that_the_disk_had_and_that_is_gone_is_a_lost_turn() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(&folder);
    append(&mut log, HERE, 1);
    for posted in 0..3 {
        log.append(HERE, Revision::new(posted as u64 + 2), &reply(20, posted)).unwrap();
        log.file_of(HERE).unwrap().sync().unwrap();
    }
    let path = folder.path().join("turns-1.log");
    let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    let log = damaged(&folder, whole.replacen("turn 7 2 ", "turn 9 2 ", 1));
    assert_eq!((log.revision(HERE), log.is_lost(HERE)), (Some(Revision::new(4)), true));
}

#[test]
fn a_change_whose_text_is_gone_is_no_turn_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(&folder);
    append(&mut log, HERE, 1);
    for posted in 0..4 {
        log.append(HERE, Revision::new(posted as u64 + 2), &reply(20, posted)).unwrap();
    }
    let path = folder.path().join("turns-1.log");
    let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    let log = damaged(&folder, whole.replacen("diff 7 3 ", "daff 7 3 ", 1));
    assert_eq!(log.revision(HERE), Some(Revision::new(2)));
    assert_eq!(log.read(HERE).unwrap().1.unwrap(), reply(20, 0));
    // Nothing of it is left when it is erased.
    fs::write(&path, whole).unwrap();
    let mut log = open(&folder);
    log.erase(HERE).unwrap();
    assert!(!fs::read_to_string(&path).unwrap().contains("xxx"));
}
