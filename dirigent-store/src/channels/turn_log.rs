//! The turns of all channels, appended to one file: a commit is one write, and one sync serves all that waited.
//!
//! A frame is a line `turn <channel> <revision> <bytes>` and the text of the channel's file, or, where that is large,
//! a line `diff <channel> <revision> <bytes>` and what changed since the channel's frame before. The newest frame of
//! a channel counts. A line begins with `turn ` or `diff ` only where a frame does: the text is JSON, which writes the
//! line breaks of strings in another way.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dirigent::{ChannelId, Revision};

use super::change;
use crate::channel_file::{LARGEST, whole};
use crate::error::{Action, StoreError};
use crate::replace::{ReadError, private, read, sync_data, sync_folder};

/// After so many bytes a new file is begun.
const SEGMENT_MAX: u64 = 8 << 20;

/// How large a file may be: the last frame may be the largest there is.
const FILE_MAX: usize = LARGEST + (16 << 20);

/// What a frame begins with.
const FRAME: &[u8] = b"turn ";

/// What a frame begins with that holds a change.
const CHANGE: &[u8] = b"diff ";

/// A text of this size is followed by changes of it.
const LARGE: usize = 16 << 10;

/// What a frame begins with that was erased.
const ERASED: &[u8] = b"void ";

/// The longest first line of a frame: two numbers of 64 bits and a length.
const HEADER_MAX: usize = 64;

/// The log, for the thread that writes it.
#[derive(Debug)]
pub(super) struct TurnLog {
    root: PathBuf,
    segments: BTreeMap<u64, Segment>,
    places: HashMap<ChannelId, Place>,
    /// The newest turns of channels whose texts are large, in the file that takes more frames.
    large: HashMap<ChannelId, Large>,
    /// The number of the next file.
    next: u64,
    /// The newest file takes more frames.
    is_open: bool,
}

/// One file of the log.
#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    /// How many channels have their newest turn in it.
    live: usize,
}

/// A large text that was written.
#[derive(Debug)]
struct Large {
    text: Vec<u8>,
    /// How many bytes its changes have since it was written whole.
    changed: usize,
}

/// Where a channel's newest turn stands.
#[derive(Clone, Debug)]
struct Place {
    segment: u64,
    offset: u64,
    length: usize,
    /// Where its changes stand, in order.
    changes: Vec<(u64, usize)>,
    revision: Revision,
}

/// A file of the log that grew, and is to be synced.
#[derive(Clone, Debug)]
pub(super) struct Grown {
    pub(super) path: PathBuf,
    pub(super) file: Arc<File>,
    /// Its name is to be synced as well.
    pub(super) is_new: bool,
}

/// A frame that was found in a file.
struct Frame {
    channel: ChannelId,
    place: Place,
    /// Where its first line begins.
    begin: u64,
    /// It holds a change of the frame before.
    is_change: bool,
}

impl TurnLog {
    /// The log in this folder, and the files of it that are damaged before their ends. What an earlier process
    /// left is not appended to.
    pub(super) fn open(root: &Path) -> Result<(Self, Vec<PathBuf>), StoreError> {
        let mut log = Self {
            root: root.to_owned(),
            segments: BTreeMap::new(),
            places: HashMap::new(),
            large: HashMap::new(),
            next: 1,
            is_open: false,
        };
        let mut damaged = Vec::new();
        for number in numbers(root)? {
            log.next = number.saturating_add(1);
            if log.take_in(number)? {
                damaged.push(log.path(number));
            }
        }
        Ok((log, damaged))
    }

    fn path(&self, number: u64) -> PathBuf {
        self.root.join(format!("turns-{number}.log"))
    }

