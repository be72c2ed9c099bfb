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
//!   is all that is left of the turn. A bad sector mostly takes whole frames, and their lines with them.
//!
//! A fact is in its channel's file. Where the log has an older turn of the channel, an empty frame says that it counts no
//! more: it would undo the fact where the file is damaged before the turn is gone. So files of the log go oldest first.
//!
//! What was synced after the newest frame of a file was written counts as not synced: it is at most what was written in
//! the second before the process ended or the file was closed.

mod frame;
mod newest;
mod segment;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent::store::Revision;

use self::frame::{Frame, Header, Kind, scan};
pub(crate) use self::newest::newest_turn;
pub(super) use self::segment::Grown;
use self::segment::{Segment, content_of, numbers, overwrite, path_of};
use super::change;
use crate::disk::sync_folder;
use crate::error::{Action, StoreError};

/// The size in bytes from which a new file is begun.
const SEGMENT_MAX: u64 = 8 << 20;

/// A text of this size is followed by changes of it.
const LARGE: usize = 16 << 10;

/// The log, for the thread that writes it.
#[derive(Debug)]
pub(super) struct TurnLog {
    root: PathBuf,
    segments: BTreeMap<u64, Segment>,
    places: HashMap<ChannelId, Place>,
    /// The file with the newest turn of each channel whose file is as new and whose turns the log still has.
    superseded: HashMap<ChannelId, u64>,
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
            superseded: HashMap::new(),
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
                Kind::Fact => {
                    self.spare(number, 1);
                    self.forget(header.channel, header.revision);
                    self.superseded.remove(&header.channel);
                }
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
        self.superseded.remove(&channel);
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

    /// Marks this many frames of a file as no longer needed.
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
        self.write_again(channel, place.revision, place.is_lost)
    }

    /// The channel's newest turn was damaged since it was written: it is lost, for the next process as well. Returns the
    /// file that grew, if one did. After a failure it is lost for this process.
    pub(super) fn lose(&mut self, channel: ChannelId) -> Result<Option<Grown>, StoreError> {
        let Some(place) = self.places.get_mut(&channel).filter(|place| !place.is_lost) else {
            return Ok(None);
        };
        place.is_lost = true;
        let revision = place.revision;
        self.large.remove(&channel);
        self.write_again(channel, revision, true)
    }

    /// Writes a channel's newest turn once more, as it stands. A failure changes nothing.
    fn write_again(
        &mut self,
        channel: ChannelId,
        revision: Revision,
        is_lost: bool,
    ) -> Result<Option<Grown>, StoreError> {
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
            // A change that cannot be applied leaves a text that is no channel's file; its reader reports it.
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
            self.superseded.insert(channel, place.segment);
        }
    }

    /// A fact is in the channel's file and was made to last: older turns count no more, and where the log has one, it
    /// says so from now on. Otherwise that turn would undo the fact where the file is damaged before the turn is gone.
    /// Returns the file that grew, if one did.
    pub(super) fn supersede(
        &mut self,
        channel: ChannelId,
        fact: Revision,
    ) -> Result<Option<Grown>, StoreError> {
        self.forget(channel, fact);
        if !self.superseded.contains_key(&channel) {
            return Ok(None);
        }
        let number = self.writable()?;
        let (_, grown) = self.write(number, Kind::Fact, channel, fact, b"")?;
        self.spare(number, 1);
        self.superseded.remove(&channel);
        Ok(Some(grown))
    }

    /// Overwrites all turns of a channel, and what is damaged and may be one, and waits until the disk has that. After a
    /// failure the channel has its newest turn, or what is left of it, until it is erased again: a channel that began
    /// anew would have lower revisions than the turns that are left.
    pub(super) fn erase(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        // What it would be a change of may be blank.
        self.large.remove(&channel);
        // Also files that are about to be removed: a kill before that would leave them.
        for number in numbers(&self.root)? {
            let path = path_of(&self.root, number);
            overwrite(&path, channel, &scan(&content_of(&path)?))?;
        }
        sync_folder(&self.root)?;
        if let Some(place) = self.places.remove(&channel) {
            self.release(&place);
        }
        self.superseded.remove(&channel);
        Ok(())
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

    /// Takes out the files in which no channel has its newest turn, oldest first. They may be removed once the disk has
    /// what was written since. A file stays as long as an older one has frames that do not count: they would count again
    /// without those that came later.
    pub(super) fn take_empty(&mut self) -> Vec<PathBuf> {
        let newest = self.newest_open();
        let mut numbers = Vec::new();
        for (number, segment) in &self.segments {
            if segment.live == 0 && newest != Some(*number) {
                numbers.push(*number);
            } else if segment.spare > 0 {
                break;
            }
        }
        let taken = numbers.iter().filter_map(|number| self.segments.remove(number));
        let taken = taken.map(|segment| segment.path).collect();
        self.superseded.retain(|_, number| self.segments.contains_key(number));
        taken
    }
}

/// Removes files that are not needed any more; one that stays is read again, and loses against what is newer.
pub(super) fn remove(files: Vec<PathBuf>) {
    for file in files {
        if let Err(error) = std::fs::remove_file(&file) {
            tracing::debug!(path = %file.display(), %error, "an old log of turns could not be deleted");
        }
    }
}

#[cfg(test)]
mod tests;
