//! The turns of all channels, appended to one file: a commit is one write, and one sync serves all that waited.
//!
//! A frame is a first line and the text of the channel's file, or, where that is large, what changed since the
//! channel's frame before ([`frame`] has the form). The newest frame of a channel counts.
//!
//! Each frame says how much of its file the disk was known to have by then, so what is damaged is judged by where it
//! stands. All of it is reported, except a frame that the end of the file cuts short, as a kill leaves it.
//!
//! * *Behind that mark*, a power cut may have left it: nothing says that the turn was ever synced. It costs itself
//!   alone, and the channel has the turn before, as if the power had been cut a moment earlier.
//! * *Before that mark*, the turn had been made to last and a file was damaged later. The channel that the frame's line
//!   names must not go on from an older state: its turn is lost, which bars it until its file is as new or an operator's
//!   commit replaces it.
//! * Where the line itself is damaged it names no channel. Nothing can be barred then; the copy of the file that is kept
//!   is all that is left of the turn.
//!
//! What was synced after the newest frame of a file was written counts as not synced: it is at most what was written in
//! the second before the process ended or the file was closed.

mod frame;
mod segment;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use dirigent::{ChannelId, Revision};

use self::frame::{Frame, Header, Kind, scan};
pub(super) use self::segment::Grown;
use self::segment::{Segment, content_of, numbers, overwrite, path_of};
use super::change;
use crate::error::{Action, StoreError};
use crate::replace::sync_folder;

/// After so many bytes a new file is begun.
const SEGMENT_MAX: u64 = 8 << 20;

/// A text of this size is followed by changes of it.
const LARGE: usize = 16 << 10;

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
    /// Where its text and its changes stand, in order, and how long each is.
    parts: Vec<(u64, usize)>,
    revision: Revision,
    /// It was damaged after the disk had it.
    is_lost: bool,
}

impl Place {
    fn of(segment: u64, begin: u64, header: &Header, first: usize, is_lost: bool) -> Self {
        let offset = begin.saturating_add(u64::try_from(first).unwrap_or(u64::MAX));
        Self { segment, parts: vec![(offset, header.length)], revision: header.revision, is_lost }
    }
}