    /// Takes in a file that is there. Returns whether it is damaged before its end.
    fn take_in(&mut self, number: u64) -> Result<bool, StoreError> {
        let path = self.path(number);
        let content = match read(&path, FILE_MAX) {
            Ok(content) => content.unwrap_or_default(),
            Err(ReadError::Bad(source)) => return Err(StoreError::BadFile { path, source }),
            Err(ReadError::Io(source)) => {
                return Err(StoreError::not_done(Action::Read, &path, source));
            }
        };
        let file = File::open(&path)
            .map_err(|source| StoreError::not_done(Action::Read, &path, source))?;
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        self.segments.insert(number, Segment { path, file: Arc::new(file), length, live: 0 });
        let (frames, mut is_damaged) = frames(number, &content);
        for frame in frames {
            if frame.is_change {
                // Without the frame before it says nothing.
                is_damaged |= !self.put_change(frame.channel, &frame.place);
                continue;
            }
            let newest = self.places.get(&frame.channel).map(|place| place.revision);
            if newest.is_none_or(|newest| newest <= frame.place.revision) {
                self.put(frame.channel, frame.place);
            }
        }
        Ok(is_damaged)
    }

    fn put(&mut self, channel: ChannelId, place: Place) {
        if let Some(segment) = self.segments.get_mut(&place.segment) {
            segment.live += 1;
        }
        if let Some(before) = self.places.insert(channel, place) {
            self.release(&before);
        }
    }

    /// Adds a change to the turn that it follows. Returns whether that is the channel's newest one.
    fn put_change(&mut self, channel: ChannelId, change: &Place) -> bool {
        let follows = |place: &&mut Place| {
            place.segment == change.segment && place.revision.next() == change.revision
        };
        let Some(place) = self.places.get_mut(&channel).filter(follows) else {
            return false;
        };
        place.changes.push((change.offset, change.length));
        place.revision = change.revision;
        true
    }

    /// What is written of a turn in the place of its whole text, where that is shorter.
    fn change(
        &self,
        channel: ChannelId,
        revision: Revision,
        content: &[u8],
        number: u64,
    ) -> Option<Vec<u8>> {
        let large = self.large.get(&channel)?;
        let place = self.places.get(&channel)?;
        if place.segment != number || place.revision.next() != revision {
            return None;
        }
        let change = change::change(&large.text, content)?;
        // All changes together are no longer than the text: reading them costs no more than that.
        (large.changed + change.len() < content.len()).then_some(change)
    }

    fn release(&mut self, place: &Place) {
        if let Some(segment) = self.segments.get_mut(&place.segment) {
            segment.live = segment.live.saturating_sub(1);
        }
    }

    /// The channels that have a turn here.
    pub(super) fn channels(&self) -> Vec<ChannelId> {
        let mut channels: Vec<_> = self.places.keys().copied().collect();
        channels.sort_unstable();
        channels
    }

    /// The revision of the channel's newest turn.
    pub(super) fn revision(&self, channel: ChannelId) -> Option<Revision> {
        self.places.get(&channel).map(|place| place.revision)
    }

    /// Appends a turn. A failure changes nothing.
    pub(super) fn append(
        &mut self,
        channel: ChannelId,
        revision: Revision,
        content: &[u8],
    ) -> Result<Grown, StoreError> {
        let number = self.writable()?;
        let change = self.change(channel, revision, content, number);
        let before = self.large.remove(&channel).map_or(0, |large| large.changed);
        let (kind, body) = match &change {
            Some(change) => ("diff", change.as_slice()),
            None => ("turn", content),
        };
        let mut frame =
            format!("{kind} {channel} {} {}\n", revision.get(), body.len()).into_bytes();
        let header = u64::try_from(frame.len()).unwrap_or(u64::MAX);
        frame.extend_from_slice(body);
        let Some(segment) = self.segments.get_mut(&number) else {
            let source = io::Error::other("there is no file");
            return Err(StoreError::not_done(Action::Write, &self.root, source));
        };
        // As long as it is empty: the frame that it was made for may not have been written.
        let is_new = segment.length == 0;
        if let Err(source) = (&*segment.file).write_all(&frame) {
            // Half a frame is passed over; where it cannot be taken back, a new file is begun.
            self.is_open = segment.file.set_len(segment.length).is_ok();
            return Err(StoreError::not_done(Action::Write, &segment.path, source));
        }
        let grown = Grown { path: segment.path.clone(), file: Arc::clone(&segment.file), is_new };
        let (offset, length) = (segment.length + header, body.len());
        segment.length += u64::try_from(frame.len()).unwrap_or(u64::MAX);
        let place = Place { segment: number, offset, length, changes: Vec::new(), revision };
        let changed = if change.is_some() {
            self.put_change(channel, &place);
            before + length
        } else {
            self.put(channel, place);
            0
        };
        if content.len() >= LARGE {
            self.large.insert(channel, Large { text: content.to_vec(), changed });
        }
        Ok(grown)
    }

