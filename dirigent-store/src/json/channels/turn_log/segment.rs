//! One file of the log.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::frame::{Header, Kind, Scanned};
use crate::disk::{ReadError, place_of, private, read, sync_data, sync_folder};
use crate::error::{Action, StoreError};
use crate::record::LARGEST;
use crate::record::form::whole;

/// How large a file may be: the last frame may be the largest there is.
const FILE_MAX: usize = LARGEST + (16 << 20);

/// A file of the log that is open.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) path: PathBuf,
    file: Arc<File>,
    pub(super) length: u64,
    /// How many bytes of it the disk is known to have.
    synced: Arc<AtomicU64>,
    /// How many channels have their newest turn in it.
    pub(super) live: usize,
    /// How much else is in it: frames of older turns, and what is damaged.
    pub(super) spare: usize,
}

/// A file of the log that grew, and is to be synced.
#[derive(Clone, Debug)]
pub(crate) struct Grown {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<File>,
    /// Its name is to be synced as well.
    pub(crate) is_new: bool,
    /// How long it is now.
    pub(crate) length: u64,
    /// How many bytes of it the disk is known to have.
    pub(crate) synced: Arc<AtomicU64>,
}

impl Grown {
    /// Waits until the disk has it.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        sync_data(&self.path, &self.file)?;
        if self.is_new {
            sync_folder(place_of(&self.path)?.0)?;
        }
        self.synced.fetch_max(self.length, Ordering::Relaxed);
        Ok(())
    }
}

impl Segment {
    /// Makes the file.
    pub(super) fn begin(path: PathBuf) -> Result<Self, StoreError> {
        let file = private(OpenOptions::new().read(true).append(true).create_new(true))
            .open(&path)
            .map_err(|source| StoreError::not_done(Action::Write, &path, source))?;
        Ok(Self::new(path, file, 0))
    }

    /// A file that is there, and what stands in it.
    pub(super) fn open(path: PathBuf) -> Result<(Self, Vec<u8>), StoreError> {
        let content = content_of(&path)?;
        let file = File::open(&path)
            .map_err(|source| StoreError::not_done(Action::Read, &path, source))?;
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        Ok((Self::new(path, file, length), content))
    }

    fn new(path: PathBuf, file: File, length: u64) -> Self {
        let (file, synced) = (Arc::new(file), Arc::default());
        Self { path, file, length, synced, live: 0, spare: 0 }
    }

    /// How many bytes of it the disk is known to have.
    pub(super) fn synced(&self) -> u64 {
        self.synced.load(Ordering::Relaxed)
    }

    /// What is to be synced of it now.
    pub(super) fn grown(&self, is_new: bool) -> Grown {
        let Self { path, file, length, synced, .. } = self;
        Grown {
            path: path.clone(),
            file: Arc::clone(file),
            is_new,
            length: *length,
            synced: Arc::clone(synced),
        }
    }

    /// Appends a frame. Where that fails, the second value says whether the file is as it was before.
    pub(super) fn append(&mut self, frame: &[u8]) -> Result<(), (StoreError, bool)> {
        if let Err(source) = (&*self.file).write_all(frame) {
            let is_as_before = self.file.set_len(self.length).is_ok();
            return Err((StoreError::not_done(Action::Write, &self.path, source), is_as_before));
        }
        self.length += u64::try_from(frame.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    /// What stands at these places.
    pub(super) fn read(&self, places: &[(u64, usize)]) -> io::Result<Vec<Vec<u8>>> {
        let mut file = &*self.file;
        let mut parts = Vec::with_capacity(places.len());
        for (offset, length) in places {
            let mut content = vec![0; *length];
            file.seek(SeekFrom::Start(*offset))?;
            file.read_exact(&mut content)?;
            parts.push(content);
        }
        Ok(parts)
    }
}

/// What stands in a file of the log.
pub(super) fn content_of(path: &Path) -> Result<Vec<u8>, StoreError> {
    match read(path, FILE_MAX) {
        Ok(content) => Ok(content.unwrap_or_default()),
        Err(ReadError::Bad(source)) => Err(StoreError::BadFile { path: path.to_owned(), source }),
        Err(ReadError::Io(source)) => Err(StoreError::not_done(Action::Read, path, source)),
    }
}

/// Overwrites with blanks what a file has of a channel, and what is damaged: that names no channel and may be of this
/// one. Waits until the disk has that. What was overwritten before is overwritten again: a kill, a failure or a power cut
/// may have left its text, or kept the disk from having the blanks.
pub(super) fn overwrite(
    path: &Path,
    channel: dirigent::ChannelId,
    found: &Scanned,
) -> Result<(), StoreError> {
    let own: Vec<_> = found.frames.iter().filter(|frame| frame.header.channel == channel).collect();
    let nameless: Vec<_> = found.damaged.iter().chain(&found.cut).collect();
    if own.is_empty() && nameless.is_empty() {
        return Ok(());
    }
    let written = || -> io::Result<File> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        for frame in own {
            let header = Header { kind: Kind::Erased, sum: 0, ..frame.header.clone() };
            write_at(&mut file, frame.begin, header.line().as_bytes())?;
            blank(&mut file, &frame.body)?;
        }
        for stretch in nameless {
            blank(&mut file, stretch)?;
        }
        Ok(file)
    };
    match written() {
        Ok(file) => sync_data(path, &file),
        // It was about to be removed.
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StoreError::unknown(Action::Write, path, source)),
    }
}

fn blank(file: &mut File, range: &Range<usize>) -> io::Result<()> {
    let mut blank = vec![b' '; range.len()];
    if let Some(last) = blank.last_mut() {
        *last = b'\n';
    }
    write_at(file, range.start, &blank)
}

fn write_at(file: &mut File, offset: usize, content: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(u64::try_from(offset).unwrap_or(u64::MAX)))?;
    file.write_all(content)
}

/// Where the file of this number stands.
pub(super) fn path_of(root: &Path, number: u64) -> PathBuf {
    root.join(format!("turns-{number}.log"))
}

/// The numbers of the log's files, in ascending order.
pub(super) fn numbers(root: &Path) -> Result<Vec<u64>, StoreError> {
    let refused = |source| StoreError::not_done(Action::Read, root, source);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(root).map_err(refused)? {
        numbers.extend(number_of(&entry.map_err(refused)?.file_name()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The number of a file of the log, if it is one.
fn number_of(name: &std::ffi::OsStr) -> Option<u64> {
    whole(name.to_str()?.strip_prefix("turns-")?.strip_suffix(".log")?)
}