impl TurnLog {
    /// The log in this folder, and the files of it that are damaged. What an earlier process left is not appended to.
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
                damaged.push(path_of(root, number));
            }
        }
        Ok((log, damaged))
    }

    /// Takes in a file that is there. Returns whether it is damaged.
    fn take_in(&mut self, number: u64) -> Result<bool, StoreError> {
        let (mut segment, content) = Segment::open(path_of(&self.root, number))?;
        let found = scan(&content);
        let (synced, mut is_damaged) = (found.synced(), found.is_damaged());
        segment.spare = found.damaged.len() + usize::from(found.cut.is_some());
        self.segments.insert(number, segment);
        let is_before = |at: usize| u64::try_from(at).is_ok_and(|at| at < synced);
        // A turn that was synced may have stood there, of any channel.
        let is_turn_gone = found.damaged.iter().any(|stretch| is_before(stretch.start));
        for Frame { header, begin, body, is_sound } in found.frames {
            let offset = u64::try_from(begin).unwrap_or(u64::MAX);
            let is_lost = header.kind == Kind::Lost || (!is_sound && is_before(begin));
            let place = Place::of(number, offset, &header, body.start - begin, is_lost);
            match header.kind {
                Kind::Erased => {}
                _ if !is_sound && !is_lost => self.spare(number, 1),
                Kind::Change => {
                    if !self.put_change(header.channel, &place) {
                        // Without the frame before it says nothing.
                        is_damaged = true;
                        let is_lost = is_lost || is_turn_gone;
                        self.put_orphan(header.channel, Place { is_lost, ..place });
                    }
                }
                Kind::Turn | Kind::Lost => self.put_newer(header.channel, place),
            }
        }
        Ok(is_damaged)
    }

    /// A turn that was found counts, unless there is a newer one.
    fn put_newer(&mut self, channel: ChannelId, place: Place) {
        if self.revision(channel).is_some_and(|newest| newest > place.revision) {
            self.spare(place.segment, place.parts.len());
        } else {
            self.put(channel, place);
        }
    }

    /// A change whose text is gone: the turn is lost where the disk had it, and otherwise never was.
    fn put_orphan(&mut self, channel: ChannelId, place: Place) {
        if place.is_lost {
            self.put_newer(channel, place);
        } else {
            self.spare(place.segment, 1);
        }
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
        place.parts.extend(&change.parts);
        place.revision = change.revision;
        place.is_lost |= change.is_lost;
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
        self.spare(place.segment, place.parts.len());
    }

    /// So many frames of a file count no more.
    fn spare(&mut self, number: u64, frames: usize) {
        if let Some(segment) = self.segments.get_mut(&number) {
            segment.spare += frames;
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

    /// Whether the channel's newest turn was damaged after the disk had it.
    pub(super) fn is_lost(&self, channel: ChannelId) -> bool {
        self.places.get(&channel).is_some_and(|place| place.is_lost)
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
        let (grown, changed) = if let Some(change) = &change {
            let (place, grown) = self.write(number, Kind::Change, channel, revision, change)?;
            self.put_change(channel, &place);
            (grown, before + change.len())
        } else {
            let (place, grown) = self.write(number, Kind::Turn, channel, revision, content)?;
            self.put(channel, place);
            (grown, 0)
        };
        if content.len() >= LARGE {
            self.large.insert(channel, Large { text: content.to_vec(), changed });
        }
        Ok(grown)
    }

    /// Writes a channel's newest turn once more, as it stands, where older turns stand beside it in a closed file: that
    /// file can go then. Returns the file that grew, if one did. A failure changes nothing.
    pub(super) fn carry_over(&mut self, channel: ChannelId) -> Result<Option<Grown>, StoreError> {
        let newest = self.newest_open();
        let Some(place) = self.places.get(&channel).filter(|place| Some(place.segment) != newest)
        else {
            return Ok(None);
        };
        if self.segments.get(&place.segment).is_none_or(|segment| segment.spare == 0) {
            return Ok(None);
        }
        let (revision, is_lost) = (place.revision, place.is_lost);
        let Some((path, content)) = self.read(channel) else { return Ok(None) };
        let content =
            content.map_err(|source| StoreError::not_done(Action::Read, &path, source))?;
        let kind = if is_lost { Kind::Lost } else { Kind::Turn };
        let number = self.writable()?;
        let (place, grown) = self.write(number, kind, channel, revision, &content)?;
        self.put(channel, Place { is_lost, ..place });
        Ok(Some(grown))
    }

    /// Writes a frame. Half a frame is passed over; where it cannot be taken back, a new file is begun.
    fn write(
        &mut self,
        number: u64,
        kind: Kind,
        channel: ChannelId,
        revision: Revision,
        body: &[u8],
    ) -> Result<(Place, Grown), StoreError> {
        let Some(segment) = self.segments.get_mut(&number) else {
            let source = io::Error::other("there is no file");
            return Err(StoreError::not_done(Action::Write, &self.root, source));
        };
        let header = Header::of(kind, channel, revision, segment.synced(), body);
        let mut frame = header.line().into_bytes();
        let place = Place::of(number, segment.length, &header, frame.len(), false);
        frame.extend_from_slice(body);
        // As long as it is empty: the frame that it was made for may not have been written.
        let is_new = segment.length == 0;
        if let Err((error, is_as_before)) = segment.append(&frame) {
            self.is_open = is_as_before;
            return Err(error);
        }
        Ok((place, segment.grown(is_new)))
    }

    /// The file that takes more frames.
    fn newest_open(&self) -> Option<u64> {
        self.segments.keys().next_back().copied().filter(|_| self.is_open)
    }

    /// The file to be appended to.
    fn writable(&mut self) -> Result<u64, StoreError> {
        let newest = self.segments.last_key_value().filter(|_| self.is_open);
        if let Some((number, _)) = newest.filter(|(_, segment)| segment.length < SEGMENT_MAX) {
            return Ok(*number);
        }
        let number = self.next;
        self.segments.insert(number, Segment::begin(path_of(&self.root, number))?);
        self.next = number.saturating_add(1);
        self.is_open = true;
        Ok(number)
    }

    /// The text of a channel's newest turn, and the file that it stands in; `None` when it has none.
    pub(super) fn read(&self, channel: ChannelId) -> Option<(PathBuf, io::Result<Vec<u8>>)> {
        let place = self.places.get(&channel)?;
        let segment = self.segments.get(&place.segment)?;
        let content = segment.read(&place.parts).map(|parts| {
            let mut parts = parts.into_iter();
            let first = parts.next().unwrap_or_default();
            // What cannot be applied is told by what comes of it, which is no channel's file.
            parts.fold(first, |text, change| change::apply(&text, &change).unwrap_or(change))
        });
        Some((segment.path.clone(), content))
    }

    /// The file with the channel's newest turn, to be synced with its name.
    pub(super) fn file_of(&self, channel: ChannelId) -> Option<Grown> {
        let place = self.places.get(&channel)?;
        Some(self.segments.get(&place.segment)?.grown(true))
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

    /// Overwrites all turns of a channel, and what is damaged and may be one, and waits until the disk has that.
    pub(super) fn erase(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        self.large.remove(&channel);
        if let Some(place) = self.places.remove(&channel) {
            self.release(&place);
        }
        // Also files that are about to be removed: a kill before that would leave them.
        for number in numbers(&self.root)? {
            let path = path_of(&self.root, number);
            overwrite(&path, channel, &scan(&content_of(&path)?))?;
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
        let newest = self.newest_open();
        let is_empty =
            |number: &u64, segment: &Segment| segment.live == 0 && newest != Some(*number);
        let found = self.segments.iter().filter(|(number, segment)| is_empty(number, segment));
        let numbers: Vec<_> = found.map(|(number, _)| *number).collect();
        let taken = numbers.iter().filter_map(|number| self.segments.remove(number));
        taken.map(|segment| segment.path).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    /// The same, of which the disk has the first five turns by the sixth.
    fn synced() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
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
                    assert_eq!(
                        (newest(&log, HERE), newest(&log, THERE)),
                        (Some(4), Some(13)),
                        "at {at}"
                    );
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
            assert_eq!((newest(&log, HERE), newest(&log, THERE)), expected);
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
        fs::write(&path, &bent).unwrap();
        let (mut log, damaged) = TurnLog::open(folder.path()).unwrap();
        assert_eq!(damaged.as_slice(), std::slice::from_ref(&path));
        assert_eq!((log.revision(HERE), log.is_lost(HERE)), (Some(Revision::new(3)), true));
        assert_eq!((newest(&log, THERE), log.is_lost(THERE)), (Some(13), false));
        // It stays so in another file, and is forgotten with a newer turn.
        let damaged = log.read(HERE).unwrap().1.unwrap();
        assert!(log.carry_over(HERE).unwrap().is_some());
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        assert_eq!((log.read(HERE).unwrap().1.unwrap(), log.is_lost(HERE)), (damaged, true));
        append(&mut log, HERE, 4);
        assert_eq!((newest(&log, HERE), log.is_lost(HERE)), (Some(4), false));
    }

    #[test]
    fn a_number_that_was_changed_takes_its_turn_out_and_no_other() {
        for (folder, path) in [written(), synced()] {
            let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
            for (sound, bent) in [("turn 7 3 ", "turn 7 9 "), ("turn 7 3 ", "turn 8 99 ")] {
                fs::write(&path, whole.replacen(sound, bent, 1)).unwrap();
                let (log, damaged) = TurnLog::open(folder.path()).unwrap();
                assert_eq!(damaged.as_slice(), std::slice::from_ref(&path), "{bent}");
                assert_eq!(
                    (newest(&log, HERE), newest(&log, THERE)),
                    (Some(4), Some(14)),
                    "{bent}"
                );
            }
        }
    }

    #[test]
    fn a_turn_is_carried_over_where_that_lets_a_file_go_and_nowhere_else() {
        let (folder, path) = written();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
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
        let (log, _) = TurnLog::open(folder.path()).unwrap();
        assert_eq!((newest(&log, HERE), newest(&log, THERE)), (Some(4), Some(15)));
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
    fn what_is_damaged_may_be_of_any_channel_and_goes_with_the_first_that_is_erased() {
        let (folder, path) = written();
        let whole = fs::read(&path).unwrap();
        let frames = scan(&whole).frames;
        let mut bent = whole.clone();
        bent[frames[2].begin + 5] = b'9';
        bent[frames[6].body.start] = b'x';
        bent.truncate(whole.len() - 3);
        fs::write(&path, &bent).unwrap();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        log.erase(HERE).unwrap();
        let left = fs::read_to_string(&path).unwrap();
        assert_eq!(left.matches("\"text\"").count(), 3, "{left}");
        let (log, damaged) = TurnLog::open(folder.path()).unwrap();
        assert!(damaged.is_empty(), "what was erased is no damage");
        assert_eq!((newest(&log, HERE), newest(&log, THERE)), (None, Some(13)));
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
    fn a_change_of_a_text_that_the_disk_had_and_that_is_gone_is_a_lost_turn() {
        let folder = tempfile::tempdir().unwrap();
        let (mut log, _) = TurnLog::open(folder.path()).unwrap();
        append(&mut log, HERE, 1);
        for posted in 0..3 {
            log.append(HERE, Revision::new(posted as u64 + 2), &reply(20, posted)).unwrap();
            log.file_of(HERE).unwrap().sync().unwrap();
        }
        let path = folder.path().join("turns-1.log");
        let whole = String::from_utf8(fs::read(&path).unwrap()).unwrap();
        fs::write(&path, whole.replacen("turn 7 2 ", "turn 9 2 ", 1)).unwrap();
        let (log, damaged) = TurnLog::open(folder.path()).unwrap();
        assert_eq!(damaged, [path]);
        assert_eq!((log.revision(HERE), log.is_lost(HERE)), (Some(Revision::new(4)), true));
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