    /// The file to be appended to.
    fn writable(&mut self) -> Result<u64, StoreError> {
        let newest = self.segments.last_key_value().filter(|_| self.is_open);
        if let Some((number, _)) = newest.filter(|(_, segment)| segment.length < SEGMENT_MAX) {
            return Ok(*number);
        }
        let number = self.next;
        let path = self.path(number);
        let file = private(OpenOptions::new().read(true).append(true).create_new(true))
            .open(&path)
            .map_err(|source| StoreError::not_done(Action::Write, &path, source))?;
        self.segments.insert(number, Segment { path, file: Arc::new(file), length: 0, live: 0 });
        self.next = number.saturating_add(1);
        self.is_open = true;
        Ok(number)
    }

    /// The text of a channel's newest turn, and the file that it stands in; `None` when it has none.
    pub(super) fn read(&self, channel: ChannelId) -> Option<(PathBuf, io::Result<Vec<u8>>)> {
        let place = self.places.get(&channel)?;
        let segment = self.segments.get(&place.segment)?;
        let mut file = &*segment.file;
        let mut part = |offset, length| {
            let mut content = vec![0; length];
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(&mut content)?;
            Ok::<_, io::Error>(content)
        };
        let mut whole = || {
            let mut content = part(place.offset, place.length)?;
            for (offset, length) in &place.changes {
                let change = part(*offset, *length)?;
                // What cannot be applied is told by what comes of it, which is no channel's file.
                content = change::apply(&content, &change).unwrap_or(change);
            }
            Ok(content)
        };
        Some((segment.path.clone(), whole()))
    }

    /// Waits until the disk has the channel's newest turn.
    pub(super) fn sync(&self, channel: ChannelId) -> Result<(), StoreError> {
        let place = self.places.get(&channel);
        match place.and_then(|place| self.segments.get(&place.segment)) {
            Some(segment) => sync_data(&segment.path, &segment.file),
            None => Ok(()),
        }
    }

    /// The channel's file is as new as this: older turns count no more.
    pub(super) fn forget(&mut self, channel: ChannelId, up_to: Revision) {
        if self.revision(channel).is_some_and(|revision| revision <= up_to)
            && let Some(place) = self.places.remove(&channel)
        {
            self.large.remove(&channel);
            self.release(&place);
        }
    }

    /// Overwrites all turns of a channel, and waits until the disk has that.
    pub(super) fn erase(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        self.large.remove(&channel);
        if let Some(place) = self.places.remove(&channel) {
            self.release(&place);
        }
        // Also files that are about to be removed: a kill before that would leave them.
        for number in numbers(&self.root)? {
            let path = &self.path(number);
            let content = match read(path, FILE_MAX) {
                Ok(content) => content.unwrap_or_default(),
                Err(ReadError::Bad(source)) => {
                    return Err(StoreError::BadFile { path: path.clone(), source });
                }
                Err(ReadError::Io(source)) => {
                    return Err(StoreError::not_done(Action::Read, path, source));
                }
            };
            let frames = frames(number, &content).0;
            let own: Vec<_> = frames.iter().filter(|frame| frame.channel == channel).collect();
            if own.is_empty() {
                continue;
            }
            match overwrite(path, &own) {
                Err(source) if source.kind() == io::ErrorKind::NotFound => {}
                done => done.map_err(|source| StoreError::unknown(Action::Write, path, source))?,
            }
        }
        sync_folder(&self.root)
    }

    /// Begins a new file with the next turn.
    pub(super) fn seal(&mut self) {
        self.is_open = false;
        self.large.clear();
    }

    /// Whether the newest file is full, so that the next turn begins a new one.
    pub(super) fn is_full(&self) -> bool {
        let newest = self.segments.last_key_value();
        self.is_open && newest.is_some_and(|(_, segment)| segment.length >= SEGMENT_MAX)
    }

    /// Takes out the files in which no channel has its newest turn. They may be removed once the disk has what
    /// was written since.
    pub(super) fn take_empty(&mut self) -> Vec<PathBuf> {
        let newest = self.segments.keys().next_back().copied().filter(|_| self.is_open);
        let is_empty =
            |number: &u64, segment: &Segment| segment.live == 0 && newest != Some(*number);
        let found = self.segments.iter().filter(|(number, segment)| is_empty(number, segment));
        let numbers: Vec<_> = found.map(|(number, _)| *number).collect();
        let taken = numbers.iter().filter_map(|number| self.segments.remove(number));
        taken.map(|segment| segment.path).collect()
    }
}

/// The numbers of the log's files, in ascending order.
fn numbers(root: &Path) -> Result<Vec<u64>, StoreError> {
    let refused = |source| StoreError::not_done(Action::Read, root, source);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(root).map_err(refused)? {
        numbers.extend(number_of(&entry.map_err(refused)?.file_name()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Overwrites frames with blanks.
fn overwrite(path: &Path, frames: &[&Frame]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    for Frame { place, begin, .. } in frames {
        file.seek(SeekFrom::Start(*begin))?;
        file.write_all(ERASED)?;
        file.seek(SeekFrom::Start(place.offset))?;
        let mut blank = vec![b' '; place.length];
        if let Some(last) = blank.last_mut() {
            *last = b'\n';
        }
        file.write_all(&blank)?;
    }
    file.sync_data()
}

/// The number of a file of the log, if it is one.
fn number_of(name: &std::ffi::OsStr) -> Option<u64> {
    whole(name.to_str()?.strip_prefix("turns-")?.strip_suffix(".log")?)
}

/// The frames of a file in order, and whether something before its end is none. A frame that was cut short at
/// the end was never acknowledged.
fn frames(segment: u64, content: &[u8]) -> (Vec<Frame>, bool) {
    let (mut frames, mut is_damaged, mut at) = (Vec::new(), false, 0);
    while let Some(rest) = content.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some((frame, end)) = frame(segment, at, rest) {
            frames.extend(frame);
            at += end;
            continue;
        }
        // The next line that begins as a frame does.
        let next = |begin: &[u8]| {
            rest.windows(begin.len() + 1)
                .position(|window| window.first() == Some(&b'\n') && window.ends_with(begin))
        };
        let next = [FRAME, CHANGE, ERASED].into_iter().filter_map(next).min();
        let Some(found) = next else { break };
        is_damaged = true;
        at += found + 1;
    }
    (frames, is_damaged)
}

/// The frame that begins here, unless it was erased, and how long it is.
fn frame(segment: u64, at: usize, rest: &[u8]) -> Option<(Option<Frame>, usize)> {
    let (is_erased, is_change) = (rest.starts_with(ERASED), rest.starts_with(CHANGE));
    if !is_erased && !is_change && !rest.starts_with(FRAME) {
        return None;
    }
    let line = rest.get(..rest.len().min(HEADER_MAX))?;
    let header = line.iter().position(|byte| *byte == b'\n')?;
    let words = std::str::from_utf8(rest.get(FRAME.len()..header)?).ok()?;
    let mut words = words.split(' ').map(whole);
    let (channel, revision, length) = (words.next()??, words.next()??, words.next()??);
    let length = usize::try_from(length).ok().filter(|length| *length <= LARGEST)?;
    let end = (header + 1).checked_add(length)?;
    let is_whole = rest.get(end.checked_sub(1)?) == Some(&b'\n') && words.next().is_none();
    if !is_whole {
        return None;
    }
    let begin = u64::try_from(at).ok()?;
    let offset = u64::try_from(at + header + 1).ok()?;
    let (changes, revision) = (Vec::new(), Revision::new(revision));
    let place = Place { segment, offset, length, changes, revision };
    let frame = Frame { channel: ChannelId::new(channel), place, begin, is_change };
    Some(((!is_erased).then_some(frame), end))
}

#[cfg(test)]
mod tests {
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

    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, damaged) = TurnLog::open(folder.path()).unwrap();
        assert!(damaged.is_empty());
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
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        assert_eq!((newest(&log, HERE), newest(&log, THERE)), (Some(4), Some(14)));
        // What an earlier process left is not appended to, and goes when all that it holds is elsewhere.
        append(&mut log, HERE, 5);
        assert!(folder.path().join("turns-2.log").exists());
        assert!(log.take_empty().is_empty());
        log.forget(THERE, Revision::new(13));
        assert!(log.take_empty().is_empty());
        log.forget(THERE, Revision::new(14));
        assert_eq!(log.take_empty(), [path]);
        assert_eq!((newest(&log, HERE), newest(&log, THERE)), (Some(5), None));
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
            let (log, damaged) = TurnLog::open(folder.path()).unwrap();
            assert!(damaged.is_empty(), "cut at {cut}: no turn was cut that had been acknowledged");
            let frames =
                u64::try_from(whole[..cut].split(|byte| *byte == b'}').count() - 1).unwrap();
            let complete = if whole[..cut].ends_with(b"}") { frames - 1 } else { frames };
            let expected = |number: u64, base| (number > 0).then_some(base + number);
            assert_eq!(newest(&log, HERE), expected(complete.div_ceil(2), 0), "cut at {cut}");
            assert_eq!(newest(&log, THERE), expected(complete / 2, 10), "cut at {cut}");
        }
    }

    #[test]
    fn damage_costs_the_turn_that_it_hits_and_is_reported() {
        let (folder, path) = written();
        let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        for (sound, bent) in
            [("turn 7 3 ", "tarn 7 3 "), ("turn 7 3 ", "turn 7 9"), ("turn 7 3 ", "\0\0\0\0")]
        {
            fs::write(&path, whole.replacen(sound, bent, 1)).unwrap();
            let (log, damaged) = TurnLog::open(folder.path()).unwrap();
            assert_eq!(damaged.as_slice(), std::slice::from_ref(&path), "{bent}");
            assert_eq!((newest(&log, HERE), newest(&log, THERE)), (Some(4), Some(14)), "{bent}");
        }
    }

    #[test]
    fn a_file_that_is_about_to_be_removed_is_erased_as_well() {
        let (folder, path) = written();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        append(&mut log, THERE, 15);
        append(&mut log, HERE, 5);
        assert_eq!(log.take_empty(), [path]);
        log.erase(HERE).unwrap();
        let (log, _) = TurnLog::open(folder.path()).unwrap();
        assert_eq!((newest(&log, HERE), newest(&log, THERE)), (None, Some(15)));
    }

    #[test]
    fn what_was_erased_is_in_no_file_and_does_not_come_back() {
        let (folder, path) = written();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        append(&mut log, HERE, 5);
        log.erase(HERE).unwrap();
        append(&mut log, HERE, 1);
        let (log, damaged) = TurnLog::open(folder.path()).unwrap();
        assert!(damaged.is_empty());
        assert_eq!((newest(&log, HERE), newest(&log, THERE)), (Some(1), Some(14)));
        let first = fs::read_to_string(path).unwrap();
        assert_eq!(first.matches("\"text\"").count(), 4, "{first}");
    }

    #[test]
    fn a_file_is_full_at_its_limit_and_the_next_turn_begins_another() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
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
            let (mut log, _) = TurnLog::open(folder.path()).unwrap();
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
    fn a_change_whose_text_is_gone_is_no_turn_and_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        append(&mut log, HERE, 1);
        for posted in 0..4 {
            log.append(HERE, Revision::new(posted as u64 + 2), &reply(20, posted)).unwrap();
        }
        let path = folder.path().join("turns-1.log");
        let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        fs::write(&path, whole.replacen("diff 7 3 ", "daff 7 3 ", 1)).unwrap();
        let (log, damaged) = TurnLog::open(folder.path()).unwrap();
        assert_eq!(damaged.as_slice(), std::slice::from_ref(&path));
        assert_eq!(log.revision(HERE), Some(Revision::new(2)));
        assert_eq!(log.read(HERE).unwrap().1.unwrap(), reply(20, 0));
        // Nothing of it is left when it is erased.
        fs::write(&path, whole).unwrap();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        log.erase(HERE).unwrap();
        assert!(!fs::read_to_string(&path).unwrap().contains("xxx"));
    }
}
